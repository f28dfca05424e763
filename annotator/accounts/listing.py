"""What `annotate user` prints."""

from collections.abc import Mapping, Sequence

from sqlite_utils import Database

from annotator.accounts.account import Account


def last_logins(database: Database) -> Mapping[str, str]:
    """When each person last logged in, by name."""
    rows = database.conn.execute("SELECT name, max(created_at) FROM logins GROUP BY name")
    return dict(rows.fetchall())


def account_dict(account: Account, last_login: str | None) -> dict[str, str | None]:
    """An account for JSON: no hash of anything."""
    return {
        "name": account.name,
        "role": account.role.value,
        "state": account.state,
        "created_at": account.created_at,
        "disabled_at": account.disabled_at,
        "last_login_at": last_login,
    }


def listing(accounts: Sequence[Account], last: Mapping[str, str], option: str) -> str:
    """One line an account; `option` names the study again, as commands take it."""
    if not accounts:
        return f"no accounts; add one: annotate user add NAME --role annotator{option}"
    width = max(len(account.name) for account in accounts)
    return "\n".join(_line(account, last.get(account.name), width) for account in accounts)


def _line(account: Account, last_login: str | None, width: int) -> str:
    seen = f"last login {last_login[:16]}" if last_login else "never logged in"
    return f"{account.name:{width}}  {account.role.value:11}  {account.state:8}  {seen}"
