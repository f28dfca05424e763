"""Logs of Inspect: samples with messages and scores, in a .json file or a zip ending in .eval.

The zip is read here and not by inspect_ai, which is heavy for it: the names in it and the fields
of a sample are those of inspect_ai 0.3.285, which packs them with Zstandard.
"""

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from generation.datasets.chat_message import LeftOut, chat_messages
from generation.datasets.collected import Collected
from generation.datasets.known_source import Reading
from generation.exchange.import_file import Row, SourceFile, checked, text_of
from rubrics import InputError

ZIP_START = b"PK\x03\x04"
ZSTANDARD = 93  # method of compression in a zip, which zipfile does not know before Python 3.14
LOCAL_HEADER_BYTES = 30  # before a member's name; two lengths stand in its last four
ATTACHMENT = "attachment://"  # before the key of a text that stands apart from the messages
SAID = ("role", "content", "tool_calls")


@dataclass(frozen=True)
class _Log:
    """A log's head, the part named eval, and its samples, read one after another."""

    head: dict[str, Any]
    samples: Iterator[dict[str, Any]]


def is_inspect_log(file: SourceFile) -> bool:
    """Whether it is one, by its first bytes or by the names that only a log has."""
    if file.path.suffix.lower() == ".eval" or file.content.startswith(ZIP_START):
        return True
    json_object = file.path.suffix.lower() == ".json" and file.content.lstrip().startswith(b"{")
    return json_object and b'"eval"' in file.content and b'"samples"' in file.content


def read_inspect_log(file: SourceFile, name: str) -> Reading:
    """Every sample as a conversation: its last answer is a held-out one, its scores in the meta.

    Raises InputError for a file that is no log, or a log without samples.
    """
    log = _zip_log(file) if file.content.startswith(ZIP_START) else _json_log(file)
    collected = Collected(name)
    rows = (_row(file, number, sample) for number, sample in enumerate(log.samples, 1))
    for row in checked(rows):
        _collect(row, collected, log.head.get("model"))
    choices = {"shape": "Inspect", "task": log.head.get("task"), "model": log.head.get("model")}
    return Reading(collected.rows(), choices)


def _collect(row: Row, collected: Collected, model: Any) -> None:
    sample = row.values
    if sample["error"]:
        collected.leave_out("a sample that ended in an error")
        return
    try:
        messages = chat_messages(f"{row.where}: messages", sample["messages"])
    except LeftOut as why:
        collected.leave_out(str(why))
        return
    meta = {"reference": sample["target"], "scores": sample["scores"], "answered_by": model}
    epoch = sample["epoch"]
    source_id = f"{sample['id']}{f'/{epoch}' if epoch != 1 else ''}"
    collected.chat(source_id, messages, meta)


def _row(file: SourceFile, number: int, sample: Any) -> Row:
    """What is used of a sample: its events, far larger than all else, are not looked at."""
    row = Row(file.path, number, {}, all_text=False, unit="sample")
    if not isinstance(sample, dict) or "id" not in sample:
        raise InputError(f"{row.where}: {sample!r:.60}; expected a sample of an Inspect log")
    attachments, scores = (_mapping(sample.get(key)) for key in ("attachments", "scores"))
    values = {
        "id": sample["id"],
        "epoch": sample.get("epoch", 1),
        "messages": _said(sample.get("messages"), attachments),
        "target": sample.get("target"),
        "scores": {
            name: score.get("value") if isinstance(score, dict) else score
            for name, score in scores.items()
        },
        "error": bool(sample.get("error")),
    }
    return Row(file.path, number, values, all_text=False, unit="sample")


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _said(messages: Any, attachments: dict[str, Any]) -> Any:
    """What is used of the messages; what is no list of messages is left for the check of them."""
    if not isinstance(messages, list) or not all(isinstance(entry, dict) for entry in messages):
        return messages
    return [{key: _attached(entry.get(key), attachments) for key in SAID} for entry in messages]


def _attached(value: Any, attachments: dict[str, Any]) -> Any:
    """The value with the texts that stand apart put back in their places."""
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return attachments.get(value.removeprefix(ATTACHMENT), value)
    if isinstance(value, list):
        return [_attached(part, attachments) for part in value]
    if isinstance(value, dict):
        return {key: _attached(part, attachments) for key, part in value.items()}
    return value


def _json_log(file: SourceFile) -> _Log:
    log = _json(file, file.path.name, text_of(file))
    if not isinstance(log, dict) or not isinstance(log.get("samples"), list):
        raise InputError(f"{file.path}: no samples; expected an Inspect log")
    return _Log(_head(log), iter(log["samples"]))


def _zip_log(file: SourceFile) -> _Log:
    try:
        archive = zipfile.ZipFile(BytesIO(file.content))
    except zipfile.BadZipFile as error:
        raise InputError(f"{file.path}: a broken zip ({error}); expected an Inspect log") from error
    names = list(dict.fromkeys(archive.namelist()))
    heads = [name for name in ("header.json", "_journal/start.json") if name in names]
    samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
    if not heads or not samples:
        raise InputError(
            f"{file.path}: no {'samples' if heads else 'header.json'} in the zip; expected an "
            "Inspect log with samples"
        )
    head = _json(file, heads[0], _member(file, archive, heads[0]))
    return _Log(_head(head), (_json(file, name, _member(file, archive, name)) for name in samples))


def _head(log: Any) -> dict[str, Any]:
    return _mapping(_mapping(log).get("eval"))


def _json(file: SourceFile, name: str, text: str | bytes) -> Any:
    """A JSON text; a score may be NaN in it, which is read as the text that it is."""
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.path}: {name} is not JSON: {error}") from error


def _member(file: SourceFile, archive: zipfile.ZipFile, name: str) -> bytes:
    member = archive.getinfo(name)
    try:
        if member.compress_type == ZSTANDARD:
            return _zstandard_member(file.content, member)
        return archive.read(member)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error,
            ValueError, struct.error) as error:  # fmt: skip
        raise InputError(f"{file.path}: {name} cannot be unpacked: {error}") from error


def _zstandard_member(content: bytes, member: zipfile.ZipInfo) -> bytes:
    import pyarrow as pa

    start = member.header_offset + LOCAL_HEADER_BYTES
    name_bytes, extra_bytes = struct.unpack("<HH", content[start - 4 : start])
    start += name_bytes + extra_bytes
    packed = pa.BufferReader(content[start : start + member.compress_size])
    unpacked = pa.CompressedInputStream(packed, "zstd").read()
    if zlib.crc32(unpacked) != member.CRC:
        raise zipfile.BadZipFile("its checksum does not match")
    return unpacked
