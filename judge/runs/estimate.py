"""What a run would take, before anything is asked of a server."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from generation.command import one_line
from generation.study import Study
from judge.chat_judge import ChatJudge
from judge.instrument import Budget, Instrument
from judge.plural import counted
from judge.runs.ledger import StudyLedger
from judge.runs.run import preflight
from judge.runs.scope import Scope
from judge.server.usage import Usage, estimated_usage, read_price
from judge.store import open_study


@dataclass(frozen=True)
class RunEstimate:
    """Verdicts still to be had, and the tokens that they may take.

    A prompt's tokens are estimated from its bytes; `completion_tokens` is the most that answers
    can have. `cost` in dollars is at most so much, None where no price is known.
    """

    model: str
    rubric_version: str
    prompt: str
    scope: str
    items: int
    verdicts: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def estimate_run(study: Study, instrument: Instrument, scope: Scope, budget: Budget) -> RunEstimate:
    """Count what is waiting; raises InputError as a run does before it asks anything."""
    labeller = instrument.labeller
    usage = Usage(0, 0)
    verdicts = 0
    with open_study(study) as database:
        preflight(study, database, instrument, lambda _line: None)
        ledger = StudyLedger(
            database,
            study.pipeline,
            labeller.prompt,
            instrument.runs,
            lambda _judge: None,
            lambda _line: None,
            scope,
        )
        chat = _as_agreed(labeller, ledger) if isinstance(labeller, ChatJudge) else None
        for ask in ledger.waiting((chat or labeller).judge):
            verdicts += 1
            if chat is not None:
                messages = chat.request(ask)["messages"]
                one = estimated_usage(messages, chat.parameters.max_tokens)
                usage = Usage(
                    usage.prompt_tokens + one.prompt_tokens,
                    usage.completion_tokens + one.completion_tokens,
                )
        price = read_price(budget.prices, chat.model) if chat and budget.prices else None
        return RunEstimate(
            model=labeller.judge.model,
            rubric_version=labeller.rubric.version,
            prompt=labeller.prompt.template,
            scope=scope.words or "all items of the study",
            items=scope.size(database),
            verdicts=verdicts,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cost=price.cost(usage) if price else None,
        )


def _as_agreed(chat: ChatJudge, ledger: StudyLedger) -> ChatJudge:
    """The judge that would go on: with the parameters that its server took before."""
    known = ledger.agreed(chat.model, chat.parameters, chat.endpoint.shown_url)
    return replace(chat, parameters=known) if known else chat


def estimate_text(found: RunEstimate) -> str:
    """The estimate in two lines."""
    cost = "" if found.cost is None else f", at most ${found.cost:.4f}"
    return (
        f"{counted(found.verdicts, 'verdict')} to be had of {one_line(found.model)} with "
        f"{one_line(found.prompt)} × rubric {one_line(found.rubric_version)} over {found.scope}\n"
        f"about {found.prompt_tokens:,} tokens of prompts, at most {found.completion_tokens:,} of "
        f"answers{cost}"
    )
