"""How far the study is, how far people agree, and what was refused."""

from sqlite_utils import Database

from annotator.dashboard import wording
from annotator.dashboard.fresh_figures import Shown
from annotator.dashboard.place import Place
from annotator.dashboard.reading import used_versions
from annotator.dashboard.view import View

PAIRS_SHOWN = 20  # those that agree least; thirty people have 435


def overview(shown: Shown, place: Place, database: Database) -> View:
    found = shown.figures
    coverage, pairs = found.coverage, found.pairs.pairs()
    counts = found.pairs.given.sum(axis=0).tolist()
    known = [pair for pair in pairs if pair.kappa is not None]
    lowest = sorted(known, key=lambda pair: pair.kappa)
    undefined = [pair for pair in pairs if pair.kappa is None]
    return View(
        "overview.html",
        "Overview",
        {
            "coverage": coverage,
            "plan": wording.plan_text(coverage),
            "progress": wording.progress_text(coverage),
            "left_out": wording.left_out(coverage),
            "time_left": wording.time_left_text(found.time_left),
            "compared": found.pairs.agreement is not None,
            "sides": {"labels": found.pairs, "sigma": found.sigma_pairs},
            "notes": wording.alpha_notes(found, shown.resampled.labels) if shown.resampled else [],
            "pairs": len(pairs),
            "undefined_pairs": len(undefined),
            "lowest": [*undefined, *lowest][:PAIRS_SHOWN],
            "label_counts": list(zip(found.reading.rubric.categories, counts, strict=True)),
            "all_labels": sum(counts),
            "refused": found.reading.refused,
            "versions": used_versions(database),
        },
        ("annotate status", "annotate status --json"),
    )
