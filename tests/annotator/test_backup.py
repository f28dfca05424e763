"""Copies of labels.db while it is in use: whole, checked, and never over another file."""

import sqlite3
import stat
from itertools import count
from threading import Event, Thread

import pytest
from annotated_labels import everything, new_labels, say, study_rows
from click.testing import CliRunner

from annotator.cli import annotate
from annotator.exchange.backup import back_up
from annotator.labels import open_labels
from rubrics import InputError


def test_a_backup_is_a_labels_db_of_its_own_with_every_row(tmp_path):
    with everything(tmp_path / "labels.db") as labels:
        backup = back_up(tmp_path / "labels.db", tmp_path / "copy.db")
        assert backup.events == labels["events"].count == 4
        assert [p.name for p in tmp_path.iterdir() if p.name.startswith("copy")] == ["copy.db"]
        with open_labels(tmp_path / "copy.db") as copy:
            assert study_rows(copy) == study_rows(labels)
            assert list(copy["accounts"].rows) == list(labels["accounts"].rows)


def test_people_go_on_saving_while_it_is_made(tmp_path):
    """Whatever was acknowledged before it began is in it, and nothing half."""
    path, started, stop = tmp_path / "labels.db", Event(), Event()
    new_labels(path).close()
    saved = []

    def save():
        with open_labels(path) as labels:
            for second in count():
                saved.append(say(labels, "ann", second % 5, second=second))
                started.set()
                if stop.is_set():
                    return

    writer = Thread(target=save)
    writer.start()
    try:
        assert started.wait(30)
        for number in range(5):
            before = list(saved)
            backup = back_up(path, tmp_path / f"{number}.db")
            with sqlite3.connect(tmp_path / f"{number}.db") as copy:
                rows = copy.execute("SELECT nonce FROM events ORDER BY event_id").fetchall()
                found = [row[0] for row in rows]
                standing = copy.execute("SELECT count(*) FROM current_events").fetchone()[0]
            copy.close()
            assert found[: len(before)] == before
            assert backup.events == len(found)
            assert standing == min(5, len(found))
    finally:
        stop.set()
        writer.join()
    with open_labels(path) as labels:
        assert labels["events"].count == len(saved)


def test_a_backup_is_readable_by_those_alone_who_can_read_the_store(tmp_path):
    new_labels(tmp_path / "labels.db").close()
    (tmp_path / "labels.db").chmod(0o600)
    back_up(tmp_path / "labels.db", tmp_path / "copy.db")
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("study", "file", "message"),
    [
        ("", "taken.db", "taken.db exists already and is not overwritten"),
        ("", "no/folder/copy.db", "does not exist; make it"),
        ("nowhere", "copy.db", "there is nothing to copy"),
    ],
)
def test_refusals_leave_nothing(tmp_path, study, file, message):
    new_labels(tmp_path / "labels.db").close()
    (tmp_path / "taken.db").write_text("mine")
    before = sorted(tmp_path.iterdir())
    done = CliRunner().invoke(
        annotate, ["backup", str(tmp_path / file), "--study", str(tmp_path / study)]
    )
    assert done.exit_code == 1
    assert message in done.output
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "taken.db").read_text() == "mine"


def test_a_damaged_store_gives_no_backup(tmp_path):
    with new_labels(tmp_path / "labels.db", [f"{n}" * 3_000 for n in range(10)]) as labels:
        say(labels, "ann", 0, second=1)
    content = bytearray((tmp_path / "labels.db").read_bytes())
    size = 4096
    for page in range(4, len(content) // size):
        content[page * size : page * size + 200] = b"\xff" * 200
    (tmp_path / "labels.db").write_bytes(content)
    with pytest.raises(InputError, match=r"labels\.db.*(not sound|damaged)"):
        back_up(tmp_path / "labels.db", tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_the_command_says_what_it_copied(tmp_path):
    everything(tmp_path / "labels.db").close()
    done = CliRunner().invoke(
        annotate, ["backup", str(tmp_path / "copy.db"), "--study", str(tmp_path)]
    )
    assert done.exit_code == 0
    assert "copy.db: 4 annotation events" in done.output
    assert "password hashes" in done.output
    assert f"annotate restore {tmp_path / 'copy.db'} --study {tmp_path}" in done.output


def test_a_study_at_rest_is_left_as_it_was(tmp_path):
    everything(tmp_path / "labels.db").close()
    before = {path.name for path in tmp_path.iterdir()}
    back_up(tmp_path / "labels.db", tmp_path / "copy.db")
    assert {path.name for path in tmp_path.iterdir()} == before | {"copy.db"}
