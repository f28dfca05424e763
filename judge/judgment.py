"""One verdict of a judge on one item: a label with its rationale, or an invalid outcome."""

from dataclasses import dataclass

from rubrics import Rubric


@dataclass(frozen=True)
class Judgment:
    """`label` is a category id, or None with `invalid_reason` saying why there is none.

    `raw` keeps what the judge wrote, so that an invalid outcome can be looked at.
    """

    label: str | None
    sigma: int | None
    rationale: str | None
    raw: str
    invalid_reason: str | None = None

    @property
    def valid(self) -> bool:
        return self.label is not None


def valid_judgment(rubric: Rubric, label: str, rationale: str, *, raw: str) -> Judgment:
    """A judgment whose sigma follows from the rubric.

    Raises InputError for a label that the rubric does not have.
    """
    return Judgment(label, rubric.category(label).sigma, rationale, raw)


def invalid_judgment(reason: str, *, raw: str) -> Judgment:
    return Judgment(None, None, None, raw, reason)
