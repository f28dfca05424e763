"""Main runs drawn from populations whose truth is known, as arrays: no store, no texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.special import betaincinv, ndtr

from annotator.measures.double_sample import Labelled, uncorrected
from annotator.measures.misclassification import judge_errors, rogan_gladen
from generation.perturbation import TRUNCATE, UNPERTURBED
from generation.plan.plan import SELF_GENERATED
from judge.calibration.main_run.main_run import CellRate, MainRun
from judge.calibration.main_run.model_facts import facts_of
from judge.calibration.rates.correction import by_sample, outcome_sigmas, too_few
from judge.calibration.rates.labelled_items import LabelledItems
from judge.calibration.rates.rate import INVERTED, Rate, raw_rate, samples_of
from judge.calibration.rates.turn_verdicts import Cell, TurnVerdicts
from rubrics import load_rubric

RUBRIC = load_rubric("v3")
K = len(RUBRIC.categories)
SIGMAS = outcome_sigmas(RUBRIC)
TEMPERATURES = (0.0, 0.3, 0.7, 1.0)
ALIKE = 0.5  # correlation between cells of how ready a conversation is for a follow-up


@dataclass(frozen=True)
class Population:
    """What a run is drawn from. `rate` is the true rate of a cell of the model with that number.

    Conversations differ as Beta(rate · spread, (1 - rate) · spread) does. `degenerate` weighs the
    other labels, and each conversation's weights are Dirichlet. Of the turns `labelled` are.
    """

    rate: Callable[[int, Cell], float]
    degenerate: tuple[float, ...] = (4, 1, 3, 1, 1, 0.5)
    models: int = 6
    datasets: int = 1
    conversations: int = 100
    samples: int = 4
    spread: float = 2.0
    sensitivity: float = 0.85
    specificity: float = 0.95
    labelled: int = 300


def cells_of(population: Population) -> tuple[tuple[int, Cell], ...]:
    """Every cell with the number of its model, in order of the cells."""
    made = [
        (number, Cell(SELF_GENERATED, f"Made-{2**number}B", f"set{dataset}", T, perturbation))
        for number in range(population.models)
        for dataset in range(population.datasets)
        for T, perturbation in ((0.0, TRUNCATE), *((T, UNPERTURBED) for T in TEMPERATURES))
    ]
    return tuple(made)


def draw_run(population: Population, rng: np.random.Generator) -> MainRun:
    """A judged run with its labels, a simple random sample of the turns."""
    made = cells_of(population)
    q = population.conversations
    ready = {of.dataset: rng.standard_normal(q) for _, of in made}
    cell, conversation, sample, truth = [], [], [], []
    for place, (number, of) in enumerate(made):
        k = population.samples if of.temperature else 1
        cell.append(np.full(q * k, place))
        conversation.append(int(of.dataset.removeprefix("set")) * q + np.repeat(np.arange(q), k))
        sample.append(np.tile(np.arange(k), q))
        truth.append(_labels(population, population.rate(number, of), ready[of.dataset], k, rng))
    people = np.concatenate(truth)
    verdicts = TurnVerdicts(
        tuple(of for _, of in made),
        np.concatenate(cell).astype(np.int32),
        np.concatenate(conversation).astype(np.int32),
        np.concatenate(sample).astype(np.int32),
        _judge(population, people, rng)[:, np.newaxis].astype(np.int8),
        np.zeros(len(made), dtype=np.int64),
        K + 1,
    )
    return _main_run(verdicts, people, population.labelled, rng)


def _labels(
    population: Population, rate: float, ready: np.ndarray, k: int, rng: np.random.Generator
) -> np.ndarray:
    """(Q · k,) what people would say; label 0 is the genuine follow-up."""
    q = len(ready)
    own = ALIKE**0.5 * ready + (1 - ALIKE) ** 0.5 * rng.standard_normal(q)
    spread = population.spread
    of_conversation = betaincinv(rate * spread, (1 - rate) * spread, ndtr(own)) if rate else 0 * own
    genuine = rng.random((q, k)) < of_conversation[:, np.newaxis]
    return np.where(genuine, 0, _degenerate(population, (q, k), rng)).ravel()


def _degenerate(
    population: Population, shape: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    weights = np.array(population.degenerate) / sum(population.degenerate)
    of_conversation = rng.dirichlet(weights * 4 + 1e-9, shape[0]).cumsum(axis=1)
    chosen = rng.random(shape)[..., np.newaxis] > of_conversation[:, np.newaxis, :-1]
    return 1 + chosen.sum(axis=2)


def _judge(population: Population, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A follow-up that it misses gets a degenerate label at random, others their own."""
    n = len(people)
    weights = np.array(population.degenerate) / sum(population.degenerate)
    missed = 1 + rng.choice(len(weights), n, p=weights)
    chance = np.where(people == 0, population.sensitivity, 1 - population.specificity)
    return np.where(rng.random(n) < chance, 0, np.where(people == 0, missed, people))


def _main_run(
    verdicts: TurnVerdicts, people: np.ndarray, n: int, rng: np.random.Generator
) -> MainRun:
    items = _sample(verdicts, people, n, rng) if n else None
    rates = [_rate(verdicts.of_cell(number), items) for number in range(len(verdicts.cells))]
    labelled = items.everywhere if items else None
    unused = cast(Any, None)  # by statements
    return MainRun(
        selection=unused,
        rubric=RUBRIC,
        judge=unused,
        reading=unused,
        judge_runs=1,
        reference_rule=None,
        quality=unused,
        sample=None,
        models=facts_of((of.model or "" for of in verdicts.cells), {}),
        whole=unused,
        cells=tuple(map(CellRate, verdicts.cells, rates, verdicts.unjudged.tolist())),
        accuracies=(),
        verdicts=verdicts,
        items=unused,
        labelled=labelled,
        errors=judge_errors(labelled.regrouped(SIGMAS, SIGMAS[:-1])) if labelled else None,
        inputs="",
        seed=0,
    )


def _rate(verdicts: TurnVerdicts, items: LabelledItems | None) -> Rate:
    """A cell's rate as `calibrate rates` has it, without the labels' own."""
    judged, cell = verdicts.judged, verdicts.cells[0]
    method, sigma = None, uncorrected("nobody has labelled")
    own = items.of_cell(cell) if items else None
    if items and own:
        if too_few(own, judged, SIGMAS):
            everywhere = items.everywhere.regrouped(SIGMAS, SIGMAS[:-1])
            method, sigma = INVERTED, rogan_gladen(everywhere, judged.regrouped(SIGMAS))
        else:
            correction = by_sample(own, judged, SIGMAS, "")
            method, sigma = correction.method, correction.sigma
    return Rate(
        cell=cell,
        turns=verdicts.turns,
        conversations=len(judged.conversations),
        labelled=own.n if own else 0,
        unreadable=0,
        unjudged=0,
        samples=samples_of(verdicts.by_sample(SIGMAS)),
        raw=raw_rate(judged, np.flatnonzero(SIGMAS)),
        method=method,
        reason="",
        sigma=sigma,
        labels=(),
    )


def _sample(
    verdicts: TurnVerdicts, people: np.ndarray, n: int, rng: np.random.Generator
) -> LabelledItems:
    drawn = rng.choice(len(people), n, replace=False)
    chance = n / len(people)
    everywhere = Labelled(
        people[drawn],
        np.eye(K + 1)[verdicts.verdicts[drawn, 0]],
        np.full(n, 1 / chance),
        verdicts.conversation[drawn].astype(np.int64),
    )
    turns: Sequence[dict[Cell, int]] = [
        {verdicts.cells[verdicts.cell[row]]: 1} for row in drawn.tolist()
    ]
    return LabelledItems(everywhere, np.full(n, chance), tuple(turns), "simple random")
