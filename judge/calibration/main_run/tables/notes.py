"""What a reader must know of a table's numbers: whose judge, how corrected, which intervals."""

from collections import Counter
from collections.abc import Iterable, Sequence

from annotator.measures.interval import LEVEL
from judge.calibration.judge_choice import judge_name
from judge.calibration.main_run.main_run import CellRate, MainRun
from judge.calibration.main_run.model_facts import facts_from_name
from judge.calibration.rates.rate import INVERTED, POST_STRATIFIED
from judge.plural import counted
from judge.reading import counted_runs


def rate_notes(run: MainRun, cells: Sequence[CellRate]) -> tuple[str, ...]:
    """Of a table with judged and corrected rates of these cells."""
    return (
        "judged: turns that the judge calls genuine follow-ups; corrected: with the judge's errors "
        "allowed for; n judged turns in conv. conversations, k samples of each",
        *judge_notes(run),
        *correction_notes(run, [of for of in cells if of.rate]),
        *_left_out(cells),
        _intervals(),
        *model_notes(run),
    )


def label_notes(run: MainRun, cells: Sequence[CellRate], told: str) -> tuple[str, ...]:
    """Of a table with shares of labels; `told` says which."""
    return (
        f"{told}; n judged turns, k samples of each",
        *judge_notes(run),
        *_left_out(cells),
        _intervals(),
        *model_notes(run),
    )


def judge_notes(run: MainRun) -> Iterable[str]:
    """The judge, how its runs are read, and its kappa."""
    runs = f"{run.reading} ({counted_runs(run.judge_runs)})" if run.judge_runs > 1 else run.reading
    yield f"judge: {judge_name(run.judge)}, {runs}, rubric {run.rubric.version}"
    yield f"kappa: of the judge with people, over the labels: {run.quality.text}"


def correction_notes(run: MainRun, cells: Sequence[CellRate]) -> Iterable[str]:
    """How these cells were corrected, for what reasons, and whose labels tell the errors."""
    rates = [of.rate for of in cells if of.rate]
    methods = {rate.method for rate in rates}
    if run.reference_rule:
        yield f"people's labels: {run.reference_rule}"
    if POST_STRATIFIED in methods:
        yield "P post-stratified: by what people say of the cell's items for each judged label"
    if INVERTED in methods:
        yield (
            "I inverted (Rogan and Gladen; of labels, the whole matrix): by the judge's errors on "
            "all labelled items, which are taken to be the same on the cell's turns"
        )
    why = Counter(f"{rate.method or '– not corrected'}: {rate.reason}" for rate in rates)
    for reason, times in sorted(why.items(), key=lambda entry: (-entry[1], entry[0])):
        yield f"{counted(times, 'cell')} {reason}"


def model_notes(run: MainRun) -> Iterable[str]:
    """Where the models' order comes from."""
    told = [of.name for of in run.models.values() if of != facts_from_name(of.name)]
    unsized = [of.name for of in run.models.values() if of.parameters is None]
    order = "models in order of family and size, as their names tell them"
    yield f"{order}; told by a file: {', '.join(told)}" if told else order
    if unsized:
        yield f"no size known, first of their family: {', '.join(unsized)}"


def _left_out(cells: Sequence[CellRate]) -> Iterable[str]:
    """Turns without a verdict, and verdicts that could not be read."""
    if unjudged := sum(of.unjudged for of in cells):
        yield f"not judged in every run that counts, in no rate: {counted(unjudged, 'turn')}"
    if unreadable := sum(of.rate.unreadable for of in cells if of.rate):
        yield (
            f"{counted(unreadable, 'unreadable verdict')}: an outcome of its own, in no label, and "
            "no genuine follow-up"
        )


def _intervals() -> str:
    return (
        f"intervals are {LEVEL:.0%}, by conversation: Wilson's score interval at the effective "
        "number of items, or of inverted rates the delta method; those of corrected rates allow "
        "for the labels' chance too"
    )
