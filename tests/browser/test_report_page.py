"""The page of a main run in Chromium, from its folder, with the network off."""

import json
import shutil
from importlib import resources

import pytest
from main_run_page import HOSTILE_MODEL, MODEL, make_page_study
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text()
RUN = """async rules => {
    const options = rules ? { runOnly: rules } : {};
    const { violations } = await axe.run(document, { ...options, resultTypes: ["violations"] });
    return violations.map(of => [of.id, ...of.nodes.map(node => node.html)].join("\\n  "));
}"""
SHOWN = "() => document.querySelector('main').dataset.shown === location.hash"
NAMES = {"genuine_followup": "Genuine follow-up", "unreadable": "unreadable verdict"}
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_page_study(tmp_path_factory.mktemp("made") / "study")


@pytest.fixture(scope="module")
def folder(made, tmp_path_factory):
    return made.write(tmp_path_factory.mktemp("page") / "report")


@pytest.fixture
def open_at(browser, folder):
    """The page at an address, offline; errors, dialogs and requests for more than files fail."""
    context = browser.new_context(offline=True, viewport=WIDE)
    page = context.new_page()
    page.set_default_timeout(10_000)
    faults = []
    page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    page.on("console", lambda said: faults.append(said.text))
    page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda asked: asked.url.startswith("file:") or faults.append(asked.url))

    def go(address=""):
        page.goto("about:blank")
        page.goto(f"{(folder / 'index.html').as_uri()}{address}")
        page.wait_for_function(SHOWN)
        return page

    yield go
    context.close()
    assert faults == []


def filtered(made, label, model):
    """How many turns of a model the judge gave a label."""
    code = [of.id for of in made.run.rubric.categories].index(label)
    return sum(
        int((made.run.of_cell(of.cell).verdicts[:, 0] == code).sum())
        for of in made.run.cells
        if of.cell.model == model
    )


def test_from_the_overview_to_a_row_and_back(made, open_at):
    page = open_at()
    expect(page.locator(".cells tbody tr")).to_have_count(len(made.run.cells))
    page.get_by_label("Model", exact=True).select_option(HOSTILE_MODEL)
    page.get_by_label("Label", exact=True).select_option("genuine_followup")
    page.wait_for_function(SHOWN)
    number = filtered(made, "genuine_followup", HOSTILE_MODEL)
    of_model = sum(of.turns for of in made.run.cells if of.cell.model == HOSTILE_MODEL)
    cells = sum(of.cell.model == HOSTILE_MODEL for of in made.run.cells)
    words = f"{number} turns of {of_model} in {cells} cells."
    expect(page.get_by_role("status")).to_have_text(words)
    expect(page.locator(".cells tbody tr")).to_have_count(cells)

    page.get_by_role("link", name="Turns", exact=True).click()
    expect(page.locator("article")).to_have_count(min(25, number))
    expect(page.get_by_role("status")).to_have_text(words)
    assert set(page.locator(".badge").all_text_contents()) == {"Genuine follow-up, σ = 1"}
    list_at, title = page.url, page.locator("article .which").nth(3)
    title.scroll_into_view_if_needed()
    scrolled, name = page.evaluate("scrollY"), title.text_content()
    title.click()
    expect(page.locator("article")).to_have_count(1)
    expect(page.locator("article .which")).to_have_text(name)
    raw = json.loads(page.locator(".raw pre").text_content())
    assert f"Turn {raw['row']}" == name == page.title().split(" · ")[0]
    assert raw["turn"]["model"] == HOSTILE_MODEL
    assert raw["turn"]["tokens"] == 3
    assert raw["judgments"][0]["label"] == raw["label"] == "genuine_followup"

    page.go_back()
    expect(page.locator("article")).to_have_count(min(25, number))
    assert page.url == list_at
    page.wait_for_function("y => scrollY === y", arg=scrolled)
    page.go_back()
    expect(page.locator(".cells tbody tr")).to_have_count(cells)
    page.go_back()
    page.go_back()
    expect(page.locator(".cells tbody tr")).to_have_count(len(made.run.cells))
    assert page.get_by_label("Model", exact=True).input_value() == ""


def test_an_address_is_a_view_and_pages_cover_the_filter(made, open_at):
    page = open_at(f"#view=turns&model={MODEL}&dataset=gsm8k&page=2")
    turns = sum(
        of.turns for of in made.run.cells if (of.cell.model, of.cell.dataset) == (MODEL, "gsm8k")
    )
    expect(page.locator(".pager").first).to_contain_text(f"26–50 of {turns} turns")
    page.reload()
    page.wait_for_function(SHOWN)
    assert page.get_by_label("Data set").input_value() == "gsm8k"
    seen = page.locator(".which").all_text_contents()
    page.get_by_role("link", name="Previous").first.click()
    expect(page.locator(".pager").first).to_contain_text(f"1–25 of {turns} turns")
    seen += page.locator(".which").all_text_contents()
    for at in range(3, -(-turns // 25) + 1):
        page.get_by_role("spinbutton").first.fill(str(at))
        page.keyboard.press("Enter")
        expect(page.locator(".pager").first).to_contain_text(f"{25 * at - 24}–")
        page.wait_for_function(SHOWN)
        seen += page.locator(".which").all_text_contents()
    assert len(set(seen)) == len(seen) == turns
    page = open_at("#model=of%20nobody")
    expect(page.get_by_role("status")).to_have_text("No turn fits these filters.")
    page = open_at("#row=99999")
    expect(page.locator(".pager").first).to_contain_text("There is no turn 99999")


def test_hostile_texts_show_verbatim_and_do_nothing(made, open_at):
    page = open_at("#view=turns&dataset=gsm8k")
    seen = []
    while True:
        seen += page.locator(".part.u .text").all_text_contents()
        page.evaluate("document.querySelectorAll('.raw').forEach(each => { each.open = true })")
        assert page.locator("article :is(script, style, img, svg, iframe, object)").count() == 0
        following = page.get_by_role("link", name="Next")
        if not following.count():
            break
        following.first.click()
        page.wait_for_function(SHOWN)
    assert {text or "(empty)" for text in made.hostile.values()} <= set(seen)
    assert page.title() == "Turns · <i>made"
    assert page.locator("body").is_visible()
    page = open_at("#dataset=gpqa_diamond&view=turns")
    expect(page.locator(".withheld").first).to_contain_text("asks that its text never be published")


def test_by_keyboard(made, open_at):
    page = open_at()
    page.get_by_role("link", name="Overview").focus()
    stops = []
    for _ in range(12):
        page.keyboard.press("Tab")
        at = "document.activeElement"
        stops.append(page.evaluate(f"{at}.name || {at}.dataset.view || {at}.className"))
        assert page.evaluate(f"getComputedStyle({at}).outlineStyle") in ("solid", "auto"), stops
    assert stops[:4] == ["turns", "statements", "tables", "provenance"]
    assert stops[4:10] == ["model", "dataset", "setting", "temperature", "perturbation", "label"]
    corrected = page.get_by_role("button", name="Corrected, %")
    corrected.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash === '#sort=-corrected'")
    shown = [
        float(text.split()[0]) for text in page.locator(".rate:nth-of-type(7)").all_text_contents()
    ]
    assert shown == sorted(shown, reverse=True)
    assert len(set(shown)) > 2
    assert page.evaluate("document.activeElement.textContent") == "Corrected, %"
    page.keyboard.press("Enter")
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Corrected, %")
    page.locator(".cells tbody a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("article").first).to_be_visible()
    assert page.evaluate("document.activeElement.id") == "turns"


def test_axe_finds_nothing_by_day_in_the_dark_and_on_a_phone(open_at):
    page = open_at(f"#model={MODEL}")
    page.evaluate(AXE)
    page.evaluate("() => { location.hash = '#view=turns&label=unreadable' }")
    page.wait_for_function(SHOWN)
    # Every view at once, as axe takes its time for each.
    page.evaluate("""() => {
        document.querySelectorAll("[data-views]").forEach(part => { part.hidden = false });
        document.querySelectorAll(".raw").forEach(raw => { raw.open = true });
    }""")
    assert page.get_by_role("table").count() == 3
    assert page.evaluate(RUN) == []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    assert page.evaluate(RUN, ["color-contrast"]) == []
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_a_missing_file_of_turns_is_named(folder, browser, tmp_path):
    shutil.copy(folder / "index.html", tmp_path)
    page = browser.new_page()
    page.goto(f"{(tmp_path / 'index.html').as_uri()}#view=turns")
    expect(page.get_by_role("alert")).to_contain_text("turns/00000.js cannot be read")
    page.close()
