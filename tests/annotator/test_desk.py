"""The acts that the page may ask for: every answer is JSON, whatever was sent."""

import json

import pytest
from hostile_texts import HOSTILE_TEXTS

from annotator.annotation import annotation_history
from annotator.labelling.desk import Desk


@pytest.fixture
def desk(labels, rubric, tmp_path):
    return Desk(labels, rubric, tmp_path / "labels.db", annotator=None)


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
        "annotator", "total", "labelled", "skipped", "finished", "position", "item_id", "nonce",
        "rubric_version", "parts", "choice", "saved",
    }  # fmt: skip
    assert [part["role"] for part in screen["parts"]] == ["user", "answer", "turn"]
    assert set(screen["parts"][0]) == {"role", "html", "characters", "long"}


def test_the_fixed_annotator_cannot_be_changed_by_the_page(labels, rubric, tmp_path):
    desk = Desk(labels, rubric, tmp_path / "labels.db", annotator="ann")
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
    ["open_screen", "save_label", "skip_item", "keep_draft", "go_back", "go_forward",
     "review_items", "rendered_view"],
)  # fmt: skip
def test_whatever_is_sent_is_answered_and_stores_nothing(desk, labels, act, data):
    reply = getattr(desk, act)(data)
    assert reply["refused"]
    json.dumps(reply)
    assert annotation_history(labels) == []


def test_a_full_disk_is_said_and_nothing_is_half_written(desk, labels):
    screen = desk.open_screen({"annotator": "ann"})["screen"]
    pages = labels.conn.execute("PRAGMA page_count").fetchone()[0]
    labels.conn.execute(f"PRAGMA max_page_count={pages}")
    reply = desk.save_label(filled(screen, note="n" * 10_000))
    assert reply["refused"]
    assert "NOT SAVED" in reply["message"]
    assert reply["screen"] is None
    assert annotation_history(labels) == []
    labels.conn.execute("PRAGMA max_page_count=1000000")
    assert not desk.save_label(filled(screen, note="n" * 10_000))["refused"]


def test_a_read_only_store_is_said(desk, labels):
    screen = desk.open_screen({"annotator": "ann"})["screen"]
    labels.conn.execute("PRAGMA query_only=ON")
    assert "NOT SAVED" in desk.save_label(filled(screen))["message"]


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
