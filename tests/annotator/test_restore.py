"""Going back to a backup: whole whatever lies beside labels.db, and nothing is deleted."""

import sqlite3
import stat
import subprocess
import sys

import pytest
from annotated_labels import NEW_TASK, everything, new_labels, say
from click.testing import CliRunner

from annotator.annotation import annotation_history
from annotator.cli import annotate
from annotator.exchange.backup import back_up
from annotator.exchange.restore import restore
from annotator.labels import open_labels
from rubrics import InputError

# Writes into labels.db and is killed before its log is played into the file.
KILLED = """
import os, sqlite3, sys
labels = sqlite3.connect(sys.argv[1], isolation_level=None)
labels.execute("PRAGMA wal_autocheckpoint=0")
for n in range(200):
    labels.execute("INSERT INTO settings VALUES (?, ?)", [f"later {n}", "x" * 3_000])
os.kill(os.getpid(), 9)
"""
# Has labels.db open and does nothing until told to go.
SERVING = """
import sqlite3, sys
labels = sqlite3.connect(sys.argv[1])
labels.execute("SELECT count(*) FROM settings").fetchone()
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def study(tmp_path):
    """A labels.db with a backup, and a label that is younger than it."""
    path = tmp_path / "study" / "labels.db"
    path.parent.mkdir()
    with everything(path) as labels:
        back_up(path, tmp_path / "copy.db")
        say(labels, "zoe", 2, NEW_TASK, second=60)
    return path.parent


def events(path):
    with open_labels(path) as labels:
        assert labels.conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return len(annotation_history(labels))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_log_of_a_killed_server_is_not_played_into_the_backup(study, tmp_path):
    labels = study / "labels.db"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(labels)])
    assert killed.returncode == -9
    assert (study / "labels.db-wal").stat().st_size > 600_000
    restored = restore(tmp_path / "copy.db", labels)
    assert (restored.events, events(labels)) == (4, 4)
    with open_labels(labels) as database:
        assert not database["settings"].count_where("name LIKE 'later%'")
    assert events(restored.aside) == 5
    with open_labels(restored.aside) as aside:  # its log went with it
        assert aside["settings"].count_where("name LIKE 'later%'") == 200


def test_what_is_in_use_stays_as_it_is(study, tmp_path):
    labels = study / "labels.db"
    server = subprocess.Popen(
        [sys.executable, "-c", SERVING, str(labels)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout.readline() == b"open\n"
    before = contents(study)
    with pytest.raises(InputError, match="is in use by another program; stop annotate"):
        restore(tmp_path / "copy.db", labels)
    assert contents(study) == before
    server.communicate()
    assert restore(tmp_path / "copy.db", labels).events == 4


def cut_short(copy):
    copy.write_bytes(copy.read_bytes()[:50_000])


def of_a_newer_version(copy):
    with sqlite3.connect(copy) as database:
        database.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES ('annotator', 'm999', '2030')"
        )
    database.close()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda copy: copy.unlink(), "is no file"),
        (cut_short, "malformed|not sound|damaged"),
        (lambda copy: copy.write_text("mine, not a database of any kind" * 99), "not a database"),
        (of_a_newer_version, r"copy\.db was written by a newer followupeval"),
    ],
)
def test_a_backup_that_is_none_changes_nothing(study, tmp_path, spoil, message):
    spoil(tmp_path / "copy.db")
    before = contents(study)
    with pytest.raises(InputError, match=message):
        restore(tmp_path / "copy.db", study / "labels.db")
    assert contents(study) == before


def test_labels_db_is_no_backup_of_itself(study):
    with pytest.raises(InputError, match=r"own labels\.db"):
        restore(study / "labels.db", study / "labels.db")


def test_nobody_else_can_read_more_than_before(study, tmp_path):
    (study / "labels.db").chmod(0o600)
    (tmp_path / "copy.db").chmod(0o444)
    restore(tmp_path / "copy.db", study / "labels.db")
    assert stat.S_IMODE((study / "labels.db").stat().st_mode) == 0o600


def test_a_log_that_is_left_alone_is_moved_aside_too(tmp_path):
    new_labels(tmp_path / "copy.db").close()
    (tmp_path / "labels.db-wal").write_bytes(b"left")
    restored = restore(tmp_path / "copy.db", tmp_path / "labels.db")
    assert (tmp_path / f"{restored.aside.name}-wal").read_bytes() == b"left"
    assert events(tmp_path / "labels.db") == 0


def test_the_command_says_what_it_did_and_what_is_still_to_be_had(study, tmp_path):
    copy = tmp_path / "copy.db"
    done = CliRunner().invoke(annotate, ["restore", str(copy), "--study", str(study)])
    assert done.exit_code == 0, done.output
    assert f"labels.db: 4 annotation events, a sound copy of {copy}" in done.output
    (aside,) = study.glob("labels.db.before-*")
    assert f"annotate merge {aside} --study {study}" in done.output
    merged = CliRunner().invoke(annotate, ["merge", str(aside), "--study", str(study)])
    assert merged.exit_code == 0, merged.output
    assert events(study / "labels.db") == 5


def test_a_study_that_is_not_there_is_made(tmp_path):
    everything(tmp_path / "copy.db").close()
    restored = restore(tmp_path / "copy.db", tmp_path / "new" / "labels.db")
    assert (restored.aside, events(restored.labels)) == (None, 4)
