"""Pairing: each labelled item with what the judge said of the same text, and what is left out."""

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass

from annotator.annotation import Annotation
from annotator.measures.confusion import outcome_of
from annotator.reference import References
from generation.item import Item
from judge.judgment import Judgment
from judge.reading import Verdicts
from rubrics import fingerprint

TIE = "annotators tie"
UNDECIDED = "labelled differently, not adjudicated yet"
UNLABELLED = "not labelled yet"
ELSEWHERE = "labelled under another rubric version only"
UNJUDGED = "labelled but not judged"
INCOMPLETE = "judged in some of its runs only"
SHOWN = "shown to the judge as an example"


def conversation_of(item: Item) -> str:
    """Fingerprint of the conversation that an item belongs to; several turns may share one."""
    return fingerprint({"messages": [message.as_dict() for message in item.messages]})


@dataclass(frozen=True)
class Pair:
    """A reference label and what the judge said of the item, with all that people said of it.

    `judgments` are the verdicts that count: one, or under mean-of-runs that of every run; `runs`
    are those of every run whatever counts.
    """

    item_id: str
    item: Item
    reference: str
    judgments: tuple[Judgment, ...]
    annotations: tuple[Annotation, ...]
    runs: tuple[Judgment, ...]

    @property
    def conversation(self) -> str:
        return conversation_of(self.item)

    @property
    def labels(self) -> int:
        """How many people's labels the reference rests on."""
        return sum(said.kind == "label" for said in self.annotations)

    @property
    def judgment(self) -> Judgment:
        """The verdict that counts; of several the first."""
        return self.judgments[0]

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What each verdict that counts comes to, unreadable ones as an outcome of their own."""
        return tuple(outcome_of(judgment.label) for judgment in self.judgments)

    @property
    def outcome(self) -> str | None:
        """The one outcome of all verdicts that count; None where runs differ."""
        return self.outcomes[0] if len(set(self.outcomes)) == 1 else None

    @property
    def agrees(self) -> bool:
        """Whether every verdict that counts is the reference label."""
        return self.reference == self.outcome

    def as_dict(self, *, texts: bool) -> dict[str, object]:
        """For JSON; the texts and what people and judge wrote of them only with `texts`.

        Where several runs count they are listed, and "judge" is null unless they say the same.
        """
        labels = {
            "item_id": self.item_id,
            "item_hash": self.item.hash,
            "conversation": self.conversation,
            "reference": self.reference,
            "judge": self.outcome,
            "invalid_reason": self.judgment.invalid_reason,
            "annotations": [_annotation_dict(said, texts=texts) for said in self.annotations],
        }
        if len(self.judgments) > 1:
            labels["runs"] = [_verdict_dict(said, texts=texts) for said in self.judgments]
        if not texts:
            return labels
        return labels | {
            "messages": [message.as_dict() for message in self.item.messages],
            "answer": self.item.answer,
            "turn": self.item.turn,
            "rationale": self.judgment.rationale,
            "raw": self.judgment.raw,
        }


@dataclass(frozen=True)
class Exclusion:
    reason: str
    count: int


@dataclass(frozen=True)
class Pairing:
    """Every item of the study's sample once: in a pair, or counted under the reason why not."""

    pairs: tuple[Pair, ...]
    exclusions: tuple[Exclusion, ...]

    @property
    def items(self) -> int:
        """How many items there are: pairs and exclusions."""
        return len(self.pairs) + sum(exclusion.count for exclusion in self.exclusions)

    @property
    def unlabelled(self) -> int:
        """How many items are still to be labelled."""
        return self.excluded(UNLABELLED) + self.excluded(ELSEWHERE)

    def excluded(self, reason: str) -> int:
        return sum(e.count for e in self.exclusions if e.reason == reason)

    @property
    def items_by_labels(self) -> dict[int, int]:
        """How many pairs' references rest on one person's label, on two, and so on."""
        return dict(sorted(Counter(pair.labels for pair in self.pairs).items()))


def pair_items(
    sampled: Mapping[str, str],
    blind: Mapping[str, Item],
    references: References,
    verdicts: Mapping[str, Verdicts],
    labelled_elsewhere: Set[str] = frozenset(),
    incomplete: Set[str] = frozenset(),
    shown: Set[str] = frozenset(),
) -> Pairing:
    """Pair by item hash, by way of the opaque ids.

    `sampled` gives item ids their item hash (pipeline.db), `blind` their text (labels.db),
    `verdicts` what the judge said by item hash; `labelled_elsewhere` are ids labelled under another
    rubric version, `incomplete` hashes that not every run of the judge has judged, `shown` those of
    items that its prompt shows, with their labels: on these it is not tested. An item counts under
    the first reason that holds, most basic first.
    """
    pairs: list[Pair] = []
    reasons: Counter[str] = Counter()
    for item_id in sorted(sampled.keys() | blind.keys()):
        item, item_hash = blind.get(item_id), sampled.get(item_id)
        reason = _misfit(item, item_hash) or (SHOWN if item_hash in shown else None)
        reason = reason or _unreferenced(item_id, references, labelled_elsewhere)
        if reason is None and item_hash not in verdicts:
            reason = INCOMPLETE if item_hash in incomplete else UNJUDGED
        if reason:
            reasons[reason] += 1
        else:
            label, people = references.labels[item_id], references.annotations[item_id]
            said = verdicts[item_hash]
            pairs.append(Pair(item_id, item, label, said.counted, people, said.runs))
    ordered = sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0]))
    return Pairing(tuple(pairs), tuple(Exclusion(*entry) for entry in ordered))


def _annotation_dict(said: Annotation, *, texts: bool) -> dict[str, object]:
    found = {
        "annotator": said.annotator,
        "category": said.category,
        "skip_reason": said.skip_reason,
        "confidence": said.confidence,
        "flagged": said.flagged,
    }
    return found | {"note": said.note} if texts else found


def _verdict_dict(said: Judgment, *, texts: bool) -> dict[str, object]:
    found = {"judge": outcome_of(said.label), "invalid_reason": said.invalid_reason}
    return found | {"rationale": said.rationale, "raw": said.raw} if texts else found


def _misfit(item: Item | None, item_hash: str | None) -> str | None:
    """Why an item is not the same in both stores, or None if it is."""
    if item_hash is None:
        return "item not in this pipeline"
    if item is None:
        return "drawn but not in labels.db (mend it: calibrate sample)"
    if item.hash != item_hash:
        return "text differs from what was sampled"
    return None


def _unreferenced(item_id: str, references: References, labelled_elsewhere: Set[str]) -> str | None:
    """Why an item has no reference label to pair, or None if it has."""
    if item_id in references.ties:
        return TIE
    if item_id in references.undecided:
        return UNDECIDED
    if item_id in references.skips:
        return f"skipped: {references.skips[item_id]}"
    if item_id not in references.labels:
        if item_id in labelled_elsewhere:
            return ELSEWHERE
        return UNLABELLED
    return None
