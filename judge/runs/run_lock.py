"""One run at a time per judge model and study, so that no verdict is paid for twice."""

import contextlib
import fcntl
from collections.abc import Iterator

from generation.database import readable_refusals
from generation.study import Study
from rubrics import InputError, fingerprint, short


@contextlib.contextmanager
def run_lock(study: Study, model: str, prompt_hash: str) -> Iterator[None]:
    """Hold the study's lock for this model and prompt; it is let go when the process ends.

    Raises InputError when another process holds it.
    """
    name = short(fingerprint({"model": model, "prompt": prompt_hash}))
    path = study.folder / f".judge-{name}.lock"
    with contextlib.ExitStack() as held:
        with readable_refusals(path):
            file = held.enter_context(path.open("w"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(
                    f"another run of {model} under this prompt is going on in {study.folder}; "
                    "wait for it, or stop it and run the command again"
                ) from None
        yield
