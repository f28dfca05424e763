"""Every page for those who cannot see it well, or work it by keyboard alone: axe-core in every
state, the whole of labelling without a mouse, a phone, the dark, other directions of writing.

No rule of axe is left out: what Gradio puts around our pages passes too.
"""

from datetime import timedelta
from importlib import resources

import pytest
from annotated_labels import GENUINE, NEW_TASK, everything, say
from labelling_page import label, shown_turn, status
from login_state import login_state
from playwright.sync_api import expect
from served_here import served_here

from annotator.accounts.account import add_account
from annotator.accounts.invitation import invite
from annotator.accounts.person import Role
from annotator.labels import open_labels
from annotator.publishing.publication import publish
from annotator.training.training_set import TrainingItem, put_training_set
from generation.item import Item, Message
from rubrics import load_rubric

pytestmark = pytest.mark.browser
AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text()
RUN = """async rules => {
    const options = rules ? { runOnly: rules } : {};
    const { violations } = await axe.run(document, { ...options, resultTypes: ["violations"] });
    return violations.filter(found => ["serious", "critical"].includes(found.impact))
        .map(found => [found.id, ...found.nodes.map(node => node.html)].join("\\n  "));
}"""
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
DASHBOARD = """() => {
    const view = document.querySelector(".board .view");
    return view?.dataset.place === location.hash && !view.querySelector("[data-waiting]");
}"""
FOCUSED = """() => {
    const at = document.activeElement;
    return at.dataset.key ?? (at.name || at.className || at.tagName.toLowerCase());
}"""
COPY = """element => {
    getSelection().selectAllChildren(element);
    const event = new ClipboardEvent("copy", {
        clipboardData: new DataTransfer(), bubbles: true, cancelable: true,
    });
    element.dispatchEvent(event);
    return event.clipboardData.getData("text/plain");
}"""


def check(page):
    """Nothing serious or critical in this state: by day, in the dark, and on a phone."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE)
    assert page.evaluate(RUN) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("matchMedia('(prefers-color-scheme: dark)').matches")
    if page.locator("gradio-app").count():
        page.locator("body.dark").wait_for(state="attached")
    assert page.evaluate(RUN, ["color-contrast"]) == []
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")
    assert page.title()
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.fixture(scope="module")
def study(served_for_module, tmp_path_factory):
    """A served study with an adjudicator and an owner; gives its address and its labels.db."""
    path = tmp_path_factory.mktemp("seen") / "labels.db"
    with everything(path) as database:
        say(database, "ann", 2, GENUINE, second=30, note="Why not?")
        say(database, "zoe", 2, NEW_TASK, second=31)
        add_account(database, "dee", Role.ADJUDICATOR)
        add_account(database, "lab", Role.OWNER)
    return served_for_module(path.parent, port=7970), path


@pytest.fixture
def sit_down(study, new_page):
    def start(name, where, **options):
        url, labels = study
        return new_page(url + where, storage_state=login_state(labels, name), **options)

    return start


def test_the_door(study, new_page):
    url, labels = study
    page = new_page(url)
    check(page)
    page.get_by_label("Name").fill("dee")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    check(page)
    with open_labels(labels) as database:
        add_account(database, "new", Role.ANNOTATOR)
        secret = invite(database, "new", timedelta(days=1))
    for path in (f"/invite/{secret}", "/invite/none", "/logout"):
        page.goto(url + path)
        check(page)


def test_the_adjudicators_page(sit_down):
    page = sit_down("dee", "/adjudicate/")
    page.locator(".part.turn .text").wait_for(state="attached")
    check(page)
    page.keyboard.press("g")
    check(page)
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    page.get_by_role("heading", name="Nothing is decided yet").wait_for()
    check(page)


def test_the_dashboard(sit_down):
    page = sit_down("lab", "/dashboard/")
    for place in ("", "#view=disagreement", "#view=items", "#view=annotators"):
        page.evaluate("place => { location.hash = place }", place)
        page.wait_for_function(DASHBOARD)
        check(page)
    page.evaluate("location.hash = '#view=items&item=000000000000'")
    page.wait_for_function(DASHBOARD)
    check(page)


def test_labelling_in_every_state(make_labels, new_page):
    folder = make_labels((("question", "answer " * 400, "turn"), ("q", "a\u00a0b", "u")))
    known = TrainingItem(Item((Message("user", "q"),), "a", "§§§"), "malformed", "Only marks.")
    with served_here(folder) as url, open_labels(folder / "labels.db") as database:
        page = new_page(url, viewport=WIDE)
        page.get_by_label("Name").fill("<b>")
        page.keyboard.press("Enter")
        page.locator(".who .status.refused").wait_for()
        check(page)
        put_training_set(database, load_rubric("v3"), [known], "1")
        page.get_by_label("Name").fill("ann")
        page.keyboard.press("Enter")
        shown_turn(page)
        check(page)
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Right is: Malformed").wait_for()
        check(page)
        page.keyboard.press("Enter")
        page.get_by_text("Training, round 2").wait_for()
        page.keyboard.press("7")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Right: Malformed").wait_for()
        check(page)
        page.keyboard.press("Enter")
        page.locator(".part.turn .text", has_text="u").wait_for()
        page.keyboard.press("2")
        status(page, "Draft kept")
        check(page)
        page.keyboard.press("g")
        check(page)
        page.keyboard.press("Escape")
        page.keyboard.press("l")
        page.get_by_text("Nothing yet.").wait_for()
        check(page)
        page.locator(".work").press("Enter")
        page.locator(".recent li").wait_for()
        page.locator("input.rendered").check()
        page.locator(".as-rendered").first.wait_for()
        check(page)
        publish(database, load_rubric("v2"))
        database.conn.execute("ALTER TABLE activity RENAME TO away")
        page.locator(".work").press("1")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Nothing is being saved").wait_for()
        check(page)
        database.conn.execute("ALTER TABLE away RENAME TO activity")
        page.get_by_role("button", name="Try again").click()
        page.get_by_role("heading", name="The rubric is now v2").wait_for()
        check(page)
        page.keyboard.press("Enter")
        for _ in range(2):
            shown_turn(page)
            label(page, "4")
        page.get_by_role("heading", name="All done").wait_for()
        check(page)


def test_an_item_from_its_first_tab_to_its_last_by_keyboard(desk, new_page):
    page = new_page(desk.url, viewport=WIDE)
    first = shown_turn(page)
    group = page.get_by_role("group", name="Which category is the last user turn?")
    assert group.get_by_role("radio").count() == 7
    assert page.evaluate(FOCUSED) == "work"
    stops = []
    for _ in range(10):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUSED))
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) == "solid", stops
    assert stops == [
        *("rendered", "1", "confidence", "note", "flagged", "primary"),
        *("back study-only", "forward study-only", "undo study-only", "reason"),
    ]
    page.locator("input[data-key='1']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(FOCUSED) == "3"
    described = page.evaluate("document.activeElement.getAttribute('aria-describedby')")
    assert page.locator(f"#{described}").is_visible()
    assert page.get_by_role("radio", name="3 Repeats the assistant", exact=True).is_checked()

    # Into the guidelines and back to where one was, the categories in sight meanwhile.
    page.keyboard.press("g")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Escape")
    assert page.locator(".guidelines").get_attribute("open") is None
    assert page.evaluate(FOCUSED) == "3"

    page.keyboard.press("Enter")
    said = page.get_by_role("status").filter(has_text="Saved (receipt")
    said.wait_for()
    assert shown_turn(page) != first
    assert page.evaluate(FOCUSED) == "work"
    page.keyboard.press("2")
    page.keyboard.press("b")
    page.locator(".part.turn .text", has_text=first).wait_for()
    assert page.evaluate(FOCUSED) == "work"
    page.keyboard.press("u")
    status(page, "Taken back")
    assert page.evaluate(FOCUSED) == "work"
    # A refusal leaves the focus where it was.
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    status(page, "no label to take back")
    assert page.evaluate(FOCUSED) == "undo study-only"
    assert [event.category for event in desk.history()] == ["assistant_turn_restate", None]


def test_shortcuts_of_one_key_can_be_switched_off(desk, new_page):
    page = new_page(desk.url)
    shown_turn(page)
    page.get_by_label("Keyboard shortcuts").uncheck()
    page.reload()
    shown_turn(page)
    for key in "3gls":
        page.keyboard.press(key)
    assert page.locator("input[name=category]:checked").count() == 0
    assert page.locator("details[open]").count() == 0
    assert not page.locator(".category kbd").first.is_visible()
    page.locator("input[data-key='1']").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    status(page, "Saved (receipt")
    assert [event.category for event in desk.history()] == ["genuine_followup"]


def test_texts_go_in_their_own_directions_and_long_ones_stay_light(desk_with, new_page):
    invisible, plain = "\u200b" * 200_000, "word \n" * 33_333 + "ab"
    mixed = "\u200b\u200c" * 100_000
    page = new_page(desk_with(((plain, invisible, "مرحبا\nin English"), ("q", mixed, "u"))).url)
    for _ in range(2):
        turn = shown_turn(page)
        assert all(
            part.get_attribute("dir") == "auto" for part in page.locator(".part .text").all()
        )
        answer, question = page.locator(".part.answer .text"), page.locator(".part.user .text")
        if turn == "u":
            assert answer.evaluate("e => e.childElementCount") <= 2_001
        else:
            direction = page.locator(".part.turn .text").evaluate(
                "e => getComputedStyle(e).direction"
            )
            assert direction == "rtl"
            assert question.evaluate("e => getComputedStyle(e).direction") == "ltr"
            assert answer.evaluate("e => e.childElementCount") == 1
            assert question.evaluate("e => [e.childNodes.length, e.childElementCount]") == [1, 0]
            folded = question.bounding_box()["height"]
            assert folded < 400
            page.get_by_role("button", name="Show all 200,000 characters").first.click()
            assert question.bounding_box()["height"] > 10 * folded
            assert page.get_by_role("button", name="Show less").is_visible()
            assert question.evaluate(COPY) == plain
        assert answer.evaluate(COPY) == (mixed if turn == "u" else invisible)
        label(page, "1")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
