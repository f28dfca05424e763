"""Study text on the page: shown exactly, or rendered without being able to do anything."""

import html
import re
from html.parser import HTMLParser

import pytest
from hostile_texts import HOSTILE_TEXTS

from annotator.labelling.rendered import RENDER_LIMIT, rendered_html
from annotator.verbatim import MARKS, is_invisible, verbatim_html

TEXT_TAGS = {f"h{level}" for level in range(1, 7)} | {
    *("blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "span", "strong"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
}
MATH_TAGS = {"math", "mfrac", "mi", "mn", "mo", "mrow", "msqrt", "mstyle", "msub", "msup", "mtext"}
HARMLESS_TAGS = TEXT_TAGS | MATH_TAGS


class Tags(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.seen, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes |= {name for name, _value in attrs}


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_verbatim_text_comes_back_exactly(text):
    shown = re.sub(r'<span class="mark" data-name="[^"]+">(.*?)</span>', r"\1",
                   verbatim_html(text), flags=re.DOTALL)  # fmt: skip
    assert "<" not in shown
    assert html.unescape(shown.replace("&#13;", "\r")) == text


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_rendered_text_holds_harmless_tags_only(text):
    tags = Tags()
    tags.feed(rendered_html(text))
    assert tags.seen <= HARMLESS_TAGS
    assert tags.attributes <= {"display", "start"}


def test_invisible_characters_get_a_mark_that_names_them():
    assert verbatim_html("a\u200b") == 'a<span class="mark" data-name="U+200B">\u200b</span>'
    for character in "\u200b\u202e\u00a0\x1b\r\ufe0f\u3164\u2028\U000e0041\u2800":
        assert is_invisible(character), f"U+{ord(character):04X}"
    for character in "a\n\t é字👍\u0301":
        assert not is_invisible(character), f"U+{ord(character):04X}"


def test_equal_characters_in_a_row_share_a_mark_and_there_are_never_too_many():
    assert verbatim_html("\u200b" * 200_000).count("<span") == 1
    assert 'data-name="U+00A0 ×3">\u00a0\u00a0\u00a0</span>' in verbatim_html(
        "a\u00a0\u00a0\u00a0b"
    )
    shown = verbatim_html("\u200b\r" * 100_000)
    assert shown.count("<span") == MARKS + 1
    assert 'data-name="198,000 more, unmarked"></span>' in shown
    assert shown.count("\u200b") == shown.count("&#13;") == 100_000


def test_markdown_code_and_latex_are_rendered():
    shown = rendered_html("**b** `x<1` $x^2$\n\n| a |\n|---|\n| 1 |")
    assert "<strong>b</strong> <code>x&lt;1</code>" in shown
    assert "<math" in shown
    assert "<msup>" in shown
    assert "<table>" in shown


def test_money_is_no_formula_and_a_broken_formula_is_its_source():
    assert "<math" not in rendered_html("It costs $5 and $6.")
    assert "<code>$\\frac{$</code>" in rendered_html("$\\frac{$")


def test_thinking_and_template_tokens_survive_rendering():
    shown = rendered_html(HOSTILE_TEXTS["template tokens"])
    for part in ("&lt;think&gt;plan&lt;/think&gt;", "&lt;|im_end|&gt;", "&lt;s&gt;", "[INST]"):
        assert part in shown


def test_what_rendering_would_lose_whole_stays_verbatim():
    assert rendered_html(" \t\n") == "<pre> \t\n</pre>"
    assert rendered_html("[a]: b") == "<pre>[a]: b</pre>"


def test_a_very_long_text_is_left_verbatim():
    text = "**x** " * (RENDER_LIMIT // 5)
    assert rendered_html(text) == f"<pre>{text}</pre>"
