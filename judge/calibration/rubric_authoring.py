"""Rubrics that a study writes for itself: read, checked and put beside its stores for good."""

import os
import re
import tempfile
from pathlib import Path

from generation.database import readable_refusals
from generation.item import is_storable
from generation.study import Study
from judge.calibration.leak import refuse_leak
from judge.prompts.prompt import render_prompt
from judge.store import open_pipeline
from rubrics import (
    InputError,
    Rubric,
    available_versions,
    check_heirs,
    load_rubric,
    parse_rubric,
)

_VERSION = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")


def new_rubric(study: Study, text: str) -> Rubric:
    """Write a rubric of the study's own, under the version that its text names.

    Raises InputError for a text that is no rubric, a version that is taken or cannot name a file,
    one that no prompt can be made of, that quotes an item of the test split, or that cannot be
    written. Then nothing is written.
    """
    rubric = checked_rubric(study, text)
    with open_pipeline(study.pipeline) as pipeline_db:
        refuse_leak(pipeline_db, render_prompt(rubric), study.option)
    path = study.rubrics / f"{rubric.version}.toml"
    with readable_refusals(path):
        study.rubrics.mkdir(exist_ok=True)
        _write_new(path, text)
    return rubric


def checked_rubric(study: Study, text: str) -> Rubric:
    """The rubric in a text that may become one of the study's; raises InputError as above."""
    rubric = parse_rubric(text, source="the rubric")
    if not _VERSION.fullmatch(rubric.version):
        raise InputError(
            f"version {rubric.version!r:.60} cannot name a rubric; expected lower-case letters, "
            'digits, . and -, such as version = "v4"'
        )
    known = available_versions(study.rubrics)
    if rubric.version in known:
        raise InputError(
            f"rubric {rubric.version} is there already and never changes (there are "
            f"{', '.join(known)}); give the new text a new version"
        )
    for version in known:
        check_heirs(rubric, load_rubric(version, study.rubrics))
    if unknown := {heir.earlier for heir in rubric.heirs} - set(known):
        raise InputError(
            f"rubric {rubric.version} maps {', '.join(sorted(unknown))}, which is no rubric here "
            f"(there are {', '.join(known)})"
        )
    if not all(map(is_storable, (render_prompt(rubric).text, rubric.changed, rubric.why))):
        raise InputError(
            f"rubric {rubric.version} holds a NUL, which no store keeps; take \\u0000 out"
        )
    return rubric


def remarks(study: Study, rubric: Rubric) -> list[str]:
    """What its author may have overlooked, before people label under it."""
    earlier = [
        load_rubric(version, study.rubrics)
        for version in available_versions(study.rubrics)
        if version != rubric.version
    ]
    copied = [
        old.version for old in earlier if (old.changed, old.why) == (rubric.changed, rubric.why)
    ]
    said = []
    if copied:
        said.append(
            f"`changed` and `why` are still those of {copied[-1]}, and annotators read them when "
            "the rubric is published"
        )
    if not rubric.heirs:
        said.append(
            'it has no [mapping.VERSION] table (lines such as malformed = "malformed"), so that '
            "labels given under another version are all to be given again once it is published"
        )
    return said


def _write_new(path: Path, text: str) -> None:
    """All of the file or nothing; one that somebody else wrote meanwhile stays."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".rubric-") as scratch:
        whole = Path(scratch, path.name)  # for whom the umask says, as the stores are
        with whole.open("xb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(whole, path)
        except FileExistsError:
            raise InputError(
                f"{path} was written meanwhile and never changes; give your text a new version"
            ) from None
