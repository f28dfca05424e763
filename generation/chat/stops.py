"""What ends a user turn and an answer, and what opens a role: derived from the template.

What ends a user turn is often no end of sequence of the model (gpt-oss, GLM, DeepSeek, Mistral):
without a stop of its own the model would write the next answer into u.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generation.chat.chat_template import ChatTemplate
from generation.chat.control_tokens import PlacedToken, placed_tokens
from generation.chat.sentinel import ANSWERS, QUESTIONS, SENTINELS, exchange
from generation.chat.template_checks import MAX_HEADER_CHARACTERS, CheckedTemplate
from generation.chat.thinking import THINKING_TOKENS
from generation.item import Message
from rubrics import InputError

ENDS_TURN, ENDS_ANSWER, OPENS_ROLE = "ends the user turn", "ends the answer", "opens a role"
OTHER_ROLES = ("system", "tool", "developer")


@dataclass(frozen=True)
class Stop:
    """One token id that ends a user turn or an answer, and where that follows from."""

    token_id: int
    token: str
    why: tuple[str, ...]


@dataclass(frozen=True)
class Stops:
    """`turn` ends a user turn, `answer` an answer; the strings do where a mark is plain text.

    `terminator` is the mark that the template itself puts after a user turn. `opening` is the user
    header without what ends the answer before it, as a hand-written continuation adds it.
    """

    terminator: str
    opening: str
    turn: tuple[Stop, ...]
    turn_strings: tuple[str, ...]
    answer: tuple[Stop, ...]
    answer_strings: tuple[str, ...]


def derive_stops(
    template: ChatTemplate,
    checked: CheckedTemplate,
    control_token_ids: Mapping[str, int],
    end_of_sequence: Mapping[str, Iterable[int]],
) -> Stops:
    """`end_of_sequence` gives ids by where they were found.

    Raises InputError where nothing ends a user turn.
    """
    ends = {source: tuple(ids) for source, ids in end_of_sequence.items()}
    end_ids = {token_id for ids in ends.values() for token_id in ids}
    end_tokens = {token for token, token_id in control_token_ids.items() if token_id in end_ids}
    role_tokens = {
        token: token_id
        for token, token_id in control_token_ids.items()
        if token not in THINKING_TOKENS
    }
    between = placed_tokens(checked.header, role_tokens)
    after = placed_tokens(checked.after_turn, role_tokens)
    closing = _closing(checked, between, after, end_tokens, role_tokens)
    terminator = after[0].token if after else _plain_mark(checked.after_turn, "a user turn")
    answer_end = _answer_end(template, checked, between, closing, control_token_ids)
    openers = {
        opener.token
        for text, placed in ((checked.header, between), (checked.after_turn, after))
        if (opener := _opener(text, placed, closing))
    }
    openers |= set(_other_openers(template, between, after, closing, role_tokens))
    named = ((ENDS_TURN, {terminator}), (OPENS_ROLE, openers))
    return Stops(
        terminator=terminator,
        opening=_opening(checked, between, closing, control_token_ids),
        turn=_stops(control_token_ids, ends, named),
        turn_strings=() if after else (terminator,),
        answer=_stops(control_token_ids, ends, ((ENDS_ANSWER, answer_end),)),
        answer_strings=() if between else (_plain_mark(checked.header, "an answer"),),
    )


def _closing(
    checked: CheckedTemplate,
    between: list[PlacedToken],
    after: list[PlacedToken],
    end_tokens: set[str],
    tokens: Mapping[str, int],
) -> set[str]:
    """The tokens that close a message.

    Ends of sequence do where another token or nothing follows them: GLM's <|user|> ends a, yet it
    opens u. So does what stands behind both an answer and a user turn, and what stands behind a
    message that nothing follows. And what stands before u opens its role where it stands before q
    too, so that the rest of it closes a.
    """
    last = checked.after_answer + checked.after_last_turn
    followed = {placed.token for placed in (*between[:-1], *after[:-1])}
    closing = {token for token in end_tokens if token in last or token in followed}
    header = [placed.token for placed in between]
    if after and header:
        another_follows = len(after) > 1 and _is_blank(checked.after_turn, after[0], after[1])
        if after[0].token == header[0] or (after[0].token in header and another_follows):
            closing.add(after[0].token)
    head = [placed.token for placed in placed_tokens(checked.head, tokens)]
    opening = _shared(head[::-1], header[::-1])
    if 0 < opening < len(header):
        closing |= set(header[: len(header) - opening])
    follows = [placed.token for placed in after]
    for gap, text in ((header, checked.after_answer), (follows, checked.after_last_turn)):
        end = [placed.token for placed in placed_tokens(text, tokens)]
        if not checked.opens_unasked and _shared(gap, end) == len(end) < len(gap):
            closing |= set(end)
    return closing


def _shared(first: Sequence[object], second: Sequence[object]) -> int:
    """How long the beginning is that both have."""
    pairs = zip(first, second, strict=False)
    return next(
        (i for i, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second))
    )


def _opener(text: str, placed: list[PlacedToken], closing: set[str]) -> PlacedToken | None:
    """The role-opening token between two messages: the first one after what closes the former.

    None where plain text opens the role (`<|message_sep|>\\n\\nuser<|role_sep|>`) or where
    the closing token is the last.
    """
    closers = [index for index, token in enumerate(placed) if token.token in closing]
    following = closers[-1] + 1 if closers else 0
    if following >= len(placed):
        return None
    start = placed[following - 1].end if closers else 0
    return None if text[start : placed[following].start].strip() else placed[following]


def _opening(
    checked: CheckedTemplate,
    between: list[PlacedToken],
    closing: set[str],
    tokens: Mapping[str, int],
) -> str:
    """The user header from its role-opening token on; where plain text opens the role, what the
    template adds to a finished answer when a user turn follows."""
    header = checked.header
    opener = _opener(header, between, closing)
    if opener:
        return header[opener.start :]
    shared = _shared(header, checked.after_answer)
    for placed in placed_tokens(header, tokens):
        if placed.start < shared < placed.end:
            shared = placed.start
        if placed.token in closing and placed.start == shared:
            shared = placed.end  # the answer has an end already, if another one
    return header[shared:]


def _answer_end(
    template: ChatTemplate,
    checked: CheckedTemplate,
    between: list[PlacedToken],
    closing: set[str],
    tokens: Mapping[str, int],
) -> set[str]:
    """The first token that ends an answer and stands nowhere inside its thinking."""
    last = max((i for i, placed in enumerate(between) if placed.token in closing), default=0)
    thinking, answer = SENTINELS[0], ANSWERS[0]
    rendered = template.render(exchange(), thinking=thinking)
    inside = rendered.partition(thinking)[2].partition(answer)[0]
    in_thinking = set() if answer in inside else {t.token for t in placed_tokens(inside, tokens)}
    run = [placed.token for placed in between[: last + 1]]
    return set([token for token in run if token not in in_thinking][:1])


def _other_openers(
    template: ChatTemplate,
    between: list[PlacedToken],
    after: list[PlacedToken],
    closing: set[str],
    tokens: Mapping[str, int],
) -> Iterator[str]:
    """What opens the roles that no conversation of the probe goes on with, as far as it renders."""
    text = SENTINELS[2]
    for role in OTHER_ROLES:
        message = Message(role, text)
        gap = _between(template, [*exchange(), message], ANSWERS[0], text)
        opener = _opener(gap, placed_tokens(gap, tokens), closing)
        if opener:
            yield opener.token
    head = _between(template, [Message("system", text), Message("user", QUESTIONS[0])], "", text)
    usual = {placed.token for placed in (*between, *after)} | {
        template.special_tokens.get("bos_token")
    }
    near = placed_tokens(head[-MAX_HEADER_CHARACTERS:], tokens)
    own = [placed.token for placed in near if placed.token not in usual]
    yield from own[-1:]


def _between(template: ChatTemplate, messages: list[Message], first: str, second: str) -> str:
    try:
        before, found, _ = template.render(messages).partition(second)
    except InputError:
        return ""  # the template knows no such role there
    if not found or first not in before:
        return ""
    return before.rpartition(first)[2] if first else before


def _plain_mark(gap: str, what: str) -> str:
    mark = (gap.strip().splitlines() or [""])[0]
    if not mark:
        raise InputError(
            f"the chat template puts nothing between {what} and what follows; expected a special "
            "token or a word, or no end of the turn can be seen"
        )
    return mark


def _stops(
    token_ids: Mapping[str, int],
    ends: Mapping[str, tuple[int, ...]],
    named: Iterable[tuple[str, set[str]]],
) -> tuple[Stop, ...]:
    why: dict[int, list[str]] = {}
    for source, ids in ends.items():
        for token_id in ids:
            why.setdefault(token_id, []).append(source)
    for reason, tokens in named:
        for token in tokens & set(token_ids):
            why.setdefault(token_ids[token], []).append(reason)
    names = {token_id: token for token, token_id in token_ids.items()}
    return tuple(
        Stop(token_id, names.get(token_id, ""), tuple(sources))
        for token_id, sources in sorted(why.items())
    )


def _is_blank(text: str, first: PlacedToken, second: PlacedToken) -> bool:
    return not text[first.end : second.start].strip()
