"""Logins: a secret in the browser's cookie, known to labels.db by its digest.

They outlive the server, and end when they are ended, expire, or their account is disabled or reset.
"""

from datetime import timedelta

from sqlite_utils import Database

from annotator.accounts.person import Person, Role
from annotator.accounts.secret import digest, new_secret
from generation.clock import later, now

LASTING = timedelta(days=14)


def start_login(database: Database, name: str) -> str:
    """A new login of that name; the secret is to be had now or never."""
    secret, at = new_secret(), now()
    database["logins"].insert(
        {
            "token_hash": digest(secret),
            "name": name,
            "created_at": at,
            "expires_at": later(at, LASTING.total_seconds()),
        }
    )
    return secret


def logged_in(database: Database, secret: str, *, at: str) -> Person | None:
    """Who comes with this secret, if the login still holds."""
    row = database.conn.execute(
        """SELECT name, role FROM logins JOIN accounts USING (name)
           WHERE token_hash = ? AND ended_at IS NULL AND expires_at > ? AND disabled_at IS NULL""",
        [digest(secret), at],
    ).fetchone()
    return Person(row[0], Role(row[1])) if row else None


def end_login(database: Database, secret: str) -> None:
    database.conn.execute(
        "UPDATE logins SET ended_at = ? WHERE token_hash = ? AND ended_at IS NULL",
        [now(), digest(secret)],
    )
