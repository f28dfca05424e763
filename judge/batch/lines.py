"""The lines of a batch: requests as they are written, and results as they are read.

A result is tied to its request by its custom_id alone, which names the judge, the item and the
run: never by its place in a file, for results come in any order.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from judge.reply import Reply, is_completion, kept_reply, read_reply, refused_reply
from judge.server.client import hidden_error, said
from judge.server.errors import Refused
from rubrics import Rubric, fingerprint

URL = "/v1/chat/completions"
CUSTOM_ID_DIGITS = 32  # of 64; OpenAI allows 64 characters
MAX_REQUESTS = 50_000  # of one batch, by OpenAI's limits
MAX_BYTES = 190_000_000  # of one file, whose limit there is 200 MB
MAX_FAILURE = 60  # characters of a failure's name

WithoutKey = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class BatchAsk:
    """What a custom_id stands for: one verdict of one judge."""

    custom_id: str
    judge_id: str
    item_hash: str
    run_index: int


@dataclass(frozen=True)
class BatchFile:
    """A whole input file, which is gone with the next one, and what it asks for."""

    data: BinaryIO
    size: int
    asks: tuple[BatchAsk, ...]


@dataclass(frozen=True)
class Result:
    """What a line says about its request: a reply, or None and the `failure` that left it open."""

    custom_id: str
    reply: Reply | None = None
    failure: str | None = None


def batch_ask(judge_id: str, item_hash: str, run_index: int) -> BatchAsk:
    """The ask with its custom_id, which is always the same."""
    key = fingerprint({"judge": judge_id, "item": item_hash, "run": run_index})
    digits = key.partition(":")[2][:CUSTOM_ID_DIGITS]
    return BatchAsk(digits, judge_id, item_hash, run_index)


def request_line(custom_id: str, body: dict[str, Any]) -> bytes:
    line = {"custom_id": custom_id, "method": "POST", "url": URL, "body": body}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def is_request(raw: bytes) -> bool:
    """Whether a line is a request and no result: the two files are easily mistaken."""
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(line, dict) and "body" in line and "response" not in line


def packed(
    lines: Iterable[tuple[BatchAsk, bytes]], max_requests: int, max_bytes: int
) -> Iterator[BatchFile]:
    """Files within both limits, one at a time and on the disk: memory holds single lines."""
    with tempfile.TemporaryFile() as data:
        asks: list[BatchAsk] = []
        for ask, line in lines:
            if asks and (len(asks) >= max_requests or data.tell() + len(line) > max_bytes):
                yield _packed(data, asks)
                data.seek(0)
                data.truncate()
                asks = []
            data.write(line)
            asks.append(ask)
        if asks:
            yield _packed(data, asks)


def _packed(data: BinaryIO, asks: list[BatchAsk]) -> BatchFile:
    return BatchFile(data, data.tell(), tuple(asks))


def read_result(raw: bytes, rubric: Rubric, without_key: WithoutKey) -> Result | None:
    """A line of an output or error file; None when it is no result at all.

    Never raises: OpenAI's lines and those of other runners differ in what they leave out.
    """
    line = _named(raw)
    if line is None:
        return None
    custom_id, response = line["custom_id"], line.get("response")
    response = response if isinstance(response, dict) else {}
    status, body = _status(response.get("status_code", 200)), response.get("body")
    if status == 200 and is_completion(body):
        fault = body["choices"] and hidden_error(body["choices"][0])
        if not fault:
            return Result(custom_id, kept_reply(read_reply(body, rubric), without_key))
        error = fault
    else:
        error = _error(line.get("error"), body)
    refused = _refused(status, error, without_key)
    if fault := refused_reply(refused):
        return Result(custom_id, kept_reply(fault, without_key))
    return Result(custom_id, failure=_failure(refused, without_key))


def result_id(raw: bytes) -> str | None:
    """The custom_id of a line that `read_result` can read."""
    line = _named(raw)
    return line and line["custom_id"]


def _named(raw: bytes) -> dict[str, Any] | None:
    """A line with a custom_id; None when it has none."""
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and isinstance(line.get("custom_id"), str) else None


def _error(error: Any, body: Any) -> Any:
    """The error of a line: the response's own, or that of the request; some wrap it once more."""
    for found in (body, error):
        if isinstance(found, dict) and found.get("error"):
            return found["error"]
    return error


def _status(found: Any) -> Any:
    """A status code; some runners write it as text."""
    is_text = isinstance(found, str) and len(found) == 3 and found.isascii() and found.isdigit()
    return int(found) if is_text else found


def _refused(status: Any, error: Any, without_key: WithoutKey) -> Refused:
    """The line as the refusal that it would be online; 0 where no server answered."""
    error = error if isinstance(error, dict) else {"message": error}
    code = error.get("code")
    if status == 200 or type(status) is not int:  # the error alone says what it is
        status = code if type(code) is int and 400 <= code < 600 else 0
    words = error.get("message")
    return Refused(
        status,
        said(words, without_key) if isinstance(words, str) else "",
        code=code if isinstance(code, str) else None,
    )


def _failure(refused: Refused, without_key: WithoutKey) -> str:
    """What left the request without a verdict, in a word that can be counted."""
    code = said(refused.code, without_key) if refused.code else ""
    words = code or (f"status {refused.status}" if refused.status else refused.said)
    return words[:MAX_FAILURE] or "no chat completion"
