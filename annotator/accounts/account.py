"""Accounts: who may come in, and for what. Nobody is ever deleted, since their labels stay."""

from dataclasses import dataclass

from sqlite_utils import Database

from annotator.accounts.password import hashed
from annotator.accounts.person import Role
from annotator.name import checked_name
from annotator.study_option import option_of
from generation.clock import now
from generation.database import immediate, keep
from rubrics import InputError


@dataclass(frozen=True)
class Account:
    """A person's way in; times are UTC, ISO 8601."""

    name: str
    role: Role
    password_hash: str | None
    created_at: str
    disabled_at: str | None

    @property
    def state(self) -> str:
        """`invited` until there is a password, then `active`; or `disabled`."""
        if self.disabled_at:
            return "disabled"
        return "active" if self.password_hash else "invited"


def add_account(database: Database, name: str, role: Role) -> Account:
    """Add an account without a password; a name that has labels already keeps them.

    Raises InputError for a name that cannot be used or has an account.
    """
    name = checked_name(name)
    row = {"name": name, "role": role.value, "created_at": now()}
    with immediate(database):
        keep(database, "annotators", {"annotator": name, "first_seen_at": row["created_at"]})
        if not keep(database, "accounts", row):
            known = account(database, name)
            raise InputError(
                f"{name} has an account already, as {known.role.value}; nobody has two roles: what "
                "one role sees, another must not know. For a new invitation: "
                f"annotate user reset {name!r}{option_of(database)}"
            )
    return account(database, name)


def account(database: Database, name: str) -> Account:
    """Raises InputError where there is none."""
    found = find_account(database, checked_name(name))
    if found is None:
        option = option_of(database)
        raise InputError(f"{name!r} has no account; see who has one: annotate user list{option}")
    return found


def find_account(database: Database, name: str) -> Account | None:
    """By the name as it is stored."""
    rows = database["accounts"].rows_where("name = ?", [name])
    return next((_account(row) for row in rows), None)


def accounts(database: Database) -> list[Account]:
    return [_account(row) for row in database["accounts"].rows_where(order_by="name")]


def has_accounts(database: Database) -> bool:
    return database.conn.execute("SELECT 1 FROM accounts LIMIT 1").fetchone() is not None


def disable(database: Database, name: str) -> None:
    """Let nobody in under this name, from the next thing they do; raises InputError."""
    name = account(database, name).name
    with immediate(database):
        database.conn.execute(
            "UPDATE accounts SET disabled_at = ? WHERE name = ? AND disabled_at IS NULL",
            [now(), name],
        )
        _end_all(database, name)


def enable(database: Database, name: str) -> None:
    """Let them in again, with the password they had; raises InputError."""
    name = account(database, name).name
    database.conn.execute("UPDATE accounts SET disabled_at = NULL WHERE name = ?", [name])


def reset(database: Database, name: str) -> None:
    """Take the password away and end every login and invitation.

    Raises InputError where there is no such account, or it is disabled.
    """
    known = account(database, name)
    name = known.name
    if known.disabled_at:
        option = option_of(database)
        raise InputError(f"{name} is disabled; first: annotate user enable {name!r}{option}")
    with immediate(database):
        database.conn.execute("UPDATE accounts SET password_hash = NULL WHERE name = ?", [name])
        _end_all(database, name)


def set_password(database: Database, name: str, password: str) -> None:
    """`password` has been checked; the hash alone is kept."""
    database.conn.execute(
        "UPDATE accounts SET password_hash = ? WHERE name = ?", [hashed(password), name]
    )


def _end_all(database: Database, name: str) -> None:
    for statement in (
        "UPDATE logins SET ended_at = ? WHERE name = ? AND ended_at IS NULL",
        "UPDATE invitations SET used_at = ? WHERE name = ? AND used_at IS NULL",
    ):
        database.conn.execute(statement, [now(), name])


def _account(row: dict[str, str | None]) -> Account:
    return Account(**{**row, "role": Role(row["role"])})
