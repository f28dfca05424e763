"""What the terminal and the page say of a calibration, in the same words."""

from collections import Counter
from collections.abc import Iterable

from annotator.annotation import Annotation
from annotator.measures.alpha import Alpha
from annotator.measures.estimate import Estimate
from annotator.measures.interval import BCA, Interval
from annotator.measures.kappa import Kappa
from annotator.measures.replicates import FEW_RUNS
from judge.calibration.calibration import Calibration
from judge.calibration.pairing import INCOMPLETE, UNDECIDED, Pair
from judge.calibration.sampling.sample import Sample
from judge.plural import counted
from judge.reading import Reading, counted_runs, to_complete
from rubrics import short


def number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def interval_text(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return "no CI"
    to = "–" if interval.low >= 0 else " to "
    return f"95% CI {interval.low:.2f}{to}{interval.high:.2f}"


def band_text(kappa: Kappa) -> str:
    """The band, and that of the interval's low end where it is another one."""
    if kappa.band is None:
        return ""
    if kappa.lower_band in (None, kappa.band):
        return kappa.band
    return f"{kappa.band} (low end: {kappa.lower_band})"


def kappa_rows(calibration: Calibration) -> list[tuple[str, Kappa]]:
    """The kappas in the order of a report, with their names."""
    kappas = calibration.kappas
    rows = [
        (f"kappa ({len(calibration.rubric.categories)} labels)", kappas.labels),
        ("kappa (sigma)", kappas.sigma),
    ]
    if calibration.invalid:
        rows.append(("kappa (readable)", kappas.parseable))
    return rows


def headline(calibration: Calibration) -> str:
    """The agreement in one line, and what it says nothing about."""
    kappa = calibration.kappas.labels
    value = "undefined" if kappa.value is None else number(kappa.value)
    found = f"kappa {value}, {interval_text(kappa.interval)}, n = {calibration.n}"
    if calibration.judge_runs > 1:
        runs = counted_runs(calibration.runs, calibration.judge_runs)
        found += f", {calibration.reading} ({runs})"
    if calibration.judge.judge.reads_prompt:
        return found
    return f"{found}: of the lexical baseline, which reads no prompt; prompt.md is not calibrated"


def sample_text(sample: Sample) -> str:
    text = (
        f"{sample.drawn} of {sample.population} distinct items, {sample.design}, seed {sample.seed}"
    )
    return f"{text}; {sample.caveat}" if sample.caveat else text


COEFFICIENTS = {
    "agreement": "raw agreement",
    "pi": "Scott's pi",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
    "brennan_prediger": "Brennan-Prediger",
    "kappa_max": "largest kappa for these margins",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "prevalence_index": "prevalence index",
    "bias_index": "bias index",
}


def coefficient_rows(calibration: Calibration) -> list[tuple[str, str, str, str, str]]:
    """The other coefficients: name, then value and interval of the labels and of sigma."""
    labels, sigma = calibration.coefficients.labels, calibration.coefficients.sigma
    return [
        (name, *_value(labels.get(key)), *_value(sigma.get(key)))
        for key, name in COEFFICIENTS.items()
    ]


def _value(estimate: Estimate | None) -> tuple[str, str]:
    if estimate is None:
        return "", ""
    value = "undefined" if estimate.value is None else number(estimate.value)
    return value, interval_text(estimate.interval).removeprefix("95% CI ")


def split_text(calibration: Calibration) -> str:
    """Which half of the questions counts, and how often the test half was looked at."""
    found = calibration.restriction
    if found.split_hash is None:
        return "none frozen, all items count; a prompt chosen by them has no untouched test left"
    opened = f"the test half was opened {counted(found.openings, 'time')}"
    late = f"; labelled after the freeze: {found.late}" if found.late else ""
    if found.opening is None:
        return f"{found.name} ({short(found.split_hash)}); {opened}{late}"
    again = f", {ordinal(found.opening.of_this_judge)} by this judge"
    return (
        f"{found.name} ({short(found.split_hash)}), opened for the "
        f"{ordinal(found.opening.number)} time{again}{late}"
    )


def ordinal(number: int) -> str:
    """A place in a row.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def size(found: Kappa | Alpha) -> str:
    """How many items a number rests on, and from how many conversations they come."""
    return f"n = {found.items} in {counted(found.conversations, 'conversation')}"


def references(calibration: Calibration) -> str:
    """How many people the reference labels rest on, and what people want to talk about."""
    by_labels = calibration.pairing.items_by_labels.items()
    rest = ", ".join(f"{counted(labels, 'label')} on {items}" for labels, items in by_labels)
    return (
        f"labels per item compared: {rest or 'none'}; left out as ties: {calibration.ties}; "
        f"flagged for discussion: {calibration.flagged}"
    )


def said(annotation: Annotation) -> str:
    """What one person said of an item, but for the note."""
    parts = [annotation.category or f"skipped: {annotation.skip_reason}", annotation.confidence]
    return ", ".join(filter(None, [*parts, "flagged" if annotation.flagged else None]))


def runs_text(calibration: Calibration) -> list[str]:
    """How several runs of the judge are read, and how far they agree; nothing of a single one."""
    runs, flips = calibration.runs, calibration.flips
    if calibration.judge_runs == 1:
        return []
    those = f"the {counted_runs(runs, calibration.judge_runs).removeprefix('the ')}"
    how = {
        Reading.SINGLE: f"{those} counts",
        Reading.MEAN: f"each of {those} counts, with weight 1/{runs}",
        Reading.MAJORITY: f"the most frequent label of {those}",
    }[calibration.reading]
    lines = [f"reading: {calibration.reading}, {how}"]
    if runs == 1:
        return lines
    if flips.undefined:
        return [*lines, f"self-consistency: undefined, {flips.undefined}"]
    return [
        *lines,
        f"self-consistency: of {counted(flips.items, 'item')} judged in each of {those}, "
        f"{number(flips.flip_rate, 2)} got more than one outcome; two runs differ on "
        f"{number(flips.pairwise, 2)}",
    ]


def table_text(calibration: Calibration) -> str | None:
    """What the counts of matrix and label scores are, where they are not items, or not weighted."""
    times, said = calibration.counts_per_item, []
    if times > 1:
        said.append(f"in these two tables each item counts {times} times, once per run")
    if calibration.effective_items is not None:
        said.append(
            "counts are not weighted; every other number is, by the sample's design: "
            f"{counted(calibration.n, 'item')} worth {calibration.effective_items:.0f} equal ones"
        )
    return "; ".join(said) or None


def intervals_text(calibration: Calibration, resamples: int) -> str:
    """What the intervals allow for, and what they do not."""
    text = f"{resamples:,} resamples of the conversations, seed {calibration.seed}"
    if calibration.runs == 1:
        return text
    if calibration.reading is Reading.MEAN and calibration.runs >= FEW_RUNS:
        return f"{text}; they allow for what fresh runs would change"
    return f"{text}; the runs are held fixed, fresh runs would add to the width"


def run_kappas_text(calibration: Calibration) -> str | None:
    """How far the runs' own kappas are apart, and what each way of reading them gives."""
    found = calibration.run_kappas
    if found is None:
        return None
    each = ", ".join(number(kappa) for kappa in found.each)
    spread = "" if found.spread is None else f", standard deviation {number(found.spread)}"
    readings = " and ".join(
        f"{number(estimate.value)} as {reading}"
        for reading, estimate in (
            (Reading.MEAN, found.mean_of_runs),
            (Reading.MAJORITY, found.majority_of_k),
        )
    )
    return f"kappa of each run: {each}{spread}; of all runs {readings}"


def judged_text(pair: Pair) -> str:
    """What the judge said of an item: its label, or where runs differ how many said what."""
    if pair.outcome is not None:
        return pair.outcome
    times = Counter(pair.outcomes)
    return ", ".join(f"{outcome} ({times[outcome]} of {len(pair.outcomes)})" for outcome in times)


def chance(calibration: Calibration) -> str:
    """What kappa sets the raw agreement against; a high share is why kappa can be low."""
    labels, sigma = calibration.kappas.labels.agreement, calibration.kappas.sigma.agreement
    if not calibration.n:
        return "nothing is compared: every item that several people labelled is a tie"
    return (
        f"by chance alone they would agree on {number(labels.expected, 2)} of the labels and "
        f"{number(sigma.expected, 2)} of sigma; kappa is what lies beyond"
    )


def unreadable(calibration: Calibration) -> str | None:
    """How many verdicts could not be read, if any, and why."""
    if not calibration.invalid:
        return None
    listed = ", ".join(f"{count} {reason}" for reason, count in calibration.invalid.items())
    return (
        f"{sum(calibration.invalid.values())} of {calibration.confusion.n} verdicts could not be "
        "read, "
        f"each a disagreement: {listed}"
    )


def left_out(calibration: Calibration) -> list[str]:
    """What else is not counted, and what would have it counted."""
    lines = [
        f"labels made under rubric {version}, left out: {count}"
        for version, count in calibration.other_labels.items()
    ]
    if count := calibration.pairing.excluded(INCOMPLETE):
        mend = to_complete(calibration.runs, calibration.complete_runs)
        lines.append(f"{counted(count, 'item')} {INCOMPLETE}: {mend}")
    if count := calibration.pairing.excluded(UNDECIDED):
        lines.append(f"{counted(count, 'item')} to decide: annotate adjudicate")
    return lines


def caveats(rows: Iterable[tuple[str, Kappa | Alpha]]) -> list[str]:
    """Why a number or its interval is missing or unusual, once for all that it holds of."""
    names: dict[str, list[str]] = {}
    for name, found in rows:
        for caveat in _caveats(found):
            names.setdefault(caveat, []).append(name)
    return [f"{', '.join(of)}: {caveat}" for caveat, of in names.items()]


def hint(calibration: Calibration) -> str:
    """How many labels there are, how many more would do, and whether the sample has them."""
    more, left = calibration.more_labels, calibration.pairing.unlabelled
    have = f"{counted(calibration.n, 'item')} compared"
    if more is None:
        return f"{have}; how many more would give an interval cannot be estimated"
    width = "the 95% interval of kappa within ±0.10"
    if more == 0:
        return f"{have}; enough for {width}"
    estimate = f"{have}; an estimated {more} more would bring {width}"
    if more <= left:
        return estimate
    return f"{estimate}, which this sample cannot give: it has {left} left to label"


def _caveats(found: Kappa | Alpha) -> Iterable[str]:
    if found.undefined:
        yield f"undefined, {found.undefined}"
        return
    yield from found.notes
    interval = found.interval
    if interval.method != BCA:
        yield f"interval: {interval.method}"
    if interval.undefined:
        yield f"undefined in {counted(interval.undefined, 'resample')}, left out of the interval"
