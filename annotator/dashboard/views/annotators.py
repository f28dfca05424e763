"""Everybody who labels, each with what there is to know of their work."""

from sqlite_utils import Database

from annotator.dashboard.fresh_figures import Shown
from annotator.dashboard.place import Place
from annotator.dashboard.view import View


def annotators(shown: Shown, place: Place, database: Database) -> View:
    oneself = shown.resampled.oneself if shown.resampled else None
    kappas = {each.annotator: each.kappa for each in oneself.annotators} if oneself else {}
    return View(
        "annotators.html",
        "Annotators",
        {
            "rows": shown.figures.annotators,
            "oneself": kappas,
            "once": oneself.unpaired if oneself else {},
            "repeats": len(shown.figures.reading.items.repeats),
            "gold": len(shown.figures.reading.gold),
        },
        ("annotate status --json",),
    )
