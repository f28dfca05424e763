"""The only file that imports gepa: its search over template texts, for our judge and our words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from judge.calibration.suggest.optimizer import Case, Evaluate, Example, Proposal, Reflect
from rubrics import InputError

if TYPE_CHECKING:
    from gepa import EvaluationBatch

COMPONENT = "template"
MINIBATCH = 4  # training examples that one proposal is made from, and must do better on
MOST_IDLE = 4  # rounds in a row that asked the judge nothing new: there is little left to try


@dataclass(frozen=True)
class GepaOptimizer:
    """GEPA (reflective prompt evolution) as a PromptOptimizer.

    Raises InputError where gepa is not installed, at once and not after the first verdicts.
    """

    def __post_init__(self) -> None:
        _gepa()

    def propose(
        self,
        base_text: str,
        train: Sequence[Example],
        validation: Sequence[Example],
        evaluate: Evaluate,
        reflect: Reflect,
        budget: int,
        seed: int,
    ) -> Proposal:
        minibatch = min(MINIBATCH, len(train))
        a_round = 2 * minibatch + len(validation)  # verdicts, at most
        least = len(validation) + a_round
        if budget < least:
            raise InputError(
                f"found a budget of {budget} verdicts, expected at least {least} for "
                f"{len(validation)} held-out items and one proposal: --calls {2 * least}"
            )
        adapter = _Adapter(evaluate, reflect)
        result = _gepa().optimize(
            seed_candidate={COMPONENT: base_text},
            trainset=list(train),
            valset=list(validation),
            adapter=adapter,
            stop_callbacks=_Stop(adapter, budget - a_round),
            reflection_minibatch_size=minibatch,
            track_best_outputs=False,
            logger=_Silent(),  # it prints to stdout otherwise
            seed=seed,
        )
        if adapter.failure:
            raise adapter.failure
        right = [round(sum(scores.values())) for scores in result.val_subscores]
        best = max(range(len(right)), key=lambda i: right[i])  # of equals the first: the base
        text = result.candidates[best][COMPONENT]
        return Proposal(text, right[0], right[best], len(right) - 1, adapter.calls)


@dataclass
class _Adapter:
    """Our evaluation and our reflection as GEPA calls them; it has all else to itself.

    GEPA goes on after a reflection that failed, so the failure is kept here and ends the search.
    """

    judged: Evaluate
    reflect: Reflect
    calls: int = 0
    failure: InputError | None = field(default=None, init=False)

    def evaluate(
        self, batch: list[Example], candidate: dict[str, str], capture_traces: bool = False
    ) -> "EvaluationBatch[Case, Case]":
        outcomes = self.judged(candidate[COMPONENT], batch)
        asked = sum(outcome.asked for outcome in outcomes)
        self.calls += asked
        cases = list(zip(batch, outcomes, strict=True))
        return _gepa().EvaluationBatch(
            outputs=cases,
            scores=[float(outcome.right) for outcome in outcomes],
            trajectories=cases if capture_traces else None,
            num_metric_calls=asked,
        )

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: "EvaluationBatch[Case, Case]",
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        return {COMPONENT: [{"case": case} for case in eval_batch.trajectories or []]}

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """No text where nothing usable came of it: then GEPA goes on to its next examples."""
        if self.failure:  # GEPA tries once more; the server was asked often enough
            return {}
        cases = [record["case"] for record in reflective_dataset[COMPONENT]]
        try:
            text = self.reflect(candidate[COMPONENT], cases)
        except InputError as failure:
            self.failure = failure
            return {}
        return {} if text is None else {COMPONENT: text}


@dataclass
class _Stop:
    """Whether the search is over, asked before each of its rounds: so a round is never cut."""

    adapter: _Adapter
    last_start: int  # verdicts after which a whole round could break the budget
    seen: int = 0
    idle: int = 0

    def __call__(self, _state: object) -> bool:
        self.idle = self.idle + 1 if self.adapter.calls == self.seen else 0
        self.seen = self.adapter.calls
        return bool(self.adapter.failure) or self.idle > MOST_IDLE or self.seen > self.last_start


class _Silent:
    def log(self, message: str) -> None:
        """Our own summary says what came of it."""


def _gepa() -> ModuleType:
    try:
        import gepa
    except ImportError:
        raise InputError(
            "GEPA is not installed, which suggests prompts; install the extra: "
            "pip install 'followupeval[optimize]'"
        ) from None
    return gepa
