"""Fingerprints: every hash of the project is `sha256:` over canonical JSON, made here."""

import hashlib
import json
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
    return f"sha256:{hashlib.sha256(canonical_json(value).encode()).hexdigest()}"


def short(digest: str, length: int = 8) -> str:
    """The first hex digits of a fingerprint, for names that people read."""
    return digest.removeprefix("sha256:")[:length]
