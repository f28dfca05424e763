"""A study's split as plain text."""

from collections import Counter
from collections.abc import Iterator

from judge.calibration.splits.study_split import SEEN_BEFORE, StudySplit
from judge.plain_text import cell, cells, new_table, rendered, wrapped
from judge.plural import counted
from rubrics import short


def split_text(split: StudySplit) -> str:
    """Sizes of both halves by reference label, and what to know of them."""
    table = new_table("queries by reference label")
    for header in ("dev", "test"):
        table.add_column(cell(header), justify="right")
    frozen = split.frozen
    for halves in frozen.halves:
        table.add_row(*cells(halves.stratum, str(halves.dev), str(halves.test)))
    table.add_row(*cells("all", str(frozen.size("dev")), str(frozen.size("test"))))
    return "\n".join([wrapped(_heading(split)), rendered(table), wrapped(_notes(split))])


def _heading(split: StudySplit) -> Iterator[str]:
    frozen = split.frozen
    yield f"split frozen at {frozen.frozen_at}, {frozen.split_hash}"
    yield f"reference labels under rubric {frozen.rubric_version}: {frozen.reference_rule}"


def _notes(split: StudySplit) -> Iterator[str]:
    if split.shown:
        yield (
            f"shown or quoted by a prompt: {split.shown} of the queries; those that were when the "
            "split was frozen are in dev"
        )
    yield (
        f"{split.labelled} of {counted(split.items, 'sampled item')} have a reference label under "
        f"rubric {split.rubric_version} now; the others, and queries labelled after the freeze "
        f"({split.late}), are in the half that their hash says"
    )
    yield f"the test half was opened {_times(len(split.openings))}"
    for judge_id, times in Counter(opening.judge_id for opening in split.openings).items():
        yield f"· for judge {short(judge_id)}: {_times(times)}"
    yield SEEN_BEFORE


def _times(number: int) -> str:
    return "never" if not number else "once" if number == 1 else f"{number} times"
