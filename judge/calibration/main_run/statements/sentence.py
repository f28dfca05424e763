"""The parts that sentences share: shares in percent, differences in points, p values."""

from collections.abc import Sequence

from annotator.measures.interval import Interval
from annotator.measures.multiplicity import holm
from judge.calibration.main_run.main_run import CellRate, Group
from judge.calibration.main_run.statements.statement import Kind, Statement
from judge.calibration.main_run.tables.table import Estimate
from judge.calibration.rates.turn_verdicts import temperature_text
from judge.plural import counted

UNDECIDED = "undecided"
AS_JUDGED = "Judged rates, which differ where true rates do as long as the judge errs alike"


def percent(of: Estimate) -> str:
    """A share with its interval.

    >>> percent(Estimate(0.131, 0.092, 0.179)), percent(Estimate(0.5))
    ('13.1% [9.2, 17.9]', '50.0% (no interval)')
    """
    return "unknown" if of.value is None else f"{100 * of.value:.1f}%{_ends(of.low, of.high)}"


def points(value: float, interval: Interval) -> str:
    """A difference of two shares, in percentage points.

    >>> points(-0.031, Interval(-0.05, -0.012, "delta method"))
    '-3.1 points [-5.0, -1.2]'
    """
    return f"{100 * value:+.1f} points{_ends(interval.low, interval.high)}"


def chance(p: float) -> str:
    """A p value, never 0.

    >>> chance(0.0004), chance(0.0312), chance(1.0)
    ('p < 0.001', 'p = 0.031', 'p = 1')
    """
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}" if p < 0.9995 else "p = 1"


def tested(p: float, adjusted_p: float, tests: int) -> str:
    """What was found, and what is left of it among so many tests."""
    if tests == 1:
        return f"{chance(p)}, the only test of its kind"
    return f"{chance(p)}, Holm over {tests:,} tests: {chance(adjusted_p)}"


def listed(parts: Sequence[str]) -> str:
    """
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def name_of(group: Group) -> str:
    return f"{group.model or 'no model'} on {group.dataset} ({group.setting})"


def at(temperature: float | None) -> str:
    if temperature is None:
        return "at no known temperature"
    return f"at T = {temperature_text(temperature)}"


def samples(cells: Sequence[CellRate]) -> str:
    """How many samples of each turn there are, in the order of the cells.

    Those of equal number are named once.
    """
    numbers = dict.fromkeys(of.rate.samples.k for of in cells if of.rate is not None)
    return f"{listed([str(k) for k in numbers])} sample{'' if list(numbers) == [1] else 's'} each"


def basis(conversations: int, cells: Sequence[CellRate]) -> str:
    return f"{counted(conversations, 'conversation')}, {samples(cells)}"


def shared_basis(conversations: int, cells: Sequence[CellRate]) -> str:
    """Of what is compared over the conversations that all cells have; others are left out."""
    most = max(of.rate.conversations for of in cells if of.rate is not None)
    if conversations == most:
        return basis(conversations, cells)
    return (
        f"{conversations:,} of {counted(most, 'conversation')}, those that all have, "
        f"{samples(cells)}"
    )


def gap_of(cell: CellRate | None, where: str) -> str | None:
    """Why a cell cannot be tested, None if it can."""
    if cell is None:
        return f"there are no turns {where}"
    if cell.rate is None:
        return f"the turns {where} are {cell.gap}"
    if cell.rate.conversations < 2:
        return f"the turns {where} are of a single conversation"
    return None


def adjusted(p_values: Sequence[float | None]) -> tuple[list[float | None], int]:
    """Holm's p of those that there are, each in its place, and how many they are.

    >>> adjusted([0.01, None, 0.04])
    ([0.02, None, 0.04], 2)
    """
    there = [p for p in p_values if p is not None]
    after = iter(holm(there))
    return [None if p is None else next(after) for p in p_values], len(there)


def untested(kind: Kind, about: str, gap: str, tests: int) -> Statement:
    """Where there is no test, with the reason."""
    wording = f"{about}: the data do not decide: {gap}."
    return Statement(kind, about, UNDECIDED, wording, 0, None, None, tests, {})


def _ends(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return " (no interval)"
    return f" [{100 * low:.1f}, {100 * high:.1f}]"
