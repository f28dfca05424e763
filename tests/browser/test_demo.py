"""`make demo`: a study, its judgments and the served page in one command, twice."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.bench]
ROOT = Path(__file__).parents[2]


def demo(study: Path) -> list[str]:
    """Run `make demo` in this environment up to the served page; returns what it printed."""
    environment = sys.prefix
    process = subprocess.Popen(
        ["make", "-o", f"{environment}/.installed", "demo", f"VENV={environment}", "PORT=7950"],
        cwd=ROOT,
        env={**os.environ, "FOLLOWUPEVAL_STUDY": str(study)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if " at http://" in line:
                url = line.split(" at ")[1].split()[0]
                with urlopen(url) as page:
                    assert "followupeval" in page.read().decode()
                return lines
        raise AssertionError(f"the page was never served: {lines}")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_demo_serves_says_what_to_do_next_and_reuses_everything(tmp_path):
    study = tmp_path / "a study"
    first = demo(study)
    assert f"{study}/pipeline.db: 200 turns added, 0 were there already" in first
    assert any(line.strip().startswith(f"{sys.prefix}/bin/calibrate --rubric") for line in first)
    again = demo(study)
    assert f"{study}/pipeline.db: 0 turns added, 200 were there already" in again
    assert any(line.startswith("0 items judged by lexical") for line in again)
    assert any(line.startswith("already there: ") for line in again)
