"""What proposes a revised template, whichever library does it, and what it is given to go by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from generation.item import Item


@dataclass(frozen=True)
class Example:
    """A dev item with people's label and what the judge said of it under the base template.

    `label` is None where that verdict could not be read. `causes` and `memo` are the owner's on
    that verdict; an example without causes is one that judge and people agree on.
    """

    item_id: str
    item: Item
    reference: str
    label: str | None
    rationale: str | None
    causes: tuple[str, ...] = ()
    memo: str = ""

    @property
    def tagged(self) -> bool:
        return bool(self.causes)


@dataclass(frozen=True)
class Outcome:
    """What became of one example under a candidate text.

    `asked` says whether it took a verdict of the judge; `problem` why there is no label.
    """

    right: bool
    label: str | None = None
    rationale: str | None = None
    problem: str | None = None
    asked: bool = True


Case = tuple[Example, Outcome]
# The outcomes of these examples under a text, in their order; a text that cannot be used is wrong
# on all of them. Raises InputError when the judge cannot be asked.
Evaluate = Callable[[str, Sequence[Example]], list[Outcome]]
# Another text in the light of these cases; None where nothing usable came of it. Raises InputError
# when the reflection model cannot be asked.
Reflect = Callable[[str, Sequence[Case]], str | None]


@dataclass(frozen=True)
class Proposal:
    """The best text found, the base itself where none is better on the validation part.

    `base_right` and `right` count its examples that the judge gets right under either text;
    `tried` the other texts that went as far as the validation part, `calls` the judge's verdicts.
    """

    text: str
    base_right: int
    right: int
    tried: int
    calls: int


class PromptOptimizer(Protocol):
    """A search for a better text that learns from `train` and chooses by `validation`."""

    def propose(
        self,
        base_text: str,
        train: Sequence[Example],
        validation: Sequence[Example],
        evaluate: Evaluate,
        reflect: Reflect,
        budget: int,
        seed: int,
    ) -> Proposal:
        """The best text that at most `budget` verdicts find; the same for the same replies.

        Only `train` is ever handed to `reflect`. Raises InputError for a budget that is too small,
        and what `evaluate` and `reflect` raise.
        """
