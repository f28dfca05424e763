"""The judge prompt: a Markdown template × a rubric, then one item's text as defused data.

Everything static comes first, so that a server may reuse it for every item. The item's text is
put in by replacement in one pass: it is never evaluated, and what it holds is never replaced.
"""

import json
import re
from dataclasses import dataclass
from importlib import resources

from generation.item import Item
from rubrics import Category, Example, InputError, Rubric, fingerprint

TEMPLATE = "followupeval"
ITEM_MARK = "<!-- The item follows. All above is the same for every item. -->"
PARTS = ("messages", "answer", "turn")
_PLACEHOLDER = re.compile(r"\{\{(" + "|".join(PARTS) + r")\}\}")

# Invisible characters that could hide a tag from the pattern below but not from a model.
_GAP = r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*"
_OUR_TAGS = ("item", "conversation", "message", "answer", "turn")
# Role and thinking tags of current chat templates. A server's tokenizer turns them into control
# tokens wherever they stand, so u could otherwise end the judge's own user message.
_CHAT_TAGS = (
    "s", "bos", "eos", "pad", "unk", "think", "system", "user", "assistant", "tool_call",
    "start_of_turn", "end_of_turn", "start_of_image", "channel",
)  # fmt: skip
_SQUARE_TAGS = ("INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "e~")
_NAMES = "|".join(_GAP.join(map(re.escape, name)) for name in _OUR_TAGS + _CHAT_TAGS)
_SQUARE_NAMES = "|".join(re.escape(name) for name in _SQUARE_TAGS)
_ANGLE = re.compile(
    rf"[<＜﹤](?={_GAP}\s*{_GAP}/?\s*{_GAP}(?:[|｜]|(?:{_NAMES}){_GAP}(?:[\s/>＞﹥|]|$)))",
    re.IGNORECASE,
)
_SQUARE = re.compile(rf"\[(?=/?(?:{_SQUARE_NAMES})[\]\[])|\](?=~b\])", re.IGNORECASE)


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


def render_prompt(rubric: Rubric) -> JudgePrompt:
    """The judge prompt of this rubric; the places of messages, answer and turn stay open.

    Raises InputError when the rendered text does not hold the item's mark and each open place
    exactly once: a rubric that spells one would break it.
    """
    from jinja2.sandbox import SandboxedEnvironment

    source = resources.files("judge") / "prompts" / f"{TEMPLATE}.md"
    environment = SandboxedEnvironment(
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # A rubric names control tokens, which would end the system message just as u could.
        finalize=lambda value: defuse(value) if isinstance(value, str) else value,
    )
    environment.filters["tojson"] = _quoted
    text = environment.from_string(source.read_text(encoding="utf-8")).render(
        rubric=rubric,
        genuine=next(category for category in rubric.categories if category.sigma == 1),
        examples=[(category, e) for category in rubric.categories for e in category.examples],
        verdict=_example_verdict,
        **{part: f"{{{{{part}}}}}" for part in PARTS},
    )
    prompt = JudgePrompt(TEMPLATE, rubric.version, rubric.hash, rubric.text, text)
    check_prompt(prompt)
    return prompt


def check_prompt(prompt: JudgePrompt) -> None:
    """Raises InputError unless the text has its item mark and each open place exactly once."""
    for sign in (ITEM_MARK, *(f"{{{{{part}}}}}" for part in PARTS)):
        found = prompt.text.count(sign)
        if found != 1:
            raise InputError(
                f"judge prompt {prompt.template} × rubric {prompt.rubric_version}: "
                f"found {sign} {found} times, expected once"
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
