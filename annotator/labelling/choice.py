"""What an annotator fills in for an item: category, confidence, note and flag."""

from dataclasses import dataclass

from annotator.annotation import Annotation
from rubrics import Rubric

CONFIDENCES = ("sure", "fairly sure", "guessing")
SKIP_REASONS = (
    "I do not read this language",
    "I cannot judge the subject",
    "Two categories fit equally well",
    "The text upsets me",
    "The page shows it wrongly",
)
NOTE_LIMIT = 10_000  # characters


@dataclass(frozen=True)
class Choice:
    """What the annotator has filled in so far."""

    category: str | None = None
    confidence: str | None = None
    note: str = ""
    flagged: bool = False


def choice_of(saved: Annotation | None) -> Choice:
    """The choice behind a saved annotation; an empty one where there is none."""
    if saved is None:
        return Choice()
    return Choice(saved.category, saved.confidence, saved.note, saved.flagged)


def fault(choice: Choice, rubric: Rubric) -> str | None:
    """Why this choice cannot be stored under the rubric, or None if it can."""
    if choice.category is not None and choice.category not in rubric.category_ids:
        return f"rubric {rubric.version} has no category {choice.category!r:.80}"
    if choice.confidence not in (None, *CONFIDENCES):
        return f"the confidence {choice.confidence!r:.80} is not on the list"
    if len(choice.note) > NOTE_LIMIT:
        return f"the note has {len(choice.note):,} characters, at most {NOTE_LIMIT:,} are kept"
    return None
