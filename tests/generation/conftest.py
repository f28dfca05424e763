"""A chat model and an engine without a network: characters are tokens, answers follow a script."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import resources
from typing import Any

import pytest
from small_plan import run_of

from generation.chat.chat_model import ChatModel
from generation.chat.chat_template import ChatTemplate
from generation.chat.user_turn_cut import derive_user_turn_cut
from generation.engines.engine import Completion, Failure, Request, Sampling
from generation.probe.maker import Maker
from generation.probe.model_probe import ModelProbe
from generation.probe.row_store import open_rows
from generation.probe.run_plan import ALL
from generation.probe.start import first_starts
from generation.probe.turn_stage import TurnStage

SPECIALS = {"<|endoftext|>": 0, "<|im_start|>": 1, "<|im_end|>": 2}
FIRST_CHARACTER = 10


class ScriptedEngine:
    """Says what `script(prompt text, sampling)` says, then its stop token if there is room.

    A script may return a Failure instead, or raise EngineDied.
    """

    def __init__(
        self, script: Callable[[str, Sampling], str | Failure], context_length: int = 4096
    ) -> None:
        self.context_length = context_length
        self.prompts: list[str] = []
        self.sampling: list[Sampling] = []
        self.closed = 0
        self._script = script

    def generate(self, requests: Iterable[Request]) -> Iterator[tuple[str, Completion | Failure]]:
        for request in requests:
            text, row = decode(request.prompt, False), request.sampling
            self.prompts.append(text)
            self.sampling.append(row)
            said = self._script(text, row)
            if isinstance(said, Failure):
                yield request.row_id, said
                continue
            tokens = (*encode(said), SPECIALS["<|im_end|>"])
            stopped = len(tokens) <= row.max_tokens
            yield (
                request.row_id,
                Completion(
                    tokens[: row.max_tokens],
                    "stop" if stopped else "length",
                    tokens[-1] if stopped else None,
                ),
            )

    def provenance(self) -> dict[str, Any]:
        return {"engine": "scripted"}

    def close(self) -> None:
        self.closed += 1


def encode(text: str) -> list[int]:
    pieces = re.split("(" + "|".join(map(re.escape, SPECIALS)) + ")", text)
    return [
        token
        for piece in pieces
        for token in (
            [SPECIALS[piece]]
            if piece in SPECIALS
            else [ord(character) + FIRST_CHARACTER for character in piece]
        )
    ]


def decode(token_ids: Sequence[int], skip_special_tokens: bool) -> str:
    names = {token_id: token for token, token_id in SPECIALS.items()}
    return "".join(
        ("" if skip_special_tokens else names[token_id])
        if token_id in names
        else chr(token_id - FIRST_CHARACTER)
        for token_id in token_ids
    )


@pytest.fixture(scope="session")
def smollm_template() -> ChatTemplate:
    """SmolLM2's own ChatML template, as the bundled example's provenance keeps it."""
    path = resources.files("generation") / "example" / "provenance.json"
    source = json.loads(path.read_text(encoding="utf-8"))["sweep"]["model"]["template"]["text"]
    return ChatTemplate(source, {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"})


@pytest.fixture
def chat_model(smollm_template: ChatTemplate) -> ChatModel:
    ends = {"generation_config.eos": (2,), "tokenizer.eos": (2,)}
    return ChatModel(
        name="scripted",
        cut=derive_user_turn_cut(smollm_template, SPECIALS, ends),
        encode=encode,
        decode=decode,
        answer_stops=(2,),
        special_tokens=frozenset(SPECIALS),
        generation_config=None,
        context_length=4096,
        file_hashes={},
    )


@pytest.fixture
def scripted_engine() -> type[ScriptedEngine]:
    return ScriptedEngine


@pytest.fixture
def study(tmp_path):
    """Probes with a script into one store, each call as a command would: engine and all anew."""

    class Probed:
        store = open_rows(tmp_path / "pipeline.db")
        opened = 0

        def __call__(self, model, engine, plan, data, *, shard=ALL, **options):
            def open_engine():
                self.opened += 1
                return engine

            maker = Maker(self.store, run_of(plan), model.name, open_engine, {})
            stage = TurnStage(self.store, model, plan)
            probe = ModelProbe(maker, stage, shard.count > 1, **options)
            return probe.probe(first_starts(plan, [data], shard))

        def turns(self):
            return list(self.store.turns.turns())

    return Probed()
