"""The sentinel cut: the context in which a model goes on under the user role, and its end.

Render [.., q, a, user SENTINEL], keep the text before the sentinel: what the model would really
read if a user turn followed (context mode `history`). What ends a user turn is derived from the
template as well, because it is often no end-of-sequence token of the model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from generation.chat_template import ChatTemplate
from generation.item import Message
from rubrics import InputError

CONTEXT_MODE = "history"
SENTINELS = ("Qzvkjhwxb", "Wjqxfgkztvv", "Xkzhqvj")  # letters only: no template changes them
QUESTIONS = ("Kzqwhow many", "Vjxqwhich one of them")
ANSWERS = ("Zxkvthere are", "Hqjwthe second of these")
MAX_HEADER_CHARACTERS = 40  # besides special tokens; the longest known header has 16


@dataclass(frozen=True)
class Stop:
    """One token id that ends a user turn, and where that follows from."""

    token_id: int
    token: str
    why: tuple[str, ...]


@dataclass(frozen=True)
class Cut:
    """A context that ends in the user header; `altered` names texts that the template changed."""

    prompt: str
    header_space_stripped: bool
    altered: tuple[str, ...]


@dataclass(frozen=True)
class UserTurnCut:
    """A checked template: where its user turn begins and what ends it.

    `header` stands between a and u, `terminator` ends u. A terminator that is plain text is a stop
    string; then `stop_strings` holds it.
    """

    template: ChatTemplate
    header: str
    terminator: str
    stops: tuple[Stop, ...]
    stop_strings: tuple[str, ...]

    def cut(self, messages: Sequence[Message], answer: str) -> Cut:
        """The context of the user turn after `answer`; `messages` end in q.

        Raises InputError when the template moves a system message behind the answer.
        """
        prefix = _prefix(self.template, messages, answer)
        for message in messages:
            if message.role == "system" and _place(prefix, message.content) > _place(
                prefix, messages[-1].content
            ):
                raise InputError(
                    "the chat template moves the system message into the last user turn, where "
                    "the model would read it as the user's words; leave the system message out"
                )
        named = [("question", messages[-1].content), ("answer", answer)]
        altered = tuple(name for name, text in named if text not in prefix)
        stripped = prefix.endswith(" ")
        return Cut(prefix[:-1] if stripped else prefix, stripped, altered)


def derive_user_turn_cut(
    template: ChatTemplate,
    special_token_ids: Mapping[str, int],
    end_of_sequence: Mapping[str, Iterable[int]],
) -> UserTurnCut:
    """Check the template once and derive what ends its user turn.

    `special_token_ids` gives the id of every special token of the tokenizer, `end_of_sequence`
    the end-of-sequence ids by where they were found. A template that fails is tried again with
    list content and with `tools=[]`. Raises InputError with the first failed check.
    """
    forms = (
        template,
        replace(template, list_content=True),
        replace(template, empty_tools=True),
    )
    first_refusal = None
    for form in forms:
        try:
            return _derive(form, special_token_ids, end_of_sequence)
        except InputError as error:
            first_refusal = first_refusal or error
    raise first_refusal


def _derive(
    template: ChatTemplate,
    special_token_ids: Mapping[str, int],
    end_of_sequence: Mapping[str, Iterable[int]],
) -> UserTurnCut:
    header = _checked_header(template, special_token_ids)
    after_turn = _gap_after_user(template)
    in_header = _specials(header, special_token_ids)
    in_gap = _specials(after_turn, special_token_ids)
    names = {token_id: token for token, token_id in special_token_ids.items()}
    why: dict[int, list[str]] = {}
    for source, ids in end_of_sequence.items():
        for token_id in ids:
            why.setdefault(token_id, []).append(source)
    end_ids = set(why)
    if in_gap:
        terminator, stop_strings = in_gap[0], ()
        why.setdefault(special_token_ids[terminator], []).append("ends the user turn")
    else:
        terminator = (after_turn.strip().splitlines() or [""])[0]
        stop_strings = (terminator,)
        if not terminator:
            raise InputError(
                "the chat template puts nothing between a user turn and the answer; expected a "
                "special token or a word, or no end of the turn can be seen"
            )
    closing = set(in_header[:1]) & set(in_gap[:1])
    closing |= {token for token, token_id in special_token_ids.items() if token_id in end_ids}
    for specials in (in_header, in_gap):
        for opener in _openers(specials, closing):
            reasons = why.setdefault(special_token_ids[opener], [])
            if "opens a role" not in reasons:
                reasons.append("opens a role")
    stops = tuple(
        Stop(token_id, names.get(token_id, ""), tuple(sources))
        for token_id, sources in sorted(why.items())
    )
    return UserTurnCut(template, header, terminator, stops, stop_strings)


def _openers(specials: list[str], closing: set[str]) -> list[str]:
    """The role-opening token among those between two messages.

    After a token that closes the former message the next one opens a role; where no token closes
    it (`<|assistant|>`, `[/INST]`) the first one does.

    >>> _openers(["<|im_end|>", "<|im_start|>"], {"<|im_end|>"}), _openers(["[/INST]"], {"</s>"})
    (['<|im_start|>'], ['[/INST]'])
    """
    return specials[1:2] if specials and specials[0] in closing else specials[:1]


def _checked_header(template: ChatTemplate, special_token_ids: Mapping[str, int]) -> str:
    prefixes = [
        _prefix(template, [Message("user", question)], answer, sentinel)
        for question, answer, sentinel in (
            (QUESTIONS[0], ANSWERS[0], SENTINELS[0]),
            (QUESTIONS[0], ANSWERS[0], SENTINELS[1]),
            (QUESTIONS[1], ANSWERS[1], SENTINELS[0]),
        )
    ]
    if prefixes[0] != prefixes[1]:
        raise InputError(
            "the chat template writes another context for another user turn; expected that what "
            "stands before a user turn does not depend on its text"
        )
    if template.list_content and "'type'" in prefixes[0]:
        raise InputError("the chat template prints a list of content parts as it is")
    headers = []
    for prefix, question, answer in (
        (prefixes[0], QUESTIONS[0], ANSWERS[0]),
        (prefixes[2], QUESTIONS[1], ANSWERS[1]),
    ):
        if question not in prefix or answer not in prefix.partition(question)[2]:
            raise InputError(
                "the chat template does not show the question and then the answer before a user "
                f"turn; it shows {prefix[-200:]!r}"
            )
        headers.append(prefix.rpartition(answer)[2])
    words = headers[0]
    for token in _specials(words, special_token_ids):
        words = words.replace(token, "", 1)
    if headers[0] != headers[1] or len(words.strip()) > MAX_HEADER_CHARACTERS:
        raise InputError(
            "the chat template puts more than a header between the answer and the user turn: "
            f"{headers[0][:200]!r}"
        )
    _check_bos(template, prefixes[0])
    return headers[0]


def _check_bos(template: ChatTemplate, prefix: str) -> None:
    """At most one begin-of-sequence token, unless the template opens every turn with it."""
    bos = template.special_tokens.get("bos_token")
    if not bos:
        return
    one_more = _prefix(
        template,
        [
            Message("user", QUESTIONS[0]),
            Message("assistant", ANSWERS[0]),
            Message("user", QUESTIONS[1]),
        ],
        ANSWERS[1],
    )
    found = prefix.count(bos)
    opens_turns = one_more.count(bos) > found
    if bos + bos in prefix or (found > 1 and not opens_turns):
        raise InputError(
            f"the chat template writes the begin-of-sequence token {bos!r} {found} times; "
            "expected one at most"
        )


def _prefix(
    template: ChatTemplate,
    messages: Sequence[Message],
    answer: str,
    sentinel: str | None = None,
) -> str:
    texts = [*(message.content for message in messages), answer]
    if sentinel is None:
        sentinel = next(
            (mark for mark in SENTINELS if not any(mark in text for text in texts)), SENTINELS[0]
        )
    rendered = template.render([*messages, Message("assistant", answer), Message("user", sentinel)])
    if rendered.count(sentinel) != 1:
        raise InputError(
            f"the chat template shows the user turn {rendered.count(sentinel)} times; expected once"
        )
    return rendered.partition(sentinel)[0]


def _gap_after_user(template: ChatTemplate) -> str:
    turn, next_answer = SENTINELS[0], SENTINELS[1]
    rendered = template.render(
        [
            Message("user", QUESTIONS[0]),
            Message("assistant", ANSWERS[0]),
            Message("user", turn),
            Message("assistant", next_answer),
        ]
    )
    if rendered.count(turn) != 1 or rendered.count(next_answer) != 1:
        raise InputError("the chat template does not show a user turn and its answer once each")
    return rendered.partition(turn)[2].partition(next_answer)[0]


def _specials(text: str, special_token_ids: Mapping[str, int]) -> list[str]:
    """Special tokens in the order in which they stand in `text`, the longest at each place."""
    found = []
    position = 0
    tokens = sorted((token for token in special_token_ids if token), key=len, reverse=True)
    while position < len(text):
        token = next((token for token in tokens if text.startswith(token, position)), None)
        if token:
            found.append(token)
        position += len(token) if token else 1
    return found


def _place(text: str, part: str) -> int:
    return text.find(part.strip())
