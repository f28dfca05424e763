"""Many people at once over HTTP, and a server that is killed under them: nothing is lost."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from random import Random

import httpx
import pytest
from act_client import ActClient
from served import Server

from annotator.accounts.account import add_account, set_password
from annotator.accounts.person import Role
from annotator.annotation import annotation_history, current_annotations
from annotator.assignment.plan import Plan, put_plan
from annotator.labels import BlindItem, add_items, open_labels, record_rubric
from generation.item import Item, Message
from rubrics import load_rubric

PASSWORD = "a password of a test"
CATEGORIES = load_rubric("v3").category_ids


@dataclass
class Acknowledged:
    """What the server said it has saved: the receipt, by whom, of which item and as what."""

    saves: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)


def make_study(folder, *, people: int, items: int, plan: Plan) -> list[str]:
    """A labels.db with items and accounts; returns the annotators' names."""
    names = [f"person {n}" for n in range(people)]
    with open_labels(folder / "labels.db", create=True) as database:
        blind = (
            BlindItem(f"{n:012x}", Item((Message("user", f"q {n}"),), "a", f"u {n}"))
            for n in range(items)
        )
        add_items(database, blind, seed=7)
        record_rubric(database, load_rubric("v3"))
        put_plan(database, plan)
        for name in names:
            add_account(database, name, Role.ANNOTATOR)
            set_password(database, name, PASSWORD)
    return names


async def work(person: ActClient, told: Acknowledged, random: Random, limit=None) -> None:
    """Label until there is nothing left, or as many as `limit`."""
    screen = (await person.call("open_screen"))["screen"]
    while screen["end"] is None and (limit is None or limit > 0):
        category = random.choice(CATEGORIES)
        reply = await person.save(screen, category)
        if reply["refused"]:
            told.refusals.append(reply["message"])
            return
        receipt = reply["values"]["receipt"]
        assert receipt not in told.saves
        told.saves[receipt] = (person.name, screen["item_id"], category)
        screen = reply["screen"]
        limit = None if limit is None else limit - 1


def stored(folder) -> dict[int, tuple[str, str, str]]:
    with open_labels(folder / "labels.db") as database:
        return {
            event.event_id: (event.annotator, event.item_id, event.category)
            for event in annotation_history(database)
        }


def labels_per_item(folder) -> Counter:
    with open_labels(folder / "labels.db") as database:
        return Counter(said.item_id for said in current_annotations(database, "v3"))


def test_twenty_people_at_once_lose_nothing_and_double_nothing(tmp_path):
    names = make_study(tmp_path, people=20, items=40, plan=Plan(labels_per_item=4))
    told = Acknowledged()
    server = Server(tmp_path, port=7820)

    async def everybody() -> None:
        async def one(name: str, seed: int) -> None:
            async with ActClient(server.url, name, PASSWORD) as person:
                await work(person, told, Random(seed))

        await asyncio.gather(*(one(name, seed) for seed, name in enumerate(names)))

    try:
        asyncio.run(everybody())
    finally:
        server.kill()
    assert told.refusals == []
    assert stored(tmp_path) == told.saves
    assert len(told.saves) == 160
    assert set(labels_per_item(tmp_path).values()) == {4}


def kill_under_load(folder, names: list[str], told: Acknowledged, random: Random) -> None:
    """Serve, let everybody work, and kill the server after a random number of saves."""
    server = Server(folder, port=7840)
    enough = len(told.saves) + random.randint(1, 25)

    async def one(name: str, seed: int) -> None:
        try:
            async with ActClient(server.url, name, PASSWORD) as person:
                standing = (await person.call("open_screen"))["screen"]
                again = (await person.call("open_screen"))["screen"]
                assert again.get("item_id") == standing.get("item_id")
                await work(person, told, Random(seed))
        except httpx.TransportError:
            pass  # killed in the middle of an act

    async def all_of_it() -> None:
        working = asyncio.gather(*(one(name, random.random()) for name in names))
        while len(told.saves) < enough and not working.done():
            await asyncio.sleep(0)
        server.kill()
        await working

    try:
        asyncio.run(all_of_it())
    finally:
        server.kill()


def outlives_kills(folder, rounds: int) -> None:
    names = make_study(folder, people=6, items=40 * rounds, plan=Plan(labels_per_item=2))
    told, random = Acknowledged(), Random(17)
    for _ in range(rounds):
        kill_under_load(folder, names, told, random)
    found = stored(folder)
    assert told.refusals == []
    assert {receipt: found.get(receipt) for receipt in told.saves} == told.saves
    # Beyond that at most what was on its way when a server died: whole, and once.
    assert len(found) - len(told.saves) <= rounds * len(names)
    assert len({(who, item) for who, item, _ in found.values()}) == len(found)
    assert max(labels_per_item(folder).values()) <= 2
    with open_labels(folder / "labels.db") as database:
        assert database.conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        held = database["leases"].count
    assert held <= len(names)  # leases of those at work, and no other is left behind


def test_a_server_killed_under_load_loses_no_label_that_it_acknowledged(tmp_path):
    outlives_kills(tmp_path, rounds=2)


@pytest.mark.bench
@pytest.mark.timeout(900)
def test_a_server_killed_twenty_times_under_load_loses_no_label_either(tmp_path):
    outlives_kills(tmp_path, rounds=20)
