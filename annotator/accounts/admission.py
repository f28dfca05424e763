"""Letting a person in: an account, and an invitation or a password with it."""

from dataclasses import dataclass
from datetime import timedelta

from sqlite_utils import Database

from annotator.accounts import account as accounts
from annotator.accounts.account import Account
from annotator.accounts.invitation import invite
from annotator.accounts.password import checked_password
from annotator.accounts.person import Role
from annotator.labels import open_labels
from generation.clock import later, now
from generation.study import Study


@dataclass(frozen=True)
class Admission:
    """What to tell, and the invitation if there is one: the secret is in no store."""

    text: str
    invitation: str | None = None


def add_person(
    study: Study, name: str, role: str, *, password: str | None, lasting: timedelta
) -> Admission:
    """Raises InputError for a name that cannot be used or is taken, or too short a password."""
    if password is not None:
        checked_password(password)
    with open_labels(study.labels) as labels_db:
        account = accounts.add_account(labels_db, name, Role(role))
        if password is None:
            return _invited(labels_db, account, lasting)
        accounts.set_password(labels_db, account.name, password)
    return Admission(f"{account.name} can log in as {account.role.value}")


def enable_person(study: Study, name: str) -> Admission:
    """Raises InputError where there is no such account.

    Whoever had no password yet has no invitation either: disabling ended it.
    """
    with open_labels(study.labels) as labels_db:
        accounts.enable(labels_db, name)
        account = accounts.account(labels_db, name)
    if account.password_hash:
        return Admission(f"{account.name} can log in again")
    return Admission(
        f"{account.name} is enabled and has no password yet; for a new invitation: "
        f"annotate user reset {account.name!r}{study.option}"
    )


def reset_person(study: Study, name: str, *, lasting: timedelta) -> Admission:
    """Raises InputError where there is no such account, or it is disabled."""
    with open_labels(study.labels) as labels_db:
        accounts.reset(labels_db, name)
        return _invited(labels_db, accounts.account(labels_db, name), lasting)


def _invited(labels_db: Database, account: Account, lasting: timedelta) -> Admission:
    until = later(now(), lasting.total_seconds())[:16]
    text = (
        f"{account.name} ({account.role.value}) sets a password at this address, once, until "
        f"{until} UTC; it is not shown again:"
    )
    return Admission(text, invite(labels_db, account.name, lasting))
