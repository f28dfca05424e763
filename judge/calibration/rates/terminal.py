"""Rates as plain text: tables that fit 100 columns."""

from collections import Counter
from collections.abc import Iterable

from annotator.measures.double_sample import Corrected
from annotator.measures.interval import Interval
from judge.calibration.judge_choice import judge_name
from judge.calibration.rates.rate import INVERTED, POST_STRATIFIED, Rate, RawRate, StudyRates
from judge.plain_text import cells, new_table, rendered, wrapped
from judge.plural import counted
from judge.reading import counted_runs
from rubrics import short

BELOW = 0.05  # p, from which on the labelled items look unlike the turns


def report(rates: StudyRates) -> str:
    """The whole report as text without any control sequence."""
    parts = [
        wrapped(_heading(rates)),
        wrapped(_whole(rates.whole)),
        _labels(rates.whole),
        _cells(rates.cells),
        wrapped(_reasons(rates.cells)),
        wrapped(_closing(rates)),
    ]
    return "\n".join(part for part in parts if part)


def _heading(rates: StudyRates) -> Iterable[str]:
    rubric, sample, pairing = rates.rubric, rates.sample, rates.pairing
    yield f"rubric {rubric.version} ({short(rubric.hash)}), judge {judge_name(rates.judge)}"
    if rates.runs > 1:
        yield f"reading: {rates.reading}, {counted_runs(rates.runs)}"
    yield f"reference: {rates.reference_rule}"
    if sample:
        yield f"sample: {sample.drawn} of {sample.population} distinct items, {sample.design}"
    left = ", ".join(f"{e.count} {e.reason}" for e in pairing.exclusions)
    yield f"labelled and judged: {len(pairing.pairs)} of {pairing.items}" + (
        f" ({left})" if left else ""
    )
    if rates.errors:
        se, sp = rates.errors.sensitivity, rates.errors.specificity
        yield f"judge's sigma against people's: sensitivity {se:.3f}, specificity {sp:.3f}"


def _whole(whole: Rate) -> Iterable[str]:
    yield (
        f"genuine follow-ups, whole run: {_estimate(whole.sigma)} (judge alone "
        f"{_estimate(whole.raw)}), {counted(whole.turns, 'turn')} in "
        f"{counted(whole.conversations, 'conversation')}"
    )
    yield f"correction: {whole.method or 'none'}: {whole.reason}"
    test = whole.representativeness
    if test and test.p is not None:
        unlike = "; the labelled items look unlike the others" if test.p < BELOW else ""
        yield (
            "does the judge label the labelled items like all turns? Wald test by conversation, "
            f"chi-square({test.degrees}) = {test.chi_square:.2f}, p = {test.p:.3f}{unlike}"
        )
    elif test:
        yield f"no test whether the labelled items are like all turns: {test.undefined}"
    if whole.unreadable:
        yield (
            f"{counted(whole.unreadable, 'unreadable verdict')}: an outcome of its own, in no "
            "judged label, and judged sigma 0"
        )
    if whole.unjudged:
        yield f"not judged in every run that counts, left out: {counted(whole.unjudged, 'turn')}"


def _labels(whole: Rate) -> str:
    table = new_table("label, whole run, %")
    for header in ("judge alone", "95% CI", "corrected", "95% CI"):
        table.add_column(header, justify="right")
    for label in whole.labels:
        table.add_row(
            *cells(
                label.category,
                _percent(label.raw.value),
                _range(label.raw.interval),
                _percent(label.corrected.clipped),
                _range(label.corrected.clipped_interval),
            )
        )
    reasons = sorted({label.corrected.undefined or "" for label in whole.labels} - {""})
    notes = sorted({note for label in whole.labels for note in label.corrected.notes})
    return rendered(table) + wrapped([*(f"no corrected shares: {r}" for r in reasons), *notes])


def _cells(rates: tuple[Rate, ...]) -> str:
    """One table per model and setting, so that the rest fits."""
    parts = []
    groups: dict[tuple[str, str], list[Rate]] = {}
    for rate in rates:
        assert rate.cell
        groups.setdefault((rate.cell.model or "unknown model", rate.cell.setting), []).append(rate)
    for (model, setting), group in groups.items():
        table = new_table("data set", "T", "perturbation")
        for header in ("turns", "k", "SD", "judge", "95% CI", "rate", "95% CI", "labels"):
            table.add_column(header, justify="right")
        for rate in group:
            table.add_row(*cells(*_row(rate)))
        parts.append(wrapped([f"{model}, {setting}, %"]) + rendered(table))
    return "\n".join(parts)


def _row(rate: Rate) -> Iterable[str]:
    cell = rate.cell
    assert cell
    yield cell.dataset
    yield "?" if cell.temperature is None else f"{cell.temperature:g}"
    yield ", ".join(filter(None, (cell.perturbation, cell.condition)))
    yield f"{rate.turns:,}"
    yield str(rate.samples.k)
    yield _percent(rate.samples.sd)
    yield _percent(rate.raw.value)
    yield _range(rate.raw.interval)
    yield _percent(rate.sigma.clipped)
    yield _range(rate.sigma.clipped_interval)
    method = {POST_STRATIFIED: "P", INVERTED: "I"}.get(rate.method or "", "–")
    yield f"{method} {rate.labelled}"


def _reasons(rates: tuple[Rate, ...]) -> Iterable[str]:
    methods = {rate.method for rate in rates}
    yield "rate: corrected; labels: how, and how many of the cell's items are labelled"
    if POST_STRATIFIED in methods:
        yield "P post-stratified, by what people say of the cell's items for each judged label"
    if INVERTED in methods:
        yield (
            "I inverted (Rogan and Gladen), by the judge's errors on all labelled items: they are "
            "taken to be the same on the cell's turns"
        )
    why = Counter(f"{rate.method or '– not corrected'}: {rate.reason}" for rate in rates)
    for reason, times in sorted(why.items(), key=lambda entry: (-entry[1], entry[0])):
        yield f"· {counted(times, 'cell')} {reason}"
    if below := sum((rate.sigma.interval.high or 0) < 0 for rate in rates):
        yield (
            f"{counted(below, 'cell')} with fewer judged follow-ups than the judge's errors alone "
            "would give: these errors do not hold there, and the 0 is no sure one"
        )
    if unreadable := sum(rate.unreadable > 0 for rate in rates):
        yield f"{counted(unreadable, 'cell')} with unreadable verdicts, which count as sigma 0"
    if lacking := sum(rate.unjudged > 0 for rate in rates):
        yield f"{counted(lacking, 'cell')} with turns that are not judged: they are left out"


def _closing(rates: StudyRates) -> Iterable[str]:
    yield (
        "intervals are 95%, by conversation, and allow for the turns' and the labels' chance; "
        "k samples of each turn, SD of their rates in percentage points"
    )


def _estimate(found: Corrected | RawRate) -> str:
    corrected = isinstance(found, Corrected)
    value = found.clipped if corrected else found.value
    if value is None:
        return "not corrected"
    return f"{_percent(value)}% [{_range(found.clipped_interval if corrected else found.interval)}]"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _range(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return "no CI"
    low, high = (min(1.0, max(0.0, end)) for end in (interval.low, interval.high))
    return f"{_percent(low)}–{_percent(high)}"
