"""A comparison as plain text that fits 100 columns."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from judge.calibration.comparison.comparison import Challenge, Comparison, Difference
from judge.calibration.comparison.study_comparison import ComparedItem, StudyComparison
from judge.calibration.comparison.table_comparison import TableComparison
from judge.calibration.measures.estimate import Estimate
from judge.calibration.measures.interval import BCA
from judge.calibration.measures.mcnemar import McNemar
from judge.calibration.measures.replicates import RESAMPLES
from judge.calibration.pairing import Exclusion
from judge.calibration.report.wording import interval_text, number
from judge.plain_text import WIDTH, cell, cells, new_table, rendered, shortened, wrapped
from judge.plural import counted
from judge.reading import counted_runs


def study_text(found: StudyComparison, *, items: bool = False) -> str:
    """The comparison of a study's judges; with `items` every item that was fixed or broken."""
    comparison = found.comparison
    parts = [
        wrapped(_study_heading(found)),
        _kappas(comparison),
        *[
            _challenge(challenge, comparison, found.categories)
            for challenge in comparison.challenges
        ],
        _exclusions(comparison.n, found.exclusions),
    ]
    if items:
        parts += [
            _item(found, found.items[k], f"{how} by {challenge.challenger.name}")
            for challenge in comparison.challenges
            for how, positions in (("fixed", challenge.fixed), ("broken", challenge.broken))
            for k in positions
        ]
    parts.append(wrapped(filter(None, [selection_text(found), *_closing(comparison)])))
    return "\n".join(part for part in parts if part)


def table_text(found: TableComparison) -> str:
    """The comparison of a file's raters."""
    comparison = found.comparison
    heading = [
        f"{found.source}: {', '.join(found.names)} against {found.reference}",
        f"compared: {_size(comparison)}",
    ]
    parts = [
        wrapped(heading),
        _kappas(comparison),
        *[
            _challenge(challenge, comparison, found.categories)
            for challenge in comparison.challenges
        ],
        _exclusions(comparison.n, found.exclusions),
        wrapped(_closing(comparison)),
    ]
    return "\n".join(part for part in parts if part)


def _study_heading(found: StudyComparison) -> Iterable[str]:
    for place, entrant in enumerate(found.entrants):
        role = "baseline" if place == 0 else "challenger"
        yield f"{role}: {entrant.name}, prompt {entrant.prompt.template}"
    yield f"reference: {found.reference_rule}, under rubric {found.reference_rubric.version}"
    yield f"compared: {_size(found.comparison)}; split: {found.restriction.name}"
    if found.comparison.runs > 1:
        yield f"reading: {found.reading} of {counted_runs(found.comparison.runs)} each"
    yield from found.remarks
    if found.weighted:
        yield "estimates are weighted by the sampling design; counts are not"
    if found.unlike:
        left = found.comparison.n - found.comparison.compared
        yield (
            f"not meant alike by the rubrics, hence left out of the labels' numbers: "
            f"{', '.join(found.unlike)} ({counted(left, 'item')}); sigma is compared on all"
        )


def _size(comparison: Comparison) -> str:
    size = counted(comparison.n, "item")
    return f"{size} in {counted(comparison.units, 'cluster')}" if comparison.clustered else size


def _kappas(comparison: Comparison) -> str:
    contestants = (comparison.baseline, *[each.challenger for each in comparison.challenges])
    sigma = any(contestant.sigma.value is not None for contestant in contestants)
    headers = ["", "kappa (labels)", "95% CI", *(["kappa (sigma)", "95% CI"] if sigma else [])]
    table = new_table(*headers)
    for contestant in contestants:
        row = [contestant.name, *_with_interval(contestant.labels)]
        table.add_row(*cells(*row, *(_with_interval(contestant.sigma) if sigma else [])))
    return rendered(table)


def _with_interval(estimate: Estimate) -> tuple[str, str]:
    value = "undefined" if estimate.value is None else number(estimate.value)
    return value, interval_text(estimate.interval).removeprefix("95% CI ")


def _challenge(challenge: Challenge, comparison: Comparison, categories: Sequence[str]) -> str:
    parts = [
        wrapped([f"{challenge.challenger.name} less {comparison.baseline.name}"]),
        _differences(challenge, comparison),
        wrapped(_tests(challenge, comparison)),
        _labels(challenge),
        _cross(challenge, comparison, categories),
    ]
    return "\n".join(part for part in parts if part)


def _differences(challenge: Challenge, comparison: Comparison) -> str:
    several = len(comparison.challenges) > 1
    headers = ["difference", "", "95% CI", "p", "P(>0)", "swap p"]
    table = new_table(*headers, *(["Holm p"] if several else []))
    for name, difference in _rows(challenge):
        estimate, permutation = difference.estimate, difference.permutation
        row = [
            name,
            "undefined" if estimate.value is None else f"{estimate.value:+.3f}",
            interval_text(estimate.interval).removeprefix("95% CI "),
            p_text(estimate.two_sided_p),
            number(estimate.above_zero, 2),
            p_text(permutation.p if permutation else None),
        ]
        table.add_row(*cells(*row, *([p_text(difference.adjusted_p)] if several else [])))
    return rendered(table)


def _rows(challenge: Challenge) -> list[tuple[str, Difference]]:
    rows = [("kappa (labels)", challenge.labels)]
    if challenge.sigma.estimate.value is not None or challenge.right_sigma is not None:
        rows.append(("kappa (sigma)", challenge.sigma))
    return rows


def _tests(challenge: Challenge, comparison: Comparison) -> Iterable[str]:
    for name, difference in _rows(challenge):
        yield f"{name}: {verdict_text(difference, challenge.challenger.name, comparison)}"
        if difference.estimate.interval.method != BCA and difference.estimate.value is not None:
            yield f"{name}: interval, {difference.estimate.interval.method}"
        for note in difference.estimate.notes:
            yield f"{name}: {note}"
    for name, test in (("labels", challenge.right_labels), ("sigma", challenge.right_sigma)):
        if test is not None:
            yield _exact(name, test, comparison)
    yield (
        f"items fixed: {len(challenge.fixed)}, broken: {len(challenge.broken)}"
        + (", in every run" if comparison.runs > 1 else "")
    )


def verdict_text(difference: Difference, name: str, comparison: Comparison) -> str:
    """What the difference comes to in words, at 5% after Holm's adjustment."""
    if difference.estimate.value is None:
        return f"undefined, {difference.estimate.undefined}"
    if difference.verdict != "inconclusive":
        return f"{name} is {difference.verdict}"
    if difference.detectable is None:
        return "inconclusive; what these items could have detected cannot be told"
    return (
        f"inconclusive; {_size(comparison)} could have detected a difference of "
        f"±{difference.detectable:.2f} (80% power, 5% two-sided)"
    )


def p_text(p: float | None) -> str:
    """A p value, never 0.

    >>> p_text(0.0004), p_text(0.0312), p_text(None)
    ('<0.001', '0.031', '–')
    """
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _exact(name: str, test: McNemar, comparison: Comparison) -> str:
    text = (
        f"{name} right in one only: {test.only_a} by the baseline, {test.only_b} by the "
        f"challenger; exact McNemar p = {test.p:.3g}"
    )
    if test.note:
        text += f" ({test.note})"
    if comparison.clustered:
        text += "; it takes items for independent, which the swap p does not"
    return text


def _labels(challenge: Challenge) -> str:
    table = new_table("F1 by label")
    for header in ("people", "before", "after", "difference", "95% CI", "p", "BH p"):
        table.add_column(cell(header), justify="right")
    for change in challenge.by_label:
        value = change.difference.value
        table.add_row(
            *cells(
                change.category,
                str(change.support),
                number(change.before, 2),
                number(change.after, 2),
                "–" if value is None else f"{value:+.2f}",
                interval_text(change.difference.interval).removeprefix("95% CI ")
                if change.p is not None
                else "–",
                p_text(change.p),
                p_text(change.adjusted_p),
            )
        )
    return rendered(table)


def _cross(challenge: Challenge, comparison: Comparison, categories: Sequence[str]) -> str:
    """What the two said of the same items."""
    numbers = [str(k) for k in range(1, len(categories) + 1)]
    table = new_table("baseline ↓  challenger →", "")
    for header in (*numbers, "other"):
        table.add_column(cell(header), justify="right")
    rows = zip((*categories, "other"), (*numbers, ""), challenge.cross.counts, strict=True)
    for name, key, counts in rows:
        shown = [str(count) if count else "·" for count in counts]
        table.add_row(*cells(name, key, *shown))
    return rendered(table)


def _exclusions(n: int, exclusions: Sequence[Exclusion]) -> str:
    table: Table = new_table("items", "")
    table.add_row(*cells("compared", str(n)))
    for exclusion in exclusions:
        table.add_row(*cells(exclusion.reason, str(exclusion.count)))
    return rendered(table)


def selection_text(found: StudyComparison) -> str | None:
    """How much choosing the best of all prompts so far flatters it; None of a single prompt."""
    if found.tried < 2 or found.optimism is None:
        return None
    return (
        f"{counted(found.tried, 'prompt')} of rubric {found.entrants[-1].rubric.version} have "
        f"judged in this study; the best of so many, all equally good, would on average look "
        f"{found.optimism:.3f} better than it is on these items"
    )


def _closing(comparison: Comparison) -> Iterable[str]:
    what = "clusters" if comparison.clustered else "items"
    yield (
        f"intervals and p: {RESAMPLES:,} resamples of the {what}, paired, seed {comparison.seed}; "
        "swap p: verdicts of the two exchanged at random"
    )


def _item(found: StudyComparison, item: ComparedItem, how: str) -> str:
    texts = [(message.role, message.content) for message in item.pair.item.messages]
    texts += [("answer", item.pair.item.answer), ("turn", item.pair.item.turn)]
    for entrant, verdicts in zip(found.entrants, item.verdicts, strict=True):
        for verdict in verdicts:
            said = verdict.label or f"unreadable, {verdict.invalid_reason}"
            texts.append((entrant.name, f"{said}: {verdict.rationale or verdict.raw}"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_row(*cells("item", f"{item.pair.item_id}, {how}"))
    grid.add_row(*cells("people", item.pair.reference))
    for name, text in texts:
        grid.add_row(*cells(name, shortened(text) or "(empty)"))
    return "─" * WIDTH + "\n" + rendered(grid)


def forest_rows(comparison: Comparison) -> list[tuple[str, Difference]]:
    """What a forest plot of the differences draws, row by row."""
    return [
        (f"{challenge.challenger.name}, {name.removeprefix('kappa ').strip('()')}", difference)
        for challenge in comparison.challenges
        for name, difference in _rows(challenge)
    ]
