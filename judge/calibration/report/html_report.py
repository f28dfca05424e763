"""A calibration as one self-contained page: no script, no network, study text verbatim."""

import os
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from annotator.measures.confusion import Confusion
from annotator.measures.kappa import Kappa
from annotator.measures.replicates import RESAMPLES
from annotator.verbatim import verbatim_html
from judge.calibration.calibration import Calibration
from judge.calibration.comparison.rivals import Rivals
from judge.calibration.comparison.study_comparison import StudyComparison
from judge.calibration.comparison.text import forest_rows, selection_text, verdict_text
from judge.calibration.judge_choice import judge_name
from judge.calibration.report.forest import forest
from judge.calibration.report.wording import (
    band_text,
    caveats,
    chance,
    coefficient_rows,
    hint,
    interval_text,
    intervals_text,
    judged_text,
    kappa_rows,
    left_out,
    number,
    references,
    runs_text,
    said,
    sample_text,
    size,
    split_text,
    table_text,
    unreadable,
)
from judge.plural import counted
from rubrics import InputError, short

TEMPLATE = "report.html"


def write_report(calibration: Calibration, path: Path, rivals: Rivals | None = None) -> None:
    """Write the page to `path`, all of it or nothing.

    Raises InputError when the folder is missing or cannot be written, the disk is full, or the
    file is there already and no such page: a slip must not cost a study's store.
    """
    page = render_report(calibration, rivals).encode()
    try:
        if path.is_file() and path.read_bytes()[:15].lower() not in (b"<!doctype html>", b""):
            raise InputError(f"{path} is no report, so it is not overwritten; name another file")
        _write_whole(path, page)
    except OSError as error:
        raise InputError(f"cannot write the report to {path}: {error.strerror}") from error


def render_report(calibration: Calibration, rivals: Rivals | None = None) -> str:
    """The page's HTML. Everything in it is escaped; study text goes through `verbatim`.

    `rivals` are the other judges of the rubric compared with this one, if there are any.
    """
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["verbatim"] = lambda text: Markup(verbatim_html(text))
    environment.filters["sentence"] = lambda text: f"{text[0].upper()}{text[1:]}."
    environment.filters["number"] = number
    environment.filters["interval"] = lambda found: interval_text(found).removeprefix("95% CI ")
    environment.filters["short"] = short
    environment.filters["judge_name"] = judge_name
    environment.filters["said"] = said
    environment.filters["judged"] = judged_text
    rows = kappa_rows(calibration)
    lowest = min((k.interval.low or 0 for _, k in rows + _human_rows(calibration)), default=0)
    start = -1.0 if lowest < 0 else 0.0
    source = (resources.files("judge.calibration.report") / TEMPLATE).read_text(encoding="utf-8")
    return environment.from_string(source).render(
        calibration=calibration,
        categories=calibration.rubric.categories,
        kappas=[_kappa(name, kappa, start) for name, kappa in rows],
        human=[_kappa(name, kappa, start) for name, kappa in _human_rows(calibration)],
        remarks=list(filter(None, (chance(calibration), unreadable(calibration)))),
        hint=hint(calibration),
        sample=sample_text(calibration.sample) if calibration.sample else None,
        references=references(calibration),
        left_out=left_out(calibration),
        alpha=_alpha(calibration),
        items=counted(calibration.pairing.items, "item"),
        disagreements=counted(len(calibration.disagreements), "disagreement"),
        intervals=intervals_text(calibration, RESAMPLES),
        runs=runs_text(calibration),
        split=split_text(calibration),
        rivals=_rivals(rivals.comparison) if rivals and rivals.comparison else None,
        not_compared=rivals.left_out if rivals else (),
        coefficients=coefficient_rows(calibration),
        f1=forest(
            [
                (category.name, of.f1, "")
                for category, of in zip(
                    calibration.rubric.categories, calibration.label_scores, strict=True
                )
            ]
        ),
        ceiling=_ceiling(calibration),
        tables=table_text(calibration),
        matrix=_matrix(calibration.confusion),
        column_sums=calibration.confusion.table.sum(axis=0).tolist(),
    )


def _write_whole(path: Path, page: bytes) -> None:
    target = Path(os.path.realpath(path))  # a link is written through, not replaced
    if target.exists() and not target.is_file():
        target.write_bytes(page)  # a device or a pipe: renaming onto it would destroy it
        return
    written = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        written.write_bytes(page)
        written.replace(target)
    except OSError:
        written.unlink(missing_ok=True)
        raise


def _human_rows(calibration: Calibration) -> list[tuple[str, Kappa]]:
    return [(f"{pair.first} – {pair.second}", pair.kappa) for pair in calibration.human.pairs]


def _rivals(rivals: StudyComparison) -> dict[str, Any]:
    comparison = rivals.comparison
    rows = [
        (name, difference.estimate, verdict_text(difference, "the other", comparison))
        for name, difference in forest_rows(comparison)
    ]
    words = selection_text(rivals) or ""
    return {
        "size": counted(comparison.n, "item"),
        "forest": forest(rows, signed=True),
        "words": f"{words[:1].upper()}{words[1:]}{'.' if words else ''}",
    }


def _ceiling(calibration: Calibration) -> dict[str, Any] | None:
    found = calibration.ceiling
    if not calibration.human.pairs or not found.items:
        return None
    rows = [
        (f"{name}, {of}", getattr(ceiling, attribute), "")
        for of, ceiling in (("labels", found.labels), ("sigma", found.sigma))
        for name, attribute in (
            ("people with each other", "people"),
            ("judge with each of them", "judge"),
            ("judge less people", "difference"),
        )
    ]
    words = (
        f"Mean kappas over {counted(found.items, 'item')} that the judge judged and two or more of "
        f"{len(found.annotators)} people labelled, paired."
    )
    return {"forest": forest(rows), "words": words}


def _alpha(calibration: Calibration) -> list[str]:
    alpha = calibration.human.alpha
    if alpha is None:
        return []
    name = f"Krippendorff’s nominal alpha of all {len(calibration.annotators)}"
    value = "undefined" if alpha.value is None else number(alpha.value)
    found = f"{name}: {value}, {interval_text(alpha.interval)}, {size(alpha)}"
    return [found, *caveats([("alpha", alpha)])]


def _kappa(name: str, kappa: Kappa, start: float) -> dict[str, Any]:
    """What the page shows of one kappa; places on its axis are percent from `start` to 1."""

    def place(value: float) -> float:
        return round(100 * (max(value, start) - start) / (1 - start), 2)

    low, high = kappa.interval.low, kappa.interval.high
    has_interval = low is not None and high is not None
    return {
        "name": name,
        "value": "undefined" if kappa.value is None else number(kappa.value),
        "interval": interval_text(kappa.interval),
        "size": size(kappa),
        "observed": number(kappa.agreement.observed, 2),
        "band": band_text(kappa),
        "caveats": caveats([(name, kappa)]),
        "estimate": None if kappa.value is None else place(kappa.value),
        "low": place(low) if has_interval else None,
        "high": place(high) if has_interval else None,
        "ticks": [
            (place(tick), f"{tick:g}")
            for tick in ((-1, -0.5, 0, 0.5, 1) if start else (0, 0.2, 0.4, 0.6, 0.8, 1))
        ],
    }


def _matrix(confusion: Confusion) -> list[dict[str, Any]]:
    """Rows of the matrix: counts, with each cell's share of its row for the shade."""
    return [
        {
            "sum": sum(counts),
            "cells": [
                {
                    "count": count,
                    "share": round(count / sum(counts), 3) if count else 0,
                    "agrees": k == column,
                }
                for column, count in enumerate(counts)
            ],
        }
        for k, counts in enumerate(confusion.counts)
    ]
