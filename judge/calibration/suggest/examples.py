"""What a suggestion learns from and what it is checked on: dev items, tagged or agreed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judge.calibration.causes.cause import AMBIGUOUS, LABEL_SLIP, CauseNote
from judge.calibration.pairing import Pair
from judge.calibration.splits.split import query_hash
from judge.calibration.suggest.optimizer import Example
from judge.plural import counted
from rubrics import InputError, fingerprint, short

LEAST = 2  # tagged disagreements in either part
NOT_OF_THE_PROMPT = frozenset({LABEL_SLIP, AMBIGUOUS})  # causes that no prompt can mend


@dataclass(frozen=True)
class Examples:
    """Two parts that share no query; in either as many agreed items as tagged disagreements.

    An agreed one is there so that a text loses by breaking what was right.
    """

    train: tuple[Example, ...]
    validation: tuple[Example, ...]

    @property
    def tagged(self) -> int:
        """How many tagged disagreements there are to learn from."""
        return sum(example.tagged for example in self.train)


def choose_examples(
    pairs: Iterable[Pair], notes: Mapping[str, CauseNote], option: str = ""
) -> Examples:
    """Examples from the pairs of the dev half; `notes` are the judge's current ones by item id.

    A query is in the same part for good, by its hash: what one suggestion learnt from never
    checks a later one. Agreed items are taken in an order that says nothing. Raises InputError for
    fewer than two tagged disagreements in a part; `option` names the study in what to type next.
    """
    tagged, agreed = [], []
    for pair in pairs:
        note = notes.get(pair.item_id)
        if pair.agrees:
            agreed.append(_example(pair, None))
        elif note and note.causes and NOT_OF_THE_PROMPT.isdisjoint(note.causes):
            tagged.append(_example(pair, note))
    parts = {
        held_out: [example for example in tagged if _is_held_out(example) is held_out]
        for held_out in (False, True)
    }
    train, validation = len(parts[False]), len(parts[True])
    if min(train, validation) < LEAST:
        raise InputError(
            f"found {counted(len(tagged), 'disagreement')} of dev tagged with a cause that a "
            f"prompt can mend ({train} to learn from, {validation} to check by, as their queries' "
            f"hashes say), expected at least {LEAST} of each; tag more: "
            f"calibrate cause ITEM --cause 'judge error'{option}"
        )
    agreed.sort(key=lambda example: fingerprint({"suggest agreed": example.item.hash}))
    return Examples(
        *(
            (*found, *[e for e in agreed if _is_held_out(e) is held_out][: len(found)])
            for held_out, found in parts.items()
        )
    )


def _is_held_out(example: Example) -> bool:
    """Whether an item's query is of the validation part: about half of all queries are."""
    return int(short(fingerprint({"suggest": query_hash(example.item)}), 1), 16) >= 8


def _example(pair: Pair, note: CauseNote | None) -> Example:
    said = next((j for j in pair.judgments if j.label != pair.reference), pair.judgment)
    return Example(
        pair.item_id,
        pair.item,
        pair.reference,
        said.label,
        said.rationale,
        note.causes if note else (),
        note.memo if note else "",
    )
