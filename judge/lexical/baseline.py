"""The lexical baseline: labels turns by overlap and cues, without a model and without a network.

It is the floor that a judge model has to beat, and lets the whole study run anywhere. It reads
English cues and surface overlap: a paraphrase in fresh words, an answer in another language or
a continuation without a tell-tale opening is beyond it.
"""

from generation.item import Item
from judge.judgment import Judgment, valid_judgment
from judge.lexical import cues
from judge.lexical.evidence import CHARACTER_NGRAMS, WORD_NGRAMS, Evidence, gather_evidence
from judge.lexical.readable import Readable, read_turn
from rubrics import Rubric

VERSION = 1  # raise it with every change of a rule or cue: it is another judge then

GENUINE, Q_AGAIN, A_AGAIN = "genuine_followup", "previous_turn_restate", "assistant_turn_restate"
NEW_TASK, AS_ASSISTANT = "new_task_prompt", "assistant_continuation"
SOCIAL, MALFORMED = "generic_reply", "malformed"

RESTATED = 0.75  # share of u's n-grams found in q or a from which u restates it
VERBATIM = 0.9  # the same share from which u copies
COVERED = 0.5  # share of q's n-grams that u must hold to restate q
PART_MIN_WORDS = 5  # a copied part of q this long restates q
SOCIAL_MAX_WORDS = 25
REPLY_MAX_WORDS = 12  # a reply to the assistant's question is short
PROSE_MIN_WORDS = 12  # a statement this long without question or wish is the assistant's voice
OPENING_CHARACTERS = 40  # of u: where a wish for a change needs no question around it
BRIEF_WORDS = 20  # a turn in which a pronoun most likely points at the answer
GROUNDED_SHARE = 0.15  # of u's words: content words shared with a that q does not have
PARTLY_RESTATED = 0.65  # share of u's n-grams found in q or a, where nothing else tells
EMPTY_WORDS = 1  # content words beyond the social ones that a social reply may have


def lexical_parameters() -> dict[str, object]:
    """What makes this baseline the judge that it is, as it is recorded."""
    return {
        "version": VERSION,
        "word_ngrams": list(WORD_NGRAMS),
        "character_ngrams": list(CHARACTER_NGRAMS),
        "restated": RESTATED,
        "verbatim": VERBATIM,
        "covered": COVERED,
        "part_min_words": PART_MIN_WORDS,
        "social_max_words": SOCIAL_MAX_WORDS,
        "reply_max_words": REPLY_MAX_WORDS,
        "prose_min_words": PROSE_MIN_WORDS,
        "opening_characters": OPENING_CHARACTERS,
        "brief_words": BRIEF_WORDS,
        "grounded_share": GROUNDED_SHARE,
        "partly_restated": PARTLY_RESTATED,
        "empty_words": EMPTY_WORDS,
    }


def judge_lexically(item: Item, rubric: Rubric) -> Judgment:
    """The baseline's judgment on an item.

    Raises InputError when the rubric lacks one of the category ids that the rules decide for.
    """
    readable = read_turn(item.turn)
    label, why = _decide(item, readable)
    aside = f" ({readable.tokens} template tokens set aside)" if readable.tokens else ""
    rationale = f"{why}{aside}"
    return valid_judgment(rubric, label, rationale, raw=rationale)


def _decide(item: Item, readable: Readable) -> tuple[str, str]:
    if readable.fault:
        return MALFORMED, readable.fault
    if handover := cues.HANDOVER.search(readable.text):
        return AS_ASSISTANT, f"hands over to the assistant at {_shown(handover[0])}"
    text = cues.LEFTOVER_ROLE.sub("", readable.text).strip()
    if not any(sign.isalnum() for sign in text):
        return MALFORMED, f"nothing but a role word: {_shown(readable.text)}"
    evidence = gather_evidence(text, item)
    for rule in RULES:
        if decision := rule(evidence):
            return decision
    return _rest(evidence)


def _push(e: Evidence) -> tuple[str, str] | None:
    if match := cues.PUSH.search(e.turn):
        return GENUINE, f"a short push about the answer: {_shown(match[0])}"
    return None


def _restated_query(e: Evidence) -> tuple[str, str] | None:
    o = e.overlap
    whole = o.in_q >= RESTATED and o.of_q >= COVERED
    part = o.in_q >= VERBATIM and len(e.words) >= PART_MIN_WORDS
    if not (whole or part) or o.in_q < o.in_a:
        return None
    if numbers := _new_numbers(e):
        return NEW_TASK, f"q with other numbers: {', '.join(numbers[:4])}"
    return Q_AGAIN, f"{o.in_q:.2f} of its n-grams stand in q and cover {o.of_q:.2f} of q"


def _reply(e: Evidence) -> tuple[str, str] | None:
    """A short statement after a question that the assistant asked answers it."""
    asked = cues.ASSISTANT_ASKED.search(e.answer) and not cues.POLITE_CLOSE.search(e.answer)
    if asked and len(e.words) <= REPLY_MAX_WORDS and not cues.QUESTION.search(e.turn):
        return GENUINE, f"{len(e.words)} words in reply to the question that ends a"
    return None


def _social(e: Evidence) -> tuple[str, str] | None:
    opening = cues.SOCIAL_START.search(e.turn)
    only = all(word in cues.SOCIAL_WORDS for word in e.words)
    if opening and only and len(e.words) <= SOCIAL_MAX_WORDS and "?" not in e.turn:
        return SOCIAL, f"opens with {_shown(opening[0])} and has social words only"
    return None


def _exam(e: Evidence) -> tuple[str, str] | None:
    if match := cues.EXAM.search(e.turn):
        worked = cues.EXAM_WORKED.search(e.turn, match.end())
        if worked and len(worked["worked"].split()) >= PROSE_MIN_WORDS:
            return AS_ASSISTANT, f"an exam item that it works out itself: {_shown(worked[0])}"
        return NEW_TASK, f"opens like an exam item: {_shown(match[0])}"
    return None


def _voice(e: Evidence) -> tuple[str, str] | None:
    restates = e.overlap.in_a >= RESTATED
    if (match := cues.ASSISTANT_START.search(e.turn)) and not restates:
        return AS_ASSISTANT, f"opens in the assistant's voice: {_shown(match[0])}"
    if match := cues.ASSISTANT_OFFER.search(e.turn):
        return AS_ASSISTANT, f"offers help: {_shown(match[0])}"
    return None


def _restated_answer(e: Evidence) -> tuple[str, str] | None:
    verbatim = e.overlap.in_a >= VERBATIM and "?" not in e.turn
    if verbatim or (e.overlap.in_a >= RESTATED and not _wish(e)):
        return A_AGAIN, f"{e.overlap.in_a:.2f} of its n-grams stand in a, and it asks nothing"
    return None


def _leaning(e: Evidence) -> tuple[str, str] | None:
    """A doubt, or a question or wish that points back to the answer."""
    brief = len(e.words) <= BRIEF_WORDS
    if match := cues.CORRECTION.search(e.turn):
        return GENUINE, f"doubts: {_shown(match[0])}"
    change = cues.CHANGE.search(e.turn)
    if change and (change.start() < OPENING_CHARACTERS or (brief and _wish(e))):
        return GENUINE, f"wants a change: {_shown(change[0])}"
    if not _wish(e):
        return None
    # A long exam item is full of "it" and "that" of its own.
    match = cues.POINTS_BACK.search(e.turn) or (brief and cues.PRONOUN.search(e.turn))
    if match:
        return GENUINE, f"asks and points back: {_shown(match[0])}"
    if len(e.grounded) >= max(1, GROUNDED_SHARE * len(e.words)):
        return GENUINE, f"asks about words of a that q lacks: {', '.join(e.grounded[:4])}"
    return None


def _unfinished(e: Evidence) -> tuple[str, str] | None:
    broken_off = e.answer and e.answer[-1].isalnum()
    if broken_off and e.turn[0].islower() and not _wish(e):
        return AS_ASSISTANT, f"goes on where a broke off: {_shown(e.answer[-20:])}"
    return None


def _rest(e: Evidence) -> tuple[str, str]:
    shares = (
        f"{e.overlap.in_a:.2f} of its n-grams stand in a, {e.overlap.in_q:.2f} in q, "
        f"{len(e.grounded)} content words in a alone"
    )
    if _wish(e):
        if e.overlap.in_q >= RESTATED and not _new_numbers(e):
            return Q_AGAIN, f"asks in words of q: {shares}"
        return NEW_TASK, f"asks without leaning on a: {shares}"
    if max(e.overlap.in_q, e.overlap.in_a) >= PARTLY_RESTATED:
        label = Q_AGAIN if e.overlap.in_q > e.overlap.in_a else A_AGAIN
        return label, f"a statement made of earlier text: {shares}"
    if opening := cues.SOCIAL_START.search(e.turn):
        label = GENUINE if e.grounded else NEW_TASK if len(e.content) > EMPTY_WORDS else SOCIAL
        return label, f"{_shown(opening[0])} and {len(e.content)} more content words: {shares}"
    if e.grounded and len(e.words) < PROSE_MIN_WORDS:
        return A_AGAIN, f"a short statement of what a says: {', '.join(e.grounded[:4])}"
    if len(e.content) > EMPTY_WORDS:
        return AS_ASSISTANT, f"a statement that asks and wants nothing: {shares}"
    return SOCIAL, f"a statement of {len(e.words)} words that takes up nothing: {shares}"


def _new_numbers(e: Evidence) -> list[str]:
    known = cues.NUMBER.findall(e.query)
    return [number for number in cues.NUMBER.findall(e.turn) if number not in known]


def _wish(e: Evidence) -> bool:
    return bool(cues.QUESTION.search(e.turn) or cues.REQUEST.search(e.turn))


RULES = (
    _push,
    _restated_query,
    _reply,
    _social,
    _exam,
    _voice,
    _restated_answer,
    _unfinished,
    _leaning,
)  # the first that decides counts


def _shown(text: str) -> str:
    return repr(" ".join(text.split())[:40])
