"""A cell's numbers as estimates, each with its interval or the reason why there is none."""

from annotator.measures.interval import Interval, wilson
from judge.calibration.main_run.judge_quality import KappaFound
from judge.calibration.main_run.main_run import LONE, Accuracy, CellRate, Changed
from judge.calibration.main_run.tables.table import Estimate, corrected_share, share
from judge.calibration.rates.rate import Rate

LONE_CONVERSATION = "one conversation: no interval"
NOT_SCORED = "not scored"
UNCHECKED = "no answer could be checked"
ONE_SAMPLE = "k = 1"


def judged_rate(of: CellRate) -> Estimate:
    """The share of a cell's turns that the judge calls genuine follow-ups."""
    if of.rate is None:
        return Estimate(None, gap=of.gap)
    return share(of.rate.raw.value, of.rate.raw.interval, lone(of.rate))


def corrected_rate(of: CellRate) -> Estimate:
    """The same with the judge's errors corrected."""
    if of.rate is None:
        return Estimate(None, gap=of.gap)
    return corrected_share(of.rate.sigma, lone(of.rate))


def judged_label(of: CellRate, label: int) -> Estimate:
    """The share of a cell's turns with the rubric's label of that number."""
    if of.rate is None:
        return Estimate(None, gap=of.gap)
    found = of.rate.labels[label].raw
    return share(found.value, found.interval, lone(of.rate))


def corrected_label(of: CellRate, label: int) -> Estimate:
    """The share of a cell's turns with that label, the judge's errors corrected."""
    if of.rate is None:
        return Estimate(None, gap=of.gap)
    return corrected_share(of.rate.labels[label].corrected, lone(of.rate))


def spread(of: CellRate) -> Estimate:
    """The standard deviation of the k samples' rates."""
    if of.rate is None:
        return Estimate(None, gap=of.gap)
    return Estimate(of.rate.samples.sd, gap=ONE_SAMPLE if of.rate.samples.sd is None else None)


def accuracy_share(found: Accuracy | None, missing: str) -> Estimate:
    """The share of answers that are right; `missing` says why a model has no answers."""
    if found is None:
        return Estimate(None, gap=missing)
    if not found.checked:
        return Estimate(None, gap=UNCHECKED if found.not_checkable else NOT_SCORED)
    return share(found.value, found.interval, LONE)


def changed_share(found: Changed | None, missing: str) -> Estimate:
    """The share of turns that a perturbation changed; `missing` says why none was compared."""
    if found is None or not found.compared:
        return Estimate(None, gap=missing)
    interval = Interval(*wilson(found.changed, found.compared), "Wilson's score interval")
    return share(found.share, interval, LONE)


def kappa_estimate(found: KappaFound) -> Estimate:
    if found.value is None:
        return Estimate(None, gap=found.undefined or "undefined")
    if found.low is None or found.high is None:
        return Estimate(found.value, gap=LONE if found.n == 1 else "no interval of kappa")
    return Estimate(found.value, found.low, found.high)


def lone(rate: Rate) -> str:
    """What to say of a rate that rests on a single conversation."""
    return LONE if rate.turns == 1 else LONE_CONVERSATION
