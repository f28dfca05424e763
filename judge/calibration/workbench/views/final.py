"""Opening the test half, with a sentence of intent, and exporting what was calibrated."""

from judge.calibration.splits.opening import openings
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.command_line import calibrate_command, judge_options
from judge.calibration.workbench.drafts import kept_draft
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.readout import Readout, readout_of
from judge.calibration.workbench.roster import Contender, named
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.view import View
from judge.calibration.workbench.views.overview import COMPUTING

FINAL_DRAFT = "final"


def final(bench: Bench, stores: Stores, place: Place) -> View:
    roster = bench.roster(stores)
    chosen = named(roster, place.judge)
    title = "Test and export"
    if chosen is None:
        return View("final.html", title, {"roster": roster, "chosen": None})
    found = bench.readout(stores, chosen, place)
    kept = kept_draft(stores.pipeline, place.owner, FINAL_DRAFT) or {}
    options = judge_options(chosen, place)
    return View(
        "final.html",
        title,
        {
            "roster": roster,
            "chosen": chosen,
            "found": found,
            "openings": openings(stores.pipeline),
            "frozen": stores.pipeline["splits"].count > 0,
            "intent": kept.get("intent", ""),
            "opened": _opened(bench, stores, chosen),
            "names": {each.judge_id: each.name for each in roster},
        },
        (
            calibrate_command(bench.study, "", *options, "--final", "INTENT"),
            calibrate_command(bench.study, "export", *options),
            calibrate_command(bench.study, "export", *options, "--final", "INTENT"),
        ),
        poll=0 if found.fresh else COMPUTING,
    )


def _opened(bench: Bench, stores: Stores, chosen: Contender) -> Readout | None:
    """The last look at the test half, if it was at this judge."""
    found = bench.opened
    if found is None or found.judge_id != chosen.judge_id:
        return None
    return readout_of(stores.pipeline, found)
