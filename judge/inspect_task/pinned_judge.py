"""The judge that an export pins, asked through Inspect's model API."""

import os
from functools import cache
from logging import getLogger
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.util import JSONSchema

from generation.item import Item
from judge.exported import Export, load_export
from judge.inspect_task.refusal import told_in_a_line
from judge.judgment import Judgment
from judge.prompts.prompt import judge_messages
from judge.reply import kept_reply, read_reply, refused_reply
from judge.server.errors import Refused
from judge.server.parameters import Parameters
from judge.verdict import verdict_schema
from rubrics import InputError

# Why a reply ended, in the words of the API that `judge.reply` reads.
_FINISH = {"max_tokens": "length", "content_filter": "content_filter"}
_logger = getLogger(__name__)


def pinned_judge(folder: str) -> Export:
    """The export in this folder, verified; raises InputError for a changed one.

    Also for that of the lexical baseline, which asks no model.
    """
    with told_in_a_line():
        export = load_export(given_path(folder))
        if export.judge.reads_prompt:
            return export
        raise InputError(
            f"{export.folder} is an export of the lexical baseline, which asks no model; expected "
            "that of a judge model: calibrate export --judge MODEL"
        )


def given_path(text: str) -> Path:
    """A path as it was typed: Inspect moves to a task's own folder before it makes the task."""
    path = Path(str(text))  # Inspect makes a number of a name such as 12
    return path.absolute() if path.exists() else Path(os.environ.get("PWD", "."), path)


def chat_messages(export: Export, item: Item) -> list[ChatMessage]:
    """The judge's messages for one item, as `judge` sends them."""
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    return [
        kinds[message["role"]](content=message["content"])
        for message in judge_messages(export.prompt, item)
    ]


def generate_config(export: Export, run: int) -> GenerateConfig:
    """The pinned parameters of one run: they win over those of the command line."""
    body = Parameters(export.judge.parameters, logprobs=False).body(
        run, verdict_schema(export.rubric)
    )
    config: dict[str, Any] = {
        name: body[name]
        for name in ("temperature", "seed", "reasoning_effort", "max_tokens")
        if name in body
    }
    if "max_completion_tokens" in body:  # Inspect's providers name the limit as theirs do
        config["max_tokens"] = body["max_completion_tokens"]
    wanted = body.get("response_format")
    if wanted and "json_schema" in wanted:
        schema = wanted["json_schema"]
        config["response_schema"] = ResponseSchema(
            name=schema["name"], json_schema=JSONSchema(**schema["schema"]), strict=schema["strict"]
        )
    elif wanted:
        config["extra_body"] = {"response_format": wanted}
    return GenerateConfig(**config)


def read_output(output: ModelOutput, export: Export) -> Judgment:
    """The verdict in what the model wrote; one that cannot be read is an invalid judgment."""
    if output.choices and output.stop_reason == "model_length":  # the server's refusal as a text
        reply = refused_reply(Refused(400, output.completion, code="context_length_exceeded"))
    else:
        reply = read_reply({"choices": list(map(_choice, output.choices))}, export.rubric)
    assert reply is not None
    return kept_reply(reply, str).judgment


def _choice(choice: ChatCompletionChoice) -> dict[str, Any]:
    content = choice.message.content
    parts = [] if isinstance(content, str) else content
    refused = any(getattr(part, "refusal", None) for part in parts)
    text = choice.message.text
    return {
        "finish_reason": _FINISH.get(choice.stop_reason, "stop"),
        "message": {"content": text, "refusal": text if refused else None},
    }


def stranger(export: Export, model: Model) -> str | None:
    """What to say where the model is another than the export pins; it is also logged, once."""
    pinned = export.judge.model
    if pinned in (model.name, str(model)) or str(model).endswith(f"/{pinned}"):
        return None
    note = f"not the calibrated judge: {model} in place of {pinned}, so its kappa is not known"
    _warn(note)
    return note


@cache
def _warn(note: str) -> None:
    _logger.warning(note)
