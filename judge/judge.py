"""A judge: the instrument that labels items and that a calibration belongs to."""

from dataclasses import dataclass

from rubrics import fingerprint

LEXICAL = "lexical"  # the embedded baseline's name where a judge's model stands


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

    @property
    def reads_prompt(self) -> bool:
        """Whether the labels follow from the prompt; the baseline's follow from its rules."""
        return self.model != LEXICAL
