"""Secrets that are handed out: of each a digest alone is kept, so that labels.db lets nobody in."""

import hashlib
import secrets
from datetime import datetime, timedelta


def new_secret() -> str:
    """Characters that fit into an address and a cookie; 256 bits that nobody guesses."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What is kept of a secret. A plain hash will do, since there is nothing to try out."""
    return "sha256:" + hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def later(at: str, lasting: timedelta) -> str:
    """The moment `lasting` after another, both as `generation.clock` writes them.

    >>> later("2026-01-31T23:59:59.500+00:00", timedelta(seconds=1))
    '2026-02-01T00:00:00.500+00:00'
    """
    return (datetime.fromisoformat(at) + lasting).isoformat(timespec="milliseconds")
