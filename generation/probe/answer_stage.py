"""The first stage: the model answers every question that has no answer yet."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from generation.chat.chat_model import ChatModel
from generation.chat.context import Prompt, question_prompt
from generation.chat.reading import read_answer
from generation.engines.engine import Completion
from generation.plan.cells import answer_draw, answer_row_suffix
from generation.plan.plan import Plan
from generation.probe.job import Job
from generation.probe.row_store import StoredAnswer
from generation.probe.sampling import answer_sampling
from generation.probe.start import Start
from generation.turn import Answer
from rubrics import fingerprint, short

LINE_DIGITS = 32  # of a turn_id, 128 bits


@dataclass(frozen=True)
class AnswerStage:
    """The rows of the answers of one model under one plan."""

    model: ChatModel
    plan: Plan

    @cached_property
    def _suffix(self) -> str:
        return answer_row_suffix(self.plan, self.model.setup_hash)

    def row_id(self, start: Start) -> str:
        """Of a conversation that grew, every line of turns has an answer of its own."""
        line = f":{short(start.follows.turn_id, LINE_DIGITS)}" if start.follows else ""
        return start.conversation.conversation_id + self._suffix + line

    def rows(self, level: Iterable[Start]) -> dict[str, Start]:
        """Every answer that a level needs by its row_id; a given one is not asked for."""
        return {self.row_id(start): start for start in level if start.given is None}

    def answer_of(self, start: Start, stored: Mapping[str, StoredAnswer]) -> StoredAnswer | None:
        """The answer that a start's turns follow, where it is there: given, or stored."""
        if start.given is not None:
            return StoredAnswer(start.given.answer_id, start.given.unusable)
        return stored.get(self.row_id(start))

    def jobs(self, missing: Mapping[str, Start]) -> Iterator[Job]:
        return (self._job(row_id, start) for row_id, start in missing.items())

    def _job(self, row_id: str, start: Start) -> Job:
        draw, conversation = answer_draw(self.plan), start.conversation
        sampling = answer_sampling(self.model, self.plan, draw, row_id)

        def made(prompt: Prompt, completion: Completion) -> Answer:
            reading = read_answer(self.model, completion, prompt)
            return Answer(
                conversation,
                reading.text,
                model=self.model.name,
                temperature=draw.temperature,
                seed=sampling.seed,
                text_raw=reading.text_raw,
                token_ids=completion.token_ids,
                finish_reason=completion.finish_reason,
                stop_token_id=reading.stop_token_id,
                row_id=row_id,
                top_p=draw.top_p,
                top_k=draw.top_k,
                prompt_token_hash=fingerprint(list(prompt.token_ids)),
                thinking=reading.thinking,
                unusable=reading.unusable,
            )

        prompt = lambda: question_prompt(self.model, conversation.messages)  # noqa: E731
        return Job(row_id, "answer", conversation, sampling, prompt, made)
