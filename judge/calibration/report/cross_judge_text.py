"""The comparison of judges as plain text that fits 100 columns."""

from collections.abc import Iterable

from annotator.measures.alpha import Alpha
from annotator.measures.interval import Interval
from annotator.measures.kappa import Kappa
from annotator.measures.replicates import RESAMPLES
from judge.calibration.cross_judge import CrossJudge, JudgeRow
from judge.calibration.report.wording import band_text, caveats, interval_text, number, size
from judge.plain_text import cells, new_table, rendered, wrapped
from judge.plural import counted
from judge.reading import to_complete
from rubrics import short


def comparison(found: CrossJudge) -> str:
    """The whole view as text without any control sequence."""
    rubric = found.rubric
    head = f"rubric {rubric.version} ({short(rubric.hash)}), {counted(len(found.judges), 'judge')}"
    parts = [wrapped([head]), _judges(found), _pairs(found), wrapped(_closing(found))]
    return "\n".join(part for part in parts if part)


def _judges(found: CrossJudge) -> str:
    table = new_table("")
    table.add_column("judge", overflow="fold")
    for header in ("items", "runs", "invalid", "flips", "two runs", "alpha over runs"):
        table.add_column(header, justify="right")
    for place, row in enumerate(found.judges, start=1):
        sizes = (f"{row.items:,}", str(row.runs), f"{row.invalid:,}")
        table.add_row(*cells(str(place), row.name, *sizes, *_repeats(row)))
    return rendered(table) + wrapped(_notes(found))


def _repeats(row: JudgeRow) -> tuple[str, str, str]:
    if row.consistency is None:
        return "", "", ""
    flips, alpha = row.consistency.flips, row.consistency.alpha
    return number(flips.flip_rate, 2), number(flips.pairwise, 2), _estimate(alpha)


def _apart(found: CrossJudge) -> Iterable[str]:
    """What tells judges of one model apart."""
    for row in found.judges:
        namesakes = [one for one in found.judges if one.judge.judge.model == row.judge.judge.model]
        if len(namesakes) > 1:
            parameters = [one.judge.judge.parameters for one in namesakes]
            differing = [
                f"{name} {row.judge.judge.parameters.get(name, 'not sent')}"
                for name in sorted({name for each in parameters for name in each})
                if len({repr(each.get(name)) for each in parameters}) > 1
            ]
            yield f"{row.name}: {', '.join([f'prompt {row.template}', *differing])}"


def _notes(found: CrossJudge) -> Iterable[str]:
    yield from _apart(found)
    several = [row for row in found.judges if row.consistency]
    for row in found.judges:
        if row.incomplete:
            left = counted(row.incomplete, "item")
            mend = to_complete(row.runs)
            yield f"{row.name}: {left} judged in some of its runs only, left out; {mend}"
    for row in several:
        if row.consistency.flips.undefined:
            yield f"{row.name}: flips undefined, {row.consistency.flips.undefined}"
    if several:
        yield (
            "flips: share of items on which not all runs say the same; two runs: share on which "
            "two of them differ"
        )
    yield from caveats((f"alpha over runs of {row.name}", row.consistency.alpha) for row in several)


def _pairs(found: CrossJudge) -> str:
    if not found.pairs:
        return "agreement of judges: unknown, only one has judged\n"
    numbers = {row.judge.judge_id: k for k, row in enumerate(found.judges, start=1)}
    table = new_table("judges")
    for header in ("n", "agreement", "kappa", "95% CI"):
        table.add_column(header, justify="right")
    table.add_column("band")
    rows: list[tuple[str, Kappa | Alpha]] = []
    for pair in found.pairs:
        ids = pair.first.judge.judge_id, pair.second.judge.judge_id
        kappa, name = pair.kappa, " – ".join(str(numbers[judge_id]) for judge_id in ids)
        observed = number(kappa.agreement.observed, 2)
        values = (f"{kappa.items:,}", observed, _value(kappa.value), _bounds(kappa.interval))
        table.add_row(*cells(name, *values, band_text(kappa)))
        rows.append((f"kappa of {name}", kappa))
    text = rendered(table)
    if len(found.judges) > 2:
        rows.append(("alpha", found.alpha))
        alpha = found.alpha
        text += wrapped(
            [
                f"Krippendorff's nominal alpha of all {len(found.judges)}: {_value(alpha.value)}, "
                f"{interval_text(alpha.interval)}, {size(alpha)}"
            ]
        )
    return text + wrapped(caveats(rows))


def _closing(found: CrossJudge) -> Iterable[str]:
    if any(row.runs > 1 for row in found.judges):
        yield "where a judge has several runs its majority label is compared; runs are held fixed"
    yield "an unreadable verdict is an outcome of its own; agreeing judges can be wrong together"
    yield f"intervals: {RESAMPLES:,} resamples of the conversations, seed {found.seed}"


def _estimate(found: Alpha) -> str:
    if found.value is None:
        return "undefined"
    return f"{_value(found.value)} ({_bounds(found.interval)})"


def _bounds(interval: Interval) -> str:
    return interval_text(interval).removeprefix("95% CI ")


def _value(value: float | None) -> str:
    return "undefined" if value is None else number(value)
