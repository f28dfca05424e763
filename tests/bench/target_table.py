"""The table that a benchmark prints: what was found, and beside it what was wanted."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """`target` is what `found` should be, and `met` whether it is; "" where nothing is wanted."""

    what: str
    found: str
    target: str = ""
    met: bool = True


def print_table(lines: Iterable[Line], *, judged: bool = True) -> bool:
    """Print each line as soon as it is found. Whether all targets are met; so if not `judged`."""
    all_met = True
    for line in lines:
        asked = judged and bool(line.target)
        verdict = ("met" if line.met else "MISSED") if asked else ""
        row = f"{line.what:<48} {line.found:>28}  {line.target:<24} {verdict}"
        print(row.rstrip(), flush=True)
        all_met = all_met and (line.met or not asked)
    return all_met
