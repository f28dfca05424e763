"""One run at a time per judge model and study, so that no verdict is paid for twice."""

from contextlib import AbstractContextManager

from generation.process_lock import process_lock
from generation.study import Study
from rubrics import fingerprint, short


def run_lock(study: Study, model: str, prompt_hash: str) -> AbstractContextManager[None]:
    """Hold the study's lock for this model and prompt; it is let go when the process ends.

    Raises InputError when another process holds it.
    """
    name = short(fingerprint({"model": model, "prompt": prompt_hash}))
    return process_lock(
        study.folder / f".judge-{name}.lock",
        f"another run of {model} under this prompt is going on in {study.folder}; "
        "wait for it, or stop it and run the command again",
    )
