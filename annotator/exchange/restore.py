"""Going back to a copy of labels.db: checked first, and what was there is moved aside."""

import fcntl
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from annotator.exchange.backup import copy_at_rest
from annotator.labels import open_labels
from generation.clock import now
from generation.database import readable_refusals
from generation.exchange.whole import on_disk
from rubrics import InputError

# The log of an SQLite file and its index, which SQLite plays into whatever file has the name.
BESIDE = ("", "-wal", "-shm")
# The bytes of a file that whoever has it open in SQLite holds a shared lock on (its SHARED_FIRST
# and SHARED_SIZE).
_SHARED_FIRST, _SHARED_SIZE = 0x4000_0002, 510


@dataclass(frozen=True)
class Restored:
    """The annotation events of the copy, and where that is now which was there; None of nothing."""

    labels: Path
    events: int
    aside: Path | None


def restore(backup: Path, labels: Path) -> Restored:
    """Put a copy of the backup in the place of labels.db, as of one moment.

    Raises InputError, and changes nothing, where the backup is no sound labels.db of this version
    or an older one, and where another program has labels.db open.
    """
    if not backup.is_file():
        raise InputError(f"{backup} is no file; expected a copy that annotate backup has made")
    if labels.exists() and labels.samefile(backup):
        raise InputError(f"{backup} is the study's own labels.db; name a copy of it")
    with readable_refusals(labels):
        labels.parent.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix=".restore.", dir=labels.parent) as folder,
            _alone(labels),
        ):
            new = Path(folder) / labels.name
            events = _checked_copy(backup, new)
            # As closed to others as what was there: it holds password hashes.
            mode = (labels if labels.exists() else backup).stat().st_mode
            new.chmod(stat.S_IMODE(mode) | stat.S_IRUSR | stat.S_IWUSR)
            on_disk(new)
            aside = _move_aside(labels)
            new.rename(labels)
            on_disk(labels.parent)
    return Restored(labels, events, aside)


def _checked_copy(backup: Path, new: Path) -> int:
    with readable_refusals(backup):
        events = copy_at_rest(backup, new)
    try:
        open_labels(new).close()  # no newer than this version, and brought up to it
    except InputError as error:  # of the copy, which nobody knows
        raise InputError(str(error).replace(str(new), str(backup))) from None
    return events


def _move_aside(labels: Path) -> Path | None:
    """Labels.db with what SQLite left beside it, under one new name; the file itself goes first.

    Whatever stops this half-way leaves no labels.db that lacks its log.
    """
    stamp = "".join(c for c in now()[:23] if c.isalnum())
    aside = labels.with_name(f"{labels.name}.before-{stamp}")
    found = [end for end in BESIDE if Path(f"{labels}{end}").exists()]
    for end in found:
        Path(f"{labels}{end}").rename(f"{aside}{end}")
    return aside if found else None


@contextmanager
def _alone(labels: Path) -> Iterator[None]:
    """Hold a lock that nobody gets while another program has the file open in SQLite.

    Not by SQLite itself, which would play a log into a file that may be damaged. A process does
    not lock itself out, and file systems without locks tell nothing.
    """
    if not labels.exists():
        yield
        return
    with labels.open("rb+") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
        except (BlockingIOError, PermissionError):
            raise InputError(
                f"{labels} is in use by another program; stop annotate first, then try again"
            ) from None
        except OSError:
            pass
        yield
