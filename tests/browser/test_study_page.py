"""What a study of many people brings to the labelling page, in Chromium, on one server."""

import pytest
from labelling_page import label, shown_turn, status
from playwright.sync_api import expect
from served_here import served_here

from annotator.annotation import annotation_history
from annotator.assignment.plan import Plan, put_plan
from annotator.labels import open_labels
from annotator.training.training_set import TrainingItem, put_training_set
from generation.item import Item, Message
from rubrics import load_rubric

pytestmark = pytest.mark.browser
TRIPLES = tuple((f"question {n}", "a", f"turn {n}") for n in range(12))


@pytest.fixture
def study(make_labels):
    """A served study of one's own, whose owner acts on the store while it is served."""
    folder = make_labels(TRIPLES)
    with served_here(folder, port=7860) as url, open_labels(folder / "labels.db") as database:
        yield url, database


def test_training_comes_first_with_feedback_and_then_the_study(study, new_page):
    url, database = study
    known = TrainingItem(Item((Message("user", "q"),), "a", "§§§"), "malformed", "Only marks.")
    put_training_set(database, load_rubric("v3"), [known], "1")
    page = new_page(f"{url}?annotator=ann")
    assert shown_turn(page) == "§§§"
    expect(page.locator(".training-is")).to_have_text("Training, round 1")
    assert "Only marks." not in page.content()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#feedback-heading")).to_have_text(
        "You chose Genuine follow-up. Right is: Malformed"
    )
    expect(page.locator(".reason")).to_have_text("Only marks.")
    expect(page.locator(".score")).to_contain_text("another round follows")
    assert page.evaluate("document.activeElement.className") == "feedback"
    page.keyboard.press("Enter")
    expect(page.locator(".training-is")).to_have_text("Training, round 2")
    page.keyboard.press("7")
    page.keyboard.press("Enter")
    expect(page.locator("#feedback-heading")).to_contain_text("Right:")
    expect(page.locator(".score")).to_contain_text("Now the study begins")
    page.keyboard.press("Enter")
    expect(page.locator(".part.turn .text")).to_contain_text("turn ")
    label(page, "2")
    assert [event.category for event in annotation_history(database)] == ["previous_turn_restate"]


def test_undo_my_last_labels_and_another_language(study, new_page):
    url, database = study
    page = new_page(f"{url}?annotator=ann")
    first = shown_turn(page)
    label(page, "3")
    second = shown_turn(page)
    label(page, "4")
    page.keyboard.press("l")
    lines = page.locator(".recent li")
    expect(lines).to_have_count(2)
    expect(lines.nth(0)).to_contain_text(second)
    lines.nth(1).get_by_role("button").click()
    page.locator(".saved", has_text="Repeats the assistant").wait_for()
    assert shown_turn(page) == first
    page.locator(".work").press("u")
    status(page, "Taken back")
    assert shown_turn(page) == second
    assert page.locator("input[name=category]:checked").get_attribute("data-key") == "4"
    page.locator("select.language").select_option("de")
    expect(page.get_by_role("button", name="Speichern")).to_be_visible()
    assert page.locator(".desk").get_attribute("lang") == "de"
    assert page.locator(".part.turn .text").get_attribute("lang") == ""
    page.locator(".work").press("Enter")
    status(page, "Gespeichert (Beleg")
    page.reload()
    expect(page.get_by_role("button", name="Speichern")).to_be_visible()
    page.locator("select.language").select_option("en")
    history = [event.category for event in annotation_history(database)]
    assert history == ["assistant_turn_restate", "new_task_prompt", None, "new_task_prompt"]


def test_shared_items_say_how_the_study_stands_and_who_is_waited_for(study, new_page):
    url, database = study
    put_plan(database, Plan(labels_per_item=1, lease_seconds=2))
    ann, ben = new_page(f"{url}?annotator=ann"), new_page(f"{url}?annotator=ben")
    assert shown_turn(ann) != shown_turn(ben)
    for _ in range(10):
        label(ann, "1")
    expect(ann.locator(".work .tally")).to_have_text("10 done by you, the study 83 %")
    # One is left, and ben's open page keeps it, however short the lease.
    ann.keyboard.press("1")
    ann.keyboard.press("Enter")
    ann.get_by_role("heading", name="Waiting for others").wait_for()
    label(ben, "2")
    ben.get_by_role("heading", name="All done").wait_for()
    ann.get_by_role("button", name="Look for items").click()
    ann.get_by_role("heading", name="All done").wait_for()
    assert len(annotation_history(database)) == 12
    measured = [event.active_ms for event in annotation_history(database)]
    assert all(spent is not None and spent >= 0 for spent in measured)
    assert database["activity"].count == 12


def test_a_store_that_refuses_stops_the_page_until_it_does_not(study, new_page):
    url, database = study
    page = new_page(f"{url}?annotator=ann")
    shown_turn(page)
    database.conn.execute("ALTER TABLE activity RENAME TO away")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("NOT SAVED").wait_for()
    page.keyboard.press("6")  # no label is taken now
    page.keyboard.press("Enter")
    database.conn.execute("ALTER TABLE away RENAME TO activity")
    page.get_by_role("button", name="Try again").click()
    status(page, "Saved (receipt")
    assert [event.category for event in annotation_history(database)] == ["assistant_continuation"]
