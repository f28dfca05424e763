"""A comparison as plain text that fits 100 columns."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from annotator.measures.estimate import Estimate
from annotator.measures.interval import BCA
from annotator.measures.replicates import RESAMPLES
from judge.calibration.comparison.challenge_tables import cross_table, label_table, p_text
from judge.calibration.comparison.comparison import Challenge, Comparison
from judge.calibration.comparison.difference import Difference
from judge.calibration.comparison.right_answers import RightAnswers
from judge.calibration.comparison.study_comparison import StudyComparison
from judge.calibration.comparison.study_ratings import ComparedItem
from judge.calibration.comparison.table_comparison import TableComparison
from judge.calibration.pairing import Exclusion
from judge.calibration.report.wording import interval_text, number
from judge.plain_text import WIDTH, cells, new_table, rendered, shortened, wrapped
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


def table_text(found: TableComparison, *, items: bool = False) -> str:
    """The comparison of a file's raters; with `items` the names of those fixed or broken."""
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
        wrapped(_changed(found)) if items else "",
        wrapped(_closing(comparison)),
    ]
    return "\n".join(part for part in parts if part)


def _changed(found: TableComparison) -> Iterable[str]:
    for challenge in found.comparison.challenges:
        for how, positions in (("fixed", challenge.fixed), ("broken", challenge.broken)):
            names = ", ".join(found.items[k] for k in positions) or "none"
            yield f"items {how} by {challenge.challenger.name}: {names}"


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
        label_table(challenge),
        cross_table(challenge, categories),
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
            p_text(difference.p),
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
        names = challenge.challenger.name, comparison.baseline.name
        yield f"{name}: {verdict_text(difference, names[0], comparison, names[1])}"
        if difference.estimate.interval.method != BCA and difference.estimate.value is not None:
            yield f"{name}: interval, {difference.estimate.interval.method}"
        if difference.standard_error is not None and difference.large_sample.low is not None:
            error, large = difference.standard_error, interval_text(difference.large_sample)
            yield f"{name}: by the large-sample paired SE of {error:.3f}, {large}"
        for note in difference.estimate.notes:
            yield f"{name}: {note}"
    for name, test in (("labels", challenge.right_labels), ("sigma", challenge.right_sigma)):
        if test is not None:
            yield _exact(name, test, comparison)
    yield (
        f"items fixed: {len(challenge.fixed)}, broken: {len(challenge.broken)}"
        + (", in every run" if comparison.runs > 1 else "")
    )


def verdict_text(
    difference: Difference, name: str, comparison: Comparison, baseline: str | None = None
) -> str:
    """What the difference comes to in words, at 5% after Holm's adjustment."""
    if difference.estimate.value is None:
        return f"undefined, {difference.estimate.undefined}"
    if difference.verdict != "inconclusive":
        if difference.verdict == "worse" and baseline is not None:
            return f"{baseline} is better"
        return f"{name} is {difference.verdict}"
    if difference.detectable is None:
        return "inconclusive; what these items could have detected cannot be told"
    return (
        f"inconclusive; {_size(comparison)} could have detected a difference of "
        f"±{difference.detectable:.2f} (80% power, 5% two-sided)"
    )


def _exact(name: str, right: RightAnswers, comparison: Comparison) -> str:
    test = right.test
    text = (
        f"{name} right in one only: {test.only_a} by the baseline, {test.only_b} by the "
        f"challenger; exact McNemar p = {test.p:.3g}"
    )
    if test.note:
        text += f" ({test.note})"
    if right.swapped is not None:
        text += (
            ", which takes items for independent; exchanging whole conversations, "
            f"p = {right.swapped.p:.3g}"
        )
    return text


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
