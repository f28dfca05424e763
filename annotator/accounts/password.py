"""Passwords: hashed by argon2id, and checked in the same time whether the name is known or not."""

import unicodedata
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from annotator.accounts.secret import new_secret
from rubrics import InputError

MIN_LENGTH = 12  # characters
MAX_LENGTH = 256
# One of the costs that OWASP holds equal for argon2id, 9 MiB and four passes, since each thread
# that hashes keeps the memory. Many checks at once wait for each other (register.py).
_HASHER = PasswordHasher(time_cost=4, memory_cost=9 * 1024, parallelism=1)


def checked_password(password: str) -> str:
    """The password if it is long enough to be one; raises InputError."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise InputError(
            f"the password has {len(password)} characters; give {MIN_LENGTH} to {MAX_LENGTH}, "
            "such as a few words that belong to nothing"
        )
    return password


def hashed(password: str) -> str:
    return _HASHER.hash(_same_on_every_keyboard(password))


def fits(known: str | None, password: str) -> bool:
    """Whether a password is the one that was hashed; None, of somebody unknown, fits nothing."""
    password = _same_on_every_keyboard(password[:MAX_LENGTH])
    try:
        return _HASHER.verify(known or _nobodys(), password) and known is not None
    except (VerificationError, InvalidHashError):
        return False


def outdated(known: str) -> bool:
    """Whether a hash was made with other costs than those of today."""
    return _HASHER.check_needs_rehash(known)


@cache
def _nobodys() -> str:
    return _HASHER.hash(new_secret())


def _same_on_every_keyboard(password: str) -> bytes:
    return unicodedata.normalize("NFC", password).encode(errors="replace")
