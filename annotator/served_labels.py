"""labels.db while it is served: one connection behind one lock, and still the file it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from sqlite_utils import Database

from annotator.labels import open_labels

# What a page says when nothing can be stored any more; {file} and {error} name what is wrong.
MOVED = (
    "NOT SAVED: {file} was moved or replaced while this page was served. "
    "Stop here and have annotate started again."
)
STORE_REFUSES = (
    "NOT SAVED: the label store refuses ({error}). Nothing is being saved; "
    "stop here and tell the study's owner."
)


class Moved(Exception):
    """Another file, or none, is where labels.db was: what is written now would be lost."""


class ServedLabels:
    """The store of one page, whose acts come from many threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = open_labels(path)
        self._file = file_identity(path)
        self._lock = Lock()

    @contextmanager
    def use(self) -> Iterator[Database]:
        """The database for one act at a time; raises Moved."""
        with self._lock:
            if file_identity(self.path) != self._file:
                raise Moved(self.path.name)
            yield self._database

    def close(self) -> None:
        with self._lock:
            self._database.close()


def file_identity(path: Path) -> tuple[int, int] | None:
    """Which file lies there, whatever it is called; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
