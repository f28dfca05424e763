"""What somebody may have meant by a name that is not there."""

import difflib
from collections.abc import Iterable

from rubrics import InputError, Rubric


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message that has named what is there; empty where nothing is near.

    >>> did_you_mean("malformd", ["malformed", "restatement"])
    '; did you mean malformed?'
    >>> did_you_mean("x", ["malformed"])
    ''
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


def check_category(rubric: Rubric, category: str) -> None:
    """Raises InputError where the rubric has no such category, naming those that it has."""
    if category not in rubric.category_ids:
        raise InputError(
            f"rubric {rubric.version} has no category {category!r:.80}; expected one of "
            f"{', '.join(rubric.category_ids)}{did_you_mean(category, rubric.category_ids)}"
        )
