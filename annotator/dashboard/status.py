"""What `annotate status` prints: the dashboard's numbers, for a terminal or as JSON."""

from collections.abc import Callable, Mapping

from annotator.dashboard import wording
from annotator.dashboard.annotator_figures import AnnotatorFigures
from annotator.dashboard.figures import Figures, Resampled, figures, resampled
from annotator.dashboard.label_pairs import LabelPairs
from annotator.dashboard.reading import read_study, study_items
from annotator.labels import open_labels
from annotator.measures.kappa import Kappa
from annotator.publishing.in_force import rubric_of
from generation.command import one_line
from generation.study import Study

HARDEST = 10  # items that are listed


def study_status(study: Study, version: str | None) -> tuple[Figures, Resampled]:
    """All numbers under a rubric version, by default that which annotators label under.

    Raises InputError for an unknown version, and when labels.db cannot be opened.
    """
    with open_labels(study.labels) as database:
        rubric = rubric_of(database, study, version)
        reading = read_study(database, rubric, study_items(database))
    found = figures(reading)
    return found, resampled(found)


def status_text(found: Figures, drawn: Resampled) -> str:
    coverage, reading = found.coverage, found.reading
    rubric = reading.rubric
    lines = [
        f"rubric {rubric.version}, {reading.at[:16].replace('T', ' ')} UTC",
        f"plan: {wording.plan_text(coverage)}",
        f"coverage: {wording.progress_text(coverage)}; complete: "
        f"{wording.counted(coverage.complete, 'item')}",
        f"items of the study by labels: {_by_labels(coverage.study.by_labels)}",
    ]
    for name, counts in (("gold", coverage.gold), ("silent repeats", coverage.repeats)):
        if counts.items:
            lines.append(f"{name}, apart: {_by_labels(counts.by_labels)}")
    lines += wording.left_out(coverage)
    agreement = _both(found, lambda of: of.agreement)
    kappas_of_pairs = _both(found, lambda of: of.mean_kappa())
    lines += [
        f"time left: {wording.time_left_text(found.time_left)}",
        "",
        f"alpha (7 labels)  {wording.alpha_text(drawn.labels)}",
        f"alpha (sigma)     {wording.alpha_text(drawn.sigma)}",
        f"raw agreement: labels {wording.percent(agreement['labels'])}, sigma "
        f"{wording.percent(agreement['sigma'])}; mean kappa of pairs: labels "
        f"{wording.number(kappas_of_pairs['labels'], 3)}, sigma "
        f"{wording.number(kappas_of_pairs['sigma'], 3)}",
        *wording.alpha_notes(found, drawn.labels),
        "",
        "annotators",
    ]
    kappas = {each.annotator: each.kappa for each in drawn.oneself.annotators}
    lines += [_annotator_text(row, kappas.get(row.record.name)) for row in found.annotators]
    if not found.annotators:
        lines.append("  none yet")
    hard = [item for item in found.hardest if item.disagreement][:HARDEST]
    lines += ["", "hardest items"]
    lines += [
        f"  {item.item_id}  {wording.percent(item.disagreement)} of the pairs differ: "
        f"{wording.labels_text(item.labels.items(), rubric)}"
        for item in hard
    ]
    if not hard:
        lines.append("  none: no item is labelled differently")
    return "\n".join(map(one_line, lines))


def status_dict(found: Figures, drawn: Resampled) -> dict[str, object]:
    """The same for JSON, in full; what is undefined is null beside its reason."""
    coverage, pairs, rubric = found.coverage, found.pairs, found.reading.rubric
    kappas = {each.annotator: each.kappa.as_dict() for each in drawn.oneself.annotators}
    return {
        "rubric": rubric.version,
        "at": found.reading.at,
        "seed": found.reading.seed,
        "coverage": coverage.as_dict(),
        "time_left": found.time_left.as_dict(),
        "agreement": {
            "alpha": {"labels": drawn.labels.as_dict(), "sigma": drawn.sigma.as_dict()},
            "raw": _both(found, lambda of: of.agreement),
            "expected": _both(found, lambda of: of.expected),
            "mean_kappa": _both(found, lambda of: of.mean_kappa()),
            "pairs": [pair.as_dict() for pair in pairs.pairs()],
        },
        "labels": dict(zip(rubric.category_ids, pairs.given.sum(axis=0).tolist(), strict=True)),
        "label_pairs": {
            "categories": list(rubric.category_ids),
            "counts": pairs.pooled.tolist(),
        },
        "annotators": [
            row.as_dict() | {"with_themselves": kappas.get(row.record.name)}
            for row in found.annotators
        ],
        "hardest": [item.as_dict() for item in found.hardest if item.disagreement],
        "refused": found.reading.refused.as_dict(),
    }


def _both(found: Figures, of: Callable[[LabelPairs], float | None]) -> dict[str, float | None]:
    return {"labels": of(found.pairs), "sigma": of(found.sigma_pairs)}


def _by_labels(counts: Mapping[int, int]) -> str:
    said = (
        f"{wording.counted(items, 'item')} with {labels or 'none'}"
        for labels, items in counts.items()
    )
    return ", ".join(said) or "no item"


def _annotator_text(row: AnnotatorFigures, oneself: Kappa | None) -> str:
    gold, others = row.gold, row.others
    parts = [
        wording.counted(row.pace.labels, "label"),
        f"skipped {wording.percent(row.skips.rate)}",
        f"gold {wording.percent(gold.share)}"
        + (f" of {gold.labelled}, {wording.ends(gold.low, gold.high)}" if gold.labelled else ""),
        f"kappa with the others {wording.number(others.kappa, 3)}"
        if others
        else f"no kappa with the others: {row.alone}",
    ]
    if oneself is not None and oneself.items:
        value = wording.number(oneself.value, 3)
        parts.append(f"with themselves {value} (n = {oneself.items})")
    if row.pace.median_seconds is not None:
        parts.append(f"{row.pace.median_seconds:.1f} s a label")
    if row.record.disabled_at:
        parts.append("disabled")
    return f"  {row.record.name}: {'; '.join(parts)}"
