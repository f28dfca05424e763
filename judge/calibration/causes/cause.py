"""A note on why a judge and people differ on an item."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from annotator.verbatim import is_invisible
from generation.item import is_storable
from rubrics import InputError

# What a disagreement can come from; an owner may add causes of their own.
JUDGE_ERROR = "judge error"
RUBRIC_GAP = "rubric gap"
LABEL_SLIP = "label slip"  # people's label is doubted: the item goes to blind adjudication
AMBIGUOUS = "truly ambiguous"
CAUSES = (JUDGE_ERROR, RUBRIC_GAP, LABEL_SLIP, AMBIGUOUS)
MEMO_LIMIT = 10_000  # characters
_OWN = re.compile(r"[^\W_][\w .-]{0,38}[\w]")


@dataclass(frozen=True)
class CauseNote:
    """The current note of an item under a judge; `after_note` is the one that it replaced."""

    note_id: int
    item_id: str
    judge_id: str
    causes: tuple[str, ...]
    memo: str
    owner: str
    after_note: int | None
    noted_at: str

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"causes": list(self.causes)}


def checked_causes(causes: Iterable[str]) -> tuple[str, ...]:
    """The causes once each, those that come with followupeval first, then the owner's by name.

    Raises InputError for one that is no short name.

    >>> checked_causes(["Two questions ", "judge error", "judge error"])
    ('judge error', 'two questions')
    """
    given = {unicodedata.normalize("NFC", " ".join(c.split()).lower()) for c in causes}
    for cause in given:
        if not _OWN.fullmatch(cause) or any(map(is_invisible, cause)):
            raise InputError(
                f"{cause!r:.60} cannot be the name of a cause; expected 2 to 40 letters, digits, "
                f"blanks, . and -, or one of {', '.join(CAUSES)}"
            )
    return (*(cause for cause in CAUSES if cause in given), *sorted(given - set(CAUSES)))


def checked_memo(memo: str) -> str:
    """The memo without blanks around it; raises InputError for one that cannot be stored."""
    memo = memo.strip()
    if len(memo) > MEMO_LIMIT or not is_storable(memo):
        raise InputError(
            f"the memo has {len(memo):,} characters, expected text of at most {MEMO_LIMIT:,} "
            "without NUL or lone surrogates; shorten it"
        )
    return memo
