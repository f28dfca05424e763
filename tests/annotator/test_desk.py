"""The acts that the page may ask for: every answer is JSON, whatever was sent."""

import json

import pytest
from hostile_texts import HOSTILE_TEXTS

from annotator.accounts.person import Person, Role, current_person
from annotator.annotation import annotation_history
from annotator.labelling.desk import Desk
from annotator.served_labels import ServedLabels
from annotator.training.training_set import TrainingItem, put_training_set
from generation.item import Item, Message


@pytest.fixture
def store(labels, tmp_path):
    """The store as a served page has it, beside the connection of the test."""
    served = ServedLabels(tmp_path / "labels.db")
    yield served
    served.close()


@pytest.fixture
def desk(store, rubric, refusals):
    return Desk(store, rubric, refusals)


def pragma(store, statement):
    with store.use() as database:
        return database.conn.execute(f"PRAGMA {statement}").fetchone()


def filled(screen, **choice):
    return {
        "nonce": screen["nonce"],
        "item_id": screen["item_id"],
        "choice": {"category": "malformed", "confidence": None, "note": "", "flagged": False}
        | choice,
    }


def test_a_screen_holds_the_texts_and_no_hidden_fact(desk):
    screen = desk.open_screen({"annotator": "ann"})["screen"]
    assert set(screen) == {
        "annotator", "given", "wanted", "shared", "renew_after", "labelled", "skipped", "end",
        "position", "item_id", "nonce", "rubric_version", "parts", "choice", "saved",
    }  # fmt: skip
    assert [part["role"] for part in screen["parts"]] == ["user", "answer", "turn"]
    assert set(screen["parts"][0]) == {"role", "html", "characters", "long"}


def test_the_fixed_annotator_cannot_be_changed_by_the_page(store, rubric, refusals):
    desk = Desk(store, rubric, refusals, annotator="ann")
    assert desk.open_screen({"annotator": "mallory"})["screen"]["annotator"] == "ann"
    assert desk.open_screen(None)["screen"]["annotator"] == "ann"


@pytest.mark.parametrize("note", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_notes_are_stored_exactly(desk, labels, note):
    screen = desk.open_screen({"annotator": "ann"})["screen"]
    reply = desk.save_label(filled(screen, note=note[:10_000]))
    assert not reply["refused"], reply["message"]
    assert annotation_history(labels)[0].note == note[:10_000]
    json.dumps(reply, allow_nan=False)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "text",
        7,
        {},
        {"choice": None, "nonce": None},
        {"nonce": 1, "item_id": "x", "choice": {}},
        {"nonce": "x", "item_id": None, "choice": {}},
        {"nonce": "x", "item_id": "x", "choice": []},
        {"nonce": "\ud800", "item_id": "x", "annotator": "\ud800"},
        {"nonce": "x", "item_id": "x", "choice": {"note": "a\x00b"}},
        {"nonce": "x", "item_id": "x", "choice": {"category": ["malformed"]}},
        {"nonce": "x", "item_id": "x", "choice": {"note": {"a": 1}}},
        {"nonce": "x", "item_id": "x", "choice": {"flagged": "yes"}},
    ],
)
@pytest.mark.parametrize(
    "act",
    ["open_screen", "answer_training", "save_label", "skip_item", "keep_draft", "renew_lease",
     "go_back", "go_forward", "review_items", "recent_labels", "revisit_item", "take_back",
     "rendered_view"],
)  # fmt: skip
def test_whatever_is_sent_is_answered_and_stores_nothing(desk, labels, act, data):
    reply = getattr(desk, act)(data)
    assert reply["refused"]
    json.dumps(reply)
    assert annotation_history(labels) == []


def test_a_full_disk_is_said_and_nothing_is_half_written(desk, store, labels):
    screen = desk.open_screen({"annotator": "ann"})["screen"]
    [pages] = pragma(store, "page_count")
    pragma(store, f"max_page_count={pages}")
    reply = desk.save_label(filled(screen, note="n" * 10_000))
    assert reply["refused"]
    assert "NOT SAVED" in reply["message"]
    assert reply["screen"] is None
    assert annotation_history(labels) == []
    pragma(store, "max_page_count=1000000")
    assert not desk.save_label(filled(screen, note="n" * 10_000))["refused"]


def test_a_read_only_store_is_said(desk, store):
    screen = desk.open_screen({"annotator": "ann"})["screen"]
    pragma(store, "query_only=ON")
    reply = desk.save_label(filled(screen))
    assert "NOT SAVED" in reply["message"]
    assert reply["stopped"]


def test_the_rendered_view_is_of_the_displayed_item(desk):
    screen = desk.open_screen({"annotator": "ann"})["screen"]
    parts = desk.rendered_view({"nonce": screen["nonce"]})["parts"]
    assert [p["html"] for p in parts] == [f"<p>{p['html']}</p>\n" for p in screen["parts"]]


@pytest.mark.parametrize("replace", [True, False])
def test_a_store_that_was_moved_or_replaced_takes_no_more_labels(desk, labels, tmp_path, replace):
    screen = desk.open_screen({"annotator": "ann"})["screen"]
    (tmp_path / "labels.db").rename(tmp_path / "moved.db")
    if replace:
        (tmp_path / "labels.db").write_bytes((tmp_path / "moved.db").read_bytes())
    reply = desk.save_label(filled(screen))
    assert reply["refused"]
    assert "moved or replaced" in reply["message"]
    assert annotation_history(labels) == []
    desk.close()  # stopping has nothing to say any more


def test_guidelines_come_without_examples_until_training_is_passed(desk, labels, rubric):
    known = TrainingItem(Item((Message("user", "q"),), "a", "u"), "malformed", "Only marks.")
    why = rubric.categories[0].examples[0].why
    ann = {"annotator": "ann"}
    assert why in desk.rubric_view(ann)["rubric"]["guidelines"]
    put_training_set(labels, rubric, [known], "1")
    assert why not in desk.rubric_view(ann)["rubric"]["guidelines"]
    screen = desk.open_screen(ann)["screen"]
    reply = desk.answer_training(ann | filled(screen))
    assert reply["result"]["passed"]
    assert why in desk.rubric_view(ann)["rubric"]["guidelines"]


def test_a_login_sees_and_saves_its_own_work_alone_and_other_tries_are_recorded(
    store, rubric, refusals
):
    desk = Desk(store, rubric, refusals, accounts=True)

    def asked(person, act, data):
        before = current_person.set(person)
        try:
            return getattr(desk, act)(data)
        finally:
            current_person.reset(before)

    ann, ben = Person("ann", Role.ANNOTATOR), Person("ben", Role.ANNOTATOR)
    screen = asked(ann, "open_screen", {"annotator": "ben"})["screen"]
    assert screen["annotator"] == "ann"
    stolen = filled(screen) | {"annotator": "ann"}
    for person in (ben, Person("dee", Role.ADJUDICATOR), Person("olga", Role.OWNER), None):
        for act in ("save_label", "keep_draft", "rendered_view", "go_back", "renew_lease"):
            reply = asked(person, act, stolen)
            assert (reply["refused"], reply["screen"]) == (True, None)
    with store.use() as database:
        assert annotation_history(database) == []
        rows = list(database["refusals"].rows)
    assert {row["name"] for row in rows} == {"ben", "dee", "olga", None}
    assert {row["what"] for row in rows} >= {"label: save_label", "label: keep_draft"}
    assert not asked(ann, "save_label", filled(screen))["refused"]


def test_tampering_is_refused_and_recorded(desk, store):
    screen = desk.open_screen({"annotator": "ann"})["screen"]
    assert desk.save_label(filled(screen) | {"item_id": "another"})["refused"]
    assert desk.save_label(filled(screen, category="no_such"))["refused"]
    assert desk.save_label(filled(screen) | {"nonce": "made up"})["refused"]
    assert not desk.save_label(filled(screen))["refused"]
    assert desk.save_label(filled(screen, category="generic_reply"))["refused"]  # a spent nonce
    with store.use() as database:
        assert database["refusals"].count == 4
        assert [e.category for e in annotation_history(database)] == ["malformed"]
