"""The workbench under hostile texts, bad input and trouble: it stays up, and nothing is lost."""

import json
import os
import re
import sqlite3
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hostile_texts import HOSTILE_TEXTS
from intercepted_acts import InterceptedActs, pass_on
from labelled_study import RUBRIC, by_item, judge, label, off_by_one, sampled_study, split
from playwright.sync_api import Page, expect
from stub_http import Held
from stub_server import StubServer, any_verdict, error, turn_of

from annotator.labelling.choice import NOTE_LIMIT, Choice
from generation.study import Study
from judge.calibration.authoring import Change, new_template
from judge.calibration.causes.cause_store import current_notes
from judge.judgment import invalid_judgment
from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import PACKAGED
from judge.prompts.template_store import TemplateStore
from judge.store import open_pipeline

pytestmark = pytest.mark.browser
# root writes where it must not unless it gives up the right to
AS_REFUSED = (
    ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override")
    if os.geteuid() == 0
    else ()
)
SERVE = (Path(sys.executable).with_name("calibrate"), "serve")
HOSTILE_MODEL = "<img src=x onerror=\"document.title='owned'\"> ${7*7} {{7*7}} 'q' " + "w" * 200
ALL_TEXTS = "\n".join(text.replace("{%raw%}", "") for text in HOSTILE_TEXTS.values())
VIEWS = ("overview", "matrix", "items", "editor", "runs", "compare", "suggest", "final")
UNFOLD = "() => document.querySelectorAll('details').forEach(each => { each.open = true; })"
TEXTS = "elements => elements.map(element => element.textContent)"
SETTLED = """() => {
    const view = document.querySelector(".bench .view");
    const waiting = view?.hasAttribute("aria-busy") || view?.querySelector("[data-waiting]");
    return view?.dataset.place === location.hash && !waiting;
}"""


def settled(page: Page) -> None:
    """Wait until the view of this address is there, with all that it shows computed."""
    page.wait_for_function(SETTLED)


def visit(page: Page, **place: str) -> None:
    """Go to a place of the workbench by its address."""
    page.evaluate("place => { location.hash = new URLSearchParams(place).toString(); }", place)
    settled(page)


def told(page: Page, words: str | re.Pattern) -> None:
    expect(page.locator(".bench .status")).to_contain_text(words)


# --- Hostile texts ---


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Every hostile text as q, a and u, as a note, as a rationale and as an unreadable verdict."""
    folder = tmp_path_factory.mktemp("hostile") / "study"
    study = sampled_study(folder, [(text, text, text) for text in HOSTILE_TEXTS.values()])
    for name in ("o'neil", "Zoë"):
        label(study, name, lambda item: Choice(by_item(item), None, item.turn[:NOTE_LIMIT]))
    judge(study, HOSTILE_MODEL, lambda item: off_by_one(item, item.turn))
    judge(study, "raw", lambda item: invalid_judgment(item.turn or "none", raw=item.turn))
    return study


def versions(study: Study) -> list:
    with open_pipeline(study.pipeline) as database:
        stored = TemplateStore(database).templates()
    return [each.template for each in stored if each.template.version]


@pytest.fixture(scope="module")
def hostile_url(hostile, server_of_module):
    return server_of_module(hostile.folder, command=SERVE, port=7975)


def test_every_text_of_an_item_shows_verbatim(hostile, hostile_url, new_page):
    page = new_page(hostile_url)
    settled(page)
    seen = set()
    for model in ("<img", "raw"):
        visit(page, view="items", show="all")
        field = page.locator(".view select[name=judge]")
        options = field.locator("option").all_text_contents()
        page.locator("details.filters summary").click()
        field.select_option(label=next(each for each in options if model in each))
        settled(page)
        for _ in HOSTILE_TEXTS:
            q, a, u = page.locator(".part .text").evaluate_all(TEXTS)
            assert (q, a) == (u, u)
            notes = page.locator(".said .note").evaluate_all(TEXTS)
            assert notes == [text for text in (u[:NOTE_LIMIT],) * 2 if text] + [u]
            seen.add((model, u))
            if page.get_by_role("link", name="Next").count():
                page.keyboard.press("n")
                expect(page.locator(".step .where")).to_contain_text(f"{len(seen) % 26 + 1} of 26")
                settled(page)
    assert len(seen) == 2 * len(HOSTILE_TEXTS)


def test_a_template_its_difference_and_the_prompt_it_makes_show_verbatim(
    plain, plain_url, new_page
):
    written = PACKAGED.text + "{% raw %}" + ALL_TEXTS + "{% endraw %}\n"
    new_template(plain, "hostile", Change(ALL_TEXTS, written), PACKAGED.name)
    page = new_page(plain_url)
    settled(page)
    visit(page, view="editor")
    page.locator("textarea[name=text]").fill(written)
    expect(page.locator(".diff .added")).not_to_have_count(0)
    after = page.locator(".diff .line:not(.removed, .place)").evaluate_all(
        "lines => lines.map(line => line.textContent.slice(1, -1))"
    )
    assert shown_in_box(ALL_TEXTS) + "{% endraw %}" in "\n".join(after)
    page.get_by_role("combobox", name="Start from").select_option("hostile@1")
    page.get_by_role("button", name="Start from it").click()
    page.get_by_role("button", name="Yes, replace it").click()
    told(page, "Started from hostile@1.")
    settled(page)
    assert page.locator("textarea[name=text]").input_value() == shown_in_box(written)
    (template,) = (each for each in versions(plain) if each.name == "hostile")
    rendered = render_prompt(RUBRIC, template).text
    assert page.locator(".rendered pre").evaluate("pre => pre.textContent") == rendered
    assert ALL_TEXTS.strip() in page.locator(".log li").last.evaluate("each => each.textContent")


def shown_in_box(text: str) -> str:
    """A browser has no other end of a line in a text box than LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def test_nothing_of_a_study_runs_in_any_view(hostile_url, new_page):
    page = new_page(hostile_url)
    settled(page)
    body = page.locator("body").bounding_box()
    for view in VIEWS:
        for kind in ("prompt", "rubric") if view == "editor" else ("prompt",):
            visit(page, view=view, kind=kind)
            page.evaluate(UNFOLD)
            active = page.locator(".view :is(script, style, img, iframe, object, link, embed)")
            assert active.count() == 0, view
            assert page.locator(".view a:not([href^='#'])").count() == 0, view
            assert page.title().endswith("· followupeval")
            assert page.locator("body").bounding_box()["width"] == body["width"]
    visit(page, view="overview")
    expect(page.locator("table.judges")).to_contain_text(HOSTILE_MODEL)


# --- Two owners, what is typed, the keyboard ---


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A study of 24 items labelled by two people, split, judged by two judges."""
    study = sampled_study(tmp_path_factory.mktemp("plain") / "study")
    for name in ("ann", "ben"):
        label(study, name, lambda item: Choice(by_item(item), None, "a note"))
    split(study)
    judge(study, "judge-a")
    judge(study, "judge-b")
    return study


@pytest.fixture(scope="module")
def plain_url(plain, server_of_module):
    return server_of_module(plain.folder, command=SERVE, port=7980)


def owner_page(new_page, url: str, owner: str, **options) -> Page:
    page = new_page(url, **options)
    settled(page)
    page.locator("input[name=owner]").fill(owner)
    page.locator("input[name=owner]").press("Enter")
    settled(page)
    return page


def notes(study: Study) -> dict:
    with open_pipeline(study.pipeline) as database:
        judges = [row["judge_id"] for row in database["judges"].rows]
        found = [current_notes(database, each).values() for each in judges]
    return {note.item_id: (note.owner, note.memo) for of in found for note in of}


def test_of_two_owners_the_second_is_told_and_saving_again_replaces(plain, plain_url, new_page):
    pages = [owner_page(new_page, plain_url, name) for name in ("first", "second")]
    for page in pages:
        visit(page, view="items")
    item = pages[0].locator(".step code").inner_text()
    assert pages[1].locator(".step code").inner_text() == item
    for page, memo in zip(pages, ("of the first", "of the second"), strict=True):
        page.locator("textarea[name=memo]").fill(memo)
        page.get_by_role("button", name="Save the note").click()
        told(page, "oted")
    told(pages[1], f"first noted item {item} meanwhile")
    assert pages[1].locator("textarea[name=memo]").input_value() == "of the second"
    expect(pages[1].locator(".said")).to_contain_text("no cause — of the first")
    assert notes(plain)[item] == ("first", "of the first")
    pages[1].get_by_role("button", name="Save the note").click()
    told(pages[1], "Noted:")
    assert notes(plain)[item] == ("second", "of the second")


def test_a_memo_survives_a_reload_another_name_and_is_saved_on_leaving(plain, plain_url, new_page):
    page = owner_page(new_page, plain_url, "third")
    visit(page, view="items")
    page.keyboard.press("n")
    settled(page)
    expect(page.locator(".step .where")).to_contain_text("2 of")
    item = page.locator(".step code").inner_text()
    memo = page.locator("textarea[name=memo]")
    page.keyboard.press("m")
    page.keyboard.type("n1b of 3 m")
    told(page, "Draft kept")
    page.reload()
    settled(page)
    assert page.locator(".step code").inner_text() == item
    assert memo.input_value() == "n1b of 3 m"
    assert item not in notes(plain)
    page.locator("input[name=owner]").fill("fourth")
    page.locator("input[name=owner]").press("Enter")
    settled(page)
    assert memo.input_value() == "n1b of 3 m"
    page.get_by_role("link", name="Next").click()
    told(page, "Noted:")
    assert notes(plain)[item] == ("fourth", "n1b of 3 m")


def test_keys_pressed_faster_than_the_page_answers_land_on_the_items_they_were_for(
    plain, plain_url, new_page
):
    page = owner_page(new_page, plain_url, "fast")
    roster = page.locator("table.judges tbody th a").first.get_attribute("href")
    judge_head = re.search(r"judge=(\w+)", roster)[1]
    visit(page, view="items", judge=judge_head)
    total = int(re.search(r"of (\d+)", page.locator(".step .where").inner_text())[1])
    assert total >= 3
    first = page.locator(".step code").inner_text()
    before = page.locator(".said").inner_text()
    assert "Noted by" not in before
    for key in ("1", "Enter", "n", "2", "Enter", "n"):
        page.keyboard.press(key)
    expect(page.locator(".step .where")).to_contain_text(f"3 of {total}")
    settled(page)
    with open_pipeline(plain.pipeline) as database:
        judge_id = next(
            row["judge_id"] for row in database["judges"].rows if judge_head in row["judge_id"]
        )
        causes = [note.causes for note in current_notes(database, judge_id).values()]
        assert first in current_notes(database, judge_id)
    assert causes == [("judge error",), ("rubric gap",)]


def test_drafts_are_of_their_owner_and_two_of_one_base_become_two_versions(
    plain, plain_url, new_page
):
    pages = [owner_page(new_page, plain_url, name) for name in ("ed one", "ed two")]
    visit(pages[0], view="editor")
    box = pages[0].locator("textarea[name=text]")
    box.fill(box.input_value() + "\nA first line.\n")
    expect(pages[0].locator(".diff .added")).to_have_count(2)
    pages[0].locator("input[name=name]").fill("mine")
    pages[0].locator("input[name=note]").fill("a line")
    pages[0].get_by_role("button", name="Save as a new version").click()
    told(pages[0], "Saved prompt mine@1")
    for page, line in zip(pages, ("of one", "of two"), strict=True):
        visit(page, view="editor")
        assert "A first line." not in page.locator("textarea[name=text]").input_value()
        page.get_by_role("combobox", name="Start from").select_option("mine@1")
        page.get_by_role("button", name="Start from it").click()
        told(page, "Started from mine@1.")
        box = page.locator("textarea[name=text]")
        expect(box).to_have_value(re.compile("A first line"))
        box.fill(box.input_value() + f"\nA line {line}.\n")
        page.locator("input[name=note]").fill(line)
        told(page, "Draft kept")
    for page, line in zip(pages, ("of one", "of two"), strict=True):
        page.reload()
        settled(page)
        assert f"A line {line}." in page.locator("textarea[name=text]").input_value()
        page.get_by_role("button", name="Save as a new version").click()
        told(page, "Saved prompt mine@")
    written = {each.label: each.note for each in versions(plain)}
    assert written["mine@2"] == "of one"
    assert written["mine@3"] == "of two"


def test_what_is_typed_stays_while_numbers_are_computed_anew(plain_url, new_page):
    acts = InterceptedActs()
    page = owner_page(new_page, plain_url, "typist", acts=acts)

    def still_computing(route):
        acts.handle = pass_on
        reply = route.fetch()
        view = reply.json()
        view |= {"html": view["html"] + "<p data-waiting>Computing…</p>", "poll": 1.0}
        route.fulfill(response=reply, json=view)

    acts.handle = still_computing
    page.get_by_role("link", name="Test and export").click()
    intent = page.locator("textarea[name=intent]")
    intent.focus()
    page.keyboard.type("half a sentence")
    expect(page.locator("[data-waiting]")).to_have_count(0)
    settled(page)
    assert intent.input_value() == "half a sentence"
    expect(intent).to_be_focused()


# --- Keyboard, screen reader, small screens ---

NAMELESS = """() => [...document.querySelectorAll(".bench :is(input, select, textarea, button, a)")]
    .filter(each => each.type !== "hidden")
    .filter(each => !(each.getAttribute("aria-label") || each.textContent.trim()
        || [...(each.labels ?? [])].some(label => label.textContent.trim())))
    .map(each => each.outerHTML)"""
HEADINGS = """() => [...document.querySelectorAll(".bench .view :is(h1, h2, h3, h4)")]
    .map(each => Number(each.tagName[1]))"""


def test_every_control_has_a_name_and_headings_skip_no_level(plain_url, hostile_url, new_page):
    for url in (plain_url, hostile_url):
        page = new_page(url)
        settled(page)
        for view in VIEWS:
            visit(page, view=view)
            page.evaluate(UNFOLD)
            assert page.evaluate(NAMELESS) == [], view
            levels = page.evaluate(HEADINGS)
            assert levels[0] == 1, view
            assert all(b - a <= 1 for a, b in pairwise(levels)), view
            expect(page.locator(".view h1")).to_be_focused()
    expect(page.locator(".bench .status")).to_have_role("status")


def test_no_view_scrolls_sideways_as_a_whole_on_a_small_screen(plain_url, hostile_url, new_page):
    for url in (plain_url, hostile_url):
        page = new_page(url, viewport={"width": 390, "height": 800})
        settled(page)
        for view in VIEWS:
            visit(page, view=view)
            page.evaluate(UNFOLD)
            wide = page.evaluate("() => document.documentElement.scrollWidth")
            assert wide <= 390, (view, url)


def test_focus_is_kept_by_what_an_act_replaces(plain_url, new_page):
    page = owner_page(new_page, plain_url, "keys alone")
    visit(page, view="items")
    box = page.get_by_role("checkbox", name="truly ambiguous")
    box.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    told(page, "Noted: truly ambiguous")
    settled(page)
    expect(box).to_be_focused()
    save = page.get_by_role("button", name="Save the note")
    page.keyboard.press("1")
    save.focus()
    page.keyboard.press("Enter")
    told(page, "Noted: judge error, truly ambiguous")
    settled(page)
    expect(save).to_be_focused()
    outline = save.evaluate("button => getComputedStyle(button).outlineStyle")
    assert outline == "solid"
    where = page.locator(".step .where").inner_text()
    page.get_by_role("link", name="Next").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".step .where")).not_to_have_text(where)


# --- Runs, and a page or a server that goes away ---


def run_form(page: Page, base_url: str) -> None:
    visit(page, view="runs")
    page.locator("input[name=model]").fill("stub")
    page.locator("input[name=base_url]").fill(base_url)
    page.locator("input[name=concurrency]").fill("1")


def state_of_run(page: Page, state: str) -> None:
    expect(page.locator(".launch .state").first).to_have_text(state, timeout=120_000)


@pytest.mark.bench
def test_a_run_outlives_page_and_server_is_stopped_and_goes_on_with_the_rest(
    tmp_path, serve, new_page
):
    study = sampled_study(tmp_path / "study")
    label(study, "ann")
    split(study)
    answered, held = [], []

    def three_only(request):
        if len(answered) == 3:
            held.append(Held())
            return held[-1]
        answered.append(turn_of(request.body))
        return any_verdict(request)

    with StubServer(three_only) as stub:
        with serve(study.folder, port=7985, command=SERVE) as server:
            page = owner_page(new_page, server.url, "runner")
            run_form(page, stub.url)
            page.get_by_role("button", name="Run", exact=True).dblclick()
            stub.wait_until(lambda counts: counts["requests"] == 4, timeout=120)
            page.context.close()
        # The server is killed by now; the run waits for its answer all the same.
        with serve(study.folder, port=7985, command=SERVE) as server:
            page = owner_page(new_page, server.url, "runner")
            visit(page, view="runs")
            assert page.locator(".launch").count() == 1
            assert page.locator("input[name=base_url]").input_value() == stub.url
            state_of_run(page, "going on")
            expect(page.locator(".launch progress")).to_have_attribute("value", "3")
            page.get_by_role("button", name="Stop").click()
            state_of_run(page, "stopped")
            expect(page.locator(".launch").first).to_contain_text("3 of")
            stub.behave = any_verdict
            page.get_by_role("button", name="Go on").click()
            state_of_run(page, "done")
            expect(page.locator(".launch")).to_have_count(2)
    rest = [turn_of(request.body) for request in stub.requests[4:]]
    assert len(rest) == len(set(rest))
    assert not set(rest) & set(answered)
    with open_pipeline(study.pipeline) as database:
        assert database["judgments"].count == len(rest) + 3


def test_a_judge_server_that_fails_in_the_middle_is_told_verbatim_and_the_run_goes_on(
    tmp_path, serve, new_page
):
    study = sampled_study(tmp_path / "study")
    label(study, "ann")
    split(study)
    said = HOSTILE_TEXTS["image with script"] + HOSTILE_TEXTS["style that hides the page"]

    def fails_after_two(request):
        return any_verdict(request) if request.number < 2 else error(401, said)

    with (
        StubServer(fails_after_two) as stub,
        serve(study.folder, port=7990, command=SERVE) as server,
    ):
        page = owner_page(new_page, server.url, "runner")
        run_form(page, stub.url)
        page.get_by_role("button", name="Run", exact=True).click()
        state_of_run(page, "failed")
        expect(page.locator(".launch .said-by")).to_contain_text(said)
        asked = len(stub.requests)
        stub.behave = any_verdict
        page.get_by_role("button", name="Go on").click()
        state_of_run(page, "done")
        with open_pipeline(study.pipeline) as database:
            assert database["judgments"].count == len(stub.requests) - asked + 2


# --- Stores that go away ---


def test_a_store_that_is_gone_is_named_and_what_is_typed_is_kept_until_it_is_back(
    tmp_path, serve, new_page
):
    study = sampled_study(tmp_path / "study")
    label(study, "ann")
    judge(study)
    with serve(study.folder, port=7993, command=(*AS_REFUSED, *SERVE)) as server:
        page = owner_page(new_page, server.url, "keeper")
        visit(page, view="items")
        memo = page.locator("textarea[name=memo]")
        memo.fill("what I think")
        told(page, "Draft kept")
        away = study.labels.rename(tmp_path / "away.db")
        page.get_by_role("button", name="Save the note").click()
        told(page, "labels.db does not exist")
        page.get_by_role("link", name="Overview").click()
        told(page, "labels.db does not exist")
        assert memo.input_value() == "what I think"
        away.rename(study.labels)
        paths = [*study.folder.iterdir(), study.folder]
        for path in paths:
            path.chmod(path.stat().st_mode & ~0o222)
        page.get_by_role("button", name="Save the note").click()
        told(page, "make the folder and the file writable")
        assert memo.input_value() == "what I think"
        for path in paths:
            path.chmod(path.stat().st_mode | 0o200)
        page.get_by_role("button", name="Save the note").click()
        told(page, "Noted:")
    assert "what I think" in {memo for _, memo in notes(study).values()}


# --- Requests that no page of ours sends ---

TAMPERED = (
    ("show_view", None),
    ("show_view", ["overview"]),
    ("show_view", {"view": "secrets"}),
    ("show_view", {"view": "items", "judge": "nobody"}),
    ("show_view", {"view": "items", "owner": "\ud800"}),
    ("show_view", {"view": ["items"]}),
    ("do_act", 3),
    ("do_act", {"act": "__class__", "place": {}, "fields": {}}),
    ("do_act", {"act": "note_item", "place": {}, "fields": [1]}),
    ("do_act", {"act": "note_item", "place": {}, "fields": {"item": "nothing", "memo": "x"}}),
    ("do_act", {"act": "note_item", "place": {}, "fields": {"seen": "²", "memo": "x"}}),
    ("do_act", {"act": "note_item", "place": {}, "fields": {"memo": "a\0b"}}),
    ("do_act", {"act": "note_item", "place": {}, "fields": {"memo": "x" * 1_000_000}}),
    ("do_act", {"act": "stop_run", "place": {}, "fields": {"launch": "9" * 20}}),
    ("do_act", {"act": "resume_run", "place": {}, "fields": {"launch": "77"}}),
    ("do_act", {"act": "start_from", "place": {}, "fields": {"kind": "run", "base": "v3"}}),
    ("do_act", {"act": "start_run", "place": {}, "fields": {"model": "m", "base_url": "http://["}}),
)


def test_tampered_requests_are_refused_in_one_line_and_store_nothing(plain, plain_url, new_page):
    page = new_page(plain_url)
    settled(page)
    address = plain_url + "/gradio_api/component_server/"
    config = page.request.get(plain_url + "/config").json()
    (component,) = (each["id"] for each in config["components"] if each["type"] == "html")

    def ask(name: str, data: object, **headers: str):
        body = json.dumps(
            {"data": data, "component_id": component, "fn_name": name, "session_hash": "s"}
        )
        headers = {"Content-Type": "application/json"} | headers
        return page.request.post(address, data=body.encode(), headers=headers)

    before = dumped(plain)
    assert not ask("show_view", {"view": "overview"}).json()["refused"]
    for name, data in TAMPERED:
        reply = ask(name, data)
        assert reply.status == 200, (name, data)
        assert reply.json()["refused"], (name, data)
        assert "\n" not in reply.json()["message"]
    assert ask("close", {}).status == 404
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example:7980"}):
        refused = ask("show_view", {"view": "overview"}, **headers)
        assert (refused.status, refused.text()) == (403, "only for pages of this machine")
    assert dumped(plain) == before


def dumped(study: Study) -> list[str]:
    found = []
    for path in (study.pipeline, study.labels):
        connection = sqlite3.connect(path)
        found += connection.iterdump()
        connection.close()
    return found
