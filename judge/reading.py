"""Reading: how a judge's k runs over an item become the verdicts that a calibration counts.

Mean-of-runs and majority-of-k are different instruments with different kappas, so a calibration
and its export name the one that was used.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from judge.judgment import Judgment
from rubrics import InputError


class Reading(StrEnum):
    """`single-run` is the one of a judge with one run.

    `mean-of-runs` is one run drawn at random: every run counts, with weight 1/k. `majority-of-k`
    is the most frequent label of the k runs.
    """

    SINGLE = "single-run"
    MEAN = "mean-of-runs"
    MAJORITY = "majority-of-k"


OF_SEVERAL = (Reading.MEAN, Reading.MAJORITY)  # what there is to choose between from two runs on


@dataclass(frozen=True)
class Verdicts:
    """What a judge said of one item: in every run, and what of it counts under a reading."""

    runs: tuple[Judgment, ...]
    counted: tuple[Judgment, ...]


def parse_reading(name: object) -> Reading:
    """The reading of this name; raises InputError, naming those there are."""
    try:
        return Reading(name)
    except ValueError:
        expected = ", ".join(Reading)
        raise InputError(
            f"unknown reading {name!r}; expected one of {expected}; calibrate again: "
            f"calibrate --reading {Reading.MEAN}"
        ) from None


def choose_runs(found: int, wanted: int | None = None) -> int:
    """How many of the `found` runs of a judge count: the first `wanted`, by default all.

    Raises InputError when there are fewer.
    """
    if wanted is not None and wanted > found:
        raise InputError(
            f"found {counted_runs(found)} of the judge, expected {wanted} or more for --runs "
            f"{wanted}; take those there are, --runs {found}, or judge more often: judge … --runs "
            f"{wanted}"
        )
    return found if wanted is None else wanted


def counted_runs(runs: int, of: int | None = None) -> str:
    """How many runs count, and of how many where others are left out.

    >>> counted_runs(4), counted_runs(1), counted_runs(2, 4), counted_runs(1, 2)
    ('4 runs', '1 run', 'the first 2 of 4 runs', 'the first of 2 runs')
    """
    if of is None or of == runs:
        return "1 run" if runs == 1 else f"{runs} runs"
    return f"the first{'' if runs == 1 else f' {runs}'} of {of} runs"


def to_complete(runs: int, complete: int = 0) -> str:
    """What to type where items lack some of the runs, the first `complete` of which have them all.

    >>> to_complete(3)
    'judge … --runs 3 judges the rest'
    """
    rest = f"judge … --runs {runs} judges the rest"
    if not complete:
        return rest
    those = f"the first {complete} runs, which have" if complete > 1 else "the first run, which has"
    return f"--runs {complete} takes {those} them all; {rest}"


def choose_reading(runs: int, wanted: Reading | None = None, of: int | None = None) -> Reading:
    """The reading wanted, by default single-run of one run and mean-of-runs of several.

    `of` is how many runs the judge has, by default the `runs` that count. Raises InputError when
    these are too few or too many for the reading.
    """
    default = Reading.SINGLE if runs == 1 else Reading.MEAN
    if wanted is None:
        return default
    if wanted is not Reading.SINGLE and runs == 1 and of is not None and of > 1:
        raise InputError(
            f"{wanted} reads several runs of each item, and --runs 1 leaves one of {of}; leave "
            "--reading out, or take more: --runs 2"
        )
    if wanted is not Reading.SINGLE and runs == 1:
        raise InputError(
            f"{wanted} reads several runs of each item, and the judge has one; leave --reading "
            "out, or judge more often: judge --runs 4"
        )
    if wanted is Reading.SINGLE and runs > 1:
        raise InputError(
            f"{wanted} reads one run of each item, and the judge has {runs}; "
            f"choose what counts of them, --reading {Reading.MEAN}, or take one alone: --runs 1"
        )
    return wanted


def read(runs: Sequence[Judgment], reading: Reading) -> Verdicts:
    """One item's runs under a reading."""
    counted = (majority(runs),) if reading is Reading.MAJORITY else tuple(runs)
    return Verdicts(tuple(runs), counted)


def majority(judgments: Sequence[Judgment]) -> Judgment:
    """The verdict of most of an item's runs: the first judgment that has it, with its rationale."""
    return judgments[majority_run([judgment.label for judgment in judgments])]


def majority_run(labels: Sequence[str | None]) -> int:
    """Which run speaks for all: the first one with the most frequent label.

    A None, an unreadable verdict, does not vote; of labels that tie the one met first wins; where
    no verdict can be read it is the first run, which then stands for an unreadable verdict.

    >>> majority_run(["a", "b", None, "b"]), majority_run(["b", "a"]), majority_run([None, None])
    (1, 0, 0)
    """
    votes = Counter(label for label in labels if label is not None)
    # max gives the first of equals, and a Counter keeps the order in which labels were met.
    return labels.index(max(votes, key=votes.__getitem__)) if votes else 0
