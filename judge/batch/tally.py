"""What became of the requests of a batch or file, with nothing left out and nothing twice."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from judge.batch.lines import BatchAsk, Result
from judge.reply import Reply
from judge.store import JudgmentStore

Keep = Callable[[BatchAsk, Reply], bool]


@dataclass(frozen=True)
class Tally:
    """`kept` and `invalid` are new verdicts, `known` were there before; with `failed` and
    `missing` (asked, but no line) they are all that was asked.

    Of lines for one id the first verdict counts; of `duplicates`, `differing` say otherwise.
    `unknown` lines have an id that was not asked for here, `unreadable` ones none.
    """

    asked: int
    kept: int
    invalid: int
    known: int
    failed: dict[str, int]
    missing: int
    duplicates: int
    differing: int
    unknown: int
    unreadable: int

    @property
    def recognised(self) -> int:
        return self.asked - self.missing

    def as_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass
class Collector:
    """Hands each ask's first verdict to `keep`, and counts every line."""

    asks: Mapping[str, BatchAsk]  # by custom_id
    keep: Keep
    _answered: dict[str, int] = field(default_factory=dict)  # a hash of the verdict
    _failed: dict[str, str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, result: Result | None) -> None:
        if result is None:
            self._counts["unreadable"] += 1
        elif ask := self.asks.get(result.custom_id):
            self._add(ask, result)
        else:
            self._counts["unknown"] += 1

    def tally(self) -> Tally:
        counts = self._counts
        seen = len(self._answered) + len(self._failed)
        return Tally(
            asked=len(self.asks),
            kept=counts["kept"],
            invalid=counts["invalid"],
            known=counts["known"],
            failed=dict(sorted(Counter(self._failed.values()).items())),
            missing=len(self.asks) - seen,
            duplicates=counts["duplicates"],
            differing=counts["differing"],
            unknown=counts["unknown"],
            unreadable=counts["unreadable"],
        )

    def _add(self, ask: BatchAsk, result: Result) -> None:
        name, reply = ask.custom_id, result.reply
        before = self._answered.get(name, self._failed.get(name))
        found = hash(reply.judgment) if reply else result.failure
        if before is not None:
            self._counts["duplicates"] += 1
            self._counts["differing"] += before != found
        if reply is None:
            if before is None:
                self._failed[name] = found
        elif name not in self._answered:
            self._failed.pop(name, None)
            self._answered[name] = found
            new = self.keep(ask, reply)
            kind = "kept" if reply.judgment.valid else "invalid"
            self._counts[kind if new else "known"] += 1


def keeper(judges: JudgmentStore) -> Keep:
    """Stores a verdict unless there was one; says whether it is new."""

    def keep(ask: BatchAsk, reply: Reply) -> bool:
        return judges.add_judgment(
            ask.judge_id,
            ask.item_hash,
            reply.judgment,
            run_index=ask.run_index,
            usage=reply.usage,
            label_probabilities=reply.label_probabilities,
        )

    return keep
