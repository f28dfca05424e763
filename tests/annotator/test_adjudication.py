"""Adjudication: blind to names and judges, append-only, the latest decision stands."""

import json
import sqlite3

import pytest
from click.testing import CliRunner

from annotator.adjudication import (
    REASON_LIMIT,
    adjudicate,
    current_adjudications,
    item_to_adjudicate,
    undecided,
)
from annotator.annotation import append_event
from annotator.cli import annotate
from annotator.display import put_display
from annotator.labels import BlindItem, add_items
from generation.item import Item, Message
from rubrics import InputError

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
