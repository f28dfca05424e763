"""Progress on stderr: rows, tokens per second, time left; a bar where somebody looks on."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from generation.probe.maker import Watch


class ProgressWatch(Watch):
    """A bar per stage on a terminal; elsewhere a line when a stage begins and when it ends."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._terminal = console.is_terminal
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"), TimeRemainingColumn(),
            console=console, disable=not self._terminal, transient=True,
        )  # fmt: skip
        self._task = None
        self._what, self._done, self._total, self._tokens, self._begun = "", 0, 0, 0, 0.0

    def __enter__(self) -> "ProgressWatch":
        self._bar.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._end()
        self._bar.stop()

    def stage(self, model: str, act: str, number: int, total: int, done: int) -> None:
        self._end()
        which = f" {number}" if number > 1 else ""
        self._what = f"{model}: {act}s{which}"
        self._done, self._total, self._tokens, self._begun = done, total, 0, time.monotonic()
        if self._terminal:
            self._task = self._bar.add_task(self._what, total=total, completed=done, speed="")
        else:
            self._say(f"{self._what}: {done:,} of {total:,} there already")

    def rows(self, count: int, output_tokens: int) -> None:
        self._done += count
        self._tokens += output_tokens
        if self._task is not None:
            self._bar.update(self._task, advance=count, speed=self._speed())

    def _speed(self) -> str:
        return f"{self._tokens / max(time.monotonic() - self._begun, 1e-9):,.0f} tokens/s"

    def _end(self) -> None:
        if self._what and not self._terminal:
            self._say(f"{self._what}: {self._done:,} of {self._total:,}, {self._speed()}")
        elif self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None
        self._what = ""

    def _say(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)
