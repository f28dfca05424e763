"""One verdict of a judge on one item: a label with its rationale, or an invalid outcome."""

from dataclasses import dataclass

from rubrics import Rubric, fingerprint


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


@dataclass(frozen=True)
class Judge:
    """The instrument that is calibrated: a rubric and prompt, a model, its parameters.

    `model` is 'lexical' for the embedded baseline, which reads no prompt; it is stored with the
    prompt of its rubric all the same, because that is what its labels are defined by.
    """

    model: str
    parameters: dict[str, object]
    rubric_version: str
    prompt_hash: str

    @property
    def judge_id(self) -> str:
        return fingerprint(
            {
                "model": self.model,
                "parameters": self.parameters,
                "rubric_version": self.rubric_version,
                "prompt_hash": self.prompt_hash,
            }
        )
