"""Every figure of a main run, or of two compared, one at a time."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from judge.calibration.comparison.difference import Difference
from judge.calibration.main_run.figures.absence import Absent
from judge.calibration.main_run.figures.accuracy import accuracy_figures
from judge.calibration.main_run.figures.canvas import Drawn, drawing
from judge.calibration.main_run.figures.confusion_matrix import confusion_figures
from judge.calibration.main_run.figures.file_stem import told_apart
from judge.calibration.main_run.figures.judge_differences import judge_figures
from judge.calibration.main_run.figures.label_shares import label_figures
from judge.calibration.main_run.figures.lettering import clean
from judge.calibration.main_run.figures.perturbation import perturbation_figures
from judge.calibration.main_run.figures.run_differences import difference_figures
from judge.calibration.main_run.figures.temperature import temperature_figures
from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.run_comparison import RunComparison
from judge.plural import counted

Forest = tuple[tuple[str, Difference], ...]


def figures_or_reasons(run: MainRun, forest: Forest = ()) -> Iterator[Drawn | Absent]:
    """Every figure of the kinds there are, or why it is absent; no two have the same name.

    `forest` are the rows of `comparison.text.forest_rows`: other judges compared with this one.
    """
    return _told_apart(
        accuracy_figures(run),
        temperature_figures(run),
        perturbation_figures(run),
        label_figures(run),
        confusion_figures(run),
        judge_figures(forest),
        _under_conditions(run),
    )


def comparison_figures(comparison: RunComparison) -> Iterator[Drawn | Absent]:
    """The same of two runs."""
    return _told_apart(difference_figures(comparison))


def _told_apart(*kinds: Iterator[Drawn | Absent]) -> Iterator[Drawn | Absent]:
    made_of = chain(*kinds)
    taken: set[str] = set()
    while True:
        with drawing():  # left while others work with the figure
            made = next(made_of, None)
        if made is None:
            return
        yield replace(made, name=told_apart(made.name, taken))


def _under_conditions(run: MainRun) -> Iterator[Absent]:
    found = [of.cell.condition for of in run.cells if of.cell.condition]
    if found:
        where = f"{counted(len(found), 'cell')} under conditions such as {clean(found[0])}"
        yield Absent("conditions", f"{where}: in the tables alone")
