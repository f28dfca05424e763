"""The adjudicator's page in Chromium: two people at work by keyboard, and a phone in the dark."""

import pytest
from annotated_labels import GENUINE, NEW_TASK, ids, new_labels, say
from hostile_texts import HOSTILE_TEXTS
from login_state import login_state

from annotator.accounts.account import add_account
from annotator.accounts.person import Role
from annotator.adjudication.adjudication import current_adjudications
from annotator.labels import open_labels

pytestmark = pytest.mark.browser
SCRIPT = HOSTILE_TEXTS["image with script"]


@pytest.fixture(scope="module")
def study(served_for_module, tmp_path_factory):
    """A served study with three items that people differ on; gives its address and labels.db."""
    labels = tmp_path_factory.mktemp("adjudicated") / "labels.db"
    with new_labels(labels, (SCRIPT, HOSTILE_TEXTS["long line"], "turn 2")) as database:
        for item in range(3):
            say(database, "zoe", item, GENUINE, second=item, note=SCRIPT)
            say(database, "ann", item, NEW_TASK, second=10 + item)
        for name in ("dee", "eve"):
            add_account(database, name, Role.ADJUDICATOR)
    return served_for_module(labels.parent, port=7960), labels


@pytest.fixture
def sit_down(study, new_page):
    """Opens the page at an item as somebody who is logged in."""
    url, labels = study

    def start(name, item, **options):
        where = f"{url}/adjudicate/#{ids(item + 1)[-1]}"
        page = new_page(where, storage_state=login_state(labels, name), **options)
        page.locator(".part.turn .text").wait_for(state="attached")
        return page

    return start


def status(page, text):
    line = page.locator("form.verdict .status", has_text=text)
    line.wait_for()
    return line.inner_text()


def focused(page):
    return page.evaluate("document.activeElement.name ?? document.activeElement.className")


def test_two_decide_by_keyboard_and_the_second_is_told(sit_down, study):
    dee, eve = sit_down("dee", 0), sit_down("eve", 0)
    assert dee.locator(".part.turn .text").evaluate("e => e.textContent") == SCRIPT
    assert dee.locator(".given li").all_inner_texts() == ["1 ×\nGenuine follow-up", "1 ×\nNew task"]
    assert dee.locator(".annotators-notes li").all_inner_texts() == [SCRIPT]
    assert "zoe" not in dee.content()

    eve.keyboard.press("c")
    eve.keyboard.type("3 n is no key here")
    eve.keyboard.press("Control+Enter")
    status(eve, "Note stored.")
    assert focused(eve) == "note"
    assert eve.locator("#talk-note").input_value() == ""
    eve.keyboard.press("Escape")
    eve.keyboard.press("4")
    eve.keyboard.press("w")
    eve.keyboard.type("It starts anew.")

    dee.keyboard.press("1")
    dee.keyboard.press("Enter")  # a reason is needed: the box for it is next
    status(dee, "Say why")
    assert focused(dee) == "reason"
    dee.keyboard.type("It asks on.")
    dee.keyboard.press("Escape")
    dee.keyboard.press("Enter")
    status(dee, "Stored: Genuine follow-up. Still to decide: 2.")
    assert dee.url.endswith(ids(2)[-1])
    assert focused(dee) == "work"
    assert dee.locator("input[name=category]:checked").count() == 0

    eve.keyboard.press("Control+Enter")
    told = status(eve, "Not stored yet: dee decided this item meanwhile as “Genuine follow-up”.")
    assert "deciding again takes the place" in told
    assert eve.locator(".decision .why").inner_text() == "It asks on."
    assert focused(eve) == "reason"
    assert eve.locator("#reason").input_value() == "It starts anew."
    eve.keyboard.press("Control+Enter")
    status(eve, "Stored: New task.")

    dee.keyboard.press("d")
    dee.locator(".place", has_text="Decided item 1 of 1").wait_for()
    assert "New task: decided by eve" in dee.locator(".decision").inner_text()
    assert "3 n is no key here" in dee.locator(".discussion li").inner_text()
    with open_labels(study[1]) as database:
        [standing] = current_adjudications(database, "v3")
        refused = list(database["refusals"].rows)
    assert (standing.category, standing.adjudicator) == (NEW_TASK, "eve")
    assert refused == []  # the page asks for nothing that it is not given


def test_on_a_phone_in_the_dark_what_is_typed_is_there_after_going_on(sit_down):
    page = sit_down("dee", 2, viewport={"width": 360, "height": 740}, color_scheme="dark")
    page.keyboard.press("7")
    page.keyboard.press("w")
    page.keyboard.type("Half a thought")
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.get_by_role("button", name="Show all 12,000 characters").wait_for()
    assert page.locator("#reason").input_value() == ""
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.keyboard.press("n")
    page.locator(".part.turn .text", has_text="turn 2").wait_for()
    assert page.locator("#reason").input_value() == "Half a thought"
    assert page.locator("input[name=category]:checked").get_attribute("value") == "malformed"
    page.keyboard.press("g")
    assert "When two seem to fit" in page.locator(".guidelines .guide").inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".guidelines").get_attribute("open") is None
