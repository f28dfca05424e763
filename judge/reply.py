"""A judge model's reply to one request, online or from a batch: the judgment and what it took."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from judge.judgment import Judgment, invalid_judgment
from judge.label_probabilities import label_probabilities
from judge.server.errors import Refused
from judge.server.usage import Usage, read_usage
from judge.verdict import kept_form, parse_verdict, storable
from rubrics import Rubric


@dataclass(frozen=True)
class Reply:
    """`usage` and `label_probabilities` are None where the server did not tell."""

    judgment: Judgment
    usage: Usage | None = None
    label_probabilities: dict[str, float] | None = None


def _text(content: Any) -> str:
    """A message's text, whole or in parts; whatever else it is, as JSON, which is no verdict."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        texts = [part.get("text") for part in content if part.get("type") == "text"]
        if texts and all(isinstance(text, str) for text in texts):
            return "".join(texts)
    return f"not text: {json.dumps(content)}".replace("{", "(").replace("}", ")")


def is_completion(body: Any) -> bool:
    """Whether this is a chat completion at all, with or without a verdict in it."""
    return isinstance(body, dict) and isinstance(body.get("choices"), list)


def read_reply(completion: dict[str, Any], rubric: Rubric) -> Reply:
    """The reply in a chat completion; one without a whole verdict is an invalid outcome.

    Never raises: not every server sends every field, or an object where one belongs.
    """
    choices = completion["choices"]
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    judgment = (
        _judgment(choice, rubric)
        if choices
        else invalid_judgment("no choices in the reply", raw="")
    )
    probabilities = None
    if judgment.valid and choice.get("logprobs"):
        content = _text(choice["message"]["content"])
        probabilities = label_probabilities(choice["logprobs"], content, rubric)
    return Reply(judgment, read_usage(completion.get("usage")), probabilities)


def refused_reply(refused: Refused) -> Reply | None:
    """The outcome of an item that is refused for what it holds; None where it is not the item."""
    if refused.item_fault is None:
        return None
    return Reply(invalid_judgment(refused.item_fault, raw=storable(refused.said)))


def kept_reply(reply: Reply, without_key: Callable[[str], str]) -> Reply:
    """The reply as it is kept: without the key, and of a bounded length."""
    return replace(reply, judgment=kept_form(reply.judgment, without_key))


def _judgment(choice: dict[str, Any], rubric: Rubric) -> Judgment:
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    content, refusal = message.get("content"), message.get("refusal")
    raw = storable(_text(content))
    if refusal:
        said = storable(refusal) if isinstance(refusal, str) else raw
        return invalid_judgment("refusal", raw=said)
    if choice.get("finish_reason") == "length":
        return invalid_judgment("cut off by the token limit", raw=raw)
    if choice.get("finish_reason") == "content_filter":
        return invalid_judgment("content filter", raw=raw)
    return parse_verdict(raw, rubric)
