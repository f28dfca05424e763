"""The probe: a model answers q with a, then goes on under the user role and writes u."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from generation.chat_model import ChatModel
from generation.engine import SEED_LIMIT, Completion, Engine, Sampling
from generation.item import Message
from generation.turn import Answer, Conversation, Turn
from generation.user_turn_cut import CONTEXT_MODE, Cut
from rubrics import InputError, fingerprint

THINKING_MARKS = ("<think>", "</think>", "<|channel|>")  # Qwen, GLM and DeepSeek; gpt-oss


@dataclass(frozen=True)
class Plan:
    """What to sample: answers at one temperature, turns at several, `samples` of each above 0.

    At temperature 0 there is one turn, whatever `samples` says: another would be the same draw.
    """

    temperatures: tuple[float, ...] = (0.0,)
    samples: int = 1
    seed: int = 0
    answer_temperature: float = 0.0
    max_answer_tokens: int = 256
    max_turn_tokens: int = 256

    def __post_init__(self) -> None:
        for temperature in (*self.temperatures, self.answer_temperature):
            if not 0 <= temperature < float("inf"):
                raise InputError(f"temperature {temperature}: expected a number from 0 up")

    def draws(self) -> list[tuple[float, int]]:
        """Every (temperature, sample index) of one answer.

        >>> Plan(temperatures=(0.7, 0.0), samples=2).draws()
        [(0.0, 0), (0.7, 0), (0.7, 1)]
        """
        return [
            (temperature, index)
            for temperature in sorted(set(self.temperatures))
            for index in range(self.samples if temperature > 0 else 1)
        ]


@dataclass(frozen=True)
class Probe:
    """One model, one engine, one plan."""

    model: ChatModel
    engine: Engine
    plan: Plan

    def turns(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Answers first, then all user turns at all temperatures in one batch.

        Raises InputError when a context would not fit the engine, before anything is generated.
        """
        return self._turns(self._answers(conversations))

    def _answers(self, conversations: Sequence[Conversation]) -> list[Answer]:
        plan, template = self.plan, self.model.cut.template
        self._check_control_tokens(conversations)
        prompts = [
            self.model.encode(template.render(conversation.messages, answer_follows=True))
            for conversation in conversations
        ]
        self._check_length(conversations, prompts)
        sampling = [
            self._seeded(
                {"conversation": conversation.conversation_id, "act": "answer"},
                self._answer_sampling(),
                prompt,
            )
            for conversation, prompt in zip(conversations, prompts, strict=True)
        ]
        completions = self.engine.generate(prompts, sampling)
        _check_no_thinking(conversations, completions)
        return [
            Answer(
                conversation,
                completion.text,
                model=self.model.name,
                temperature=plan.answer_temperature,
                seed=row.seed,
                **_outcome(completion),
            )
            for conversation, completion, row in zip(
                conversations, completions, sampling, strict=True
            )
        ]

    def _turns(self, answers: Sequence[Answer]) -> list[Turn]:
        rows = []  # conversation-major, so that equal prefixes are neighbours in the batch
        for answer in answers:
            cut = self.model.cut.cut(answer.conversation.messages, answer.text)
            prompt = self.model.encode(cut.prompt)
            meta = self._notes(cut, answer)
            for temperature, index in self.plan.draws():
                sampling = self._seeded(
                    {"answer": answer.answer_id, "act": "turn", "sample": index},
                    self._turn_sampling(temperature),
                    prompt,
                )
                rows.append((answer, index, prompt, meta, sampling))
        completions = self.engine.generate([row[2] for row in rows], [row[4] for row in rows])
        return [
            Turn(
                answer,
                completion.text,
                "self-generated",
                model=self.model.name,
                temperature=sampling.temperature,
                sample_index=index,
                context_mode=CONTEXT_MODE,
                seed=sampling.seed,
                prompt_token_hash=fingerprint(prompt),
                meta=meta,
                **_outcome(completion),
            )
            for (answer, index, prompt, meta, sampling), completion in zip(
                rows, completions, strict=True
            )
        ]

    def _notes(self, cut: Cut, answer: Answer) -> dict[str, Any]:
        """What a reader of the numbers must know about this row's context."""
        tokens = self._control_tokens(answer.text)
        return ({"altered_by_template": list(cut.altered)} if cut.altered else {}) | (
            {"control_tokens_in_answer": tokens} if tokens else {}
        )

    def _control_tokens(self, text: str) -> list[str]:
        return sorted(token for token in self.model.special_tokens if token and token in text)

    def _check_control_tokens(self, conversations: Sequence[Conversation]) -> None:
        for conversation in conversations:
            for message in conversation.messages:
                tokens = self._control_tokens(message.content)
                if tokens:
                    raise InputError(
                        f"{conversation.dataset} {conversation.source_id} holds {tokens[0]!r}, "
                        f"which {self.model.name} reads as a control token, not as text; "
                        "leave the row out of the file"
                    )

    def _answer_sampling(self) -> Sampling:
        plan = self.plan
        return Sampling(
            plan.answer_temperature, plan.max_answer_tokens, None, self.model.answer_stops
        )

    def _turn_sampling(self, temperature: float) -> Sampling:
        cut = self.model.cut
        stops = tuple(stop.token_id for stop in cut.stops)
        return Sampling(temperature, self.plan.max_turn_tokens, None, stops, cut.stop_strings)

    def _seeded(self, row: dict[str, Any], sampling: Sampling, prompt: Sequence[int]) -> Sampling:
        """The sampling with a seed of the row's own; equal seeds would correlate the draws."""
        if sampling.temperature == 0:
            return sampling
        cut = self.model.cut
        row_id = row | {
            "model": self.model.name,
            "template": cut.template.hash,
            "template_kwargs": dict(cut.template.kwargs),
            "date": cut.template.date_read,
            "context_mode": CONTEXT_MODE,
            "sampling": asdict(sampling),
            "prompt": fingerprint(list(prompt)),
        }
        digest = fingerprint({"run_seed": self.plan.seed, "row": row_id})
        seed = int(digest.removeprefix("sha256:"), 16) % SEED_LIMIT
        return replace(sampling, seed=seed)

    def _check_length(
        self, conversations: Sequence[Conversation], prompts: Sequence[Sequence[int]]
    ) -> None:
        reserve = self.plan.max_answer_tokens + self.plan.max_turn_tokens + self._header_length()
        for conversation, prompt in zip(conversations, prompts, strict=True):
            if len(prompt) + reserve > self.engine.context_length:
                raise InputError(
                    f"{conversation.dataset} {conversation.source_id} has {len(prompt)} tokens "
                    f"and needs {reserve} more for answer and turn; the context holds "
                    f"{self.engine.context_length}: raise --context-length or lower "
                    "--max-answer-tokens"
                )

    def _header_length(self) -> int:
        messages = [Message("user", "q")]
        cut = self.model.cut
        with_answer = self.model.encode(cut.cut(messages, "a").prompt)
        return len(with_answer) - len(self.model.encode(cut.template.render(messages))) + 16

    def provenance(self, datasets: Sequence[dict[str, Any]], version: str) -> dict[str, Any]:
        """What the rows of a run follow from; equal provenance means the same run, resumed."""
        example = self.model.cut.cut([Message("user", "2+2?")], "4")
        return {
            "tool": f"followupeval {version}",
            "plan": asdict(self.plan) | {"temperatures": list(self.plan.temperatures)},
            "context_mode": CONTEXT_MODE,
            "model": self.model.provenance(),
            "engine": self.engine.provenance(),
            "sampling": {
                "answer": asdict(self._answer_sampling()) | {"seed": "per row"},
                "turn": asdict(self._turn_sampling(0.0))
                | {"temperature": "per row", "seed": "per row"},
            },
            "rendered_example": example.prompt,
            "header_space_stripped": example.header_space_stripped,
            "datasets": list(datasets),
        }


def _check_no_thinking(
    conversations: Sequence[Conversation], completions: Sequence[Completion]
) -> None:
    for conversation, completion in zip(conversations, completions, strict=True):
        mark = next((mark for mark in THINKING_MARKS if mark in completion.text_raw), None)
        if mark:
            raise InputError(
                f"the answer to {conversation.dataset} {conversation.source_id} holds {mark!r}: "
                "the model thinks before it answers, and thoughts must not stand in the context "
                "of a user turn; switch thinking off, for many models with "
                "--template-kwargs '{\"enable_thinking\": false}'"
            )


def _outcome(completion: Completion) -> dict[str, Any]:
    return {
        "text_raw": completion.text_raw,
        "token_ids": completion.token_ids,
        "finish_reason": completion.finish_reason,
        "stop_token_id": completion.stop_token_id,
    }
