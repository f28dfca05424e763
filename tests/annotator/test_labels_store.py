"""labels.db: append-only, durable, and unable to mix two texts of one rubric version."""

import shutil
import sqlite3
from dataclasses import replace

import pytest

from annotator.annotation import annotation_history
from annotator.labelling.choice import Choice
from annotator.labelling.session import LabellingSession
from annotator.labels import open_labels, record_rubric, recorded_rubric
from rubrics import InputError


@pytest.fixture
def labelled(labels, rubric):
    session = LabellingSession(labels, rubric)
    screen = session.open("ann").screen
    session.save(screen.nonce, screen.shown.item_id, Choice("malformed"))
    return labels


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET category = 'genuine_followup'",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT * FROM events",
    ],
)
def test_annotation_events_cannot_be_changed(labelled, statement):
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        labelled.conn.execute(statement)
    assert [event.category for event in annotation_history(labelled)] == ["malformed"]


def test_no_other_program_can_replace_an_event_either(labelled, tmp_path):
    plain = sqlite3.connect(tmp_path / "labels.db")  # without recursive_triggers
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        plain.execute("INSERT OR REPLACE INTO events SELECT * FROM events")


def test_a_copy_of_the_file_alone_holds_every_label(labelled, tmp_path):
    shutil.copy(tmp_path / "labels.db", tmp_path / "copy.db")
    assert [e.category for e in annotation_history(open_labels(tmp_path / "copy.db"))] == [
        "malformed"
    ]


def test_every_commit_waits_for_the_disk(labels):
    assert labels.conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert labels.conn.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert labels.conn.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_a_rubric_version_keeps_its_first_text(labels, rubric):
    changed = replace(rubric, text=rubric.text + "\n# more", hash="sha256:other")
    with pytest.raises(InputError, match="has changed since it was first used here"):
        record_rubric(labels, changed)
    assert recorded_rubric(labels, "v3") == rubric
    assert recorded_rubric(labels, "v2") is None


def test_a_store_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "labels.db"
    database = open_labels(path, create=True)
    database["_sqlite_migrations"].insert(
        {"migration_set": "annotator", "name": "m999_future", "applied_at": "2030-01-01"}
    )
    database.close()
    with pytest.raises(InputError, match=r"newer followupeval .*m999_future"):
        open_labels(path)


def test_what_is_no_store_is_named(tmp_path):
    with pytest.raises(InputError, match="calibrate sample"):
        open_labels(tmp_path / "labels.db")
    (tmp_path / "labels.db").write_text("not a database, but long enough to look like one" * 9)
    with pytest.raises(InputError, match=r"labels\.db: .*not a database"):
        open_labels(tmp_path / "labels.db")


def test_items_hold_the_text_and_an_opaque_id_and_nothing_else(labels):
    columns = {table.name: [c.name for c in table.columns] for table in labels.tables}
    assert columns["items"] == ["item_id", "messages", "answer", "turn"]
    every_column = {name for names in columns.values() for name in names}
    hidden = {"model", "dataset", "temperature", "perturbation", "label", "sigma", "item_hash"}
    assert not every_column & hidden
