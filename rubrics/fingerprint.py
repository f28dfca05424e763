"""Fingerprints: `sha256:` over canonical JSON, or over the bytes of a file; all are made here."""

import hashlib
import json
from pathlib import Path
from typing import Any


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no blanks and non-ASCII text as it is; NaN and infinity are refused.

    >>> canonical_json({"b": 1, "a": "é"})
    '{"a":"é","b":1}'
    """
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def fingerprint(value: Any) -> str:
    """`sha256:<64 hex digits>` over the canonical JSON of `value`.

    >>> fingerprint({"u": "Why?"})[:15]
    'sha256:3930d50e'
    """
    return bytes_fingerprint(canonical_json(value).encode())


def bytes_fingerprint(content: bytes) -> str:
    """`sha256:` over bytes as they are, for what was a file before it was anything of ours."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def file_fingerprint(path: Path) -> str:
    """`sha256:` over a file's bytes, read in pieces: model weights do not fit in memory."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def short(digest: str, length: int = 8) -> str:
    """The first hex digits of a fingerprint, for names that people read."""
    return digest.removeprefix("sha256:")[:length]
