"""How far the judge that labelled a run can be trusted: its kappa with people."""

from dataclasses import asdict, dataclass

from annotator.measures.confusion import Confusion
from annotator.measures.kappa import Kappa
from judge.calibration.calibration import Calibration


@dataclass(frozen=True)
class KappaFound:
    """Cohen's kappa with its 95% interval; without a value `undefined` says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    undefined: str | None = None

    @property
    def text(self) -> str:
        """With its interval and n, or why it is unknown.

        >>> KappaFound(0.726, 0.61, 0.83, 100).text, KappaFound(None, undefined="no label").text
        ('0.73 [0.61, 0.83], n = 100', 'unknown: no label')
        """
        if self.value is None:
            return f"unknown: {self.undefined}"
        known = self.low is not None and self.high is not None
        interval = f"[{self.low:.2f}, {self.high:.2f}]" if known else "no interval"
        return f"{self.value:.2f} {interval}, n = {self.n:,}"


@dataclass(frozen=True)
class JudgeQuality:
    """Kappas over the labels and over sigma; `source` says whose labels they rest on.

    `confusion` counts people's labels by the judge's outcomes, None where nobody labelled;
    `calibration` is None where it was not made of this study's labels.
    """

    labels: KappaFound
    sigma: KappaFound
    source: str
    confusion: Confusion | None = None
    calibration: Calibration | None = None

    @property
    def text(self) -> str:
        """Kappa over the labels, and whose they are."""
        known = self.labels.value is not None
        return f"{self.labels.text} ({self.source})" if known else self.labels.text

    def as_dict(self) -> dict[str, object]:
        return {
            "labels": asdict(self.labels),
            "sigma": asdict(self.sigma),
            "source": self.source,
            "confusion": self.confusion.as_dict() if self.confusion else None,
        }


def unknown_quality(reason: str) -> JudgeQuality:
    """Of a judge that no label was compared with."""
    none = KappaFound(None, undefined=reason)
    return JudgeQuality(none, none, reason)


def found_kappa(kappa: Kappa) -> KappaFound:
    return KappaFound(
        kappa.value, kappa.interval.low, kappa.interval.high, kappa.items, kappa.undefined
    )
