"""Tables of one challenger beside the baseline: label by label, and what the two said."""

from collections.abc import Sequence

from judge.calibration.comparison.comparison import Challenge
from judge.calibration.report.wording import interval_text, number
from judge.plain_text import cell, cells, new_table, rendered


def label_table(challenge: Challenge) -> str:
    """F1 of every label before and after; no interval and no test of a label that few have."""
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


def cross_table(challenge: Challenge, categories: Sequence[str]) -> str:
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


def p_text(p: float | None) -> str:
    """A p value, never 0.

    >>> p_text(0.0004), p_text(0.0312), p_text(None)
    ('<0.001', '0.031', '–')
    """
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"
