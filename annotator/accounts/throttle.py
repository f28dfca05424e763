"""Failed logins make the next ones wait, by name and by address, and a restart forgets none.

The waits end by themselves and have a ceiling. Where somebody has logged in before, only failures
from there count against their name: strangers who try it elsewhere cannot keep its owner out.
"""

import math
from datetime import datetime
from ipaddress import ip_address, ip_network

from sqlite_utils import Database

from generation.clock import later

WINDOW = 3_600  # seconds; failures older than this are forgiven
REMEMBERED = 90 * 86_400  # seconds; how long a place where a login succeeded is known
FREE_BY_NAME, FREE_BY_ADDRESS = 5, 20  # failures without a wait; an address may be a whole lab's
LONGEST_BY_NAME, LONGEST_BY_ADDRESS = 60, 900  # seconds
NAME_LIMIT = 60  # characters kept of what was given as a name


def seconds_to_wait(database: Database, name: str, address: str, *, at: str) -> int:
    """How long this name from this address must wait before it may be tried again."""
    name, place = name[:NAME_LIMIT], network(address)
    known = database["login_attempts"].count_where(
        "name = ? AND address = ? AND succeeded = 1", [name, place]
    )
    since = [later(at, -WINDOW)]
    if known:
        mine = "name = ? AND address = ?"
        return _wait(database, mine, [name, place], since, FREE_BY_NAME, LONGEST_BY_NAME, at)
    return max(
        _wait(database, "name = ?", [name], since, FREE_BY_NAME, LONGEST_BY_NAME, at),
        _wait(database, "address = ?", [place], since, FREE_BY_ADDRESS, LONGEST_BY_ADDRESS, at),
    )


def record_attempt(
    database: Database, name: str, address: str, *, succeeded: bool, at: str
) -> None:
    """Keep an attempt that was allowed to be made; old ones are dropped."""
    name, place = name[:NAME_LIMIT], network(address)
    database["login_attempts"].insert(
        {"name": name, "address": place, "succeeded": int(succeeded), "tried_at": at}
    )
    if succeeded:  # what came before from here was they themselves, typing
        database.conn.execute(
            "DELETE FROM login_attempts WHERE name = ? AND address = ? AND succeeded = 0",
            [name, place],
        )
    database.conn.execute(
        "DELETE FROM login_attempts WHERE tried_at < ? OR (succeeded = 0 AND tried_at < ?)",
        [later(at, -REMEMBERED), later(at, -WINDOW)],
    )


def growing_wait(failures: int, free: int, longest: int) -> int:
    """Seconds after so many failures: 1, 2, 4, … once the free ones are spent.

    >>> [growing_wait(n, free=5, longest=60) for n in (4, 5, 6, 7, 11, 500)]
    [0, 1, 2, 4, 60, 60]
    """
    return 0 if failures < free else min(longest, 2 ** min(failures - free, 30))


def network(address: str) -> str:
    """An address as it is counted: of IPv6 the network, since one customer has a whole /64.

    >>> network("203.0.113.7"), network("2001:db8::1:2"), network("::ffff:203.0.113.7")
    ('203.0.113.7', '2001:db8::/64', '203.0.113.7')
    """
    try:
        known = ip_address(address)
    except ValueError:
        return address[:NAME_LIMIT]
    if known.version == 6 and known.ipv4_mapped:
        return str(known.ipv4_mapped)
    return str(known if known.version == 4 else ip_network((known, 64), strict=False))


def _wait(database, where, values, since, free, longest, at) -> int:
    failures, last = database.conn.execute(
        f"""SELECT count(*), max(tried_at) FROM login_attempts
            WHERE {where} AND succeeded = 0 AND tried_at > ?""",
        values + since,
    ).fetchone()
    if not failures:
        return 0
    passed = datetime.fromisoformat(at) - datetime.fromisoformat(last)
    wait = growing_wait(failures, free, longest)
    return max(0, math.ceil(wait - passed.total_seconds()))
