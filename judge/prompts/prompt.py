"""The judge prompt: a Markdown template × a rubric, then one item's text as defused data.

Everything static comes first, so that a server may reuse it for every item. The item's text is
put in by replacement in one pass: it is never evaluated, and what it holds is never replaced.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from generation.item import Item
from judge.prompts.prompt_template import PACKAGED, PromptTemplate, Shot
from judge.prompts.sandbox import names_used, render_template
from rubrics import Category, Example, InputError, Rubric, fingerprint

ITEM_MARK = "<!-- The item follows. All above is the same for every item. -->"
PARTS = ("messages", "answer", "turn")
_PLACEHOLDER = re.compile(r"\{\{(" + "|".join(PARTS) + r")\}\}")

# Invisible characters that could hide a tag from the patterns below but not from a model: control
# characters that are no white space, Unicode's category Cf and its Default_Ignorable_Code_Point.
_INVISIBLE = (
    r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890"
    r"\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Possessive, so that a long row of them is passed once and not in every way to divide it.
_GAP = rf"[{_INVISIBLE}]*+"
_BLANKS = rf"[{_INVISIBLE}\s]*+"
_OUR_TAGS = ("item", "conversation", "message", "answer", "turn")
# Role and thinking tags of current chat templates. A server's tokenizer turns them into control
# tokens wherever they stand, so u could otherwise end the judge's own user message.
_CHAT_TAGS = (
    "s", "bos", "eos", "pad", "unk", "think", "system", "user", "assistant", "tool_call",
    "start_of_turn", "end_of_turn", "start_of_image", "channel", "sop", "eop", "end_of_utterance",
)  # fmt: skip
_SQUARE_TAGS = (
    "INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "e~", "gMASK",
    "sMASK",
)  # fmt: skip
_NUMBERED_TAGS = ("extra_id_", "SPECIAL_", "reserved_", "unused")


def _spelt(names: tuple[str, ...]) -> str:
    """A pattern of any of these names, whatever is hidden between its letters."""
    return "|".join(_GAP.join(map(re.escape, name)) for name in names)


_ANGLE = re.compile(
    rf"[<＜﹤](?={_BLANKS}(?:/{_BLANKS})?(?:[|｜]"
    rf"|(?:{_spelt(_OUR_TAGS + _CHAT_TAGS)}){_GAP}(?:[\s/>＞﹥|]|$)"
    rf"|(?:{_spelt(_NUMBERED_TAGS)}){_GAP}\d|{_spelt(('seed:',))}))",
    re.IGNORECASE,
)
_SQUARE = re.compile(
    rf"\[(?={_GAP}(?:/{_GAP})?(?:[|｜]|(?:{_spelt(_SQUARE_TAGS)}){_GAP}[\]\[]"
    rf"|{_spelt(('UNUSED_TOKEN_',))}{_GAP}\d))|\](?=~b\])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class JudgePrompt:
    """A judge prompt as rendered from template × rubric; `{{messages}}`-like parts still open.

    `rubric_text` is the rubric's TOML, kept so that an export never depends on the package.
    """

    template: str
    rubric_version: str
    rubric_hash: str
    rubric_text: str
    text: str

    @property
    def prompt_hash(self) -> str:
        return fingerprint({"text": self.text, "rubric": self.rubric_hash})


def render_prompt(rubric: Rubric, template: PromptTemplate = PACKAGED) -> JudgePrompt:
    """The judge prompt of this rubric; the places of messages, answer and turn stay open.

    Raises InputError when the template cannot be rendered, leaves out the rubric, has
    no place for its shots, or they were labelled under another rubric; and when the rendered text
    does not hold the item's mark and below it each open place exactly once, which a rubric that
    spells one would break, too.
    """
    values: dict[str, Any] = {
        "rubric": rubric,
        "genuine": next(category for category in rubric.categories if category.sigma == 1),
        "examples": [(category, e) for category in rubric.categories for e in category.examples],
        "verdict": _example_verdict,
        "shots": _shown_shots(rubric, template),
        **{part: f"{{{{{part}}}}}" for part in PARTS},
    }
    # A rubric names control tokens, which would end the system message just as u could.
    text = render_template(template.text, template.label, values, defuse, {"tojson": _quoted})
    prompt = JudgePrompt(template.label, rubric.version, rubric.hash, rubric.text, text)
    check_prompt(prompt)
    if "rubric" not in names_used(template.text, template.label):
        raise InputError(
            f"template {template.label} names no {{{{ rubric … }}}}, so that it is the same under "
            "every rubric; put the rubric in as the packaged template does (a rendered prompt is "
            "no template): judge prompt show --source followupeval"
        )
    return prompt


def check_prompt(prompt: JudgePrompt) -> None:
    """Raises InputError unless the text has its mark, and below it each open place, just once."""
    where = f"judge prompt {prompt.template} × rubric {prompt.rubric_version}"
    for sign in (ITEM_MARK, *(f"{{{{{part}}}}}" for part in PARTS)):
        found = prompt.text.count(sign)
        if found != 1:
            raise InputError(
                f"{where}: found {sign} {found} times, expected once; see how the packaged "
                "template does it: judge prompt show --source followupeval"
            )
    static = prompt.text.partition(ITEM_MARK)[0]
    for part in PARTS:
        if f"{{{{{part}}}}}" in static:
            raise InputError(
                f"{where}: found {{{{{part}}}}} above {ITEM_MARK}, expected below: what is above "
                "is the same for every item; move it down in the template's text"
            )


def judge_messages(prompt: JudgePrompt, item: Item) -> list[dict[str, str]]:
    """Chat messages for one item: the static part as system, the defused item as user."""
    static, data = prompt.text.split(ITEM_MARK)
    filled = {
        "messages": "\n".join(
            f'<message role="{_role(message.role)}">\n{defuse(message.content)}\n</message>'
            for message in item.messages
        ),
        "answer": defuse(item.answer),
        "turn": defuse(item.turn),
    }
    return [
        {"role": "system", "content": static.strip()},
        {"role": "user", "content": _PLACEHOLDER.sub(lambda m: filled[m[1]], data).strip()},
    ]


def defuse(text: str) -> str:
    """The text with every sign that could pass for structure made harmless and still readable.

    >>> defuse("Fine.</turn> 1 < 2 <b>x</b> <|im_end|> [/INST]")
    'Fine.‹/turn> 1 < 2 <b>x</b> ‹|im_end|> ⟦/INST]'
    """
    return _SQUARE.sub(lambda m: "⟦" if m[0] == "[" else "⟧", _ANGLE.sub("‹", text))


def _role(role: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", role)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _example_verdict(category: Category, example: Example) -> str:
    verdict = {"rationale": example.why, "label": category.id, "sigma": category.sigma}
    return json.dumps(verdict, ensure_ascii=False)


def _shown_shots(rubric: Rubric, template: PromptTemplate) -> list[dict[str, Any]]:
    """The shots as a template reads them: texts in JSON quotes, so that none can leave its line."""
    if not template.shots:
        return []
    if "shots" not in names_used(template.text, template.label):
        raise InputError(
            f"template {template.label} has no place for shots, expected {{% if shots %}} as in "
            "the packaged one (judge prompt show --source followupeval); add it, or take --shots 0"
        )
    elsewhere = {shot.rubric_version for shot in template.shots} - {rubric.version}
    if elsewhere:
        raise InputError(
            f"the shots of {template.label} are labelled under rubric {', '.join(elsewhere)}, not "
            f"{rubric.version}; take those of {rubric.version}: judge prompt edit {template.name} "
            f"--note TEXT --shots {len(template.shots)} --rubric {rubric.version}"
        )
    return [_shown(shot, rubric) for shot in template.shots]


def _shown(shot: Shot, rubric: Rubric) -> dict[str, Any]:
    return {
        "messages": [
            {"role": _role(message.role), "content": _inert(message.content)}
            for message in shot.item.messages
        ],
        "answer": _inert(shot.item.answer),
        "turn": _inert(shot.item.turn),
        "label": shot.label,
        "sigma": rubric.category(shot.label).sigma,
        "because": _inert(shot.because) if shot.because else "",
    }


def _inert(text: str) -> str:
    """A text in JSON quotes; the item's mark and open places in it are spelt with an escape."""
    quoted = _quoted(text).replace(ITEM_MARK, f"\\u003c{ITEM_MARK[1:]}")
    return _PLACEHOLDER.sub(lambda m: f"\\u007b{m[0][1:]}", quoted)
