"""Two judges on the same dev items: the difference, and the items that it comes from."""

from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.command_line import calibrate_command
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.roster import Contender, named
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.view import View
from judge.calibration.workbench.views.overview import COMPUTING

MOST_ITEMS = 200  # that the page lists as fixed, and as broken; its command lists all


def compare(bench: Bench, stores: Stores, place: Place) -> View:
    roster = bench.roster(stores)
    if len(roster) < 2:
        values = {"roster": roster, "baseline": None}
        return View("compare.html", "A/B", values, (f"judge --on dev{bench.study.option}",))
    challenger = named(roster, place.other) or roster[-1]
    baseline = named(roster, place.judge) if place.judge else _default(roster, challenger)
    values = {"roster": roster, "baseline": baseline, "challenger": challenger}
    if baseline == challenger:
        return View("compare.html", "A/B", values | {"found": None})
    found = bench.comparison(stores, baseline, challenger, place)
    names = [(f"--{kind}", value) for kind, value in _named(baseline, challenger)]
    options = [word for pair in names for word in pair]
    if place.rule != Place().rule:
        options += ["--reference", place.rule]
    return View(
        "compare.html",
        "A/B",
        values | {"found": found, "most_items": MOST_ITEMS},
        (calibrate_command(bench.study, "compare", *options, "--items"),),
        poll=0 if found.fresh else COMPUTING,
    )


def _default(roster: list[Contender], challenger: Contender) -> Contender:
    return next(each for each in reversed(roster) if each != challenger)


def _named(*judges: Contender) -> list[tuple[str, str]]:
    """Rubric and id of each, in order; one rubric stands for both where they share it."""
    versions = list(dict.fromkeys(each.rubric_version for each in judges))
    return [*(("rubric", v) for v in versions), *(("judge", each.head) for each in judges)]
