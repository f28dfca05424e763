"""OpenAI's Files and Batch API for the stub server, in memory, going as a test scripts it."""

import itertools
import json
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from stub_http import CHAT

ENDINGS = ("completed", "expired", "cancelled")  # those after which there are results
WINDOW_SECONDS = 24 * 3600
UNDONE = {  # what is said of requests that a batch ended without
    "expired": "This request could not be executed before the completion window expired.",
    "cancelled": "The batch was cancelled before this request executed.",
}

Ask = Callable[[str, dict[str, Any]], tuple[int, Any] | None]  # (custom_id, body) -> status, body


@dataclass(frozen=True)
class BatchScript:
    """How a batch goes. It is created in the first status, and each GET of it moves one on."""

    statuses: tuple[str, ...] = ("validating", "in_progress", "completed")
    answered: int | None = None  # when it ends expired or cancelled: only the first n have output
    fails: Collection[str] | Callable[[str], bool] = ()  # custom_ids, or a predicate of them
    # What they get: a response with a "status_code" and a "body", or an error's "code", "message".
    failure: dict[str, Any] = field(
        default_factory=lambda: {"code": "server_error", "message": "The server had an error."}
    )
    reversed: bool = False  # the output's lines, as against the input's
    doubled: Collection[str] = ()  # custom_ids whose output line is there twice
    unknown: Collection[str] = ()  # custom_ids that nobody asked for, with output
    garbage: tuple[bytes, ...] = ()  # lines put into the middle of the output
    truncated: bool = False  # the output ends in the middle of its last line
    max_requests: int = 50_000  # a longer input fails validation
    errors: tuple[dict[str, Any], ...] = ()  # of a `failed` batch; found ones come first

    def is_failing(self, custom_id: str) -> bool:
        return self.fails(custom_id) if callable(self.fails) else custom_id in self.fails


class Refused(Exception):
    """A request that is answered with an error: status, message."""


@dataclass
class _Batch:
    shown: dict[str, Any]  # OpenAI's batch object
    script: BatchScript
    lines: list[dict[str, Any]]
    faults: list[dict[str, Any]]
    coming: list[str]  # statuses that it will yet have


class BatchApi:
    """What lies under /v1/files and /v1/batches."""

    def __init__(self, script: BatchScript | Callable[[int], BatchScript], ask: Ask) -> None:
        self.script = script  # may be changed between batches; a function gets a batch's number
        self._ask = ask
        self._files: dict[str, tuple[dict[str, Any], bytes]] = {}
        self._batches: dict[str, _Batch] = {}
        self._numbers = itertools.count()

    def answer(
        self, method: str, path: str, query: dict[str, str], kind: str, raw: bytes
    ) -> dict[str, Any] | bytes | None:
        """The reply's body, None when nothing is served there. Raises Refused."""
        match [method, *path.removeprefix("/v1/").split("/")]:
            case ["POST", "files"]:
                return self._upload(kind, raw)
            case ["GET", "files"]:
                return _page([shown for shown, _ in self._files.values()], query)
            case ["GET", "files", file_id]:
                return self._file(file_id)[0]
            case ["DELETE", "files", file_id]:
                self._file(file_id)
                del self._files[file_id]
                return {"id": file_id, "object": "file", "deleted": True}
            case ["GET", "files", file_id, "content"]:
                return self._file(file_id)[1]
            case ["POST", "batches"]:
                return self._create(json.loads(raw))
            case ["GET", "batches"]:
                return _page([batch.shown for batch in self._batches.values()], query)
            case ["GET", "batches", batch_id]:
                return self._retrieve(batch_id)
            case ["POST", "batches", batch_id, "cancel"]:
                return self._cancel(batch_id)
        return None

    def _upload(self, kind: str, raw: bytes) -> dict[str, Any]:
        boundary = re.search(r'boundary="?([^";]+)', kind)
        if not boundary:
            raise Refused(400, "Could not parse multipart form")
        parts = {}
        for part in (b"\r\n" + raw).split(b"\r\n--" + boundary[1].encode())[1:-1]:
            head, _, content = part.partition(b"\r\n\r\n")
            names = dict(re.findall(r'[; ](name|filename)="([^"]*)"', head.decode()))
            parts[names["name"]] = names.get("filename"), content
        if not {"file", "purpose"} <= parts.keys():
            raise Refused(400, f"'file' and 'purpose' are required; got {sorted(parts)}")
        filename, content = parts["file"]
        return self._store(filename or "upload", content, parts["purpose"][1].decode())

    def _store(self, filename: str, content: bytes, purpose: str) -> dict[str, Any]:
        shown = {
            **{"id": f"file-{next(self._numbers)}", "object": "file", "status": "processed"},
            **{"filename": filename, "purpose": purpose},
            **{"bytes": len(content), "created_at": int(time.time())},
        }
        self._files[shown["id"]] = shown, content
        return shown

    def _file(self, file_id: str) -> tuple[dict[str, Any], bytes]:
        if file_id not in self._files:
            raise Refused(404, f"No such File object: {file_id}")
        return self._files[file_id]

    def _batch(self, batch_id: str) -> _Batch:
        if batch_id not in self._batches:
            raise Refused(404, f"No batch found with id '{batch_id}'.")
        return self._batches[batch_id]

    def _create(self, asked: dict[str, Any]) -> dict[str, Any]:
        if (asked.get("endpoint"), asked.get("completion_window")) != (CHAT, "24h"):
            raise Refused(400, f"expected endpoint {CHAT} and completion_window 24h")
        file, content = self._file(asked["input_file_id"])
        if file["purpose"] != "batch":
            raise Refused(400, f"purpose of the input file is {file['purpose']}, not batch")
        script = self.script(len(self._batches)) if callable(self.script) else self.script
        now = int(time.time())
        shown = {
            **{"id": f"batch_{next(self._numbers)}", "object": "batch"},
            **{"endpoint": CHAT, "completion_window": "24h", "metadata": asked.get("metadata")},
            **{"input_file_id": file["id"], "output_file_id": None, "error_file_id": None},
            **{"status": script.statuses[0], "errors": None},
            **{"created_at": now, "expires_at": now + WINDOW_SECONDS},
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
        }
        lines, faults = _read_input(content, script.max_requests)
        coming = ["failed"] if faults else list(script.statuses[1:])
        batch = _Batch(shown, script, lines, [*faults, *script.errors], coming)
        self._batches[shown["id"]] = batch
        return dict(shown)

    def _retrieve(self, batch_id: str) -> dict[str, Any]:
        batch = self._batch(batch_id)
        if batch.coming:
            batch.shown["status"] = status = batch.coming.pop(0)
            batch.shown |= {f"{status}_at": int(time.time())} if status != "validating" else {}
            if status == "failed":
                batch.shown["errors"] = {"object": "list", "data": batch.faults}
            elif status != "validating":
                batch.shown["request_counts"] |= {"total": len(batch.lines)}
            if status in ENDINGS:
                self._finish(batch, status)
        return dict(batch.shown)

    def _cancel(self, batch_id: str) -> dict[str, Any]:
        batch = self._batch(batch_id)
        if batch.shown["status"] in (*ENDINGS, "failed"):
            raise Refused(409, f"Cannot cancel a batch with status '{batch.shown['status']}'.")
        batch.shown |= {"status": "cancelling", "cancelling_at": int(time.time())}
        batch.coming = ["cancelled"]
        return dict(batch.shown)

    def _finish(self, batch: _Batch, ending: str) -> None:
        script, outputs, errors = batch.script, [], []
        last = len(batch.lines) if ending == "completed" else script.answered
        for place, line in enumerate(batch.lines):
            custom_id = line["custom_id"]
            if last is not None and place >= last:
                error = {"code": f"batch_{ending}", "message": UNDONE[ending]}
                errors.append(_result(custom_id, None, error))
            elif script.is_failing(custom_id):
                is_response = "status_code" in script.failure
                found = (script.failure, None) if is_response else (None, script.failure)
                errors.append(_result(custom_id, *found))
            elif (answer := self._ask(custom_id, line["body"])) is None:
                error = {"code": "request_timeout", "message": "The request timed out."}
                errors.append(_result(custom_id, None, error))
            else:
                response = {"status_code": answer[0], "body": answer[1]}
                results = outputs if answer[0] == 200 else errors
                results.append(_result(custom_id, response, None))
        batch.shown["request_counts"] |= {"completed": len(outputs), "failed": len(errors)}
        sample = outputs[0]["response"] if outputs else {"status_code": 200, "body": {}}
        outputs += [line for line in outputs if line["custom_id"] in script.doubled]
        outputs += [_result(custom_id, sample, None) for custom_id in script.unknown]
        written = [json.dumps(line).encode() for line in outputs][:: -1 if script.reversed else 1]
        written[len(written) // 2 : len(written) // 2] = script.garbage
        content = b"".join(line + b"\n" for line in written)
        if script.truncated and written:
            content = content[: -1 - len(written[-1]) // 2]
        failed = b"".join(json.dumps(line).encode() + b"\n" for line in errors)
        for name, text in (("output", content), ("error", failed)):
            if text:
                file = self._store(f"{batch.shown['id']}_{name}.jsonl", text, "batch_output")
                batch.shown[f"{name}_file_id"] = file["id"]


def _result(custom_id: str, response: dict | None, error: dict | None) -> dict[str, Any]:
    response = response and {"request_id": f"req_{custom_id}", **response}
    named = {"id": f"batch_req_{custom_id}", "custom_id": custom_id}
    return {**named, "response": response, "error": error}


def _read_input(content: bytes, most: int) -> tuple[list[dict], list[dict]]:
    """The requests, and what OpenAI's validation would say of them."""
    lines, faults, seen, models = [], [], set(), set()
    for number, text in enumerate(content.splitlines(), 1):
        try:
            line = json.loads(text)
            custom_id, model = line["custom_id"], line["body"]["model"]
            wrong = (line["method"], line["url"]) != ("POST", CHAT)
        except (ValueError, TypeError, KeyError):
            faults.append(_fault("invalid_json_line", "This line is no batch request.", number))
            continue
        models.add(model)
        if custom_id in seen:
            faults.append(_fault("duplicate_custom_id", f"{custom_id} was seen before.", number))
        if wrong or len(models) > 1:
            code = "url_mismatch" if wrong else "model_mismatch"
            faults.append(_fault(code, "All lines are for one endpoint and one model.", number))
        seen.add(custom_id)
        lines.append(line)
    if not content.strip():
        faults.append(_fault("empty_file", "The input file is empty."))
    if len(lines) > most:
        faults.append(_fault("too_many_tasks", f"{len(lines)} requests, at most {most}."))
    return lines, faults


def _fault(code: str, message: str, line: int | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "param": None, "line": line}


def _page(objects: list[dict[str, Any]], query: dict[str, str]) -> dict[str, Any]:
    """The newest first, from after `after`."""
    newest = objects[::-1]
    ids = [shown["id"] for shown in newest]
    start = ids.index(query["after"]) + 1 if query.get("after") in ids else 0
    shown = newest[start : start + int(query.get("limit", 20))]
    ends = {"first_id": shown[0]["id"], "last_id": shown[-1]["id"]} if shown else {}
    return {"object": "list", "data": shown, "has_more": newest[-1:] != shown[-1:], **ends}
