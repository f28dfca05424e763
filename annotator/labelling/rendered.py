"""The opt-in rendered view: Markdown, code and LaTeX, unable to run or load anything."""

from functools import cache

import nh3
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from annotator.verbatim import verbatim_html

# Rendering is for reading; past this many characters the verbatim view serves better.
RENDER_LIMIT = 200_000

_TEXT_TAGS = {
    "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol",
    "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_MATH_TAGS = {
    "math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow",
    "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr",
    "munder", "munderover",
}  # fmt: skip


def rendered_html(text: str) -> str:
    """Markdown with $LaTeX$ as HTML of a closed list of tags, without links, images or styles.

    HTML in the text is shown as text. A formula that does not parse is shown as its source, and
    a text of which rendering would leave nothing stays verbatim.
    """
    verbatim = f"<pre>{verbatim_html(text)}</pre>"
    if len(text) > RENDER_LIMIT:
        return verbatim
    rendered = nh3.clean(
        _markdown().render(text),
        tags=_TEXT_TAGS | _MATH_TAGS,
        attributes={"math": {"display"}, "ol": {"start"}},
        link_rel=None,
    )
    return rendered if rendered.strip() else verbatim


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # An image or a link is shown as its source: neither may fetch or lead anywhere.
    markdown.disable(["image", "link", "autolink"])
    return markdown.use(
        # "$5 and $6" is money, not a formula.
        dollarmath_plugin,
        renderer=_math,
        double_inline=True,
        allow_space=False,
        allow_digits=False,
    )


def _math(source: str, options: dict[str, bool]) -> str:
    try:
        return convert(source, display="block" if options["display_mode"] else "inline")
    except Exception:  # the converter raises many kinds; any of them means: show the source
        fence = "$$" if options["display_mode"] else "$"
        return f"<code>{verbatim_html(fence + source + fence)}</code>"
