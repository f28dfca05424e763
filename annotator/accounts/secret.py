"""Secrets that are handed out: of each a digest alone is kept, so that labels.db lets nobody in."""

import hashlib
import secrets


def new_secret() -> str:
    """Characters that fit into an address and a cookie; 256 bits that nobody guesses."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What is kept of a secret. A plain hash will do, since there is nothing to try out."""
    return "sha256:" + hashlib.sha256(secret.encode(errors="replace")).hexdigest()
