"""The calibrated judge as a scorer: whether a user turn is a genuine follow-up."""

from collections import Counter
from statistics import fmean
from typing import Any

from inspect_ai.model import Model, get_model
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from annotator.measures.confusion import INVALID, outcome_of
from generation.item import Item
from judge.exported import Export
from judge.inspect_task.conversation import item_of
from judge.inspect_task.pinned_judge import (
    chat_messages,
    generate_config,
    pinned_judge,
    read_output,
    stranger,
)
from judge.judgment import Judgment
from judge.reading import majority, read

UNREADABLE = "grader_failed"  # Inspect's word for a grader whose verdict cannot be read


@metric(scores="unreduced")
def outcomes() -> Metric:
    """The share of each label among the verdicts, and of "invalid": those that cannot be read."""

    def shares(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:  # Inspect asks so, to learn the names
            return {}
        said = [outcome for of in scores for outcome in (of.score.metadata or {})["outcomes"]]
        counts = Counter({INVALID: 0} | Counter(said))
        return {outcome: count / len(said) for outcome, count in sorted(counts.items())}

    return shares


@metric
def clustered_stderr() -> Metric:
    """The standard error of the mean by conversation, as Inspect's `stderr` computes it.

    Of a single conversation there is none, which a name says with the number of turns; Inspect
    would say 0.
    """
    known = stderr(cluster="conversation")

    def measured(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:  # Inspect asks so, to learn the names
            return {}
        if len({(of.sample_metadata or {})["conversation"] for of in scores}) == 1:
            return {"turns (no stderr: a single conversation)": float(len(scores))}
        return {"stderr": known(scores)}

    return measured


@scorer(metrics=[mean(), stderr(), outcomes()])
def followupeval(export: str, grader: str | Model | None = None) -> Scorer:
    """Judges the user turn at a conversation's end with the judge prompt in the folder `export`.

    The conversation is that of the sample's state: u is its last message, a user's or the model's
    own output, a the assistant's before it (see `conversation.item_of`). The model that judges is
    `grader`, or the one bound to the role "grader", or the one evaluated; it is asked with the
    export's prompt and parameters, as often as was calibrated.

    The score's value is sigma, 1 for a genuine follow-up; its answer the label, its explanation the
    rationale. A verdict that cannot be read counts as sigma 0, has the answer "invalid" and the
    reason "grader_failed", and is counted by the metric `outcomes`.

    Raises InputError for an export that was changed, and for a conversation without such an end.
    """
    pinned = pinned_judge(export)

    async def score(state: TaskState, target: Target) -> Score:
        item = item_of(state.messages)
        model = get_model(grader) if grader else get_model(role="grader")
        judgments = [await _ask(model, pinned, item, run) for run in range(pinned.runs)]
        counted = read(judgments, pinned.reading).counted
        return _score(judgments, counted, metadata=_made(pinned, model, item))

    return score


async def _ask(model: Model, export: Export, item: Item, run: int) -> Judgment:
    config = generate_config(export, run)
    return read_output(await model.generate(chat_messages(export, item), config=config), export)


def _score(
    judgments: list[Judgment], counted: tuple[Judgment, ...], metadata: dict[str, Any]
) -> Score:
    speaker = majority(judgments)
    return Score(
        value=fmean(said.sigma or 0 for said in counted),
        answer=outcome_of(speaker.label),
        explanation=speaker.rationale or f"unreadable verdict: {speaker.invalid_reason}",
        reason=None if speaker.valid else UNREADABLE,
        metadata={
            "label": speaker.label,
            "sigma": speaker.sigma,
            "invalid_reason": speaker.invalid_reason,
            "outcomes": [outcome_of(said.label) for said in counted],
        }
        | metadata,
    )


def _made(export: Export, model: Model, item: Item) -> dict[str, Any]:
    """What a verdict rests on."""
    return {
        "item_hash": item.hash,
        "export_hash": export.export_hash,
        "rubric": export.rubric.version,
        "grader": str(model),
        "not_calibrated": stranger(export, model),
    }
