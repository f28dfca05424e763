"""A labels.db that was labelled on another machine comes back: nothing lost, conflicts listed."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from annotated_labels import (
    GENUINE,
    MALFORMED,
    NEW_TASK,
    RUBRIC,
    at,
    decide,
    draft,
    everything,
    ids,
    new_labels,
    say,
    study_rows,
)
from click.testing import CliRunner

from annotator.adjudication.adjudication import (
    current_adjudications,
    is_requested,
    request_adjudication,
)
from annotator.annotation import current_annotations
from annotator.cli import annotate
from annotator.exchange.merging.merge import merge_labels
from annotator.labels import open_labels
from annotator.migrations import annotator_migrations
from annotator.training.session import TrainingSession
from annotator.training.training_set import TrainingItem, put_training_set, training_set
from generation.database import open_database
from generation.item import Item, Message
from rubrics import InputError

FIRST, SECOND = ids(2)


@pytest.fixture
def here(tmp_path):
    with new_labels(tmp_path / "labels.db") as database:
        say(database, "ann", 0, GENUINE, second=1)
        yield database


@pytest.fixture
def there(here, tmp_path):
    """The same file, carried to another machine."""
    path = tmp_path / "carried" / "labels.db"
    path.parent.mkdir()
    shutil.copy(tmp_path / "labels.db", path)
    with open_labels(path) as database:
        yield database


def merge(database, other):
    path = next(row[2] for row in other.conn.execute("PRAGMA database_list"))
    return merge_labels(database, Path(path))


def standing(database):
    return {(a.annotator, a.item_id): a.category for a in current_annotations(database, "v3")}


def history(database):
    """What was said and shown, without the numbers that differ between files."""
    rows = database.conn.execute(
        """SELECT events.nonce, events.category, events.saved_at, before.nonce FROM events
           JOIN displays USING (nonce) LEFT JOIN events AS before
           ON before.event_id = displays.last_event_id ORDER BY events.nonce"""
    )
    return rows.fetchall()


def test_both_went_on_and_either_way_nothing_is_lost(here, there):
    say(here, "ann", 1, GENUINE, second=20)
    say(there, "zoe", 0, NEW_TASK, second=10)
    say(there, "zoe", 0, MALFORMED, second=30)
    merged = merge(here, there)
    assert merged.conflicts == ()
    assert merged.added == {"displays": 2, "events": 2}
    assert merge(there, here).added == {"displays": 1, "events": 1}
    expected = {("ann", FIRST): GENUINE, ("ann", SECOND): GENUINE, ("zoe", FIRST): MALFORMED}
    assert standing(here) == standing(there) == expected
    # A display names the event that stood when it was shown, whatever its number here is.
    assert history(here) == history(there)
    assert [row[3] is None for row in history(here)].count(False) == 1


def test_merging_again_adds_nothing_and_is_not_recorded(here, there):
    say(there, "zoe", 0, NEW_TASK, second=10)
    merge(here, there)
    rows = study_rows(here)
    assert merge(here, there).added == {}
    assert study_rows(here) == rows
    (record,) = here["merges"].rows
    assert json.loads(record["summary"])["added"] == {"displays": 1, "events": 1}


@pytest.mark.parametrize(("one", "other", "stands"), [(20, 10, "here"), (10, 20, "there")])
def test_different_labels_of_one_person_are_listed_and_the_later_stands(
    here, there, one, other, stands
):
    say(here, "ann", 0, NEW_TASK, second=one)
    say(there, "ann", 0, MALFORMED, second=other)
    say(there, "ann", 1, MALFORMED, second=other)
    (conflict,) = merge(here, there).conflicts
    assert (conflict.who, conflict.item_id, conflict.stands) == ("ann", FIRST, stands)
    assert (conflict.here, conflict.there) == (NEW_TASK, MALFORMED)
    assert standing(here)["ann", FIRST] == (NEW_TASK if stands == "here" else MALFORMED)
    assert here["events"].count == 4
    # The other way round the answer is the same, as the times are.
    merge(there, here)
    assert standing(there) == standing(here)


def test_the_same_label_on_both_sides_is_no_conflict(here, there):
    say(here, "ann", 1, GENUINE, second=20)
    say(there, "ann", 1, NEW_TASK, second=10)
    say(there, "ann", 1, GENUINE, second=15)
    assert merge(here, there).conflicts == ()
    assert here["events"].count == 4


def test_the_later_decision_of_adjudicators_stands_though_it_arrived_first(here, there):
    decide(here, 0, GENUINE, second=30)
    decide(there, 0, NEW_TASK, second=20)
    (conflict,) = merge(here, there).conflicts
    assert (conflict.kind, conflict.here, conflict.there) == ("adjudication", GENUINE, NEW_TASK)
    assert conflict.stands == "here"
    assert [said.category for said in current_adjudications(here, "v3")] == [GENUINE]
    assert [row["category"] for row in here["adjudications"].rows] == [GENUINE, NEW_TASK]


def test_a_request_is_open_until_a_later_decision_wherever_that_was_made(here, there):
    decide(here, 0, GENUINE, second=10)
    request_adjudication(here, FIRST, "v3")
    decide(there, 0, NEW_TASK, second=5)
    merge(here, there)
    assert is_requested(here, FIRST, "v3")
    decide(there, 0, MALFORMED, second=50)
    merge(here, there)
    assert not is_requested(here, FIRST, "v3")
    # Its request travels with the decision that it came after.
    merge(there, here)
    request_adjudication(there, FIRST, "v3")
    merge(here, there)
    assert is_requested(here, FIRST, "v3")


def test_the_newer_draft_is_kept_unless_the_item_was_labelled_since(here, there):
    for item, ours, theirs in ((1, 10, 20), (2, 20, 10)):
        draft(here, "ann", item, second=ours, note="here")
        draft(there, "ann", item, second=theirs, note="there")
    say(here, "ann", 3, GENUINE, second=30)
    draft(there, "ann", 3, second=20, note="there")
    merge(here, there)
    notes = {row["item_id"]: json.loads(row["content"])["note"] for row in here["drafts"].rows}
    assert notes == {ids(3)[1]: "there", ids(3)[2]: "here"}


def test_everything_of_a_study_comes_along_but_no_login(here, tmp_path):
    with everything(tmp_path / "other.db") as other:
        merge(here, other)
        for table in ("gold", "training_rounds", "training_answers", "discussion_notes",
                      "adjudications", "activity", "drafts"):  # fmt: skip
            assert list(here[table].rows) == list(other[table].rows), table
        rows = study_rows(here)
        assert merge(here, other).added == {}
        assert study_rows(here) == rows
    for table in ("accounts", "invitations", "logins", "login_attempts", "refusals", "leases"):
        assert here[table].count == 0


def test_of_two_gold_labels_for_an_item_the_later_is_in_use(here, there):
    gold = {"item_id": FIRST, "rubric_version": "v3", "reason": "clear"}
    here["gold"].insert(gold | {"category": GENUINE, "added_at": at(10)})
    there["gold"].insert(gold | {"category": NEW_TASK, "added_at": at(20)})
    (conflict,) = merge(here, there).conflicts
    assert (conflict.kind, conflict.stands) == ("gold", "there")
    found = [(row["category"], row["retired_at"]) for row in here["gold"].rows]
    assert found == [(GENUINE, at(20)), (NEW_TASK, None)]
    assert merge(here, there).added == {}
    merge(there, here)
    assert {(row["category"], row["retired_at"]) for row in there["gold"].rows} == set(found)


def test_training_items_arrive_out_of_use_so_that_rounds_here_go_on(here, there):
    def known(turn):
        return TrainingItem(Item((Message("user", "q"),), "a", turn), GENUINE, "why")

    put_training_set(here, RUBRIC, [known("ours")], "1")
    put_training_set(there, RUBRIC, [known("ours"), known("theirs")], "1")
    screen = TrainingSession(here, RUBRIC).open("ann")
    for _ in range(2):
        kept = merge(here, there).kept
        assert kept[-1].startswith("training items in use there and not here: 1")
    assert here["training_items"].count == 2
    assert [item.item.turn for item in training_set(here, "v3").items.values()] == ["ours"]
    answered = TrainingSession(here, RUBRIC).answer(
        "ann", screen.nonce, screen.training_id, GENUINE
    )
    assert answered.result.passed


def test_a_training_round_begun_on_both_sides_stays_as_it_is_here(here, there):
    item = {"training_id": "t", "rubric_version": "v3", "messages": "[]", "answer": "a",
            "turn": "u", "category": GENUINE, "why": "w"}  # fmt: skip
    of = {"annotator": "ann", "rubric_version": "v3", "round": 1}
    for database, second in ((here, 1), (there, 2)):
        database["training_items"].insert(item)
        database["training_rounds"].insert(
            of | {"training_ids": '["t"]', "needed": 1, "opened_at": at(second)}
        )
        answer = {"training_id": "t", "category": GENUINE, "correct": 1, "answered_at": at(9)}
        database["training_answers"].insert(of | answer | {"nonce": f"n{second}"})
    kept = merge(here, there).kept
    assert [line.split(":")[0] for line in kept] == [
        "training round 1 of ann", "answer to training item t in round 1 of ann",
    ]  # fmt: skip
    assert [row["nonce"] for row in here["training_answers"].rows] == ["n1"]


def test_settings_stay_as_they_are_here(here, there):
    there["settings"].insert({"name": "pass_mark", "value": "0.8"})
    assert merge(here, there).kept == ("setting pass_mark: not set here, 0.8 there",)
    assert [row["name"] for row in here["settings"].rows] == ["seed"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE rubrics SET hash = 'sha256:00'", "rubric v3 reads otherwise in labels.db"),
        (
            "UPDATE items SET turn = 'x' WHERE item_id LIKE '%4'",
            "item 000000000004 reads otherwise",
        ),
        ("UPDATE events SET category = 'malformed'", "was changed by hand"),
    ],
)
def test_what_has_two_contents_is_refused_and_nothing_merged(here, there, statement, message):
    say(there, "zoe", 0, NEW_TASK, second=10)
    there.conn.execute("DROP TRIGGER events_never_change")
    there.conn.execute(statement)
    rows = study_rows(here)
    with pytest.raises(InputError, match=message):
        merge(here, there)
    assert study_rows(here) == rows


def test_another_study_is_refused(here, tmp_path):
    with open_labels(tmp_path / "other.db", create=True) as other:
        new = dict(next(here["items"].rows)) | {"item_id": "f" * 12}
        other["items"].insert(new)
        with pytest.raises(InputError, match="none of the 5 items that are here"):
            merge(here, other)


def test_a_merge_that_ends_in_the_middle_changes_nothing(here, there):
    """As when the machine stops: all is one transaction."""
    say(there, "zoe", 0, NEW_TASK, second=10)
    here.conn.execute(
        "CREATE TEMP TRIGGER stop BEFORE INSERT ON merges BEGIN SELECT RAISE (ABORT, 'stop'); END"
    )
    rows = study_rows(here)
    with pytest.raises(sqlite3.IntegrityError, match="stop"):
        merge(here, there)
    assert study_rows(here) == rows
    here.conn.execute("DROP TRIGGER stop")
    assert merge(here, there).added["events"] == 1


def test_a_copy_of_before_there_were_accounts_can_be_merged(here, tmp_path):
    """One that was carried away under an older version, and was never opened by this one."""
    path = tmp_path / "old.db"
    with open_database(path, (), create=True) as old:
        annotator_migrations.apply(old, stop_before="m004_many_people")
        for table in ("items", "rubrics"):
            old[table].insert_all(here[table].rows)
        old["annotators"].insert({"annotator": "old", "first_seen_at": at(0)})
        of = {"nonce": "n", "annotator": "old", "item_id": FIRST, "rubric_version": "v3"}
        old["displays"].insert(of | {"shown_at": at(1)})
        old["events"].insert(
            of | {"kind": "label", "category": GENUINE, "note": "", "flagged": 0, "saved_at": at(2)}
        )
    before, files = path.read_bytes(), sorted(tmp_path.iterdir())
    merge_labels(here, path)
    assert standing(here)["old", FIRST] == GENUINE
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == (before, files)


def test_what_stands_in_a_copy_of_before_is_the_latest_in_time(tmp_path):
    """As it is for all that was saved since: of a clock that was set back, or of a merged file."""
    with open_database(tmp_path / "old.db", (), create=True) as old:
        annotator_migrations.apply(old, stop_before="m004_many_people")
        old["items"].insert({"item_id": FIRST, "messages": "[]", "answer": "a", "turn": "u"})
        old["rubrics"].insert({"version": "v3", "hash": "h", "text": "t", "first_used_at": at(0)})
        old["annotators"].insert({"annotator": "old", "first_seen_at": at(0)})
        of = {"annotator": "old", "item_id": FIRST, "rubric_version": "v3"}
        for nonce, category, second in (
            ("n1", NEW_TASK, 9), ("n2", GENUINE, 9), ("n3", MALFORMED, 2),
        ):  # fmt: skip
            old["displays"].insert(of | {"nonce": nonce, "shown_at": at(1)})
            old["events"].insert(
                of
                | {"nonce": nonce, "kind": "label", "category": category, "note": ""}
                | {"flagged": 0, "saved_at": at(second)}
            )
    with open_labels(tmp_path / "old.db") as labels:
        assert standing(labels) == {("old", FIRST): GENUINE}


def test_the_command_lists_conflicts_and_says_that_accounts_do_not_travel(here, there, tmp_path):
    say(here, "ann", 0, NEW_TASK, second=10)
    say(there, "ann", 0, MALFORMED, second=20)
    arguments = ["merge", str(tmp_path / "carried" / "labels.db"), "--study", str(tmp_path)]
    done = CliRunner().invoke(annotate, arguments)
    assert done.exit_code == 0, done.output
    assert "events 1" in done.output
    assert f"annotation of ann on {FIRST} (v3): {NEW_TASK} here" in done.output
    assert "what was said there stands" in done.output
    assert "accounts do not travel" in done.output
    again = json.loads(CliRunner().invoke(annotate, [*arguments, "--json"]).output)
    assert (again["added"], again["conflicts"]) == ({}, [])
    missing = CliRunner().invoke(annotate, ["merge", "no.db", "--study", str(tmp_path)])
    assert (missing.exit_code, "no.db is no file" in missing.output) == (1, True)
