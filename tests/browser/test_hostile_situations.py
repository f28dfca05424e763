"""What goes wrong in a real study, from the first page to the last: hostile names, a killed server,
a rubric that changes under people's hands, and everybody at work at once.
"""

import pytest
from click.testing import CliRunner
from hostile_texts import HOSTILE_TEXTS, TEMPLATE_TOKENS
from intercepted_acts import InterceptedActs
from labelling_page import label, shown_turn, status
from login_state import login_state
from own_rubric import write_rubric
from playwright.sync_api import expect
from served_here import served_here

from annotator.accounts.account import add_account, set_password
from annotator.accounts.person import Role
from annotator.adjudication.adjudication import current_adjudications
from annotator.annotation import annotation_history, current_annotations
from annotator.cli import annotate
from annotator.labels import BlindItem, add_items, open_labels, record_rubric
from generation.item import Item, Message
from rubrics import load_rubric

pytestmark = pytest.mark.browser
PASSWORD = "correct horse battery"
SCRIPT = HOSTILE_TEXTS["image with script"]
HOSTILE = [
    HOSTILE_TEXTS[name]
    for name in (
        *("image with script", "script element", "style that hides the page", "template literal"),
        *("handlebars", "javascript link", "closing tags"),
    )
]
IDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
SPLIT = (
    ("short_reply", "Short reply"),
    ("new_task_prompt", "New task"),
    ("malformed", "Malformed"),
    ("asks_on", "Asks on"),
    ("objects", "Objects"),
    ("repeats", "Repeats somebody"),
    ("assistant_continuation", "Continues as the assistant"),
)
DASHBOARD = """() => {
    const view = document.querySelector(".board .view");
    return view?.dataset.place === location.hash && !view.querySelector("[data-waiting]");
}"""
INJECTED = ".desk :is(img, script, iframe, svg), [onerror], [onload], a[href^='javascript']"


def publish(folder, version):
    done = CliRunner().invoke(annotate, ["publish", version, "--study", str(folder)])
    assert done.exit_code == 0, done.output


@pytest.fixture
def people(make_labels, new_page):
    """A study with accounts; sits people down at the page of their role."""

    def make(triples, **roles):
        folder = make_labels(triples)
        with open_labels(folder / "labels.db") as database:
            record_rubric(database, load_rubric("v3"))
            for name, role in roles.items():
                add_account(database, name, role)
        return folder

    def sit_down(folder, url, name, path="/"):
        return new_page(url + path, storage_state=login_state(folder / "labels.db", name))

    return make, sit_down


def shown(page, place):
    page.evaluate("place => { location.hash = place }", place)
    page.wait_for_function(DASHBOARD)


def unharmed(page, *texts):
    """The page stands as it is, and shows these texts as text."""
    assert page.title().endswith("followupeval")
    assert page.locator(INJECTED).count() == 0
    assert page.locator("body").is_visible()
    for text in texts:
        assert text in page.locator(".desk").evaluate("e => e.textContent")


def test_hostile_names_ids_and_notes_run_nothing_on_any_page(tmp_path, new_page):
    labels = tmp_path / "labels.db"
    own = write_rubric(tmp_path, "own", list(zip(IDS, HOSTILE, strict=True)))
    names = {"ann' - مرحبا": Role.ANNOTATOR, "ben": Role.ANNOTATOR}
    with open_labels(labels, create=True) as database:
        texts = [Item((Message("user", text),), text, text) for text in HOSTILE[:2]]
        items = [BlindItem(f"{text} {n}", texts[n]) for n, text in enumerate(HOSTILE[:2])]
        add_items(database, items, seed=7)
        record_rubric(database, load_rubric("v3"))
        for name, role in (names | {"dee": Role.ADJUDICATOR, "lab": Role.OWNER}).items():
            add_account(database, name, role)
    with served_here(tmp_path, port=7850) as url:
        publish(tmp_path, "own")
        for key, name in zip("12", names, strict=True):
            acts = InterceptedActs()
            page = new_page(url, acts=acts, storage_state=login_state(labels, name))
            page.get_by_role("heading", name="The rubric is now own").wait_for()
            unharmed(page, *HOSTILE)
            page.keyboard.press("Enter")
            for _ in range(2):
                shown_turn(page)
                page.get_by_label("Note").fill(SCRIPT)
                page.keyboard.press("Escape")
                unharmed(page, name, *HOSTILE)
                label(page, key)
            page.keyboard.press("b")
            page.locator(".saved").get_by_text(HOSTILE[int(key) - 1]).wait_for()
            page.keyboard.press("l")
            expect(page.locator(".recent li").first).to_contain_text(HOSTILE[int(key) - 1])
            acts.handle = lambda route: route.continue_(
                post_data=route.request.post_data.replace('"third"', '"<img src=x>"')
            )
            page.locator(".work").press("3")
            page.keyboard.press("Enter")
            status(page, "has no category '<img src=x>'")
            unharmed(page)

        page = new_page(f"{url}/adjudicate/", storage_state=login_state(labels, "dee"))
        page.locator(".part.turn .text").wait_for(state="attached")
        unharmed(page, *HOSTILE)
        page.locator("#talk-note").fill(SCRIPT)
        page.get_by_role("button", name="Add note").click()
        status(page, "Note stored")
        page.keyboard.press("Escape")
        page.locator("input[data-key='3']").check()
        page.locator("#reason").fill(SCRIPT)
        page.get_by_role("button", name="Decide Enter").click()
        status(page, f"Stored: {own.categories[2].name}")
        unharmed(page)
        page.keyboard.press("d")
        page.get_by_text("Decided item 1 of 1").wait_for()
        unharmed(page, SCRIPT)

        page = new_page(f"{url}/dashboard/", storage_state=login_state(labels, "lab"))
        for place in ("#view=disagreement", "#view=items", "#view=annotators", ""):
            shown(page, place)
            unharmed(page)
        shown(page, "#view=items")
        page.get_by_role("link", name=items[0].item_id).click()
        page.wait_for_function("location.hash.includes('item=')")
        page.wait_for_function(DASHBOARD)
        unharmed(page, items[0].item_id, "ann' - مرحبا", *HOSTILE[:2])


def test_after_a_kill_and_a_restart_everything_acknowledged_and_the_draft_are_there(
    people, serve, new_page
):
    make, _ = people
    folder = make([(f"q {n}", "a", f"u {n}") for n in range(3)], ann=Role.ANNOTATOR)
    with open_labels(folder / "labels.db") as database:
        set_password(database, "ann", PASSWORD)

    def log_in(url):
        page = new_page(url)
        page.get_by_label("Name").fill("ann")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        return page, shown_turn(page)

    with serve(folder, port=7890) as server:
        page, first = log_in(server.url)
        receipt = label(page, "2")
        here = shown_turn(page)
        assert here != first
        page.keyboard.press("5")
        page.get_by_label("fairly sure").check()
        page.get_by_label("Flag for discussion").check()
        with page.expect_response(lambda reply: "half a" in (reply.request.post_data or "")):
            page.get_by_label("Note").fill("half a thought")
        port = server.port
        server.kill()
        page.keyboard.press("Escape")
        page.keyboard.press("Enter")
        status(page, "the server does not answer")
    with serve(folder, port=port) as server:
        page, again = log_in(server.url)
        assert again == here
        assert page.get_by_label("Note").input_value() == "half a thought"
        assert page.locator("input[name=category]:checked").get_attribute("data-key") == "5"
        assert page.get_by_label("fairly sure").is_checked()
        assert page.get_by_label("Flag for discussion").is_checked()
        assert label(page, "5") > receipt
    with open_labels(folder / "labels.db") as database:
        history = annotation_history(database)
    assert history[0].event_id == receipt
    assert [event.note for event in history] == ["", "half a thought"]


def test_a_rubric_with_a_category_split_and_another_order_moves_no_key(people, new_page):
    make, _ = people
    folder = make([(f"q {n}", "a", f"u {n}") for n in range(3)])
    write_rubric(folder, "split", SPLIT)
    with served_here(folder, port=7850) as url:
        page = new_page(f"{url}?annotator=ann")
        shown_turn(page)
        publish(folder, "split")
        # The page in front of one means what it meant.
        assert page.get_by_role("radio", name="4 New task").count() == 1
        page.keyboard.press("4")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="The rubric is now split").wait_for()
        for key in "45":
            page.keyboard.press(key)  # falls on nothing
        page.get_by_role("button", name="Go on").click()
        shown_turn(page)
        assert page.locator("input[name=category]:checked").count() == 0
        names = page.locator(".category label").all_inner_texts()
        assert [name.split(maxsplit=1)[1] for name in names] == [name for _, name in SPLIT]
        for key in "45":
            label(page, key)
    with open_labels(folder / "labels.db") as database:
        assert [(e.rubric_version, e.category) for e in annotation_history(database)] == [
            ("v3", "new_task_prompt"),
            ("split", "asks_on"),
            ("split", "objects"),
        ]


def test_everybody_at_work_at_once(people):
    make, sit_down = people
    folder = make(
        ((TEMPLATE_TOKENS, "a", TEMPLATE_TOKENS),),
        ann=Role.ANNOTATOR,
        ben=Role.ANNOTATOR,
        dee=Role.ADJUDICATOR,
        lab=Role.OWNER,
    )
    with served_here(folder, port=7850) as url:
        ann, ben = sit_down(folder, url, "ann"), sit_down(folder, url, "ben")
        dee, lab = (sit_down(folder, url, who) for who in ("dee", "lab"))
        dee.get_by_role("heading", name="Nothing to decide").wait_for()
        lab.wait_for_function(DASHBOARD)
        assert (dee.url, lab.url) == (f"{url}/adjudicate/", f"{url}/dashboard/")
        for page, key in ((ann, "1"), (ben, "4")):
            assert shown_turn(page) == TEMPLATE_TOKENS
            label(page, key)
            page.get_by_role("heading", name="All done").wait_for()

        dee.get_by_role("button", name="Look again").click()
        dee.locator(".part.turn .text").wait_for(state="attached")
        assert dee.locator(".given li").all_inner_texts() == [
            "1 ×\nGenuine follow-up",
            "1 ×\nNew task",
        ]
        dee.keyboard.press("4")
        dee.keyboard.press("w")
        dee.keyboard.type("It starts anew.")
        dee.keyboard.press("Control+Enter")
        dee.locator(".end .status", has_text="Stored: New task").wait_for()

        lab.get_by_role("button", name="Refresh").click()
        shown(lab, "#view=items&item=000000000000")
        text = lab.locator(".view").inner_text()
        assert "ann: Genuine follow-up" in text
        assert "ben: New task" in text
        assert "New task, by dee" in text
        assert "It starts anew." in text

        roles = {ann: "annotator", dee: "adjudicator", lab: "owner"}
        pages = {"/config": "annotator", "/adjudicate/": "adjudicator", "/dashboard/": "owner"}
        for page, role in roles.items():
            for path, needed in pages.items():
                reply = page.request.get(url + path)
                assert reply.status == (200 if role == needed else 403)
                assert role == needed or f"not for the role {role}" in reply.text()
    with open_labels(folder / "labels.db") as database:
        assert len(current_annotations(database, "v3")) == 2
        [decision] = current_adjudications(database, "v3")
        assert (decision.category, decision.adjudicator) == ("new_task_prompt", "dee")
