"""The accounts of a labels.db as a server asks for them: who is this, may they come in."""

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from annotator.accounts import invitation, login
from annotator.accounts.account import Account, find_account, has_accounts, set_password
from annotator.accounts.password import fits, outdated
from annotator.accounts.person import Person
from annotator.accounts.refusal import RefusalLog
from annotator.accounts.throttle import record_attempt, seconds_to_wait
from annotator.labels import open_labels
from annotator.served_labels import ServedLabels
from generation.clock import now


@dataclass(frozen=True)
class Entry:
    """What became of a try to log in: a secret for the cookie, or none, and seconds to wait."""

    secret: str | None = None
    wait: int = 0


class Register:
    """Two connections: readers never wait, so that each request can be asked who it is from.

    Whatever writes, or checks a password, does so one at a time. A crowd that guesses at once can
    then neither slip past the throttle nor fill the memory with hashes. `refusals` is for all that
    this process refuses, and waits for no password.
    """

    def __init__(self, labels: Path) -> None:
        self.labels = labels
        self._reading = open_labels(labels)
        self._writing = open_labels(labels)
        self.refusals = RefusalLog(ServedLabels(labels))
        self._lock = Lock()

    def in_use(self) -> bool:
        return has_accounts(self._reading)

    def person(self, secret: str | None) -> Person | None:
        """Who is logged in with this secret, as of now."""
        return login.logged_in(self._reading, secret, at=now()) if secret else None

    def invited(self, secret: str) -> Account | None:
        """Whose invitation this is, if it still holds."""
        return invitation.invited(self._reading, secret, at=now())

    def log_in(self, name: str, password: str, address: str) -> Entry:
        """Check a password and start a login, or say how long to wait."""
        name = unicodedata.normalize("NFC", name).strip()
        with self._lock:
            at = now()
            wait = seconds_to_wait(self._writing, name, address, at=at)
            if wait:
                return Entry(wait=wait)
            account = find_account(self._writing, name)
            fitting = fits(account.password_hash if account else None, password)
            succeeded = bool(account and fitting and not account.disabled_at)
            record_attempt(self._writing, name, address, succeeded=succeeded, at=at)
            if not succeeded:
                return Entry(wait=seconds_to_wait(self._writing, name, address, at=at))
            if outdated(account.password_hash):
                set_password(self._writing, name, password)
            return Entry(login.start_login(self._writing, name))

    def take_up(self, secret: str, password: str, address: str) -> Account:
        """Set the password of an invitation; raises InputError.

        Its address is one that the person is known at, whatever strangers try under their name.
        """
        with self._lock:
            account = invitation.take_up(self._writing, secret, password)
            record_attempt(self._writing, account.name, address, succeeded=True, at=now())
        return account

    def log_out(self, secret: str) -> None:
        with self._lock:
            login.end_login(self._writing, secret)

    def close(self) -> None:
        with self._lock:
            self.refusals.close(at=now())
            self._writing.close()
            self._reading.close()
