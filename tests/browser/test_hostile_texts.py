"""Hostile study text on the page: every character visible, nothing runs, nothing is loaded."""

import pytest
from hostile_texts import HOSTILE_TEXTS
from labelling_page import label, shown_turn

pytestmark = pytest.mark.browser
TEXTS = "elements => elements.map(element => element.textContent)"
COPY = """element => {
    getSelection().selectAllChildren(element);
    return getSelection().toString();
}"""


@pytest.fixture
def page(desk_with, new_page):
    triples = tuple((text, text, text) for text in HOSTILE_TEXTS.values())
    return new_page(desk_with(triples).url)


def walk(page):
    """Every item of the study in turn, labelling it to get to the next."""
    for _ in HOSTILE_TEXTS:
        yield shown_turn(page)
        label(page, "1")
    page.get_by_role("heading", name="All done").wait_for()
    assert page.title() == "Label user turns · followupeval"


def test_every_text_shows_verbatim_in_q_a_and_u_with_marks_that_a_copy_leaves_out(page):
    names = ("template tokens", "invisible", "right to left", "entities", "handlebars")
    copied = {HOSTILE_TEXTS[name] for name in names}
    seen = set()
    for turn in walk(page):
        assert page.locator(".part .text").evaluate_all(TEXTS) == [turn] * 3
        seen.add(turn)
        if turn in copied:
            assert page.locator(".part.turn .text").evaluate(COPY) == turn
        if turn == HOSTILE_TEXTS["invisible"]:
            mark = page.locator(".part.turn .mark").first
            content = mark.evaluate("element => getComputedStyle(element, '::before').content")
            assert content == '"U+200B"'
            assert mark.bounding_box()["width"] > 10
    assert seen == set(HOSTILE_TEXTS.values())


def test_nothing_runs_in_the_rendered_view(page):
    shown_turn(page)
    page.get_by_label("Rendered view").check()
    for _ in walk(page):
        page.locator(".part.turn .text.as-rendered").wait_for(state="attached")
        active = page.locator(".parts :is(script, style, img, svg, a, iframe, object, link)")
        assert active.count() == 0
