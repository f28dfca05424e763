"""The adjudicator's desk: who may ask, what is sent, and two people who decide at once."""

import json
import sqlite3
from contextlib import contextmanager

import pytest
from annotated_labels import GENUINE, MALFORMED, NEW_TASK, RUBRIC, ids, new_labels, say

from annotator.accounts.person import Person, Role, current_person
from annotator.accounts.refusal import PER_MINUTE, RefusalLog
from annotator.adjudication import app
from annotator.adjudication.adjudication import (
    adjudicate,
    current_adjudications,
    request_adjudication,
)
from annotator.adjudication.desk import AdjudicationDesk
from annotator.adjudication.discussion import NOTE_LIMIT
from annotator.adjudication.dispute_queue import DisputeQueue, neighbour, place_of_their_own
from annotator.labels import record_rubric
from annotator.served_labels import ServedLabels
from annotator.settings import PUBLISHED_RUBRIC, put_setting
from rubrics import load_rubric

ITEMS = ids(5)
AT = "2030-01-01T00:00:00.000+00:00"
OUTSIDERS = [
    None,
    Person("zoe", Role.ANNOTATOR),
    Person("olga", Role.OWNER),
]


@pytest.fixture
def labels(tmp_path):
    """Two people differ on items 0, 1 and 2 and agree on item 3."""
    database = new_labels(tmp_path / "labels.db")
    for item in range(3):
        say(database, "zoe", item, GENUINE, second=item, note="saw this: <b>a push</b>")
        say(database, "ann", item, NEW_TASK, second=10 + item, note="a new start")
    for who in ("zoe", "ann"):
        say(database, who, 3, MALFORMED, second=20)
    yield database
    database.close()


@pytest.fixture
def desk(labels, refusals, tmp_path):
    desk = AdjudicationDesk(tmp_path / "labels.db", RUBRIC, refusals)
    yield desk
    desk.close()


@pytest.fixture(autouse=True)
def _as_dee():
    with logged_in(Person("dee", Role.ADJUDICATOR)):
        yield


@contextmanager
def logged_in(person):
    before = current_person.set(person)
    try:
        yield
    finally:
        current_person.reset(before)


def shown(desk, item=None, **more):
    item_id = {} if item is None else {"item_id": ITEMS[item]}
    return desk.show_dispute(item_id | more)["screen"]


def decision(screen, category=GENUINE, reason="It asks on.", **more):
    return {
        **{key: screen[key] for key in ("item_id", "rubric_version", "after")},
        **{"category": category, "reason": reason, "decided": screen["in_decided"]},
        **more,
    }


def stored(labels):
    return [(row["item_id"], row["category"], row["adjudicator"]) for row in
            labels["adjudications"].rows]  # fmt: skip


class TestWhoMayAsk:
    @pytest.mark.parametrize("person", OUTSIDERS, ids=lambda p: p.role if p else "nobody")
    def test_every_act_is_refused_to_others_and_tells_nothing(self, desk, labels, person):
        sent = decision(shown(desk, 0)) | {"note": "let me in", "adjudicator": "dee"}
        with logged_in(person):
            replies = [
                act(sent)
                for act in (
                    desk.show_dispute, desk.next_dispute, desk.previous_dispute, desk.decide,
                    desk.add_note, desk.rendered_view, desk.rubric_view,
                )
            ]  # fmt: skip
        for reply in replies:
            assert reply.pop("message") == "This page is for adjudicators alone; log in as one."
            assert reply == {"refused": True, "stored": False, "screen": None}
        assert stored(labels) == []
        assert labels["discussion_notes"].count == 0

    def test_the_page_serves_those_acts_and_no_other(self, labels, refusals, tmp_path):
        page = app.page(tmp_path / "labels.db", RUBRIC, refusals)
        assert (page.path, page.role) == ("/adjudicate", Role.ADJUDICATOR)
        public = {name for name in vars(AdjudicationDesk) if not name.startswith("_")}
        assert {act.__name__ for act in page.acts} == public - {"close"}
        page.close()

    def test_what_no_page_of_ours_asks_for_is_kept_for_the_owner(self, desk, labels):
        with logged_in(OUTSIDERS[1]):
            desk.decide({})
        sent = decision(shown(desk, 0))
        for act, data in (
            ("decide", None),  # no form
            ("decide", sent | {"category": "no_such"}),
            ("rendered_view", {"item_id": "f" * 12}),
            ("show_dispute", {"item_id": ITEMS[3]}),  # people agree
            ("add_note", sent | {"item_id": "f" * 12, "note": "n"}),
        ):
            assert getattr(desk, act)(data)["refused"]
        for honest in ({"category": ""}, {"reason": " "}, {"rubric_version": "v2"}):
            assert desk.decide(sent | honest)["refused"]
        assert [(row["name"], row["what"]) for row in labels["refusals"].rows] == [
            ("zoe", "adjudicate: decide"),
            ("dee", "adjudicate: decide"),
            ("dee", "adjudicate: decide"),
            ("dee", "adjudicate: rendered_view"),
            ("dee", "adjudicate: show_dispute"),
            ("dee", "adjudicate: add_note"),
        ]

    def test_one_log_for_all_keeps_a_names_share_and_no_more(
        self, desk, labels, refusals, monkeypatch
    ):
        monkeypatch.setattr("annotator.adjudication.desk.now", lambda: AT)
        for _ in range(PER_MINUTE):
            desk.decide(None)
            refusals.record("dee", "GET /x", "why", at=AT)
        assert labels["refusals"].count == PER_MINUTE

    def test_the_name_is_that_of_the_login(self, desk, labels):
        desk.decide(decision(shown(desk, 0)) | {"adjudicator": "eve", "name": "eve"})
        assert stored(labels) == [(ITEMS[0], GENUINE, "dee")]


class TestWhatIsSent:
    def test_labels_in_rubric_order_and_nobodys_name(self, desk, labels):
        say(labels, "ann", 0, MALFORMED, second=40)
        labels["annotators"].insert({"annotator": "bo", "first_seen_at": ""})
        say(labels, "bo", 0, MALFORMED, second=41)
        screen = shown(desk, 0)
        assert screen["labels"] == [
            {"name": "Genuine follow-up", "people": 1},
            {"name": "Malformed", "people": 2},
        ]
        assert screen["parts"][-1]["html"] == "turn 0"
        text = json.dumps(screen)
        assert not any(name in text for name in ('"ann', '"zoe', '"bo'))
        assert screen.keys() == {
            "adjudicator", "rubric_version", "in_decided", "undecided", "decided", "position",
            "item_id", "parts", "labels", "notes", "discussion", "decision", "after",
        }  # fmt: skip

    def test_annotators_notes_come_by_text_and_harmless(self, desk, labels):
        """Whoever noted what, in whichever order: the page gets the same."""
        notes = ["a new start", "saw this: &lt;b&gt;a push&lt;/b&gt;"]
        assert shown(desk, 0)["notes"] == notes
        say(labels, "ann", 0, NEW_TASK, second=50, note="saw this: <b>a push</b>")
        say(labels, "zoe", 0, GENUINE, second=51, note="a new start")
        assert shown(desk, 0)["notes"] == notes

    def test_nothing_tells_a_requested_item_from_a_disputed_one(self, desk, labels):
        request_adjudication(labels, ITEMS[3], "v3")
        requested, disputed = shown(desk, 3), shown(desk, 0)
        assert requested["labels"] == [{"name": "Malformed", "people": 2}]
        assert requested.keys() == disputed.keys()
        assert requested["undecided"] == 4

    @pytest.mark.parametrize("item_id", [ITEMS[3], ITEMS[4], "no such item"])
    def test_an_item_that_is_not_to_be_decided_is_not_shown(self, desk, item_id):
        reply = desk.show_dispute({"item_id": item_id})
        assert reply["refused"]
        assert reply["screen"]["item_id"] in ITEMS[:3]
        assert "parts" not in desk.rendered_view({"item_id": item_id})

    def test_the_rubrics_parts_and_the_rendered_view_can_be_had(self, desk):
        assert "Genuine follow-up" in desk.rubric_view({})["rubric"]["guidelines"]
        assert desk.rendered_view({"item_id": ITEMS[0]})["parts"][-1]["html"] == "<p>turn 0</p>\n"


class TestTheQueue:
    def test_next_and_back_go_round_all_that_is_undecided(self, desk):
        first = shown(desk)
        there = [first]
        for _ in range(3):
            there.append(desk.next_dispute({"item_id": there[-1]["item_id"]})["screen"])
        assert [screen["position"] for screen in there] == [1, 2, 3, 1]
        assert {screen["item_id"] for screen in there} == {*ITEMS[:3]}
        back = desk.previous_dispute({"item_id": first["item_id"]})["screen"]
        assert back["item_id"] == there[2]["item_id"]

    def test_a_decision_brings_the_next_item_and_what_is_left(self, desk, labels):
        reply = desk.decide(decision(shown(desk, 1)))
        assert (reply["stored"], reply["message"]) == (
            True, "Stored: Genuine follow-up. Still to decide: 2.",
        )  # fmt: skip
        assert reply["screen"]["item_id"] == ITEMS[2]
        assert (reply["screen"]["undecided"], reply["screen"]["decided"]) == (2, 1)

    def test_the_end_is_an_empty_list_and_its_count(self, desk):
        for item in range(3):
            reply = desk.decide(decision(shown(desk, item)))
        assert reply["screen"]["item_id"] is None
        assert (reply["screen"]["undecided"], reply["screen"]["decided"]) == (0, 3)

    def test_before_anybody_labels_both_lists_are_empty(self, tmp_path):
        new_labels(tmp_path / "empty.db").close()
        refusals = RefusalLog(ServedLabels(tmp_path / "empty.db"))
        desk = AdjudicationDesk(tmp_path / "empty.db", RUBRIC, refusals)
        for decided in (False, True):
            screen = shown(desk, decided=decided)
            assert (screen["item_id"], screen["undecided"], screen["decided"]) == (None, 0, 0)
        desk.close()

    def test_decided_items_can_be_looked_at_and_decided_anew(self, desk, labels):
        desk.decide(decision(shown(desk, 1)))
        screen = shown(desk, decided=True)
        assert (screen["item_id"], screen["position"]) == (ITEMS[1], 1)
        assert screen["decision"]["name"] == "Genuine follow-up"
        assert screen["decision"]["adjudicator"] == "dee"
        reply = desk.decide(decision(screen, NEW_TASK, "On second thoughts."))
        assert reply["screen"]["item_id"] == ITEMS[1]
        assert reply["screen"]["decision"]["reason"] == "On second thoughts."
        assert [category for _, category, _ in stored(labels)] == [GENUINE, NEW_TASK]

    def test_what_comes_in_while_the_page_is_open_is_seen(self, desk, labels):
        assert shown(desk)["undecided"] == 3
        say(labels, "zoe", 3, GENUINE, second=60)  # now they differ
        say(labels, "ann", 0, GENUINE, second=61)  # now they agree
        adjudicate(labels, RUBRIC, ITEMS[1], GENUINE, reason="By command.")
        adjudicate(labels, RUBRIC, ITEMS[2], GENUINE, reason="By command.")
        request_adjudication(labels, ITEMS[2], "v3")
        screen = shown(desk)
        assert (screen["undecided"], screen["decided"]) == (2, 1)
        queue = DisputeQueue(labels, RUBRIC)
        queue.refresh()  # at one go
        assert (queue.undecided, queue.decided) == ([ITEMS[2], ITEMS[3]], [ITEMS[1]])


def test_two_adjudicators_begin_at_places_of_their_own():
    ring = [f"{n:012x}" for n in range(0, 16**12, 16**12 // 64)]
    begun = {neighbour(ring, place_of_their_own(name), 1) for name in ("dee", "eve", "fay")}
    assert len(begun) == 3


class TestTwoAtOnce:
    def test_a_decision_made_meanwhile_is_told_and_nothing_stored(self, desk, labels):
        seen = shown(desk, 0)
        with logged_in(Person("eve", Role.ADJUDICATOR)):
            desk.decide(decision(shown(desk, 0), NEW_TASK, "It starts anew."))
        reply = desk.decide(decision(seen))
        assert reply["refused"]
        assert reply["message"].startswith(
            "Not stored yet: eve decided this item meanwhile as “New task”."
        )
        assert reply["screen"]["item_id"] == ITEMS[0]
        assert reply["screen"]["decision"]["reason"] == "It starts anew."
        assert stored(labels) == [(ITEMS[0], NEW_TASK, "eve")]
        assert desk.decide(decision(reply["screen"]))["stored"]
        [standing] = current_adjudications(labels, "v3")
        assert (standing.category, standing.adjudicator) == (GENUINE, "dee")

    def test_the_same_decision_sent_again_is_stored_once(self, desk, labels):
        sent = decision(shown(desk, 0))
        assert desk.decide(sent)["stored"]
        again = desk.decide(sent)
        assert (again["stored"], again["screen"]["item_id"]) == (True, ITEMS[1])
        assert len(stored(labels)) == 1

    def test_a_decision_under_a_rubric_of_before_is_refused(self, desk, labels):
        seen = shown(desk, 0)
        record_rubric(labels, load_rubric("v2"))
        put_setting(labels, PUBLISHED_RUBRIC, "v2")
        reply = desk.decide(decision(seen))
        assert (reply["refused"], reply["message"]) == (
            True, "Not stored: rubric v2 has come into force.",
        )  # fmt: skip
        assert reply["screen"]["rubric_version"] == "v2"
        assert desk.add_note(decision(seen) | {"note": "hm"})["refused"]
        assert stored(labels) == []

    def test_one_whose_labels_agree_by_now_is_not_decided(self, desk, labels):
        seen = shown(desk, 0)
        say(labels, "ann", 0, GENUINE, second=70)
        reply = desk.decide(decision(seen))
        assert (reply["refused"], reply["stored"]) == (True, False)
        assert reply["screen"]["item_id"] != ITEMS[0]
        assert stored(labels) == []


class TestRefusals:
    @pytest.mark.parametrize(
        ("sent", "message"),
        [
            ({"category": None}, "Choose a category first."),
            ({"reason": " \n"}, "Say why, in a sentence."),
            ({"reason": "x" * 2_001}, "Not stored: the reason has 2,001 characters"),
            ({"category": "nonsense"}, "Not stored: rubric v3 has no category 'nonsense'"),
            ({"item_id": "none"}, "Not stored: labels.db has no item 'none'"),
            ({"item_id": ITEMS[4]}, "This item is not to be decided"),
            ({"after": True}, "Not stored: the page sent no usable after"),
            ({"reason": "a\0b"}, "Not stored: the page sent no usable reason"),
            ({"category": ["x"]}, "Not stored: the page sent no usable category"),
        ],
    )
    def test_what_cannot_be_stored_is_said(self, desk, labels, sent, message):
        reply = desk.decide(decision(shown(desk, 0)) | sent)
        assert reply["refused"]
        assert reply["message"].startswith(message)
        assert stored(labels) == []

    @pytest.mark.parametrize("sent", [None, [], "x", 3])
    def test_what_is_no_form_is_said(self, desk, sent):
        assert "something else than a form" in desk.decide(sent)["message"]

    def test_a_store_that_is_gone_takes_no_decision(self, desk, tmp_path):
        sent = decision(shown(desk, 0))
        (tmp_path / "labels.db").rename(tmp_path / "elsewhere.db")
        reply = desk.decide(sent)
        assert reply["refused"]
        assert reply["message"].startswith("NOT SAVED: labels.db was moved or replaced")

    def test_a_store_that_cannot_be_written_takes_no_decision(self, desk, labels):
        sent = decision(shown(desk, 0))
        with desk._labels.use() as database:
            database.conn.execute("PRAGMA query_only=ON")
        assert desk.decide(sent)["message"].startswith("NOT SAVED: the label store refuses")
        assert stored(labels) == []


class TestDiscussion:
    def test_notes_are_signed_shown_to_all_and_there_once(self, desk, labels):
        screen = shown(desk, 0)
        sent = decision(screen) | {"note": "  Is <this> a push?\n"}
        for _ in range(2):
            reply = desk.add_note(sent)
            assert (reply["stored"], reply["message"]) == (True, "Note stored.")
        with logged_in(Person("eve", Role.ADJUDICATOR)):
            desk.add_note(decision(screen) | {"note": "I think so."})
            said = shown(desk, 0)["discussion"]
        assert [(note["author"], note["html"]) for note in said] == [
            ("dee", "Is &lt;this&gt; a push?"),
            ("eve", "I think so."),
        ]
        assert shown(desk, 1)["discussion"] == []

    @pytest.mark.parametrize("note", ["", "  ", "x" * (NOTE_LIMIT + 1)])
    def test_an_empty_or_overlong_note_is_refused(self, desk, labels, note):
        reply = desk.add_note(decision(shown(desk, 0)) | {"note": note})
        assert (reply["refused"], "expected 1 to 2,000" in reply["message"]) == (True, True)
        assert labels["discussion_notes"].count == 0

    def test_no_note_on_an_item_that_is_not_in_dispute(self, desk, labels):
        sent = decision(shown(desk, 0)) | {"note": "hm", "item_id": ITEMS[3]}
        assert desk.add_note(sent)["refused"]
        assert labels["discussion_notes"].count == 0

    def test_notes_cannot_be_changed(self, desk, labels):
        desk.add_note(decision(shown(desk, 0)) | {"note": "hm"})
        for statement in ("UPDATE discussion_notes SET note = ''", "DELETE FROM discussion_notes"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                labels.conn.execute(statement)
