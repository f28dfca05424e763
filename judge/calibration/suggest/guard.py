"""Which texts may stand in for a template: those that render and that quote nothing held out."""

import re
from dataclasses import dataclass, replace
from functools import cached_property

from generation.item import Item
from judge.calibration.leak import quoted_items
from judge.calibration.quotation import Quoting
from judge.prompts.prompt import JudgePrompt, render_prompt
from judge.prompts.prompt_template import PromptTemplate, checked_text
from rubrics import InputError, Rubric

LONGEST = 4  # times as long as the base
_CODE = re.compile(r"\{([{%#])[-+]?(.*?)[-+]?[}%#]\}", re.DOTALL)

Items = tuple[tuple[str, Item], ...]  # by item id


@dataclass(frozen=True)
class Guard:
    """Holds every candidate against the base template; `test` and `validation` are not quoted.

    A candidate is a model's words after reading texts that anybody may have written, so it is
    let have no template code but the base's own.
    """

    base: PromptTemplate
    rubric: Rubric
    test: Items
    validation: Items

    def admit(self, text: str) -> JudgePrompt:
        """The judge prompt of a candidate text.

        Raises InputError with the reason for one that cannot be rendered, has code or a length
        that the base has not, or quotes what it is checked on; the reason quotes nothing of it.
        """
        if len(text) > LONGEST * len(self.base.text):
            raise InputError(
                f"found {len(text):,} characters, expected at most {LONGEST} times the "
                f"{len(self.base.text):,} of the base"
            )
        foreign = sorted(_code(text) - _code(self.base.text))
        if foreign:
            raise InputError(
                f"found template code {foreign[0]:.60}, expected only code that the base has; say "
                "it in words"
            )
        prompt = render_prompt(self.rubric, replace(self.base, text=checked_text(text)))
        quoting = Quoting(prompt.text)
        for part, items in (("test split", self.test), ("validation part", self.validation)):
            held_out = (entry for entry in items if entry[0] not in self._of_the_base)
            if any(quoted_items(quoting, held_out)):
                raise InputError(
                    f"it quotes an item of the {part}; expected rules in words of their own, "
                    "without items or their phrases"
                )
        return prompt

    @cached_property
    def _of_the_base(self) -> frozenset[str]:
        """Ids of validation items that the base quotes already, such as a shot's equal answer."""
        quoting = Quoting(render_prompt(self.rubric, self.base).text)
        return frozenset(leak.item_id for leak in quoted_items(quoting, self.validation))


def _code(text: str) -> set[str]:
    """Each expression and statement of a template, however it is spaced."""
    return {f"{{{kind} {' '.join(code.split())}" for kind, code in _CODE.findall(text)}
