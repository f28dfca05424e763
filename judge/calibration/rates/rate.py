"""A rate of genuine follow-ups: as the judge gives it, and corrected for the judge's errors."""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import (
    Corrected,
    Judged,
    effective_number,
    score_interval,
    unseen_variance,
    variance,
)
from annotator.measures.interval import LEVEL, ROUNDING, Interval
from annotator.measures.misclassification import JudgeErrors
from annotator.measures.poststratification import Representativeness
from judge.calibration.judge_choice import judge_dict
from judge.calibration.pairing import Pairing
from judge.calibration.rates.turn_verdicts import Cell
from judge.calibration.sampling.design import Sample
from judge.reading import Reading
from judge.store import StoredJudge
from rubrics import Rubric

POST_STRATIFIED, INVERTED = "post-stratified", "inverted"


@dataclass(frozen=True)
class RawRate:
    """The share of turns that the judge gave an outcome, unreadable ones in the denominator."""

    value: float
    standard_error: float
    interval: Interval

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Samples:
    """Raw rates of the k samples of each turn: their mean, spread and range; no SD of a single."""

    k: int
    mean: float
    sd: float | None
    low: float
    high: float


@dataclass(frozen=True)
class Labels:
    """One category's share of the turns, as the judge gives it and corrected."""

    category: str
    raw: RawRate
    corrected: Corrected

    def as_dict(self) -> dict[str, object]:
        return {
            "category": self.category,
            "raw": self.raw.as_dict(),
            "corrected": self.corrected.as_dict(),
        }


@dataclass(frozen=True)
class Rate:
    """The rates of a cell's turns, or of the whole run's where `cell` is None.

    `method` is how they were corrected, None where they could not be, and `reason` why so.
    `labelled` counts the labelled items among the cell's. `unreadable` counts verdicts, which are
    no genuine follow-ups to the judge; `unjudged`, turns, which are left out.
    """

    cell: Cell | None
    turns: int
    conversations: int
    labelled: int
    unreadable: int
    unjudged: int
    samples: Samples
    raw: RawRate
    method: str | None
    reason: str
    sigma: Corrected
    labels: tuple[Labels, ...]
    representativeness: Representativeness | None = None

    def as_dict(self) -> dict[str, object]:
        return {
            "cell": self.cell.as_dict() if self.cell else None,
            "turns": self.turns,
            "conversations": self.conversations,
            "labelled": self.labelled,
            "unreadable": self.unreadable,
            "unjudged": self.unjudged,
            "samples": asdict(self.samples),
            "raw": self.raw.as_dict(),
            "method": self.method,
            "reason": self.reason,
            "corrected": self.sigma.as_dict(),
            "labels": [label.as_dict() for label in self.labels],
            "representativeness": self.representativeness and self.representativeness.as_dict(),
        }


@dataclass(frozen=True)
class StudyRates:
    """The result of `calibrate rates`: the whole run, then every cell."""

    rubric: Rubric
    judge: StoredJudge
    reading: Reading
    runs: int
    reference_rule: str
    sample: Sample | None
    pairing: Pairing
    errors: JudgeErrors | None
    whole: Rate
    cells: tuple[Rate, ...]

    def as_dict(self) -> dict[str, object]:
        """For JSON: no texts, no clock, undefined numbers None with their reason."""
        return {
            "rubric": {"version": self.rubric.version, "hash": self.rubric.hash},
            "judge": judge_dict(self.judge),
            "reading": {"name": str(self.reading), "runs": self.runs},
            "reference": self.reference_rule,
            "sample": asdict(self.sample) if self.sample else None,
            "labelled": len(self.pairing.pairs),
            "exclusions": [asdict(exclusion) for exclusion in self.pairing.exclusions],
            "judge_errors": self.errors and self.errors.as_dict(),
            "whole": self.whole.as_dict(),
            "cells": [rate.as_dict() for rate in self.cells],
            "level": LEVEL,
        }


def raw_rate(judged: Judged, outcomes: NDArray[np.int64]) -> RawRate:
    """The share of turns with one of these `outcomes`, with an interval by conversation."""
    share = float(judged.shares[outcomes].sum())
    q = len(judged.conversations)
    moves = judged.share_influence()[:, outcomes].sum(axis=1)[:, np.newaxis]
    sizes = judged.counts.sum(axis=1)
    shared = bool(sizes.max() > 1 + 1e-9)
    spread = float(variance([(moves, judged.conversations)], shared=shared)[0])
    if min(share, 1 - share) < ROUNDING:
        share = round(share)
        spread = unseen_variance(effective_number(sizes, judged.conversations))
    return RawRate(float(share), spread**0.5, score_interval(float(share), spread, q))


def samples_of(rates: NDArray[np.float64]) -> Samples:
    """Of the k samples' own rates."""
    k = len(rates)
    sd = float(rates.std(ddof=1)) if k > 1 else None
    return Samples(k, float(rates.mean()), sd, float(rates.min()), float(rates.max()))
