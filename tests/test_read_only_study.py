"""A study that cannot be written: every command says so in one line and changes nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
# root writes where it must not unless it gives up the right to; others are refused anyway
AS_REFUSED = (
    ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
    if os.geteuid() == 0
    else []
)


@pytest.fixture(scope="module")
def read_only_folder(tmp_path_factory):
    if AS_REFUSED and not shutil.which("setpriv"):
        pytest.skip("as root this needs setpriv (util-linux)")
    folder = tmp_path_factory.mktemp("read only")
    for command in (["generate", "example"], ["judge"], ["calibrate", "sample"]):
        subprocess.run([BIN / command[0], *command[1:]], cwd=folder, check=True)
    study = folder / "study"
    modes = {path: path.stat().st_mode for path in (*study.iterdir(), study)}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    yield folder
    for path, mode in modes.items():
        path.chmod(mode)


@pytest.mark.parametrize(
    "command",
    ["generate example", "judge", "judge --rubric v2", "calibrate sample", "calibrate", "annotate"],
)
def test_a_read_only_study_is_one_line(read_only_folder, command):
    study = read_only_folder / "study"
    before = {path.name: path.read_bytes() for path in study.iterdir()}
    name, *options = command.split()
    done = subprocess.run(
        [*AS_REFUSED, BIN / name, *options],
        cwd=read_only_folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: study/")
    assert "make the folder and the file writable" in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in study.iterdir()} == before
