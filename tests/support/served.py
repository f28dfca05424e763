"""A command that serves, in a process of its own, as its users start it."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ANNOTATE = Path(sys.executable).with_name("annotate")


class Server:
    """A running `annotate`, or another command that serves; `url` is the address it printed."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        port: int = 7890,
        command: Sequence[str | Path] = (ANNOTATE,),
        **environment: str,
    ) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [*command, "--study", folder, "--port", str(port), *options],
            cwd=folder.parent,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()  # comes once the page is served
        assert "http://" in line, f"{command} did not start: {line!r}"
        self.url = line.split(" at ")[1].split()[0]

    @property
    def port(self) -> int:
        return int(self.url.rstrip("/").rsplit(":", 1)[1])

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
