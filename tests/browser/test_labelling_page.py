"""The labelling page in a real browser: by keyboard, on a phone, in two tabs, with a slow save."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from intercepted_acts import InterceptedActs, fail, pass_on
from labelling_page import label, shown_turn, status

from annotator.annotation import current_annotations

pytestmark = pytest.mark.browser


def test_a_name_is_asked_and_kept_in_the_address(desk, new_page):
    address = desk.url.split("?")[0]
    page = new_page(address)
    page.get_by_label("Name").fill("<b>ann</b>")
    page.get_by_role("button", name="Start").click()
    page.locator(".who .status", has_text="cannot be used").wait_for()
    page.get_by_label("Name").fill(desk.annotator)
    page.keyboard.press("Enter")
    first = shown_turn(page)
    page.reload()
    assert shown_turn(page) == first
    assert page.locator(".who-is").inner_text() == desk.annotator
    other = new_page(f"{address}?annotator=ben")
    shown_turn(other)
    assert other.locator(".who-is").inner_text() == "ben"


def test_keys_are_inert_while_typing(desk, new_page):
    page = new_page(desk.url)
    first = shown_turn(page)
    page.keyboard.press("3")
    page.get_by_label("Note").focus()
    page.keyboard.type("b 1 7 s n g\nline two")
    page.keyboard.press("Control+1")
    assert shown_turn(page) == first
    assert page.locator("input[name=category]:checked").get_attribute("data-key") == "3"
    page.keyboard.press("Escape")
    label(page, "4")
    [event] = desk.history()
    assert event.note == "b 1 7 s n g\nline two"
    assert event.category == "new_task_prompt"


def test_keys_pressed_during_a_slow_save_never_fall_on_the_next_item(desk, new_page):
    acts = InterceptedActs()
    page = new_page(desk.url, acts=acts)
    first = shown_turn(page)
    held = []
    acts.handle = held.append
    for key in ("3", "Enter", "5", "Enter"):
        page.keyboard.press(key)
    status(page, "that key was not taken")
    assert shown_turn(page) == first
    assert len(held) == 1
    acts.handle = pass_on
    held[0].continue_()
    status(page, "Saved (receipt")
    assert shown_turn(page) != first
    assert page.locator("input[name=category]:checked").count() == 0
    [event] = desk.history()
    assert event.category == "assistant_turn_restate"


def test_no_label_falls_on_an_item_that_is_still_being_rendered(desk, new_page):
    acts = InterceptedActs()
    page = new_page(desk.url, acts=acts)
    shown_turn(page)
    page.get_by_label("Rendered view").check()
    page.locator(".part.turn .as-rendered").wait_for()
    held = []

    def hold_rendering(route):
        held.append(route) if "rendered_view" in route.request.post_data else pass_on(route)

    acts.handle = hold_rendering
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.locator(".parts:empty").wait_for(state="attached")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    status(page, "that key was not taken")
    [rendering] = held
    rendering.continue_()
    page.locator(".part.turn .as-rendered").wait_for()
    assert [event.category for event in desk.history()] == ["genuine_followup"]


def test_a_rendered_view_that_fails_leaves_the_text_verbatim_and_says_so(desk, new_page):
    acts = InterceptedActs()
    page = new_page(desk.url, acts=acts)
    turn = shown_turn(page)
    acts.handle = fail
    page.get_by_label("Rendered view").check()
    status(page, "The rendered view is not to be had")
    assert shown_turn(page) == turn
    assert page.locator(".as-rendered").count() == 0


def test_leaving_an_item_at_once_keeps_what_was_filled_in(desk, new_page):
    page = new_page(desk.url)
    shown_turn(page)
    label(page, "1")
    here = shown_turn(page)
    page.keyboard.press("4")
    page.keyboard.press("b")
    page.locator(".saved", has_text="Genuine follow-up").wait_for()
    page.keyboard.press("n")
    page.locator(".part.turn .text", has_text=here).wait_for()
    assert page.locator("input[name=category]:checked").get_attribute("data-key") == "4"


def test_a_save_that_the_server_never_got_keeps_the_choice(desk, new_page):
    acts = InterceptedActs()
    page = new_page(desk.url, acts=acts)
    first = shown_turn(page)
    acts.handle = fail
    page.keyboard.press("6")
    page.keyboard.press("Enter")
    status(page, "the server does not answer")
    assert shown_turn(page) == first
    assert page.locator("input[name=category]:checked").get_attribute("data-key") == "6"
    acts.handle = pass_on
    page.keyboard.press("Enter")
    status(page, "Saved (receipt")
    assert [event.category for event in desk.history()] == ["generic_reply"]


def test_two_tabs_the_back_button_and_a_save_sent_twice_leave_one_label(desk, new_page):
    one, two = new_page(desk.url), new_page(desk.url)
    assert shown_turn(one) == shown_turn(two)
    with one.expect_request(lambda request: "save_label" in (request.post_data or "")) as sent:
        receipt = label(one, "1")
    two.keyboard.press("2")
    two.keyboard.press("Enter")
    assert "Genuine follow-up" in status(two, "another tab")
    assert two.locator("input[name=category]:checked").get_attribute("data-key") == "2"
    two.keyboard.press("Enter")
    status(two, "Saved (receipt")
    here = shown_turn(two)

    two.goto("about:blank")
    two.go_back()
    assert shown_turn(two) == here
    assert two.locator(".bar .tally").inner_text() == "1 of 6 done"
    again = two.request.post(
        sent.value.url,
        data=sent.value.post_data,
        headers={"content-type": "application/json"},
    )
    assert again.json()["values"] == {"receipt": receipt}
    history = desk.history()
    assert [e.category for e in history] == ["genuine_followup", "previous_turn_restate"]
    current = [e for e in current_annotations(desk.database, "v3") if e.annotator == desk.annotator]
    assert [e.category for e in current] == ["previous_turn_restate"]


def test_the_end_and_the_way_back(desk, new_page):
    page = new_page(desk.url)
    shown_turn(page)
    page.keyboard.press("s")
    status(page, "Choose a reason for skipping")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    status(page, "Saved (receipt")
    for _ in range(5):
        label(page, "1")
    page.get_by_role("heading", name="All done").wait_for()
    page.locator(".end .status", has_text="Saved (receipt").wait_for()
    assert page.locator(".end .tally").inner_text() == "6 of 6 done (1 skipped)"
    page.keyboard.press("b")
    shown_turn(page)
    page.locator(".saved", has_text="skipped: I cannot judge the subject").wait_for()
    label(page, "7")
    assert [event.kind for event in desk.history()] == ["skip"] + ["label"] * 6


def test_a_definition_shows_on_hover_and_on_focus(desk, new_page):
    page = new_page(desk.url)
    shown_turn(page)
    tip = page.locator("#definition-malformed")
    assert not tip.is_visible()
    page.locator(".category label", has_text="Malformed").hover()
    assert tip.is_visible()
    page.mouse.move(0, 0)
    assert not tip.is_visible()
    page.locator("input[value=malformed]").focus()
    assert tip.is_visible()
    page.keyboard.press("g")
    guidelines = page.locator(".guidelines")
    assert tip.inner_text() in guidelines.inner_text()
    right_edge = guidelines.evaluate("element => element.getBoundingClientRect().right")
    assert right_edge <= page.locator(".categories").bounding_box()["x"]
    page.keyboard.press("Escape")
    assert guidelines.get_attribute("open") is None


def test_interrupted_the_server_stops_cleanly(plain_study):
    process = subprocess.Popen(
        [Path(sys.executable).with_name("annotate"), "--study", plain_study, "--port", "7945"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "http://" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.split()) == (130, "", ["interrupted"])
    assert not (plain_study / "labels.db-wal").exists()
