"""The plan: how many labels a wanted interval or detectable difference takes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil

from annotator.measures.sample_size import (
    DESIGN_EFFECT,
    KAPPA,
    MARGINS,
    POWER,
    SHARED,
    SIGNIFICANCE,
    items_for_difference,
    items_for_half_width,
)

HALF_WIDTHS = (0.10, 0.07, 0.05, 0.03)  # of a 95% interval of kappa
DIFFERENCES = (0.15, 0.10, 0.08, 0.05)  # of the kappas of two prompts


@dataclass(frozen=True)
class Need:
    """What is wanted, and the items it takes: alone in their conversations, and several in each."""

    wanted: float
    items: int
    items_in_clusters: int


@dataclass(frozen=True)
class Plan:
    """Items for each half-width and each difference, planned for this kappa and these margins."""

    kappa: float
    margins: tuple[float, ...]
    half_widths: tuple[Need, ...]
    differences: tuple[Need, ...]

    def as_dict(self) -> dict[str, object]:
        return {
            "kappa": self.kappa,
            "margins": list(self.margins),
            "design_effect": DESIGN_EFFECT,
            "shared": SHARED,
            "significance": SIGNIFICANCE,
            "power": POWER,
            "half_widths": [asdict(need) for need in self.half_widths],
            "differences": [asdict(need) for need in self.differences],
        }


def plan_sample(kappa: float = KAPPA, margins: Sequence[float] = MARGINS) -> Plan:
    """The plan for a judge of this kappa, when it and people use the labels in these shares."""
    return Plan(
        kappa,
        tuple(margins),
        tuple(
            _need(wanted, items_for_half_width(wanted, kappa=kappa, margins=margins))
            for wanted in HALF_WIDTHS
        ),
        tuple(
            _need(wanted, items_for_difference(wanted, kappa=kappa, margins=margins))
            for wanted in DIFFERENCES
        ),
    )


def _need(wanted: float, items: int) -> Need:
    return Need(wanted, items, ceil(items * DESIGN_EFFECT))
