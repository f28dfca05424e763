"""The models of a run as figures name and group them."""

from collections.abc import Collection
from dataclasses import dataclass
from math import ceil

from judge.calibration.main_run.figures.canvas import SMALL
from judge.calibration.main_run.figures.lettering import clean, distinct
from judge.calibration.main_run.figures.palette import MOST, Series, series
from judge.calibration.main_run.main_run import CellRate, Group, MainRun

NOT_TOLD = "model not told"  # of imported turns
_NAME = 1.5  # inches: a name fits a legend under the narrowest panel


@dataclass(frozen=True)
class FamilyPart:
    """A family's models, or so many of them as a panel can tell apart, in order of size."""

    title: str
    models: tuple[str, ...]


def family_parts(run: MainRun, models: Collection[str]) -> tuple[FamilyPart, ...]:
    """Of these models, families in the run's order, none with more than MOST models."""
    families: dict[str, list[str]] = {}
    for model in in_order(run, models):
        families.setdefault(family_of(run, model), []).append(model)
    return tuple(
        part for family, members in families.items() for part in _parts(clean(family), members)
    )


def styles_of(parts: Collection[FamilyPart]) -> dict[str, Series]:
    """By model, told apart from the others of its part."""
    return {
        model: style
        for part in parts
        for model, style in zip(part.models, series(len(part.models)), strict=True)
    }


def in_order(run: MainRun, models: Collection[str]) -> list[str]:
    """By family and size, what is not told last."""
    known = [model for model in run.models if model in models]
    return known + [model for model in models if model not in run.models]


def plain_cells(run: MainRun) -> dict[Group, list[CellRate]]:
    """In order of the groups, and of temperature, one that is not told last."""
    found: dict[Group, list[CellRate]] = {group: [] for group in run.groups}
    for of in run.plain:
        found[Group(of.cell.setting, of.cell.dataset, of.cell.model or "")].append(of)
    for cells in found.values():
        cells.sort(key=lambda of: (of.cell.temperature is None, of.cell.temperature or 0.0))
    return found


def family_of(run: MainRun, model: str) -> str:
    return run.models[model].family if model in run.models else NOT_TOLD


def shown_models(run: MainRun) -> dict[str, str]:
    """By name, what a figure has room for; no two are the same."""
    return {"": NOT_TOLD} | distinct(run.models, _NAME, SMALL)


def _parts(family: str, members: list[str]) -> list[FamilyPart]:
    count = ceil(len(members) / MOST)
    ends = [len(members) * part // count for part in range(count + 1)]
    return [
        FamilyPart(
            f"{family} ({part + 1} of {count})" if count > 1 else family,
            tuple(members[ends[part] : ends[part + 1]]),
        )
        for part in range(count)
    ]
