"""A checker of another project, in a process of its own.

Such a checker may take hours over a hostile answer (a pattern that backtracks), needs the main
thread for its time limits, and loads packages that an engine's process should not. So it is
asked through a pipe, and ended when it takes too long.
"""

import atexit
import json
import select
import subprocess
import sys
import threading
from functools import cache
from typing import Any

SECONDS = 10.0  # for one answer; an ordinary one takes milliseconds
START_SECONDS = 300.0  # importing the packages, from a slow disk


class CheckerFailed(Exception):
    """No verdict; the message is one line that says why."""


class CheckerProcess:
    """Runs the `check` of one module, `MODULE.check(request) -> verdict`, both JSON objects."""

    def __init__(self, module: str, seconds: float = SECONDS) -> None:
        self._module = module
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._about: dict[str, Any] = {}
        self._broken: CheckerFailed | None = None  # it cannot start, and is not started again

    def about(self) -> dict[str, Any]:
        """What the checker says of itself when it starts; raises CheckerFailed."""
        with self._lock:
            self._started()
            return self._about

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The verdict; raises CheckerFailed where there is none."""
        with self._lock:
            process = self._started()
            try:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
            except OSError as error:
                self._end()
                raise CheckerFailed(f"the checker ended: {error.strerror}") from error
            return self._reply(self._seconds)

    def close(self) -> None:
        with self._lock:
            self._end()

    def _started(self) -> subprocess.Popen[str]:
        if self._broken is not None:
            raise self._broken
        if self._process is None:
            # -P: a folder `datasets` where the command is typed is not that package. A session of
            # its own: Ctrl-C is for us, and it ends when its input does.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "generation.accuracy.checker_loop", self._module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                start_new_session=True,
            )
            try:
                self._about = self._reply(START_SECONDS)
            except CheckerFailed as error:
                self._broken = error
                raise
        return self._process

    def _reply(self, seconds: float) -> dict[str, Any]:
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            self._end()
            raise CheckerFailed(
                "the checker ended" if ready else f"no verdict within {seconds:g} seconds"
            )
        reply = json.loads(line)
        if "failed" in reply:
            raise CheckerFailed(reply["failed"])
        return reply

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


@cache
def checker(module: str) -> CheckerProcess:
    """The one process of this module's checker, started when it is first asked."""
    process = CheckerProcess(module)
    atexit.register(process.close)
    return process
