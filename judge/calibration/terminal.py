"""A calibration as plain text: tables that fit 100 columns, study text that cannot act."""

import io
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from annotator.verbatim import is_invisible
from generation.study import Study
from judge.calibration.calibration import Calibration
from judge.calibration.confusion import INVALID
from judge.calibration.judge_choice import judge_name
from judge.calibration.pairing import Pair
from judge.calibration.wording import (
    band_text,
    caveats,
    chance,
    hint,
    interval_text,
    kappa_rows,
    number,
)
from rubrics import short

WIDTH = 100  # columns, on a terminal or piped, so that a saved report reads the same
TEXT_LIMIT = 600  # characters shown of a text; a disagreement is understood from its beginning


def visible(text: str) -> str:
    """`text` with everything that a terminal might obey or hide spelt out; line feeds stay.

    >>> visible("a\\x1b[31m\\u202eb")
    'a<U+001B>[31m<U+202E>b'
    """
    return "".join(f"<U+{ord(c):04X}>" if is_invisible(c) or c == "\t" else c for c in text)


def shortened(text: str, limit: int = TEXT_LIMIT) -> str:
    """The beginning of a text, and how many characters are left out.

    >>> shortened("abcdef", limit=4)
    'abcd … (2 more characters)'
    """
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]} … ({left:,} more characters)"


def report(calibration: Calibration, study: Study, *, disagreements: bool = False) -> str:
    """The whole report as text without any control sequence."""
    parts = [
        _lines(_heading(calibration)),
        _kappas(calibration),
        _lines(_caveats(calibration)),
        _matrix(calibration),
        _labels(calibration),
        _exclusions(calibration),
        _human(calibration),
    ]
    if disagreements:
        parts += [_disagreement(pair, calibration) for pair in calibration.disagreements]
    parts.append(_lines(_closing(calibration)) + _next(calibration, study, disagreements) + "\n")
    return "\n".join(part for part in parts if part)


def _heading(calibration: Calibration) -> Iterable[str]:
    rubric, sample = calibration.rubric, calibration.sample
    yield f"rubric {rubric.version} ({short(rubric.hash)}), judge {judge_name(calibration.judge)}"
    yield f"reference: {calibration.reference_rule}"
    if sample:
        yield (
            f"sample: {sample.drawn} of {sample.population} distinct items, simple random, "
            f"seed {sample.seed}"
        )
    if calibration.other_judges:
        names = ", ".join(judge_name(judge) for judge in calibration.other_judges)
        yield f"other judges, choose with --judge: {names}"


def _kappas(calibration: Calibration) -> str:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, kappa in kappa_rows(calibration):
        agreement = kappa.agreement
        grid.add_row(
            *_cells(
                name,
                number(kappa.value) if kappa.value is not None else "undefined",
                interval_text(kappa.interval),
                f"n = {agreement.n}",
                f"agreement {number(agreement.observed, 2)}",
                band_text(kappa),
            )
        )
    return _render(grid)


def _caveats(calibration: Calibration) -> Iterable[str]:
    """What a reader must know of the numbers above, named row by row."""
    yield chance(calibration)
    for name, kappa in kappa_rows(calibration):
        yield from caveats(name, kappa)
    if calibration.invalid:
        listed = ", ".join(f"{count} {reason}" for reason, count in calibration.invalid.items())
        yield (
            f"{sum(calibration.invalid.values())} of {calibration.n} verdicts could not be read "
            f"and count as disagreements: {listed}"
        )


def _matrix(calibration: Calibration) -> str:
    table = _table("people ↓  judge →", "")
    categories = calibration.rubric.categories
    for header in (*(category.key for category in categories), INVALID, "sum"):
        table.add_column(_cell(header), justify="right")
    for category, counts in zip(categories, calibration.confusion.counts, strict=True):
        cells = [str(count) if count else "·" for count in counts]
        table.add_row(*_cells(category.id, category.key, *cells, str(sum(counts))))
    sums = [str(total) for total in calibration.confusion.table.sum(axis=0).tolist()]
    table.add_row(*_cells("sum", "", *sums, str(calibration.n)))
    return _render(table)


def _labels(calibration: Calibration) -> str:
    table = _table("label")
    for header in ("people", "judge", "both", "precision", "recall", "F1"):
        table.add_column(header, justify="right")
    for scores in calibration.label_scores:
        counts = (str(count) for count in (scores.support, scores.judged, scores.hits))
        shares = (number(share, 2) for share in (scores.precision, scores.recall, scores.f1))
        table.add_row(*_cells(scores.category, *counts, *shares))
    return _render(table)


def _exclusions(calibration: Calibration) -> str:
    table = _table(f"{calibration.pairing.items} items")
    table.add_column("", justify="right")
    table.add_row(*_cells("labelled and judged", str(calibration.n)))
    for exclusion in calibration.exclusions:
        table.add_row(*_cells(exclusion.reason, str(exclusion.count)))
    left_out = (
        f"{count} labels made under rubric {version} are left out"
        for version, count in calibration.other_labels.items()
    )
    return _render(table) + _lines(left_out)


def _human(calibration: Calibration) -> str:
    human = calibration.human
    if not human.pairs:
        return "human–human agreement: unknown, only one person has labelled\n"
    table = _table("human–human", "kappa", "", "n", "band")
    notes: list[str] = []
    for pair in human.pairs:
        name, kappa = f"{pair.first} – {pair.second}", pair.kappa
        table.add_row(
            *_cells(
                name,
                number(kappa.value) if kappa.value is not None else "undefined",
                interval_text(kappa.interval),
                str(kappa.agreement.n),
                band_text(kappa),
            )
        )
        notes += caveats(name, kappa)
    if human.alpha:
        value = number(human.alpha.value) if human.alpha.value is not None else "undefined"
        name = "all, Krippendorff's alpha"
        table.add_row(*_cells(name, value, "", str(human.alpha.items), ""))
        notes += [f"{name}: {human.alpha.undefined}"] if human.alpha.undefined else []
    return _render(table) + _lines(notes)


def _disagreement(pair: Pair, calibration: Calibration) -> str:
    messages = [(message.role, message.content) for message in pair.item.messages]
    texts = [*messages, ("answer", pair.item.answer), ("turn", pair.item.turn)]
    judgment = pair.judgment
    if judgment.label is None:
        texts += [("judge wrote", judgment.raw), ("unreadable", judgment.invalid_reason or "")]
    else:
        texts.append(("rationale", judgment.rationale or ""))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_row(*_cells("item", pair.item_id))
    grid.add_row(*_cells("people", pair.reference))
    grid.add_row(*_cells("judge", pair.outcome))
    for name, text in texts:
        grid.add_row(*_cells(name, shortened(text) or "(empty)"))
    return "─" * WIDTH + "\n" + _render(grid)


def _closing(calibration: Calibration) -> Iterable[str]:
    yield hint(calibration)
    yield f"intervals: {calibration.resamples:,} resamples, seed {calibration.seed}"


def _next(calibration: Calibration, study: Study, disagreements: bool) -> str:
    """The next command, on one line however long, so that it can be copied."""
    choice = f"--rubric {calibration.rubric.version}"
    if calibration.other_judges:
        choice += f" --judge {short(calibration.judge_id)}"
    choice += study.option
    if calibration.disagreements and not disagreements:
        count = len(calibration.disagreements)
        return f"next: look at the {count} disagreements: calibrate {choice} --disagreements"
    return f"next: calibrate export {choice}"


def _table(*headers: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for header in headers:
        table.add_column(_cell(header))
    return table


def _cell(value: str) -> Text:
    # Text, not str: rich would read "[red]" in a str as markup.
    return Text(visible(value))


def _cells(*values: str) -> tuple[Text, ...]:
    return tuple(map(_cell, values))


def _render(table: Table) -> str:
    console = Console(file=io.StringIO(), width=WIDTH, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    lines = (line.rstrip() for line in captured.get().split("\n"))
    return "\n".join(lines).strip("\n") + "\n"


def _lines(lines: Iterable[str]) -> str:
    """One paragraph per line, wrapped to the width."""
    grid = Table.grid()
    for line in lines:
        grid.add_row(_cell(line))
    return _render(grid) if grid.rows else ""
