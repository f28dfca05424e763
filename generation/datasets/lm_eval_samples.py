"""Samples that lm-eval logs (samples_TASK_DATE.jsonl): what was asked, answered and scored.

A document stands there once per filter of its task, with other scores each time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from generation.datasets.chat_message import (
    ChatMessage,
    LeftOut,
    answer_message,
    chat_messages,
)
from generation.datasets.collected import Collected
from generation.exchange.import_file import Row, json_value, names_shown
from rubrics import InputError, fingerprint

QUESTIONS = ("question", "Question", "prompt", "problem")  # fields of a document that hold q


@dataclass(frozen=True)
class _Sample:
    """A document with its answers; `scores` by filter and metric."""

    row: Row
    scores: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_lm_eval(rows: Iterable[Row], collected: Collected) -> None:
    """Every generated answer as a held-out one, with lm-eval's scores in the meta.

    What was asked is read from a prompt that is chat JSON; of a prompt that a template rendered
    already, from the document, and `asked` in the meta says where it was found.
    """
    for sample in _by_document(rows):
        try:
            asked, messages = _asked(sample.row)
            answers = [answer_message(text) for text in _responses(sample.row)]
        except LeftOut as why:
            collected.leave_out(str(why))
            continue
        values = sample.row.values
        meta = {"reference": values.get("target"), "asked": asked, "scores": sample.scores}
        for number, answer in enumerate(answers):
            source_id = f"{values.get('doc_id')}{f'/{number}' if number else ''}"
            collected.answered(source_id, [*messages, answer], meta)


def _by_document(rows: Iterable[Row]) -> list[_Sample]:
    samples: dict[str, _Sample] = {}
    for row in rows:
        values = row.values
        if not {"arguments", "resps"} <= values.keys():
            raise InputError(
                f"{row.where}: {names_shown(values)}; expected arguments and resps, as lm-eval "
                "writes its samples"
            )
        same = fingerprint([values.get("doc_id"), values["arguments"], values["resps"]])
        sample = samples.setdefault(same, _Sample(row))
        scores = {name: values.get(name) for name in _metrics(values)}
        sample.scores[str(values.get("filter", "none"))] = scores
    return list(samples.values())


def _metrics(values: Mapping[str, Any]) -> list[str]:
    """The names of a row's scores; older versions list none, and write numbers alone as scores."""
    named = values.get("metrics")
    if isinstance(named, list):
        return [name for name in named if isinstance(name, str)]
    return [
        key for key, value in values.items() if isinstance(value, int | float) and key != "doc_id"
    ]


def _asked(row: Row) -> tuple[str, tuple[ChatMessage, ...]]:
    arguments = row.values["arguments"]
    requests = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    if not isinstance(requests, list) or not requests:
        raise InputError(f"{row.where}: arguments is {arguments!r:.60}; expected gen_args_0")
    if len(requests) > 1:
        raise LeftOut("several requests for one document, such as the options of a choice")
    request = requests[0]
    parts = list(request.values()) if isinstance(request, Mapping) else request
    if not isinstance(parts, list) or not parts:
        raise InputError(f"{row.where}: gen_args_0 is {request!r:.60}; expected arg_0")
    if len(parts) > 1 and isinstance(parts[1], str):
        raise LeftOut("a log-likelihood, with no generated answer")
    chat = _chat_json(parts[0])
    if chat is not None:
        return "as it was sent", chat_messages(f"{row.where}: arg_0", chat)
    document = row.values.get("doc")
    for column in QUESTIONS if isinstance(document, Mapping) else ():
        question = document.get(column)
        if isinstance(question, str) and question.strip():
            return f"the document's {column}", (ChatMessage("user", question),)
    raise LeftOut("a rendered prompt, and a document without a question field")


def _chat_json(prompt: Any) -> list[Any] | None:
    """The messages of a prompt that is a chat: a list, its JSON text, or a list of that alone."""
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt.lstrip().startswith("["):
        try:
            prompt = json_value(prompt)
        except (ValueError, RecursionError):
            return None
    chat = isinstance(prompt, list) and prompt and all(
        isinstance(entry, dict) and "role" in entry for entry in prompt
    )  # fmt: skip
    return prompt if chat else None


def _responses(row: Row) -> list[str]:
    responses = row.values["resps"]
    if not isinstance(responses, list):
        raise InputError(f"{row.where}: resps is {responses!r:.60}; expected lists of texts")
    flat = [text for one in responses for text in (one if isinstance(one, list) else [one])]
    if not flat or not all(isinstance(text, str) for text in flat):
        raise LeftOut("no generated answer")
    return flat
