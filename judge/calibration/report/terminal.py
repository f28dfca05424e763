"""A calibration as plain text: tables that fit 100 columns, study text that cannot act."""

import shlex
from collections.abc import Iterable

from rich.table import Table

from annotator.measures.alpha import Alpha
from annotator.measures.confusion import INVALID
from annotator.measures.estimate import Estimate
from annotator.measures.kappa import Kappa
from annotator.measures.replicates import RESAMPLES
from generation.study import Study
from judge.calibration.calibration import Calibration
from judge.calibration.judge_choice import judge_name
from judge.calibration.pairing import Pair
from judge.calibration.report.human_text import human_text
from judge.calibration.report.wording import (
    band_text,
    caveats,
    chance,
    coefficient_rows,
    hint,
    interval_text,
    intervals_text,
    judged_text,
    kappa_rows,
    left_out,
    number,
    references,
    run_kappas_text,
    runs_text,
    said,
    sample_text,
    size,
    split_text,
    table_text,
    unreadable,
)
from judge.plain_text import WIDTH, cell, cells, new_table, rendered, shortened, wrapped
from judge.plural import counted
from judge.reading import Reading
from rubrics import short


def report(calibration: Calibration, study: Study, *, disagreements: bool = False) -> str:
    """The whole report as text without any control sequence."""
    parts = [
        wrapped(_heading(calibration)),
        _kappas(calibration),
        wrapped(_caveats(calibration)),
        _coefficients(calibration),
        wrapped(filter(None, [table_text(calibration)])),
        _matrix(calibration),
        _labels(calibration),
        _exclusions(calibration),
        _human(calibration),
        _beyond_pairs(calibration),
    ]
    if disagreements:
        parts += [_disagreement(pair) for pair in calibration.disagreements]
    parts.append(wrapped(_closing(calibration)) + _next(calibration, study, disagreements) + "\n")
    return "\n".join(part for part in parts if part)


def _heading(calibration: Calibration) -> Iterable[str]:
    rubric, sample = calibration.rubric, calibration.sample
    yield f"rubric {rubric.version} ({short(rubric.hash)}), judge {judge_name(calibration.judge)}"
    yield from runs_text(calibration)
    yield f"reference: {calibration.reference_rule}"
    if sample:
        yield f"sample: {sample_text(sample)}"
    yield f"split: {split_text(calibration)}"
    yield f"compared: {size(calibration.kappas.labels)}"
    yield references(calibration)
    if calibration.other_judges:
        names = ", ".join(judge_name(judge) for judge in calibration.other_judges)
        yield f"other judges, choose with --judge: {names}"


def _kappas(calibration: Calibration) -> str:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, kappa in kappa_rows(calibration):
        agreement = kappa.agreement
        grid.add_row(
            *cells(
                name,
                number(kappa.value) if kappa.value is not None else "undefined",
                interval_text(kappa.interval),
                f"n = {agreement.n}",
                f"agreement {number(agreement.observed, 2)}",
                band_text(kappa),
            )
        )
    return rendered(grid)


def _coefficients(calibration: Calibration) -> str:
    table = new_table("coefficient", "labels", "95% CI", "sigma", "95% CI")
    for row in coefficient_rows(calibration):
        table.add_row(*cells(*row))
    return rendered(table)


def _caveats(calibration: Calibration) -> Iterable[str]:
    """What a reader must know of the numbers above, named row by row."""
    yield chance(calibration)
    yield from caveats(kappa_rows(calibration))
    if text := unreadable(calibration):
        yield text
    if text := run_kappas_text(calibration):
        yield text


def _matrix(calibration: Calibration) -> str:
    table = new_table("people ↓  judge →", "")
    categories = calibration.rubric.categories
    for header in (*(category.key for category in categories), INVALID, "sum"):
        table.add_column(cell(header), justify="right")
    for category, counts in zip(categories, calibration.confusion.counts, strict=True):
        shown = [str(count) if count else "·" for count in counts]
        table.add_row(*cells(category.id, category.key, *shown, str(sum(counts))))
    sums = [str(total) for total in calibration.confusion.table.sum(axis=0).tolist()]
    table.add_row(*cells("sum", "", *sums, str(calibration.confusion.n)))
    return rendered(table)


def _labels(calibration: Calibration) -> str:
    table = new_table("label")
    table.columns[0].min_width = max(len(of.category) for of in calibration.label_scores)
    for header in ("people", "judge", "both", "precision", "recall", "F1", "kappa"):
        table.add_column(header, justify="right")
    for scores in calibration.label_scores:
        counts = (str(count) for count in (scores.support, scores.judged, scores.hits))
        found = (scores.precision, scores.recall, scores.f1, scores.kappa)
        table.add_row(*cells(scores.category, *counts, *map(_with_interval, found)))
    return rendered(table)


def _with_interval(estimate: Estimate) -> str:
    """The value, and on a line of its own its interval where there is one."""
    value = number(estimate.value, 2)
    if estimate.interval.low is None:
        return value
    return f"{value}\n{interval_text(estimate.interval).removeprefix('95% CI ')}"


def _exclusions(calibration: Calibration) -> str:
    table = new_table(counted(calibration.pairing.items, "item"))
    table.add_column("", justify="right")
    table.add_row(*cells("labelled and judged", str(calibration.n)))
    for exclusion in calibration.exclusions:
        table.add_row(*cells(exclusion.reason, str(exclusion.count)))
    return rendered(table) + wrapped(left_out(calibration))


def _human(calibration: Calibration) -> str:
    human = calibration.human
    if not human.pairs:
        return "human–human agreement: unknown, only one person has labelled\n"
    rows: list[tuple[str, Kappa | Alpha]] = [
        (f"{pair.first} – {pair.second}", pair.kappa) for pair in human.pairs
    ]
    rows += [("Krippendorff's alpha", human.alpha)] if human.alpha else []
    table = new_table("human–human", "", "95% CI", "n", "conversations", "band")
    for name, found in rows:
        value = number(found.value) if found.value is not None else "undefined"
        interval = interval_text(found.interval).removeprefix("95% CI ")
        sizes = str(found.items), str(found.conversations)
        band = band_text(found) if isinstance(found, Kappa) else ""
        table.add_row(*cells(name, value, interval, *sizes, band))
    return rendered(table) + wrapped(caveats(rows))


def _beyond_pairs(calibration: Calibration) -> str:
    """People as a ceiling for the judge, and each with themselves, as far as there is any."""
    ceiling = calibration.ceiling if calibration.human.pairs else None
    return human_text(ceiling, calibration.influence, calibration.intra)


def _disagreement(pair: Pair) -> str:
    messages = [(message.role, message.content) for message in pair.item.messages]
    texts = [*messages, ("answer", pair.item.answer), ("turn", pair.item.turn)]
    for run, judgment in enumerate(pair.judgments):
        of_run = f" of run {run}" if len(pair.judgments) > 1 else ""
        if judgment.label is None:
            texts.append((f"judge wrote{of_run}", judgment.raw))
            texts.append((f"unreadable{of_run}", judgment.invalid_reason or ""))
        else:
            label = f"{judgment.label}: " if of_run else ""
            texts.append((f"rationale{of_run}", label + (judgment.rationale or "")))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_row(*cells("item", pair.item_id))
    grid.add_row(*cells("people", pair.reference))
    for annotation in pair.annotations:
        note = f"\nnote: {shortened(annotation.note)}" if annotation.note else ""
        grid.add_row(*cells(f"· {annotation.annotator}", said(annotation) + note))
    grid.add_row(*cells("judge", judged_text(pair)))
    for name, text in texts:
        grid.add_row(*cells(name, shortened(text) or "(empty)"))
    return "─" * WIDTH + "\n" + rendered(grid)


def _closing(calibration: Calibration) -> Iterable[str]:
    yield hint(calibration)
    yield f"intervals: {intervals_text(calibration, RESAMPLES)}"


def _next(calibration: Calibration, study: Study, disagreements: bool) -> str:
    """The next command, on one line however long, so that it can be copied."""
    choice = f"--rubric {calibration.rubric.version}"
    if calibration.other_judges:
        choice += f" --judge {short(calibration.judge_id)}"
    if calibration.runs < calibration.judge_runs:
        choice += f" --runs {calibration.runs}"
    if calibration.reading is Reading.MAJORITY:
        choice += f" --reading {calibration.reading}"
    choice += study.option
    if not calibration.n:
        return f"next: take one person's labels: calibrate {choice} --annotator NAME"
    if calibration.disagreements and not disagreements:
        count = counted(len(calibration.disagreements), "disagreement")
        if calibration.annotator:
            choice += f" --annotator {shlex.quote(calibration.annotator)}"
        return f"next: look at {count}: calibrate {choice} --disagreements"
    return f"next: calibrate export {choice}"
