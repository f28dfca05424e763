"""One process at a time does a thing in a study, so that nothing is made or paid for twice."""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from generation.database import readable_refusals
from generation.study import Study
from rubrics import InputError


@contextlib.contextmanager
def process_lock(path: Path, refusal: str) -> Iterator[None]:
    """Hold the lock file; it is let go when the process ends, however it ends.

    Raises InputError with the `refusal` when another process holds it.
    """
    with contextlib.ExitStack() as held:
        # The second try is for a lock file that was made anew between our opening and locking it.
        with readable_refusals(path):
            if not any(_locked(path, held) for _attempt in range(2)):
                raise InputError(refusal)
        yield


def generation_lock(study: Study) -> AbstractContextManager[None]:
    """Held by whoever makes or merges rows; raises InputError where another process does."""
    return process_lock(
        study.folder / ".generate.lock",
        f"another generate is going on in {study.folder}; wait for it, stop it, or give this one "
        "a study of its own (--study) and generate merge them",
    )


def _locked(path: Path, held: contextlib.ExitStack) -> bool:
    """Lock the file, which stays open as long as `held`; False where another process has it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputError(
                f"{path} is a link, expected the lock's own file; remove it"
            ) from error
        raise
    held.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return _is_at(path, descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether the open file is still the one of this name, which others lock."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False
