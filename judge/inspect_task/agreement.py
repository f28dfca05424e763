"""How far a judge model agrees with people: its verdict beside their label, and kappa over all."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from inspect_ai.model import get_model
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    metric,
    scorer,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from annotator.measures.confusion import INVALID, outcome_of
from annotator.measures.kappa import Kappa, kappa_between
from generation.study import DEFAULT_SEED
from judge.inspect_task.pinned_judge import generate_config, pinned_judge, read_output, stranger
from judge.inspect_task.scorer import UNREADABLE
from judge.reading import Reading, majority_run

Row = tuple[object, str, str]  # conversation, people's label, the judge's outcome


@solver
def one_verdict(export: str) -> Solver:
    """Generates with the export's parameters; each epoch is a run, with a seed of its own."""
    pinned = pinned_judge(export)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        config = generate_config(pinned, state.epoch - 1)
        return await generate(
            state, **{name: getattr(config, name) for name in config.model_fields_set}
        )

    return solve


@metric(scores="unreduced")
def agreement(reading: str = Reading.SINGLE) -> Metric:
    """Accuracy and Cohen's kappa over labels and over sigma, with 95% intervals by conversation.

    `reading` says what of an item's epochs counts (see `judge.reading`). A verdict that cannot be
    read is a disagreement. What is undefined has no value but a name that says why, with the
    number of items.
    """

    def measured(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:  # Inspect asks so, to learn the names
            return {}
        said = _counted([of.score.metadata or {} for of in scores], Reading(reading))
        labels = [(of["conversation"], of["reference"], of["outcome"]) for of in said]
        sigmas = [(of["conversation"], *map(str, of["sigmas"])) for of in said]
        hits = sum(reference == outcome for _, reference, outcome in labels)
        unreadable = sum(outcome == INVALID for *_, outcome in labels)
        return {
            "accuracy": hits / len(labels),
            **_named("kappa", labels),
            **_named("sigma kappa", sigmas),
            INVALID: unreadable / len(labels),
        }

    return measured


@scorer(metrics=[agreement()])
def agrees(export: str) -> Scorer:
    """Whether the verdict that the model wrote has the label that people gave, the target.

    The answer is its label, or "invalid" where it cannot be read; the explanation its rationale.
    Raises InputError for an export that was changed.
    """
    pinned = pinned_judge(export)
    sigma_of = {of.id: of.sigma for of in pinned.rubric.categories} | {INVALID: INVALID}

    async def score(state: TaskState, target: Target) -> Score:
        said = read_output(state.output, pinned)
        outcome = outcome_of(said.label)
        return Score(
            value=CORRECT if outcome == target.text else INCORRECT,
            answer=outcome,
            explanation=said.rationale or f"unreadable verdict: {said.invalid_reason}",
            reason=None if said.valid else UNREADABLE,
            metadata={
                "item": str(state.sample_id),
                "conversation": state.metadata["conversation"],
                "run": state.epoch - 1,
                "reference": target.text,
                "outcome": outcome,
                "sigmas": [sigma_of[target.text], sigma_of[outcome]],
                "invalid_reason": said.invalid_reason,
                "export_hash": pinned.export_hash,
                "not_calibrated": stranger(pinned, get_model()),
            },
        )

    return score


def _counted(said: Sequence[Mapping], reading: Reading) -> list[Mapping]:
    """The verdicts that count: of each item every run, or the one that speaks for most."""
    if reading is not Reading.MAJORITY:
        return list(said)
    by_item: dict[str, list[Mapping]] = defaultdict(list)
    for of in sorted(said, key=lambda of: of["run"]):
        by_item[of["item"]].append(of)
    labels = {
        item: [None if of["outcome"] == INVALID else of["outcome"] for of in runs]
        for item, runs in by_item.items()
    }
    return [runs[majority_run(labels[item])] for item, runs in by_item.items()]


def _named(name: str, rows: Sequence[Row]) -> dict[str, float]:
    """Kappa of the rows by name, with the ends of its interval; or by a name that says why not."""
    categories = sorted({label for _, *pair in rows for label in pair})
    found: Kappa = kappa_between(rows, categories, seed=DEFAULT_SEED)
    if found.value is None:
        return {f"items ({name} undefined: {found.undefined})": float(found.items)}
    if found.interval.low is None or found.interval.high is None:
        reason = found.interval.method.removeprefix("none: ")
        return {name: found.value, f"items (no interval of {name}: {reason})": float(found.items)}
    return {
        name: found.value,
        f"{name} low": found.interval.low,
        f"{name} high": found.interval.high,
    }
