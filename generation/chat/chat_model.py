"""A model folder as the probe reads it: tokenizer, chat template, ends of sequence, hashes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from generation.chat.chat_template import ChatTemplate
from generation.chat.model_files import file_hashes, json_file, revision, without_weights
from generation.chat.model_tokenizer import (
    bos_warnings,
    check_token_ids,
    control_tokens_of,
    read_tokenizer,
    template_source,
)
from generation.chat.sentinel import ANSWERS, QUESTIONS, written_between
from generation.chat.stops import Stop
from generation.chat.thinking import Marks, is_framed, marks_of, switch_warnings
from generation.chat.user_turn_cut import UserTurnCut, derive_user_turn_cut
from generation.item import Message
from rubrics import InputError, fingerprint


class Encode(Protocol):
    """Text to token ids, adding no special token."""

    def __call__(self, text: str) -> list[int]: ...


class Decode(Protocol):
    """Token ids to text, with special tokens or without."""

    def __call__(self, token_ids: Sequence[int], skip_special_tokens: bool) -> str: ...


@dataclass(frozen=True)
class ChatModel:
    """All of a model that the probe needs besides an engine. `name` is the user's, not its path.

    `answer_stops` end an answer; a token that closes thinking is none of them. `special_tokens` are
    read out of plain text as one control token each. `warnings` are for the user, a line each.
    """

    name: str
    cut: UserTurnCut
    encode: Encode
    decode: Decode
    answer_stops: tuple[int, ...]
    special_tokens: frozenset[str]
    generation_config: Mapping[str, Any] | None
    context_length: int | None
    file_hashes: Mapping[str, str]
    revision: str | None = None
    warnings: tuple[str, ...] = ()

    @cached_property
    def thinking_marks(self) -> tuple[Marks, ...]:
        return marks_of(self.cut.template, self.special_tokens)

    @cached_property
    def is_framed(self) -> bool:
        return is_framed(self.cut.template)

    @cached_property
    def setup_hash(self) -> str:
        """Of all that decides prompts and ends of rows, and of no folder's path.

        A commit of the hub stands for the weights, which are not there where a server has them.
        """
        cut, template = self.cut, self.cut.template
        files = dict(self.file_hashes)
        if self.revision:
            files = without_weights(files) | {"revision": self.revision}
        return fingerprint(
            {
                "name": self.name,
                "files": files,
                "template": template.hash,
                "kwargs": dict(template.kwargs),
                "date": template.date_read,
                "list_content": template.list_content,
                "empty_tools": template.empty_tools,
                "stops": [stop.token_id for stop in cut.stops],
                "stop_strings": list(cut.stop_strings),
                "answer_stops": list(self.answer_stops),
                "answer_stop_strings": list(cut.answer_stop_strings),
            }
        )

    def provenance(self) -> dict[str, Any]:
        template, checked = self.cut.template, self.cut.checked
        return {
            "name": self.name,
            "setup_hash": self.setup_hash,
            "revision": self.revision,
            "files": dict(self.file_hashes),
            "generation_config": self.generation_config,
            "template": {
                "hash": template.hash,
                "text": template.source,
                "kwargs": dict(template.kwargs),
                "variables_read": sorted(template.variables_read),
                "list_content": template.list_content,
                "empty_tools": template.empty_tools,
                "date": template.date_read,
                "head": checked.head,
                "system_message": checked.system,
                "trims": list(checked.trims),
                "thinking_fields": list(template.thinking_fields),
            },
            "user_header": self.cut.header,
            "user_terminator": self.cut.terminator,
            "stops": _stop_rows(self.cut.stops),
            "stop_strings": list(self.cut.stop_strings),
            "answer_stops": _stop_rows(self.cut.answer_stops),
            "answer_stop_strings": list(self.cut.answer_stop_strings),
            "warnings": list(self.warnings),
        }


def load_chat_model(
    folder: Path,
    *,
    name: str | None,
    day: date,
    template_kwargs: Mapping[str, Any],
    template_file: Path | None = None,
) -> ChatModel:
    """Read a model folder and check its chat template, or the one in `template_file`.

    Raises InputError when transformers is not installed, the folder holds no model, tokenizer
    or chat template, or the template fails a check.
    """
    config = json_file(folder / "config.json")
    if config is None:
        raise InputError(
            f"{folder} holds no config.json; expected the folder of a model with "
            "config.json, tokenizer.json and safetensors"
        )
    text_config = config.get("text_config") or {}  # of a model that sees pictures, too
    tokenizer = read_tokenizer(folder)
    template = ChatTemplate(
        source=template_source(folder, tokenizer, template_file),
        special_tokens=dict(tokenizer.special_tokens_map),
        date=day,
        kwargs=template_kwargs,
    )
    control_token_ids = control_tokens_of(tokenizer, template.source + written_between(template))
    generation_config = json_file(folder / "generation_config.json")
    known = set(control_token_ids.values())
    config_eos = _ids(config.get("eos_token_id") or text_config.get("eos_token_id"))
    ends = {
        "generation_config.eos": _ids((generation_config or {}).get("eos_token_id")),
        "tokenizer.eos": _ids(tokenizer.eos_token_id),
        "config.eos": tuple(token_id for token_id in config_eos if token_id in known),
    }
    cut = derive_user_turn_cut(template, control_token_ids, ends)

    def encode(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False))

    def decode(token_ids: Sequence[int], skip_special_tokens: bool) -> str:
        return tokenizer.decode(
            list(token_ids),
            skip_special_tokens=skip_special_tokens,
            clean_up_tokenization_spaces=False,
        )

    example = cut.cut([Message("user", QUESTIONS[0])], ANSWERS[0]).prompt
    check_token_ids(example, encode(example), control_token_ids)
    return ChatModel(
        name=name or folder.resolve().name,
        cut=cut,
        encode=encode,
        decode=decode,
        answer_stops=tuple(stop.token_id for stop in cut.answer_stops),
        special_tokens=frozenset(control_token_ids),
        generation_config=generation_config,
        context_length=config.get("max_position_embeddings")
        or text_config.get("max_position_embeddings"),
        file_hashes=file_hashes(folder),
        revision=revision(folder),
        warnings=(
            *switch_warnings(cut.template),
            *bos_warnings(tokenizer, example),
            *(
                f"config.json names {token_id} as end of sequence, which is no special token of "
                "the tokenizer; it stops nothing"
                for token_id in config_eos
                if token_id not in known
            ),
        ),
    )


def _ids(value: Any) -> tuple[int, ...]:
    ids = () if value is None else tuple(value) if isinstance(value, list) else (value,)
    if not all(isinstance(token_id, int) and token_id >= 0 for token_id in ids):
        raise InputError(f"eos_token_id is {value!r:.60}; expected a token's id or a list of ids")
    return ids


def _stop_rows(stops: Iterable[Stop]) -> list[dict[str, Any]]:
    return [asdict(stop) | {"why": list(stop.why)} for stop in stops]
