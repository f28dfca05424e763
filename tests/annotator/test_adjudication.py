"""Adjudication: blind to names and judges, append-only, the latest decision stands."""

import json
import sqlite3

import pytest
from click.testing import CliRunner
from sqlite_utils import Database

from annotator.adjudication.adjudication import (
    adjudicate,
    current_adjudications,
    item_to_adjudicate,
    request_adjudication,
)
from annotator.adjudication.dispute import undecided
from annotator.annotation import append_event
from annotator.cli import annotate
from annotator.labelling.display import put_display
from annotator.labels import BlindItem, add_items, open_labels, record_rubric
from annotator.migrations import annotator_migrations
from annotator.reason import REASON_LIMIT
from generation.item import Item, Message
from rubrics import InputError, load_rubric

from .conftest import ITEM_IDS

FIRST, SECOND, THIRD = ITEM_IDS[:3]
GENUINE, NEW_TASK = "genuine_followup", "new_task_prompt"


def say(labels, who, item_id, category=None):
    """One annotation; without a category it is a skip."""
    labels["annotators"].insert({"annotator": who, "first_seen_at": ""}, ignore=True)
    shown = put_display(
        labels, annotator=who, item_id=item_id, rubric_version="v3", last_event_id=None
    )
    append_event(
        labels, nonce=shown.nonce, annotator=who, item_id=item_id, rubric_version="v3",
        category=category, skip_reason=None if category else "too long", confidence=None, note="",
        flagged=False, saved_at="",
    )  # fmt: skip


@pytest.fixture
def differing(labels):
    """Three people differ on the first item, agree on the second, and one skips the third."""
    for who, category in (("zoe", NEW_TASK), ("ann", GENUINE), ("bo", NEW_TASK)):
        say(labels, who, FIRST, category)
    say(labels, "ann", SECOND, GENUINE)
    say(labels, "bo", SECOND, GENUINE)
    say(labels, "ann", THIRD, GENUINE)
    say(labels, "bo", THIRD)
    return labels


def command(tmp_path, *arguments):
    # The study is the folder of labels.db.
    return CliRunner().invoke(annotate, ["adjudicate", *arguments, "--study", str(tmp_path)])


def test_items_labelled_differently_are_listed_with_labels_in_rubric_order(differing, rubric):
    (found,) = undecided(differing, rubric)
    assert found.item_id == FIRST
    order = rubric.category_ids.index
    assert found.labels == tuple(
        sorted([(GENUINE, 1), (NEW_TASK, 2)], key=lambda vote: order(vote[0]))
    )


def test_a_decided_item_leaves_the_list_and_a_later_decision_supersedes(differing, rubric):
    adjudicate(differing, rubric, FIRST, GENUINE, reason="It asks on.", adjudicator=" dee ")
    assert undecided(differing, rubric) == []
    adjudicate(differing, rubric, FIRST, NEW_TASK, reason="On second thoughts.")
    (current,) = current_adjudications(differing, "v3")
    assert (current.category, current.adjudicator) == (NEW_TASK, "adjudicator")
    kept = [(row["category"], row["adjudicator"]) for row in differing["adjudications"].rows]
    assert kept == [(GENUINE, "dee"), (NEW_TASK, "adjudicator")]
    assert current_adjudications(differing, "v2") == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE adjudications SET category = 'malformed'",
        "DELETE FROM adjudications",
        "INSERT OR REPLACE INTO adjudications SELECT * FROM adjudications",
    ],
)
def test_decisions_cannot_be_changed(differing, rubric, statement):
    adjudicate(differing, rubric, FIRST, GENUINE, reason="It asks on.")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        differing.conn.execute(statement)


@pytest.mark.parametrize(
    ("item_id", "category", "reason", "message"),
    [
        (FIRST[:-1] + "x", GENUINE, "why", rf"no item '{FIRST[:-1]}x'.*did you mean 0000"),
        (FIRST, "genuine_folowup", "why", "no category 'genuine_fol.*mean genuine_followup"),
        (FIRST, GENUINE, "  ", "reason has 0 characters, expected 1 to"),
        (FIRST, GENUINE, "x" * (REASON_LIMIT + 1), "reason has 2,001 characters"),
        (SECOND, GENUINE, "why", f"item {SECOND} has no two different labels under rubric v3"),
        (THIRD, GENUINE, "why", f"item {THIRD} has no two different labels"),
    ],
)  # fmt: skip
def test_what_cannot_be_decided_is_refused_and_nothing_stored(
    differing, rubric, item_id, category, reason, message
):
    with pytest.raises(InputError, match=message):
        adjudicate(differing, rubric, item_id, category, reason=reason)
    assert differing["adjudications"].count == 0


def test_the_text_of_an_item_and_of_none(differing):
    assert item_to_adjudicate(differing, FIRST).turn == "turn 0"
    with pytest.raises(InputError, match="no item 'zzz'"):
        item_to_adjudicate(differing, "zzz")


def test_the_command_lists_without_names_shows_and_decides(differing, tmp_path):
    listed = command(tmp_path)
    assert f"{FIRST}  {GENUINE} ×1, {NEW_TASK} ×2" in listed.output.splitlines()
    assert "zoe" not in listed.output
    assert f"annotate adjudicate --show {FIRST} --rubric v3" in listed.output
    assert json.loads(command(tmp_path, "--json").output) == {
        "rubric": "v3",
        "items": [{"item_id": FIRST, "labels": {NEW_TASK: 2, GENUINE: 1}}],
    }
    assert "── turn ──\nturn 0" in command(tmp_path, "--show", FIRST).output
    decided = command(tmp_path, FIRST, GENUINE, "--reason", "It asks on.", "--adjudicator", "dee")
    assert decided.output == f"{FIRST} is {GENUINE} by adjudication; still undecided: 0\n"
    assert command(tmp_path).output.startswith("nothing to adjudicate under rubric v3")


def test_an_item_without_a_category_is_a_usage_error(differing, tmp_path):
    assert command(tmp_path, FIRST).exit_code == 2


def test_no_text_of_a_study_can_act_on_the_terminal(labels, tmp_path):
    item = Item((Message("user", "q\x1b[31m"),), "a", "u\u202e")
    add_items(labels, [BlindItem("f" * 12, item)], seed=7)
    shown = command(tmp_path, "--show", "f" * 12).output
    assert "q<U+001B>[31m" in shown
    assert "u<U+202E>" in shown


class TestRequested:
    """Items that the owner of the study sends to the adjudicator, whether people differ or not."""

    def test_they_are_listed_with_their_labels_beside_disputed_ones(self, differing, rubric):
        request_adjudication(differing, SECOND, "v3")
        request_adjudication(differing, THIRD, "v3")
        found = [(dispute.item_id, dispute.labels) for dispute in undecided(differing, rubric)]
        assert found[1:] == [(SECOND, ((GENUINE, 2),)), (THIRD, ((GENUINE, 1),))]
        assert found[0][0] == FIRST

    def test_once_as_long_as_undecided_and_a_disputed_one_stands_once(self, differing, rubric):
        for item_id in (SECOND, FIRST, SECOND):
            request_adjudication(differing, item_id, "v3")
        assert [dispute.item_id for dispute in undecided(differing, rubric)] == [FIRST, SECOND]
        assert differing["adjudication_requests"].count == 2

    def test_nothing_says_who_asked_or_why(self, differing, tmp_path):
        request_adjudication(differing, SECOND, "v3")
        assert differing["adjudication_requests"].columns_dict.keys() == {
            "request_id", "item_id", "rubric_version", "after_adjudication", "requested_at",
        }  # fmt: skip
        lines = command(tmp_path).output.splitlines()
        disputed, requested = lines[1:3]
        assert disputed == f"{FIRST}  {GENUINE} ×1, {NEW_TASK} ×2"
        assert requested == f"{SECOND}  {GENUINE} ×2"
        items = json.loads(command(tmp_path, "--json").output)["items"]
        assert items[1] == {"item_id": SECOND, "labels": {GENUINE: 2}}
        assert items[0].keys() == items[1].keys()

    def test_a_decision_takes_it_off_the_list_and_a_new_request_puts_it_back(
        self, differing, rubric
    ):
        request_adjudication(differing, SECOND, "v3")
        adjudicate(differing, rubric, SECOND, NEW_TASK, reason="It asks anew.")
        assert [dispute.item_id for dispute in undecided(differing, rubric)] == [FIRST]
        request_adjudication(differing, SECOND, "v3")
        assert [dispute.item_id for dispute in undecided(differing, rubric)] == [FIRST, SECOND]
        adjudicate(differing, rubric, SECOND, GENUINE, reason="It asks on.")
        assert [dispute.item_id for dispute in undecided(differing, rubric)] == [FIRST]
        (current,) = current_adjudications(differing, "v3")
        assert current.category == GENUINE

    def test_a_decided_dispute_comes_back_when_it_is_requested(self, differing, rubric):
        adjudicate(differing, rubric, FIRST, GENUINE, reason="It asks on.")
        request_adjudication(differing, FIRST, "v3")
        assert [dispute.item_id for dispute in undecided(differing, rubric)] == [FIRST]

    def test_a_later_decision_on_it_supersedes_without_another_request(self, differing, rubric):
        """An adjudicator who has slipped can mend it, as on an item that people dispute."""
        request_adjudication(differing, SECOND, "v3")
        adjudicate(differing, rubric, SECOND, NEW_TASK, reason="A slip of mine.")
        adjudicate(differing, rubric, SECOND, GENUINE, reason="On second thoughts.")
        (current,) = current_adjudications(differing, "v3")
        assert current.category == GENUINE

    def test_it_is_listed_under_its_own_rubric_alone(self, differing, rubric):
        request_adjudication(differing, SECOND, "v3")
        record_rubric(differing, load_rubric("v2"))
        assert undecided(differing, load_rubric("v2")) == []
        with pytest.raises(InputError, match=f"item {SECOND} has no two different labels"):
            adjudicate(differing, load_rubric("v2"), SECOND, GENUINE, reason="why")

    def test_one_whose_label_was_taken_back_is_listed_no_more(self, differing, rubric):
        request_adjudication(differing, THIRD, "v3")
        say(differing, "ann", THIRD)
        assert THIRD not in [dispute.item_id for dispute in undecided(differing, rubric)]

    @pytest.mark.parametrize(
        ("item_id", "version"), [("zzz", "v3"), (ITEM_IDS[3], "v3"), (FIRST, "v2")]
    )
    def test_what_nobody_has_labelled_is_refused(self, differing, item_id, version):
        with pytest.raises(InputError, match=f"nobody has labelled item '{item_id}' under rubric"):
            request_adjudication(differing, item_id, version)
        assert differing["adjudication_requests"].count == 0

    def test_a_skip_is_no_label(self, labels):
        say(labels, "ann", FIRST)
        with pytest.raises(InputError, match="annotate --rubric v3"):
            request_adjudication(labels, FIRST, "v3")

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE adjudication_requests SET requested_at = ''",
            "DELETE FROM adjudication_requests",
            "INSERT OR REPLACE INTO adjudication_requests SELECT * FROM adjudication_requests",
        ],
    )
    def test_requests_cannot_be_changed(self, differing, statement):
        request_adjudication(differing, SECOND, "v3")
        # As any other program opens it: then REPLACE fires no trigger of a deletion.
        differing.conn.execute("PRAGMA recursive_triggers=OFF")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            differing.conn.execute(statement)

    def test_the_command_decides_it_and_counts_what_is_left(self, differing, tmp_path):
        request_adjudication(differing, SECOND, "v3")
        decided = command(tmp_path, SECOND, NEW_TASK, "--reason", "It asks anew.")
        assert decided.output == f"{SECOND} is {NEW_TASK} by adjudication; still undecided: 1\n"


def test_labels_of_an_earlier_version_are_kept_where_requests_come_in(tmp_path, rubric):
    """A labels.db from before there were requests, with a decision in it, is carried over."""
    path = tmp_path / "old.db"
    old = Database(str(path), strict=True)
    annotator_migrations.apply(old, stop_before="m003_adjudication_requests")
    old["items"].insert({"item_id": FIRST, "messages": "[]", "answer": "a", "turn": "u"})
    record_rubric(old, rubric)
    old["adjudications"].insert(
        {
            **{"item_id": FIRST, "rubric_version": "v3", "category": GENUINE},
            **{"reason": "why", "adjudicator": "dee", "decided_at": ""},
        }
    )
    old.close()
    with open_labels(path) as labels:
        say(labels, "ann", FIRST, GENUINE)
        assert undecided(labels, rubric) == []
        request_adjudication(labels, FIRST, "v3")
        assert [dispute.item_id for dispute in undecided(labels, rubric)] == [FIRST]
