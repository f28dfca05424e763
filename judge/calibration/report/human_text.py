"""What a calibration says of people: their agreement as a ceiling, who lowers it, and repeats."""

from collections.abc import Iterable, Sequence

from annotator.agreement.annotator_influence import AnnotatorInfluence
from annotator.agreement.intra_annotator import IntraAnnotator
from annotator.measures.estimate import Estimate
from annotator.measures.kappa import Kappa
from annotator.measures.panel import NO_PAIR
from judge.calibration.human_ceiling import Ceiling, HumanCeiling
from judge.calibration.report.wording import caveats, interval_text, number
from judge.plain_text import cells, new_table, rendered, wrapped
from judge.plural import counted

NAMED = 5  # pairs without a kappa that are named; of more the number is told


def human_text(
    ceiling: HumanCeiling | None,
    influence: AnnotatorInfluence | None,
    intra: IntraAnnotator | None,
) -> str:
    """All that there is, as tables that fit a terminal; empty of nothing."""
    parts = [_ceiling(ceiling)] if ceiling else []
    if influence:
        parts.append(_influence(influence))
    if intra and intra.repeats:
        parts.append(_intra(intra))
    return "\n".join(parts)


def _ceiling(found: HumanCeiling) -> str:
    if not found.items:
        return wrapped([f"human ceiling: undefined, {NO_PAIR}"])
    table = new_table("mean kappa on the same items", "labels", "95% CI", "sigma", "95% CI")
    rows = {
        "people with each other": "people",
        "judge with each of them": "judge",
        "judge less people": "difference",
        "judge with the reference label": "reference",
    }
    for name, of in rows.items():
        labels, sigma = getattr(found.labels, of), getattr(found.sigma, of)
        table.add_row(*cells(name, *_shown(labels), *_shown(sigma)))
    return rendered(table) + wrapped(_ceiling_notes(found))


def _ceiling_notes(found: HumanCeiling) -> Iterable[str]:
    yield (
        f"{counted(found.items, 'item')} in {counted(found.conversations, 'conversation')} that "
        f"the judge judged and two or more of {len(found.annotators)} people labelled; "
        f"{counted(found.pairs, 'pair')} of people, weighted by the items they share"
    )
    yield (
        f"read the judge's agreement with each of them against people's own; that with the "
        f"reference label (on {found.reference_items}) is higher by construction, as several "
        "labels make it"
    )
    for name, of in (("labels", found.labels), ("sigma", found.sigma)):
        yield from _undefined(name, of)


def _undefined(name: str, of: Ceiling) -> Iterable[str]:
    reasons = {of.people.undefined, of.judge.undefined, of.reference.undefined} - {None}
    for reason in sorted(reasons):
        yield f"{name}: undefined, {reason}"
    if of.undefined:
        named = ", ".join(of.undefined[:NAMED])
        more = len(of.undefined) - NAMED
        listed = f"{named} and {more} more" if more > 0 else named
        yield f"{name}: no kappa, as both gave one same label only, left out: {listed}"


def _influence(found: AnnotatorInfluence) -> str:
    table = new_table("Krippendorff's alpha", "", "95% CI", "items", "change", "95% CI")
    table.add_row(*cells("of all", *_shown(found.alpha), str(found.items), "", ""))
    for without in found.without:
        shown = _shown(without.alpha), _shown(without.change)
        name = f"without {without.annotator}"
        table.add_row(*cells(name, *shown[0], str(without.items), *shown[1]))
    lowering = [without.annotator for without in found.without if without.lowers]
    if not lowering:
        return rendered(table)
    verb = "lowers" if len(lowering) == 1 else "lower"
    return rendered(table) + wrapped(
        [f"{_listed(lowering)} {verb} alpha: without them the others agree better"]
    )


def _intra(found: IntraAnnotator) -> str:
    table = new_table("agreement with oneself", "kappa", "95% CI", "raw", "repeats", "once only")
    for of in found.annotators:
        table.add_row(*_self(of.annotator, of.kappa, found.unpaired[of.annotator]))
    table.add_row(*_self("all together", found.pooled, sum(found.unpaired.values())))
    rows = [(of.annotator, of.kappa) for of in found.annotators]
    reasons = caveats([*rows, ("all together", found.pooled)])
    were = "item was" if found.repeats == 1 else "items were"
    return rendered(table) + wrapped(
        [f"{found.repeats} {were} shown twice without notice", *reasons]
    )


def _self(name: str, kappa: Kappa, once: int) -> tuple:
    interval = interval_text(kappa.interval).removeprefix("95% CI ")
    value = "undefined" if kappa.value is None else number(kappa.value)
    raw = number(kappa.agreement.observed, 2)
    return cells(name, value, interval, raw, str(kappa.items), str(once))


def _shown(estimate: Estimate) -> tuple[str, str]:
    value = "undefined" if estimate.value is None else number(estimate.value)
    return value, interval_text(estimate.interval).removeprefix("95% CI ")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
