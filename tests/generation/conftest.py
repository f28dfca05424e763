"""A chat model and an engine without a network: characters are tokens, answers follow a script."""

import json
import re
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import pytest

from generation.chat_model import ChatModel
from generation.chat_template import ChatTemplate
from generation.engine import Completion, Sampling, completion_from_tokens
from generation.user_turn_cut import derive_user_turn_cut

SPECIALS = {"<|endoftext|>": 0, "<|im_start|>": 1, "<|im_end|>": 2}
FIRST_CHARACTER = 10


class ScriptedEngine:
    """Says what `script(prompt text, sampling)` says, then its stop token if there is room."""

    def __init__(self, script: Callable[[str, Sampling], str], context_length: int = 4096) -> None:
        self.context_length = context_length
        self.prompts: list[str] = []
        self.sampling: list[Sampling] = []
        self._script = script

    def generate(
        self, prompts: Sequence[Sequence[int]], sampling: Sequence[Sampling]
    ) -> list[Completion]:
        completions = []
        for prompt, row in zip(prompts, sampling, strict=True):
            text = decode(prompt, False)
            self.prompts.append(text)
            self.sampling.append(row)
            tokens = [*encode(self._script(text, row)), SPECIALS["<|im_end|>"]]
            stopped = len(tokens) <= row.max_tokens
            completions.append(
                completion_from_tokens(
                    tokens[: row.max_tokens],
                    "stop" if stopped else "length",
                    tokens[-1] if stopped else None,
                    decode,
                )
            )
        return completions

    def provenance(self) -> dict[str, Any]:
        return {"engine": "scripted"}


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
        answer_stops=(2,),
        special_tokens=frozenset(SPECIALS),
        generation_config=None,
        context_length=4096,
        file_hashes={},
    )


@pytest.fixture
def scripted_engine() -> type[ScriptedEngine]:
    return ScriptedEngine
