"""Commands that the page starts and that go on without it: runs of a judge, and suggestions."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from generation.clock import now
from generation.database import readable_refusals
from generation.study import Study
from rubrics import InputError

TAIL = 4_000  # characters of what a command said on stderr that the page shows
_MODULE = "judge.calibration.workbench.launched"


@dataclass(frozen=True)
class Launch:
    """A command that was started; `choices` is what the page's form held.

    It is alive as long as it holds the lock on its own log, which the system lets go with it: a
    process number could by then be somebody else's.
    """

    launch_id: int
    owner: str
    command: tuple[str, ...]
    choices: Mapping[str, str]
    started_at: str
    folder: Path

    @property
    def log(self) -> Path:
        return self.folder / f"{self.launch_id}.err"

    @property
    def output(self) -> Path:
        return self.folder / f"{self.launch_id}.out"

    @property
    def pid(self) -> Path:
        return self.folder / f"{self.launch_id}.pid"

    @property
    def code(self) -> Path:
        return self.folder / f"{self.launch_id}.code"

    @property
    def alive(self) -> bool:
        try:
            with self.log.open("rb") as log:
                fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    @property
    def said(self) -> str:
        """The end of what it said on stderr; "" where the log is gone."""
        with suppress(OSError):
            return self.log.read_text(encoding="utf-8", errors="replace")[-TAIL:].strip()
        return ""

    @property
    def result(self) -> str:
        """All of its stdout; "" where it is gone."""
        with suppress(OSError):
            return self.output.read_text(encoding="utf-8", errors="replace")
        return ""

    @property
    def exit_code(self) -> int | None:
        """How it ended, None as long as it runs and where it was killed."""
        with suppress(OSError, ValueError):
            return int(self.code.read_text())
        return None


def start(
    study: Study, pipeline_db: Database, owner: str, command: Sequence[str], choices: dict[str, Any]
) -> Launch:
    """Start a command of ours, such as ["judge", "--model", …], in a session of its own.

    Raises InputError where the study's folder cannot be written.
    """
    folder = _folder(study)
    with readable_refusals(folder):
        folder.mkdir(exist_ok=True)
    launch_id = pipeline_db["launches"].insert(
        {
            "owner": owner,
            "command": json.dumps(list(command)),
            "choices": json.dumps(choices),
            "started_at": now(),
        }
    ).last_pk  # fmt: skip
    launch = find(study, pipeline_db, launch_id)
    with readable_refusals(folder), launch.log.open("wb") as log, launch.output.open("wb") as out:
        fcntl.flock(log, fcntl.LOCK_EX)  # inherited: held until the command has ended
        process = subprocess.Popen(
            [sys.executable, "-m", _MODULE, str(launch.code), *launch.command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=log,
            start_new_session=True,
        )
        launch.pid.write_text(str(process.pid))
    return launch


def stop(launch: Launch) -> None:
    """Interrupt the command as Ctrl-C does; raises InputError where it runs no more."""
    if not launch.alive:
        raise InputError(f"run {launch.launch_id} has ended already")
    with suppress(ProcessLookupError):
        os.kill(int(launch.pid.read_text()), signal.SIGINT)


def find(study: Study, pipeline_db: Database, launch_id: int) -> Launch:
    """Raises InputError where there is none of that number."""
    rows = list(pipeline_db["launches"].rows_where("launch_id = ?", [launch_id]))
    if not rows:
        raise InputError(f"there is no run {launch_id} in this study; go to the list of runs")
    return _launch(study, rows[0])


def launches(study: Study, pipeline_db: Database, verb: str, count: int = 20) -> list[Launch]:
    """The last ones of a verb, newest first."""
    rows = pipeline_db["launches"].rows_where(
        "json_extract(command, '$[0]') = ?", [verb], order_by="launch_id DESC", limit=count
    )
    return [_launch(study, row) for row in rows]


def _launch(study: Study, row: dict[str, Any]) -> Launch:
    return Launch(
        row["launch_id"],
        row["owner"],
        tuple(json.loads(row["command"])),
        json.loads(row["choices"]),
        row["started_at"],
        _folder(study),
    )


def _folder(study: Study) -> Path:
    return study.folder / ".launches"
