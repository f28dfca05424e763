"""A server's record of a batch, read with care: not every server sends every field."""

from dataclasses import dataclass
from typing import Any

from judge.batch.lines import WithoutKey
from judge.server.client import said
from judge.server.errors import OddAnswer

TOKEN = "followupeval"  # the name in a batch's metadata that our token has
ENDED = frozenset({"completed", "expired", "cancelled", "failed"})
MAX_ID = 200  # characters


@dataclass(frozen=True)
class Record:
    """Counts are the server's; None where it does not say. `errors` are of its validation."""

    batch_id: str
    status: str
    total: int | None
    completed: int | None
    failed: int | None
    files: tuple[str, ...]
    errors: tuple[str, ...]
    token: str | None
    created_at: float | None

    @property
    def ended(self) -> bool:
        return self.status in ENDED


def read_record(found: Any, without_key: WithoutKey) -> Record:
    """Raises OddAnswer for what is no record of a batch, or names what cannot be named again."""
    if not isinstance(found, dict):
        raise OddAnswer
    batch_id, status = found.get("id"), found.get("status")
    if not (isinstance(batch_id, str) and batch_id and isinstance(status, str) and status):
        raise OddAnswer
    counts = _object(found.get("request_counts"))
    files = (found.get("output_file_id"), found.get("error_file_id"))
    files = tuple(dict.fromkeys(name for name in files if name and isinstance(name, str)))
    if not all(_is_id(name, without_key) for name in (batch_id, *files)):
        raise OddAnswer
    errors = _object(found.get("errors")).get("data")
    created_at = found.get("created_at")
    return Record(
        batch_id=batch_id,
        status=said(status, without_key),
        total=_count(counts.get("total")),
        completed=_count(counts.get("completed")),
        failed=_count(counts.get("failed")),
        files=files,
        errors=tuple(
            _error(error, without_key) for error in (errors if isinstance(errors, list) else ())
        ),
        token=token_of(found),
        created_at=created_at if type(created_at) in (int, float) else None,
    )


def token_of(found: Any) -> str | None:
    """The token that a batch was started with, in whatever a server lists."""
    token = _object(_object(found).get("metadata")).get(TOKEN)
    return token if isinstance(token, str) else None


def _is_id(name: str, without_key: WithoutKey) -> bool:
    """Whether it can be stored, shown and typed; a server might repeat the key."""
    plain = len(name) <= MAX_ID and name.isascii() and name.isprintable()
    return plain and without_key(name) == name


def _error(error: Any, without_key: WithoutKey) -> str:
    error = error if isinstance(error, dict) else {"message": error}
    line = f" (line {error['line']})" if type(error.get("line")) is int else ""
    return f"{said(str(error.get('message') or error.get('code')), without_key)}{line}"


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
