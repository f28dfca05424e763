"""What the page of a main run computes from: its cells, and how many turns each has by label."""

from typing import Any

from judge.calibration.main_run.main_run import NOT_JUDGED, CellRate, MainRun
from judge.calibration.main_run.report_page.turn_files import PER_FILE, WITHHELD
from judge.calibration.main_run.report_page.turn_order import TurnOrder
from judge.calibration.main_run.tables.estimates import lone
from judge.calibration.main_run.tables.fields import UNKNOWN
from judge.calibration.main_run.tables.table import Estimate, corrected_share, share
from judge.calibration.rates.rate import Rate

UNREADABLE = "unreadable"


def page_data(run: MainRun, order: TurnOrder) -> dict[str, Any]:
    """For JSON. `labels` are the outcomes that a turn can have, `cells` those of the run.

    `groups` are [cell, label, turns, genuine] in the order of the turns.
    """
    labels = [{"id": of.id, "name": of.name, "sigma": of.sigma} for of in run.rubric.categories]
    return {
        "perFile": PER_FILE,
        "withheld": WITHHELD,
        "severalRuns": run.judge_runs if run.verdicts.verdicts.shape[1] > 1 else None,
        "labels": [
            *labels,
            {"id": UNREADABLE, "name": "unreadable verdict", "sigma": None},
            {"id": NOT_JUDGED, "name": NOT_JUDGED, "sigma": None},
        ],
        "cells": [_cell(of) for of in order.cells],
        "groups": [[of.cell, of.outcome, of.turns, round(of.genuine, 6)] for of in order.groups],
    }


def _cell(of: CellRate) -> dict[str, Any]:
    """`rates` has of genuine follow-ups, under "", and of each label: as judged, and corrected."""
    cell = of.cell
    return {
        "model": cell.model or UNKNOWN,
        "dataset": cell.dataset,
        "setting": cell.setting,
        "temperature": cell.temperature_text,
        "perturbation": cell.perturbation,
        "condition": cell.condition,
        "turns": of.turns,
        "unjudged": of.unjudged,
        "gap": of.gap,
        "k": of.rate.samples.k if of.rate else None,
        "rates": _rates(of.rate) if of.rate else {},
    }


def _rates(rate: Rate) -> dict[str, Any]:
    found = {"": (rate.raw, rate.sigma)}
    found |= {of.category: (of.raw, of.corrected) for of in rate.labels}
    return {
        name: [
            _estimate(share(raw.value, raw.interval, lone(rate))),
            _estimate(corrected_share(corrected, lone(rate))),
        ]
        for name, (raw, corrected) in found.items()
    }


def _estimate(of: Estimate) -> list[Any]:
    """[value, low, high] or [value or None, why there is no more], in 6 digits."""
    if of.value is None:
        return [None, of.gap]
    if of.low is None or of.high is None:
        return [round(of.value, 6), of.gap]
    return [round(of.value, 6), round(of.low, 6), round(of.high, 6)]
