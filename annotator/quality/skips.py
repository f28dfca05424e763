"""Skips: how often somebody gives no label, and why."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from annotator.annotation import Annotation


@dataclass(frozen=True)
class Skips:
    """Items skipped, of those that were done one way or the other; reasons, most frequent first."""

    skipped: int
    done: int
    reasons: Mapping[str, int]

    @property
    def rate(self) -> float | None:
        """None of somebody who did nothing yet."""
        return self.skipped / self.done if self.done else None

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"rate": self.rate}


def skips(annotations: Iterable[Annotation]) -> Skips:
    """Of standing annotations, without those that were taken back."""
    annotations = list(annotations)
    reasons = Counter(said.skip_reason for said in annotations if said.skip_reason is not None)
    ordered = sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0]))
    return Skips(reasons.total(), len(annotations), dict(ordered))
