"""The owner's dashboard in Chromium: its script, style and views over a study of scripted labels.

The page is put up without a server: what it asks goes to the desk in this process.
"""

import pytest
from hostile_texts import HOSTILE_TEXTS
from scripted_events import LABELS, RUBRIC, item_id, script_event, script_labels, scripted_study

from annotator.accounts.person import Person, Role, current_person
from annotator.accounts.refusal import RefusalLog
from annotator.dashboard.app import page as dashboard_page
from annotator.served_labels import ServedLabels

pytestmark = pytest.mark.browser
SHOWN = """() => {
    const view = document.querySelector(".board .view");
    return view?.dataset.place === location.hash && !view.querySelector("[data-waiting]");
}"""
START = """script => new Function("element", "server", script)(
    document.body, { show_dashboard: data => window.show_dashboard(data) })"""


@pytest.fixture
def study(tmp_path):
    database = scripted_study(tmp_path / "labels.db", [*HOSTILE_TEXTS.values()])
    yield database
    database.close()


@pytest.fixture
def open_dashboard(browser, study, tmp_path):
    """Opens the page at a width; fails the test on script errors and dialogs."""
    refusals = RefusalLog(ServedLabels(tmp_path / "labels.db"))
    shown = dashboard_page(tmp_path / "labels.db", RUBRIC, refusals)
    (act,) = shown.acts
    contexts, faults = [], []

    def answer(data):
        current_person.set(Person("olga", Role.OWNER))
        return act(data)

    def start(width=1280):
        context = browser.new_context(viewport={"width": width, "height": 800})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
        page.route(
            "**", lambda route: route.fulfill(body="<title>x</title>", content_type="text/html")
        )
        page.goto("http://dashboard.test/")
        page.expose_function("show_dashboard", answer)
        page.set_content(f"<style>{shown.style}</style>{shown.html}")
        page.evaluate(START, shown.script)
        page.wait_for_function(SHOWN)
        return page

    yield start
    for context in contexts:
        context.close()
    shown.close()
    assert faults == []


def go(page, name):
    page.get_by_role("navigation", name="Views").get_by_role("link", name=name).click()
    page.wait_for_function(SHOWN)


def test_new_numbers_come_without_moving_the_focus(open_dashboard, study):
    script_labels(study, "script a", "11")
    script_labels(study, "script b", "12")
    page = open_dashboard()
    go(page, "Who says what")
    cell = page.get_by_role("link", name="2 pairs: Genuine follow-up, others Genuine follow-up")
    cell.focus()
    script_labels(study, "script c", "1")
    page.evaluate("document.querySelector('.refresh').click()")
    page.get_by_role("link", name="6 pairs: Genuine follow-up").wait_for()
    page.wait_for_function(SHOWN)
    assert page.evaluate("document.activeElement.textContent").startswith("6")
    page.keyboard.press("Enter")
    page.wait_for_function(SHOWN)
    assert page.get_by_role("heading", level=1).inner_text().startswith("Hardest items")
    page.get_by_role("link", name=item_id(0)).click()
    page.wait_for_function(SHOWN)
    assert "script c: Genuine follow-up" in page.locator(".said").first.inner_text()
    page.go_back()
    page.wait_for_function(SHOWN)
    assert page.get_by_role("link", name=item_id(0)).is_visible()


def test_hostile_names_notes_and_items_run_nothing_and_fit_a_phone(open_dashboard, study):
    for n, text in enumerate(HOSTILE_TEXTS.values()):
        script_event(study, text or "empty", item_id(n), LABELS[0], note=text, flagged=True)
        script_event(study, "script b", item_id(n), LABELS[1])
    page = open_dashboard(width=360)
    places = ["", "#view=disagreement", "#view=items", "#view=annotators"]
    for place in [*places, *(f"#view=items&item={item_id(n)}" for n in range(len(HOSTILE_TEXTS)))]:
        page.evaluate("place => { location.hash = place }", place)
        page.wait_for_function(SHOWN)
        assert page.locator("h1").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, place
    assert "owned" not in page.title()
