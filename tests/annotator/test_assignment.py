"""Who gets which item: exactly as many labels as wanted, leases that run out, silent repeats."""

import sqlite3
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from annotator.annotation import current_annotations
from annotator.assignment.assigner import REPEAT_DISTANCE, End
from annotator.assignment.plan import Plan, put_plan, stored_plan
from annotator.labelling.choice import SKIP_REASONS, Choice
from annotator.labelling.session import LabellingSession
from annotator.labels import BlindItem, add_items, open_labels, record_rubric
from annotator.training.training_set import TrainingItem, put_training_set
from generation.item import Item, Message

GENUINE = Choice("genuine_followup")
MALFORMED = Choice("malformed")


class Clock:
    """A clock that stands until it is moved on."""

    def __init__(self) -> None:
        self.at = datetime.fromisoformat("2026-01-01T00:00:00.000+00:00")

    def __call__(self) -> str:
        return self.at.isoformat(timespec="milliseconds")

    def wait(self, **time: float) -> None:
        self.at += timedelta(**time)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def session(labels, rubric, clock):
    return LabellingSession(labels, rubric, clock)


def save(session, screen, choice=GENUINE):
    return session.save(screen.nonce, screen.shown.item_id, choice)


def work(session, name, choice=GENUINE, limit=None):
    """Label until the end or the limit; returns the ids in order and the last screen."""
    seen, screen = [], session.open(name).screen
    while screen.shown and (limit is None or len(seen) < limit):
        seen.append(screen.shown.item_id)
        screen = save(session, screen, choice).screen
    return seen, screen


def items(count, text="turn {n}", start=0):
    return [
        BlindItem(f"{n + start:012x}", Item((Message("user", "q"),), "a", text.format(n=n + start)))
        for n in range(count)
    ]


@pytest.fixture
def make_session(tmp_path, rubric, clock):
    databases = []

    def make(blind, plan=None):
        database = open_labels(tmp_path / f"labels{len(databases)}.db", create=True)
        databases.append(database)
        add_items(database, blind, seed=7)
        record_rubric(database, rubric)
        if plan:
            put_plan(database, plan)
        return LabellingSession(database, rubric, clock), database

    yield make
    for database in databases:
        database.close()


def test_a_plan_is_kept_and_may_be_taken_back(labels):
    assert stored_plan(labels) == Plan()
    put_plan(labels, Plan(labels_per_item=3, lease_seconds=60, gold_every=5))
    assert stored_plan(labels) == Plan(3, 60, 5)
    put_plan(labels, Plan())
    assert stored_plan(labels) == Plan()


def test_every_item_gets_exactly_as_many_labels_as_wanted(make_session):
    session, database = make_session(items(30), Plan(labels_per_item=2))
    random, names = Random(5), [f"ann {n}" for n in range(5)]
    screens = {name: session.open(name).screen for name in names}
    while busy := [name for name in names if screens[name].shown]:
        name = random.choice(busy)
        screens[name] = save(session, screens[name]).screen
    for name in names:
        assert session.open(name).screen.end is End.FINISHED
    counts = Counter(said.item_id for said in current_annotations(database, "v3"))
    assert set(counts.values()) == {2}
    assert len(counts) == 30


def test_no_two_people_hold_the_last_place_of_an_item(make_session):
    session, _ = make_session(items(6), Plan(labels_per_item=1))
    shown = [session.open(f"ann {n}").screen for n in range(8)]
    held = [screen.shown.item_id for screen in shown if screen.shown]
    assert len(held) == len(set(held)) == 6
    assert [screen.end for screen in shown[6:]] == [End.WAITING, End.WAITING]


def test_the_least_covered_item_comes_first(make_session):
    session, _ = make_session(items(10), Plan(labels_per_item=3))
    ann, screen = work(session, "ann", limit=6)
    ben, _ = work(session, "ben", limit=4)
    assert not set(ben) & set(ann)
    assert screen.shown.item_id in ben  # a lease keeps a place and says nothing of coverage


def test_the_three_ends_are_told_apart(make_session):
    session, _ = make_session(items(2), Plan(labels_per_item=2))
    _, screen = work(session, "ann")
    assert screen.end is End.NONE_LEFT  # both need a second label, from somebody else
    ben = session.open("ben").screen
    save(session, ben)
    cyd = session.open("cyd").screen
    assert cyd.end is End.WAITING  # ben has the last one
    save(session, session.open("ben").screen)
    assert session.open("ann").screen.end is End.FINISHED
    assert session.open("cyd").screen.end is End.FINISHED


def test_what_is_left_behind_comes_back_when_the_lease_has_run_out(make_session, clock):
    session, _ = make_session(items(1), Plan(labels_per_item=1, lease_seconds=60))
    left = session.open("ann").screen
    assert session.open("ben").screen.end is End.WAITING
    clock.wait(seconds=59)
    assert session.open("ben").screen.end is End.WAITING
    clock.wait(seconds=2)
    assert session.open("ben").screen.shown == left.shown


def test_an_open_page_keeps_its_item(make_session, clock):
    session, _ = make_session(items(1), Plan(labels_per_item=1, lease_seconds=60))
    screen = session.open("ann").screen
    for _ in range(5):
        clock.wait(seconds=40)
        assert not session.renew(screen.nonce).refused
        assert session.open("ben").screen.end is End.WAITING
    assert "late" not in save(session, screen).message


def test_a_lease_that_ran_out_may_be_taken_up_again_while_there_is_room(make_session, clock):
    session, database = make_session(items(1), Plan(labels_per_item=1, lease_seconds=60))
    screen = session.open("ann").screen
    clock.wait(hours=1)
    assert not session.renew(screen.nonce).refused
    save(session, screen)
    assert [said.late for said in current_annotations(database, "v3")] == [False]


def test_a_label_after_a_lost_lease_is_kept_and_flagged(make_session, clock):
    session, database = make_session(items(1), Plan(labels_per_item=1, lease_seconds=60))
    slow = session.open("ann").screen
    clock.wait(hours=1)
    quick = session.open("ben").screen
    assert session.renew(slow.nonce).refused
    save(session, quick)
    reply = save(session, slow, MALFORMED)
    assert not reply.refused
    assert "late" in reply.message
    late = {said.annotator: said.late for said in current_annotations(database, "v3")}
    assert late == {"ann": True, "ben": False}


def test_somebody_who_lost_their_item_goes_on_with_another(make_session, clock):
    session, _ = make_session(items(2), Plan(labels_per_item=1, lease_seconds=60))
    lost = session.open("ann").screen
    clock.wait(hours=1)
    others = {session.open(name).screen.shown.item_id for name in ("ben", "cyd")}
    assert lost.shown.item_id in others
    assert session.open("ann").screen.end is End.WAITING


def test_a_reload_keeps_item_and_lease(make_session):
    session, database = make_session(items(9), Plan(labels_per_item=2))
    first = session.open("ann").screen
    assert session.open("ann").screen.shown == first.shown
    assert database["leases"].count == 1


def test_a_skip_is_no_label_and_the_item_goes_to_somebody_else(make_session):
    session, _ = make_session(items(1), Plan(labels_per_item=1))
    screen = session.open("ann").screen
    reply = session.skip(screen.nonce, screen.shown.item_id, SKIP_REASONS[0], Choice())
    assert reply.screen.end is End.NONE_LEFT
    assert session.open("ben").screen.shown == screen.shown


def test_progress_is_the_studys_where_items_are_shared(make_session):
    session, _ = make_session(items(4), Plan(labels_per_item=2))
    work(session, "ann", limit=3)
    screen = session.open("ben").screen
    assert (screen.progress.given, screen.progress.wanted) == (3, 8)
    assert (screen.labelled, screen.position) == (0, 1)


def test_labels_of_another_program_count(make_session, rubric, clock):
    session, database = make_session(items(4), Plan(labels_per_item=1))
    session.open("ann")
    path = Path(database.conn.execute("PRAGMA database_list").fetchone()[2])
    with open_labels(path) as elsewhere:
        seen, _ = work(LabellingSession(elsewhere, rubric, clock), "ben", limit=3)
        assert len(seen) == 3
    mine, screen = work(session, "ann")
    assert set(mine).isdisjoint(seen)
    assert screen.end is End.FINISHED


def test_a_plan_that_changes_holds_from_the_next_item_on(make_session):
    session, database = make_session(items(3))
    work(session, "ann")
    put_plan(database, Plan(labels_per_item=1))
    assert session.open("ben").screen.end is End.FINISHED
    put_plan(database, Plan(labels_per_item=2))
    assert session.open("ben").screen.shown


def test_a_silent_repeat_keeps_away_from_its_original(make_session):
    repeats = items(6, "turn {n}") + [
        BlindItem(f"{100 + n:012x}", item.item) for n, item in enumerate(items(6))
    ]
    session, _ = make_session(repeats + items(60, start=200))
    seen, _ = work(session, "ann")
    for n in range(6):
        gap = abs(seen.index(f"{n:012x}") - seen.index(f"{100 + n:012x}"))
        assert gap > REPEAT_DISTANCE


def test_shared_items_repeat_only_for_those_who_had_the_item(make_session):
    originals = items(80)
    repeats = [BlindItem(f"{500 + n:012x}", blind.item) for n, blind in enumerate(originals)]
    session, database = make_session(originals + repeats, Plan(labels_per_item=1))
    ann, screen = work(session, "ann")
    again = [item_id for item_id in ann if int(item_id, 16) >= 500]
    assert again  # about one in twenty
    for item_id in again:
        original = f"{int(item_id, 16) - 500:012x}"
        assert ann.index(item_id) - ann.index(original) >= REPEAT_DISTANCE
    assert screen.end is End.FINISHED
    assert work(session, "ben")[0] == []
    assert len([i for i in ann if int(i, 16) < 500]) == 80
    assert database["leases"].count == 0


def test_gold_goes_to_everybody_among_the_others(make_session):
    session, database = make_session(items(100), Plan(labels_per_item=1, gold_every=10))
    gold = {f"{n:012x}" for n in range(5)}
    for item_id in gold:
        database["gold"].insert(
            {"item_id": item_id, "rubric_version": "v3", "category": "malformed",
             "reason": "r", "added_at": "2026-01-01"}
        )  # fmt: skip
    ann, _ = work(session, "ann", limit=45)
    ben, _ = work(session, "ben", limit=45)
    assert gold & set(ann)
    assert gold & set(ben)
    assert ann[0] not in gold or ben[0] not in gold
    places = {name: [n for n, i in enumerate(seen) if i in gold] for name, seen in
              (("ann", ann), ("ben", ben))}  # fmt: skip
    assert places["ann"] != places["ben"]
    assert not set(ann) & set(ben) - gold


def test_undo_takes_back_the_last_label_and_keeps_the_history(session, labels):
    first = session.open("ann").screen
    save(session, first, Choice("malformed", "sure", "a note"))
    reply = session.take_back("ann")
    assert reply.screen.shown == first.shown
    assert reply.screen.choice == Choice("malformed", "sure", "a note")
    assert reply.screen.saved is None
    assert reply.screen.labelled == 0
    assert [said.kind for said in current_annotations(labels, "v3")] == ["skip"]
    assert session.open("ann").screen.shown == first.shown
    after = save(session, reply.screen, GENUINE)
    assert after.screen.labelled == 1
    assert [said.category for said in current_annotations(labels, "v3")] == ["genuine_followup"]


def test_undo_reaches_back_label_by_label_and_then_says_so(session):
    for _ in range(2):
        save(session, session.open("ann").screen)
    assert session.take_back("ann").screen.labelled == 1
    assert session.take_back("ann").screen.labelled == 0
    assert session.take_back("ann").refused


def test_my_last_labels_are_mine_newest_first_and_can_be_looked_at(session):
    shown = []
    for choice in (GENUINE, MALFORMED):
        screen = session.open("ann").screen
        shown.append(screen.shown.item_id)
        save(session, screen, choice)
    save(session, session.open("ben").screen)
    recent = session.recent("ann").recent
    assert [said.annotation.item_id for said in recent] == shown[::-1]
    assert [said.saved_as for said in recent] == ["Malformed", "Genuine follow-up"]
    screen = session.revisit("ann", shown[0]).screen
    assert (screen.position, screen.choice) == (1, GENUINE)
    assert session.revisit("cyd", shown[0]).refused


def test_stepping_back_and_forward_comes_back_to_the_item_that_is_held(make_session):
    session, database = make_session(items(30), Plan(labels_per_item=2))
    _, screen = work(session, "ann", limit=3)
    held = screen.shown.item_id
    work(session, "ben", limit=9)
    back = session.step(screen.nonce, held, Choice(), by=-1).screen
    forward = session.step(back.nonce, back.shown.item_id, back.choice, by=1).screen
    assert forward.shown.item_id == held
    assert session.open("ann").screen.shown.item_id == held
    assert database["leases"].count == 2  # ann's and ben's


def test_progress_tells_nobody_which_items_are_gold_or_repeats(make_session):
    """The study's share is told after every tenth item; between, all saves look alike."""
    session, database = make_session(items(60), Plan(labels_per_item=1, gold_every=2))
    gold = {f"{n:012x}" for n in range(20)}
    for item_id in gold:
        database["gold"].insert(
            {"item_id": item_id, "rubric_version": "v3", "category": "malformed",
             "reason": "r", "added_at": "2026-01-01"}
        )  # fmt: skip
    screen, told, kinds = session.open("ann").screen, [], set()
    for _ in range(9):
        kinds.add(screen.shown.item_id in gold)
        screen = save(session, screen).screen
        told.append(screen.progress)
    assert kinds == {True, False}
    assert len(set(told)) == 1
    assert save(session, screen).screen.progress != told[0]


def test_a_commit_that_fails_leaves_the_item_open(make_session):
    session, database = make_session(items(3), Plan(labels_per_item=1))
    screen = session.open("ann").screen
    database.conn.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
    database.conn.execute(
        "CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"
    )
    # A deferred constraint is looked at by COMMIT, as a full disk would be.
    database.conn.execute(
        "CREATE TRIGGER broken AFTER INSERT ON events BEGIN INSERT INTO child VALUES (9); END"
    )
    with pytest.raises(sqlite3.IntegrityError):
        save(session, screen)
    database.conn.execute("DROP TRIGGER broken")
    seen, last = work(session, "ben")
    assert len(seen) == 2
    assert last.end is End.WAITING  # ann still has hers
    save(session, session.open("ann").screen)
    assert session.open("ben").screen.end is End.FINISHED


def test_undo_sent_twice_takes_one_label_back(session):
    for _ in range(2):
        save(session, session.open("ann").screen)
    newest = session.recent("ann").recent[0].annotation.event_id
    assert not session.take_back("ann", newest).refused
    assert session.take_back("ann", newest).refused
    assert session.open("ann").screen.labelled == 1


def test_nothing_is_handed_out_before_training_is_passed(session, labels, rubric):
    screen = session.open("ann").screen
    known = TrainingItem(Item((Message("user", "q"),), "a", "u"), "malformed", "Only marks.")
    put_training_set(labels, rubric, [known], "1")
    saved = save(session, screen)
    assert not saved.refused  # what was on screen is saved
    for reply in (saved, session.open("ann"), session.review("ann"), session.take_back("ann")):
        assert (reply.screen.end, reply.screen.shown) == (End.TRAINING, None)
