"""The labelling session: what is stored belongs to what was on screen, and nothing gets lost."""

from dataclasses import replace

import pytest

from annotator.annotation import annotation_history, current_annotations
from annotator.assignment.assigner import End, Progress
from annotator.labelling.choice import NOTE_LIMIT, SKIP_REASONS, Choice
from annotator.labelling.session import LabellingSession
from annotator.labels import BlindItem, add_items, record_rubric
from generation.item import Item, Message
from rubrics import InputError, load_rubric

GENUINE = Choice("genuine_followup")
NEW_TASK = Choice("new_task_prompt", "sure", "a note", flagged=True)


@pytest.fixture
def session(labels, rubric):
    return LabellingSession(labels, rubric)


def save(session, screen, choice=GENUINE):
    return session.save(screen.nonce, screen.shown.item_id, choice)


def step(session, screen, by, choice=None):
    return session.step(screen.nonce, screen.shown.item_id, choice or screen.choice, by=by)


def back_from(session, screen, choice=None):
    return step(session, screen, -1, choice).screen


def label_all(session, name="ann"):
    screen = session.open(name).screen
    while screen.shown:
        screen = save(session, screen).screen
    return screen


def test_a_save_is_stored_whole_and_brings_the_next_item(session, labels):
    first = session.open("ann").screen
    reply = save(session, first, NEW_TASK)
    assert not reply.refused
    assert reply.screen.shown.item_id != first.shown.item_id
    assert (reply.screen.labelled, reply.screen.progress) == (1, Progress(1, 5))
    [event] = current_annotations(labels, "v3")
    assert f"receipt {event.event_id}" in reply.message
    assert (event.item_id, event.annotator, event.kind) == (first.shown.item_id, "ann", "label")
    assert (event.category, event.confidence, event.note, event.flagged) == (
        "new_task_prompt",
        "sure",
        "a note",
        True,
    )


def test_every_item_comes_once_and_then_the_end(session):
    seen = []
    screen = session.open("ann").screen
    while screen.shown:
        seen.append(screen.shown.item_id)
        screen = save(session, screen).screen
    assert len(seen) == len(set(seen)) == screen.progress.wanted == screen.labelled == 5
    assert screen.end is End.FINISHED


def test_the_order_is_ones_own_and_stays(session, labels, rubric):
    orders = {name: [] for name in ("ann", "ben", "cyd", "dee")}
    for name, order in orders.items():
        screen = session.open(name).screen
        while screen.shown:
            order.append(screen.shown.item_id)
            screen = save(session, screen).screen
    assert len({tuple(order) for order in orders.values()}) > 1
    again = LabellingSession(labels, rubric)
    screen = again.review("ann").screen
    assert screen.shown.item_id == orders["ann"][-1]


def test_a_skip_needs_a_reason_from_the_list(session, labels):
    screen = session.open("ann").screen
    refused = session.skip(screen.nonce, screen.shown.item_id, "because", Choice())
    assert refused.refused
    assert "reason" in refused.message
    reply = session.skip(screen.nonce, screen.shown.item_id, SKIP_REASONS[0], NEW_TASK)
    assert (reply.screen.labelled, reply.screen.skipped) == (0, 1)
    [event] = current_annotations(labels, "v3")
    assert (event.kind, event.category, event.skip_reason) == ("skip", None, SKIP_REASONS[0])
    assert event.note == "a note"


def test_an_edit_is_a_new_event_and_the_old_one_stays(session, labels):
    first = session.open("ann").screen
    save(session, first)
    second = session.open("ann").screen
    back = back_from(session, second)
    assert back.shown == first.shown
    assert back.choice == GENUINE
    save(session, back, NEW_TASK)
    history = [event.category for event in annotation_history(labels)]
    assert history == ["genuine_followup", "new_task_prompt"]
    assert [e.category for e in current_annotations(labels, "v3")] == ["new_task_prompt"]
    assert session.open("ann").screen.labelled == 1


def test_a_label_can_take_the_place_of_a_skip(session, labels):
    first = session.open("ann").screen
    session.skip(first.nonce, first.shown.item_id, SKIP_REASONS[1], Choice())
    label_all(session)
    skipped = session.review("ann").screen
    assert skipped.shown == first.shown
    finished = save(session, skipped).screen
    assert (finished.labelled, finished.skipped) == (5, 0)


def test_forward_stops_at_an_item_not_done(session):
    screen = session.open("ann").screen
    assert step(session, screen, -1).message == "This is your first item."
    assert step(session, screen, 1).refused
    save(session, screen)
    back = back_from(session, session.open("ann").screen)
    assert step(session, back, 1).screen.position == 2


def test_a_draft_comes_back_in_a_new_session(session, labels, rubric):
    screen = session.open("ann").screen
    session.draft(screen.nonce, screen.shown.item_id, NEW_TASK)
    again = LabellingSession(labels, rubric).open("ann").screen
    assert again.shown == screen.shown
    assert again.choice == NEW_TASK
    assert again.saved is None
    assert LabellingSession(labels, rubric).open("ben").screen.choice == Choice()


def test_a_draft_that_arrives_after_its_save_is_no_draft_of_the_saved_item(session):
    screen = session.open("ann").screen
    save(session, screen)
    session.draft(screen.nonce, screen.shown.item_id, NEW_TASK)
    back = back_from(session, session.open("ann").screen)
    assert back.choice == GENUINE


def test_reloading_an_item_opened_for_editing_stays_on_it(session):
    first = session.open("ann").screen
    save(session, first)
    back = back_from(session, session.open("ann").screen)
    assert session.open("ann").screen.shown == back.shown


def test_a_draft_from_a_tab_that_was_overtaken_is_refused(session):
    one, two = session.open("ann").screen, session.open("ann").screen
    second = save(session, one).screen
    assert session.draft(two.nonce, two.shown.item_id, NEW_TASK).refused
    assert back_from(session, second).choice == GENUINE


def test_a_person_whose_item_was_taken_away_goes_on_with_the_next(session, labels):
    screen = session.open("ann").screen
    labels.conn.execute("PRAGMA foreign_keys=OFF")
    labels["items"].delete(screen.shown.item_id)
    assert session.open("ann").screen.shown.item_id != screen.shown.item_id


def test_the_same_save_twice_is_stored_once(session, labels):
    screen = session.open("ann").screen
    one, two = save(session, screen), save(session, screen)
    assert not two.refused
    assert two.message == one.message
    assert len(annotation_history(labels)) == 1


def test_a_save_repeated_after_a_later_edit_gets_its_own_receipt(session, labels):
    first = session.open("ann").screen
    saved = save(session, first)
    save(session, back_from(session, saved.screen), NEW_TASK)
    assert save(session, first).message == saved.message
    assert [e.category for e in annotation_history(labels)] == [
        "genuine_followup",
        "new_task_prompt",
    ]


def test_another_choice_under_a_spent_nonce_is_refused(session, labels):
    screen = session.open("ann").screen
    save(session, screen)
    reply = save(session, screen, NEW_TASK)
    assert reply.refused
    assert "another choice" in reply.message
    assert [e.category for e in annotation_history(labels)] == ["genuine_followup"]


def test_a_save_for_an_item_that_is_not_on_screen_is_refused(session, labels):
    screen = session.open("ann").screen
    other = next(i for i in ("000000000000", "000000000001") if i != screen.shown.item_id)
    assert "not the one on this screen" in session.save(screen.nonce, other, GENUINE).message
    assert "out of date" in session.save("made-up", screen.shown.item_id, GENUINE).message
    assert annotation_history(labels) == []


def test_a_second_tab_is_told_and_may_replace(session, labels):
    one, two = session.open("ann").screen, session.open("ann").screen
    assert one.shown == two.shown
    save(session, one)
    told = save(session, two, NEW_TASK)
    assert told.refused
    assert "another tab" in told.message
    assert told.screen.shown == two.shown
    assert told.screen.choice == NEW_TASK
    assert len(annotation_history(labels)) == 1
    assert not save(session, told.screen, NEW_TASK).refused
    assert [e.category for e in current_annotations(labels, "v3")] == ["new_task_prompt"]
    assert session.open("ann").screen.labelled == 1


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (Choice("no_such_category"), "no category"),
        (replace(GENUINE, confidence="very"), "confidence"),
        (replace(GENUINE, note="n" * (NOTE_LIMIT + 1)), "10,001 characters"),
        (Choice(), "Choose a category"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_said(session, labels, choice, said):
    screen = session.open("ann").screen
    reply = save(session, screen, choice)
    assert reply.refused
    assert reply.screen is None  # the page keeps what was filled in
    assert said in reply.message
    assert annotation_history(labels) == []


@pytest.mark.parametrize("name", ["", "   ", "<b>ann</b>", "a" * 41, "a\nb", "${x}"])
def test_names_that_cannot_be_used(session, name):
    with pytest.raises(InputError, match="cannot be used"):
        session.open(name)


def test_blanks_around_a_name_are_no_part_of_it(session):
    assert session.open(" ann\n").screen.annotator == "ann"


def test_going_back_keeps_what_was_filled_in(session):
    first = session.open("ann").screen
    second = save(session, first).screen
    back = back_from(session, second, NEW_TASK)
    assert step(session, back, 1).screen.choice == NEW_TASK


def test_a_draft_equal_to_what_is_saved_is_none(session, labels):
    save(session, session.open("ann").screen)
    back = back_from(session, session.open("ann").screen)
    session.draft(back.nonce, back.shown.item_id, NEW_TASK)
    session.draft(back.nonce, back.shown.item_id, GENUINE)
    assert labels["drafts"].count_where("item_id = ?", [back.shown.item_id]) == 0


def test_a_page_opened_under_an_older_rubric_finishes_under_it(labels, rubric):
    old = load_rubric("v2")
    record_rubric(labels, old)
    screen = LabellingSession(labels, old).open("ann").screen
    reply = save(LabellingSession(labels, rubric), screen)
    assert not reply.refused
    assert [e.rubric_version for e in annotation_history(labels)] == ["v2"]
    assert reply.screen.rubric.version == "v3"
    assert reply.screen.labelled == 0


def test_items_added_while_people_label_join_the_list(session, labels):
    finished = label_all(session)
    assert finished.shown is None
    extra = Item((Message("user", "late"),), "a", "u")
    add_items(labels, [BlindItem("ffffffffffff", extra)], seed=99)
    assert session.open("ann").screen.shown.item == extra


def test_an_empty_list_is_finished_at_once(tmp_path, rubric):
    from annotator.labels import open_labels

    database = open_labels(tmp_path / "empty.db", create=True)
    record_rubric(database, rubric)
    session = LabellingSession(database, rubric)
    assert session.open("ann").screen.shown is None
    assert session.review("ann").refused
