"""What was asked for without the right to it: kept for the owner, and never more than can be read.

A flood must not fill the disk, nor hide what one person tries behind what a crowd does: each name,
and everybody without one, has its own share of a minute. What is left out is counted.
"""

import sqlite3
from dataclasses import dataclass
from threading import Lock

from annotator.served_labels import Moved, ServedLabels

PER_MINUTE = 20  # refusals kept of one name
TEXT_LIMIT = 200  # characters


@dataclass
class _Share:
    minute: str
    kept: int = 0
    left_out: int = 0


class RefusalLog:
    """The one log of a process, for the gate and every desk: two would keep twice as much.

    Appends to `refusals` by a connection of its own, which `close` closes; from any thread.
    """

    def __init__(self, store: ServedLabels) -> None:
        self._store = store
        self._shares: dict[str | None, _Share] = {}
        self._lock = Lock()

    def record(self, name: str | None, what: str, why: str, *, at: str) -> None:
        """Keep a refusal, if the minute has room; a store that cannot be written refuses no less.

        `at` is UTC as `generation.clock` writes it.
        """
        minute = at[:16]
        with self._lock:
            share = self._shares.setdefault(name, _Share(minute))
            if share.minute != minute:
                self._tell_left_out(name, share, at)
                share = self._shares[name] = _Share(minute)
            if share.kept >= PER_MINUTE or not self._write(name, what, why, at):
                share.left_out += 1
            else:
                share.kept += 1

    def close(self, *, at: str) -> None:
        """Say of every name what was left out so far."""
        with self._lock:
            for name, share in self._shares.items():
                self._tell_left_out(name, share, at)
            self._shares.clear()
            self._store.close()

    def _tell_left_out(self, name: str | None, share: _Share, at: str) -> None:
        if share.left_out:
            what = f"{share.left_out} more in the minute {share.minute}"
            self._write(name, what, f"not listed: more than {PER_MINUTE} in a minute", at)

    def _write(self, name: str | None, what: str, why: str, at: str) -> bool:
        try:
            with self._store.use() as database:
                database["refusals"].insert(
                    {
                        "name": name,
                        "what": printable(what),
                        "why": printable(why),
                        "refused_at": at,
                    }
                )
        except (sqlite3.OperationalError, Moved):
            return False
        return True


def printable(text: str) -> str:
    r"""At most TEXT_LIMIT characters of a text, none of which acts on a terminal.

    >>> print(printable("GET /\x1b[31m" + "a" * 300)[:20])
    GET /\x1b[31maaaaaaa
    """
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:TEXT_LIMIT])
    return shown if len(shown) <= TEXT_LIMIT else shown[: TEXT_LIMIT - 1] + "…"
