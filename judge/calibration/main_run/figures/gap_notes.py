"""What a figure says at its foot: of cells that have no rate, and of turns that are in none."""

from collections.abc import Iterable

from judge.calibration.main_run.main_run import CellRate
from judge.calibration.rates.turn_verdicts import Cell
from judge.plural import counted


def unjudged_note(cells: Iterable[CellRate]) -> list[str]:
    """How many turns of cells with a rate are not in it."""
    left = sum(of.unjudged for of in cells if of.rate is not None)
    return [f"{counted(left, 'turn')} of these cells not judged, hence in no rate"] if left else []


def gap_notes(gaps: Iterable[tuple[str, str, str]]) -> list[str]:
    """Of (reason, model as shown, which of its cells): a line for each reason."""
    found: dict[str, dict[str, list[str]]] = {}
    for reason, model, which in gaps:
        found.setdefault(reason, {}).setdefault(model, []).append(which)
    return [
        f"{reason}: {'; '.join(_with_cells(model, of) for model, of in each.items())}"
        for reason, each in found.items()
    ]


def at_temperature(cell: Cell) -> str:
    return f"T = {cell.temperature_text}"


def _with_cells(model: str, cells: list[str]) -> str:
    told = ", ".join(filter(None, cells))
    return f"{model} ({told})" if told else model
