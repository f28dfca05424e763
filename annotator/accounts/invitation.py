"""Invitations: an address that lets one person set a password, once, for a while."""

from datetime import timedelta

from sqlite_utils import Database

from annotator.accounts.account import Account, find_account, set_password
from annotator.accounts.password import checked_password
from annotator.accounts.secret import digest, new_secret
from generation.clock import later, now
from generation.database import immediate
from rubrics import InputError


def invite(database: Database, name: str, lasting: timedelta) -> str:
    """A new invitation for the account of that name; the secret is to be had now or never."""
    secret, at = new_secret(), now()
    database["invitations"].insert(
        {
            "token_hash": digest(secret),
            "name": name,
            "created_at": at,
            "expires_at": later(at, lasting.total_seconds()),
        }
    )
    return secret


def invited(database: Database, secret: str, *, at: str) -> Account | None:
    """Whose invitation it is; None if it is unknown, used, expired or its account disabled."""
    row = database.conn.execute(
        """SELECT name FROM invitations JOIN accounts USING (name)
           WHERE token_hash = ? AND used_at IS NULL AND expires_at > ? AND disabled_at IS NULL""",
        [digest(secret), at],
    ).fetchone()
    return find_account(database, row[0]) if row else None


def take_up(database: Database, secret: str, password: str) -> Account:
    """Set the password and use the invitation up.

    Raises InputError for a password that is too short, and for an invitation that is no more.
    """
    checked_password(password)
    at = now()
    with immediate(database):
        account = invited(database, secret, at=at)
        if account is None:
            raise InputError("this invitation has expired or was used")
        set_password(database, account.name, password)
        database.conn.execute(
            "UPDATE invitations SET used_at = ? WHERE name = ? AND used_at IS NULL",
            [at, account.name],
        )
    return account
