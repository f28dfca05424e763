"""Figures of a main run: what they draw, that all of it can be read, and what is in their files."""

import re
import warnings
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import same_color, to_hex
from matplotlib.text import Text

from annotator.measures.double_sample import uncorrected
from annotator.measures.estimate import Estimate
from annotator.measures.interval import Interval, no_interval
from annotator.measures.rate_difference import RateDifference, corrected_difference
from judge.calibration.comparison.difference import Difference
from judge.calibration.main_run import figures as package
from judge.calibration.main_run.figures import palette
from judge.calibration.main_run.figures.absence import Absent
from judge.calibration.main_run.figures.accuracy import accuracy_figures
from judge.calibration.main_run.figures.all_figures import comparison_figures, figures_or_reasons
from judge.calibration.main_run.figures.canvas import Drawn, drawing, save
from judge.calibration.main_run.figures.label_shares import label_figures
from judge.calibration.main_run.figures.lettering import distinct, fitted, width_of
from judge.calibration.main_run.figures.perturbation import perturbation_figures
from judge.calibration.main_run.figures.temperature import temperature_figures
from judge.calibration.main_run.judge_quality import unknown_quality
from judge.calibration.main_run.main_run import NOT_JUDGED, NOT_RUN, CellRate, Changed, MainRun
from judge.calibration.main_run.model_facts import facts_of
from judge.calibration.main_run.run_comparison import CellDifference, RunComparison, compare_runs
from judge.calibration.main_run.run_labels import Choices
from judge.calibration.main_run.selection import select_runs
from judge.calibration.main_run.study_main_run import study_main_run
from judge.store import open_pipeline
from rubrics import load_rubric
from tests.support.main_run_study import MadeRun, make_main_run

MADE = MadeRun(
    datasets={"gsm8k": 10},
    held_out={"a/b..c": 5},
    temperatures=(0.0, 0.5, 1.0),
    samples=2,
    perturbations=("truncate",),
    labelled=80,
)
SMALL, LARGE = MADE.models
SIZES = (0.6, 1, 2, 4, 8, 14, 32, 70, 405)
LONG = f"long-{'x' * 150}-$x_1$-{'y' * 50}"
HOSTILE = (f"{LONG}-7B", f"{LONG}-9B", "\u202eevil\n智谱🀄 \\frac{1}{2} z\u0301\u0302\u0303$-3B")
MANY = tuple(f"{f}-{size}B" for f in ("Qwen", "Llama-Instruct", "oss") for size in SIZES) + HOSTILE


def difference(value: float | None, low: float | None = None, high: float | None = None):
    interval = no_interval("none") if low is None else Interval(low, high, "made up")
    undefined = "one label" if value is None else None
    estimate = Estimate("made up", value, interval, None, interval, 50, undefined)
    return Difference(estimate, None, interval, None)


KINDS = {
    "accuracy": accuracy_figures,
    "temperature": temperature_figures,
    "perturbation": perturbation_figures,
    "labels": label_figures,
}
FOREST = (
    ("other, labels", difference(0.08, 0.01, 0.15)),
    ("other, sigma", difference(-0.1)),
    (f"{HOSTILE[0]}, labels", difference(None)),
)


def figures(run, forest=()):
    """Those that there is something to draw for."""
    return (made for made in figures_or_reasons(run, forest) if isinstance(made, Drawn))


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> MainRun:
    study = make_main_run(tmp_path_factory.mktemp("made") / "study", MADE)
    rubric = load_rubric("v3")
    with open_pipeline(study.pipeline) as database:
        chosen = select_runs(database, "made", study.option)
        return study_main_run(database, study, rubric, chosen, Choices())


@pytest.fixture(scope="module")
def wide(run) -> MainRun:
    """30 models, each with the cells of one of the two; every eleventh cell is a gap."""
    cells, accuracies = [], []
    for number, name in enumerate(MANY):
        like = MADE.models[number % 2]
        cells += [
            replace(of, cell=replace(of.cell, model=name))
            for of in run.cells
            if of.cell.model == like
        ]
        accuracies += [replace(of, model=name) for of in run.accuracies if of.model == like]
    cells[::11] = [replace(of, rate=None, gap=NOT_RUN) for of in cells[::11]]
    models = facts_of(MANY, {})
    return replace(run, cells=tuple(cells), accuracies=tuple(accuracies), models=models)


@pytest.fixture(scope="module")
def compared(run) -> RunComparison:
    """The larger model against the smaller one, as if each had a run of its own."""
    parts = (
        replace(run, cells=tuple(of for of in run.cells if of.cell.model == model))
        for model in (SMALL, LARGE)
    )
    return replace(compare_runs(*parts), base=SMALL, other=LARGE)


@pytest.fixture(scope="module")
def compared_wide(compared) -> RunComparison:
    """30 models each with these cells; some are not judged, some as large as can be, some lone."""
    cells = [replace(of, model=name) for name in MANY for of in compared.differences]
    cells[::11] = [unjudged(of) for of in cells[::11]]
    cells[1::11] = [lone(of) for of in cells[1::11]]
    cells[2::11] = [found(of, 1.0, -1.0, 1.0) for of in cells[2::11]]
    names = {"base": HOSTILE[0], "other": HOSTILE[2]}
    absent = (f"1 cell of {HOSTILE[2]} alone, not compared",)
    return replace(compared, differences=tuple(cells), **names, absent=absent)


def unjudged(of: CellDifference) -> CellDifference:
    return replace(of, found=None, corrected=None, gap=NOT_JUDGED, p_holm=None)


def found(of: CellDifference, value: float, low: float, high: float, p=0.5) -> CellDifference:
    rates = replace(of.found, value=value, interval=Interval(low, high, "made up"), p=p)
    corrected = replace(of.corrected, value=value, interval=Interval(low, high, "made up"))
    return replace(of, found=rates, corrected=corrected, p_holm=p)


def lone(of: CellDifference) -> CellDifference:
    rates = RateDifference(
        conversations=1, first=0.0, second=1.0, value=1.0, standard_error=None,
        interval=no_interval("one"), p=None, undefined="a single conversation",
    )  # fmt: skip
    corrected = corrected_difference(rates, None)
    return replace(of, found=rates, corrected=corrected, paired=False, p_holm=None)


@pytest.fixture(scope="module")
def drawn(run, compared) -> dict[str, Drawn]:
    both = (*figures(run, FOREST), *comparison_figures(compared))
    return {made.name: made for made in both}


@pytest.fixture(scope="module")
def drawn_wide(wide, compared_wide) -> dict[str, Drawn]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as of a glyph that the font lacks
        both = (*figures(wide, FOREST), *comparison_figures(compared_wide))
        found = {made.name: made for made in both}
        for made in found.values():
            made.figure.draw_without_rendering()
    return found


def with_cells(run: MainRun, change) -> MainRun:
    return replace(run, cells=tuple(map(change, run.cells)))


def one(run: MainRun, name: str) -> Drawn:
    kind = KINDS[name.partition("-")[0]]
    with drawing():
        return next(made for made in kind(run) if made.name == name)


def words(made: Drawn) -> list[str]:
    return [text.get_text() for text in texts(made)]


def texts(made: Drawn) -> list[Text]:
    return [text for text in made.figure.findobj(Text) if text.get_visible() and text.get_text()]


def points(axes: Axes) -> list[tuple[float, float, str, bool]]:
    """x, y, the marker's shape and whether it is hollow, of every point of a series."""
    return [
        (x, y, line.get_marker(), same_color(line.get_markerfacecolor(), "white"))
        for line in axes.get_lines()
        if line.get_marker() not in ("None", None, "") and line.get_zorder() == 3
        for x, y in line.get_xydata().tolist()
    ]


def bar_ends(axes: Axes) -> list[list[list[float]]]:
    """The two ends of every interval's bar."""
    lines = [of for of in axes.collections if isinstance(of, LineCollection)]
    return [ends.tolist() for of in lines for ends in of.get_segments()]


def unread(made: Drawn) -> list[str]:
    """Texts that overlap another one or the figure's edge."""
    made.figure.draw_without_rendering()
    found = texts(made)
    boxes = np.array([text.get_window_extent().extents for text in found])
    low, high = boxes[:, :2], boxes[:, 2:]
    size = made.figure.get_size_inches() * made.figure.dpi
    outside = ((low < 0) | (high > size)).any(axis=1)
    within = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])
    overlaps = (within > 0.5).all(axis=2) & ~np.eye(len(found), dtype=bool)
    return [found[k].get_text() for k in np.flatnonzero(outside | overlaps.any(axis=1))]


def test_there_is_a_figure_of_every_kind(drawn):
    assert list(drawn) == [
        "accuracy-gsm8k",
        "temperature-self-generated-gsm8k",
        "temperature-held-out-a-b-c",
        "perturbation-self-generated-gsm8k-truncate",
        "labels-self-generated-gsm8k",
        "labels-held-out-a-b-c",
        "confusion",
        "judges",
        "differences",
    ]


def test_no_text_of_two_models_overlaps_another_or_the_edge(drawn):
    assert {name: found for name, made in drawn.items() if (found := unread(made))} == {}


def test_no_text_of_thirty_models_overlaps_another_or_the_edge(drawn_wide):
    assert {name: found for name, made in drawn_wide.items() if (found := unread(made))} == {}


def test_every_model_is_named_once_in_each_figure_however_long_its_name(drawn_wide):
    shown = distinct(MANY, 1.5, 6.5)
    assert len(set(shown.values())) == 30
    for name, made in drawn_wide.items():
        if name not in ("confusion", "judges"):
            there = " ".join(words(made))
            assert all(short in there for short in shown.values()), name


def test_hostile_names_are_shown_as_they_are_written(drawn_wide):
    there = words(drawn_wide["labels-self-generated-gsm8k"])
    assert any(re.fullmatch(r"<U\+202E>e.*….*\$-3B", text) for text in there)
    assert not any(text.get_parse_math() for text in texts(drawn_wide["judges"]))


def test_a_shortened_name_keeps_both_ends_and_fits():
    short = fitted(HOSTILE[0], 1.5, 6.5)
    assert re.fullmatch(r"long-x+…y+-7B", short)
    assert 1.3 < width_of(short, 6.5) <= 1.5


def test_names_that_look_the_same_when_shortened_are_numbered():
    same = [f"{'x' * 100}{k}{'x' * 100}" for k in (1, 2)]
    found = distinct([*same, "y"], 1.0, 6.5)
    assert [found[name][:4] for name in same] == ["(1) ", "(2) "]
    assert found["y"] == "y"


def test_a_point_stands_at_accuracy_and_corrected_rate_with_both_intervals(run, drawn):
    (axes,) = drawn["accuracy-gsm8k"].figure.axes
    of = next(
        of for of in run.plain if of.cell.model == SMALL and of.cell.dataset == "gsm8k"
        and of.cell.temperature == 0
    )  # fmt: skip
    accuracy = run.accuracy(SMALL, "gsm8k")
    x, y = 100 * accuracy.value, 100 * of.rate.sigma.clipped
    assert (pytest.approx(x), pytest.approx(y), "o", False) in points(axes)
    ends = [[100 * accuracy.interval.low, y], [100 * accuracy.interval.high, y]]
    assert any(np.allclose(found, ends) for found in bar_ends(axes))
    interval = of.rate.sigma.interval.within((0.0, 1.0))
    upright = [[x, 100 * interval.low], [x, 100 * interval.high]]
    assert any(np.allclose(found, upright) for found in bar_ends(axes))
    assert drawn["accuracy-gsm8k"].title == (
        "Genuine follow-up rate at T = 0 against task accuracy, gsm8k "
        "(corrected for the judge's errors; bars: 95% intervals)"
    )


def test_models_of_a_family_are_joined_in_order_of_size(run):
    sizes = facts_of(MADE.models, {})
    swapped = replace(
        run,
        models={
            LARGE: replace(sizes[LARGE], parameters=1.0),
            SMALL: replace(sizes[SMALL], parameters=2.0),
        },
    )
    (line,) = [
        of for of in one(swapped, "accuracy-gsm8k").figure.axes[0].get_lines()
        if of.get_zorder() == 2
    ]  # fmt: skip
    expected = [100 * run.accuracy(model, "gsm8k").value for model in (LARGE, SMALL)]
    assert line.get_xdata() == pytest.approx(expected)


def test_a_panel_has_the_other_families_in_the_background(drawn_wide):
    for axes in drawn_wide["accuracy-gsm8k"].figure.axes:
        (others,) = [of for of in axes.get_lines() if of.get_zorder() == 1.5]
        drawn = sum(len(points(of)) for of in drawn_wide["accuracy-gsm8k"].figure.axes)
        assert len(others.get_xdata()) + len(points(axes)) == drawn


def test_a_rate_that_is_not_corrected_is_the_judge_s_own_hollow_and_said_so(run):
    def raw(of: CellRate) -> CellRate:
        if of.cell.model == LARGE:
            return of
        return replace(of, rate=replace(of.rate, sigma=uncorrected("made up")))

    some = with_cells(run, raw)
    for name, x in (("accuracy-gsm8k", None), ("temperature-self-generated-gsm8k", 0.0)):
        made = one(some, name)
        own = run.by_cell[
            next(of.cell for of in run.plain if of.cell.model == SMALL and of.cell.temperature == 0
                 and of.cell.dataset == "gsm8k")
        ]  # fmt: skip
        hollow = [point for point in points(made.figure.axes[0]) if point[3]]
        assert {point[2] for point in hollow} == {"o"}
        assert any(
            y == pytest.approx(100 * own.rate.raw.value) and x in (None, at)
            for at, y, _, _ in hollow
        )
        assert "as judged, not corrected" in words(made)
        assert "filled: corrected" in made.title
    nobody = with_cells(run, lambda of: replace(of, rate=replace(of.rate, sigma=uncorrected(""))))
    assert "(as judged, not corrected; bars" in one(nobody, "accuracy-gsm8k").title


def test_a_lone_turn_is_hollow_without_a_bar(run):
    def lone(of: CellRate) -> CellRate:
        if of.cell.model == LARGE or of.rate is None:
            return of
        sigma = replace(of.rate.sigma, interval=no_interval("a single conversation"))
        return replace(of, rate=replace(of.rate, turns=1, sigma=sigma))

    made = one(with_cells(run, lone), "perturbation-self-generated-gsm8k-truncate")
    (axes,) = made.figure.axes
    assert [hollow for *_, hollow in points(axes)].count(True) == 2
    assert len(bar_ends(axes)) == 2 + 2  # of the other model; the lines between before and after
    assert "no interval (such as n = 1)" in words(made)


def test_a_gap_is_named_and_nothing_is_drawn_for_it(run):
    gone = {
        of.cell
        for of in run.cells
        if of.cell.model == SMALL and of.cell.dataset == "gsm8k" and of.cell.temperature in (0, 0.5)
        and of.cell.perturbation == "none"
    }  # fmt: skip
    gaps = with_cells(
        run, lambda of: replace(of, rate=None, gap=NOT_JUDGED) if of.cell in gone else of
    )
    accuracy = one(gaps, "accuracy-gsm8k")
    assert f"not judged: {SMALL}" in words(accuracy)
    assert len(points(accuracy.figure.axes[0])) == 1
    curves = one(gaps, "temperature-self-generated-gsm8k")
    assert f"not judged: {SMALL} (T = 0, T = 0.5)" in words(curves)
    assert sorted(x for x, *_ in points(curves.figure.axes[0])) == [0.0, 0.5, 1.0, 1.0]
    dumbbell = one(gaps, "perturbation-self-generated-gsm8k-truncate")
    assert f"not judged: {SMALL} (without)" in words(dumbbell)
    assert len(points(dumbbell.figure.axes[0])) == 3
    labels = one(gaps, "labels-self-generated-gsm8k")
    assert words(labels).count("not judged") == 2  # in their rows
    assert len({round(y) for y in bar_tops(labels)}) == 4


def bar_tops(made: Drawn) -> list[float]:
    return [
        polygon[:, 1].min()
        for patch in made.figure.axes[0].patches
        for polygon in patch.get_path().to_polygons()
    ]


def test_a_curve_does_not_cross_a_temperature_without_a_rate(run):
    made = one(
        with_cells(
            run,
            lambda of: replace(of, rate=None, gap=NOT_RUN) if of.cell.temperature == 0.5
            and of.cell.model == SMALL else of,
        ),
        "temperature-self-generated-gsm8k",
    )  # fmt: skip
    lines = [line for line in made.figure.axes[0].get_lines() if line.get_zorder() == 2]
    assert sorted(len(line.get_xdata()) for line in lines) == [1, 1, 3]


def test_bands_are_the_intervals(run, drawn):
    (axes,) = drawn["temperature-self-generated-gsm8k"].figure.axes
    sweep = run.sweep(next(of for of in run.groups if of.model == LARGE and of.dataset == "gsm8k"))
    band = axes.collections[1].get_paths()[0].vertices
    for of in sweep:
        ends = {round(y, 6) for x, y in band.tolist() if x == of.cell.temperature}
        interval = of.rate.sigma.clipped_interval
        assert {round(100 * interval.low, 6), round(100 * interval.high, 6)} <= ends


def test_one_temperature_is_no_curve_and_no_labels_no_matrix(run):
    few = replace(
        run,
        cells=tuple(of for of in run.cells if not of.cell.temperature),
        quality=unknown_quality("nobody has labelled"),
    )
    made = list(figures_or_reasons(few))
    assert [str(of) for of in made if isinstance(of, Absent)] == [
        "temperature-self-generated-gsm8k: a curve takes judged turns at two temperatures or more",
        "temperature-held-out-a-b-c: a curve takes judged turns at two temperatures or more",
        "confusion: nobody has labelled",
        "judges: no other judge is compared",
    ]
    assert len(made) == 8


def test_cells_under_conditions_are_said_to_be_absent(run):
    cell = replace(run.cells[0].cell, condition="top-p 0.9")
    more = replace(run, cells=(*run.cells, replace(run.cells[0], cell=cell)))
    (*_, last) = figures_or_reasons(more)
    assert str(last) == "conditions: 1 cell under conditions such as top-p 0.9: in the tables alone"


def test_a_dumbbell_says_how_many_turns_changed(run):
    changed = with_cells(
        run, lambda of: replace(of, changed=Changed(12, 9)) if of.changed is not None else of
    )
    assert words(one(changed, "perturbation-self-generated-gsm8k-truncate")).count("75%") == 2


def test_each_row_of_labels_is_as_long_as_all_its_turns(drawn):
    widths: dict[int, float] = {}
    for patch in drawn["labels-self-generated-gsm8k"].figure.axes[0].patches:
        for polygon in patch.get_path().to_polygons():
            row = round(polygon[:, 1].mean() * 100)
            widths[row] = widths.get(row, 0) + np.ptp(polygon[:, 0])
    assert len(widths) == 6
    assert list(widths.values()) == pytest.approx([100] * 6)


def test_the_matrix_has_every_count_in_letters_that_stand_out(run, drawn):
    figure = drawn["confusion"].figure
    (mesh,) = figure.axes[0].collections
    shades = mesh.get_facecolor().reshape(*run.quality.confusion.table.shape, 4)
    for text in figure.axes[0].texts:
        column, row = (int(at) for at in text.get_position())
        behind = palette.lightness(to_hex(shades[row, column]))
        assert abs(behind - palette.lightness(to_hex(text.get_color()))) > 40
    counts = [int(text) for text in words(drawn["confusion"]) if text.isdigit()]
    assert sum(counts) == 2 * run.quality.confusion.n  # cells, then sums of rows


def test_a_forest_has_a_line_at_zero_and_names_what_has_no_value(drawn):
    made = drawn["judges"]
    (axes,) = made.figure.axes
    assert [(round(x, 2), hollow) for x, _, _, hollow in points(axes)] == [
        (0.08, False),
        (-0.1, True),
    ]
    assert any(list(line.get_xdata()) == [0, 0] for line in axes.get_lines())
    low, high = axes.get_xlim()
    assert low == -high
    assert high >= 0.15
    assert "+0.08 [+0.01, +0.15]" in words(made)
    assert any(text.endswith("undefined, one label") for text in words(made))


def test_nothing_drawn_is_without_a_number(drawn_wide):
    for made in drawn_wide.values():
        for axes in made.figure.axes:
            for line in axes.get_lines():
                assert np.isfinite(line.get_xydata().astype(float)).all()
            for path in (path for of in axes.collections for path in of.get_paths()):
                assert np.isfinite(path.vertices).all()


def test_percent_axes_end_at_a_tick_and_hold_every_point(drawn_wide):
    for name, made in drawn_wide.items():
        for axes in made.figure.axes if name.startswith(("accuracy", "temperature")) else ():
            assert axes.get_ylim() == (0, axes.get_yticks()[-1])
            assert all(0 <= y <= axes.get_ylim()[1] for _, y, _, _ in points(axes))


@pytest.mark.parametrize("n", range(2, palette.MOST + 1))
def test_lines_of_a_panel_differ_in_colour_marker_and_dashes(n):
    series = palette.series(n)
    for of in ("colour", "marker", "dashes"):
        assert len({getattr(one, of) for one in series}) == n
    light = [palette.lightness(one.colour) for one in series]
    assert light == sorted(light, reverse=True)
    least = min(a - b for a, b in pairwise(light))
    assert least > (6.8 if n <= 5 else 0)


def test_neighbours_in_a_bar_differ_in_lightness_and_all_parts_in_colour_or_hatch():
    fills = [*palette.fills(20), palette.NO_LABEL]
    assert len({(of.colour, of.hatch) for of in fills}) == 21
    seven = [palette.lightness(of.colour) for of in palette.fills(7)]
    assert all(abs(a - b) > 9 for a, b in pairwise(seven))
    assert all(a.hatch != b.hatch for a, b in combinations(palette.fills(7)[1:3], 2))


def test_lightness_is_that_of_cie():
    # L* of mid grey #777777 is 50.03 (CIE 15:2004, by hand: Y = 0.1845).
    assert palette.lightness("#777777") == pytest.approx(50.03, abs=0.02)


def test_no_panel_has_more_lines_than_can_be_told_apart(drawn_wide):
    made = drawn_wide["temperature-self-generated-gsm8k"]
    assert {"Qwen (1 of 2)", "Qwen (2 of 2)"} <= set(words(made))
    assert all(len({point[2] for point in points(axes)}) <= 8 for axes in made.figure.axes)


def test_files_are_the_same_bytes_when_built_again(run, tmp_path):
    folders = (tmp_path / "once", tmp_path / "again")
    for folder in folders:
        folder.mkdir()
        written = save(one(run, "labels-held-out-a-b-c"), folder)
    once, again = ([path.read_bytes() for path in sorted(of.iterdir())] for of in folders)
    assert [path.suffix for path in written] == [".png", ".svg", ".pdf"]
    assert once == again
    pdf, png, svg = once
    assert b"/FontFile2" in pdf  # an embedded TrueType font
    assert b"/Type3" not in pdf
    assert b"/CreationDate" not in pdf
    assert b"<dc:date>" not in svg
    assert b"tEXt" not in png
    assert b"<text" not in svg  # letters are paths: no font is looked for
    assert int.from_bytes(png[16:20]) == 1440  # 7.2 inches at 200 dpi


def test_settings_of_the_caller_neither_change_nor_matter(run):
    with matplotlib.rc_context({"font.size": 31, "text.parse_math": True}):
        before = dict(matplotlib.rcParams)
        made = [made.figure for made in figures(run)]
        assert dict(matplotlib.rcParams) == before
    assert all(text.get_fontsize() < 10 for figure in made for text in figure.findobj(Text))


def test_names_of_files_are_safe_and_told_apart(run):
    names = {"gsm8k": "../A b", "a/b..c": "..\\a..b"}
    other = with_cells(
        run, lambda of: replace(of, cell=replace(of.cell, dataset=names[of.cell.dataset],
                                                 setting="held-out"))
    )  # fmt: skip
    found = [made.name for made in figures(other)]
    assert {"temperature-held-out-A-b", "temperature-held-out-a-b-2"} <= set(found)
    assert len({name.casefold() for name in found}) == len(found)


def test_no_figure_is_made_through_pyplot():
    for path in Path(package.__file__).parent.glob("*.py"):
        assert "pyplot" not in path.read_text(), path


def differences(compared: RunComparison, *cells: CellDifference) -> Drawn | Absent:
    (made,) = comparison_figures(replace(compared, differences=cells))
    return made


def test_a_difference_stands_at_its_value_in_points_with_its_interval(compared, drawn):
    made = drawn["differences"]
    (axes,) = made.figure.axes
    places = points(axes)
    for of in compared.differences:
        for estimate, marker in zip(of.estimates, "oD", strict=True):
            assert any(
                (x, shape) == (pytest.approx(100 * estimate.value), marker)
                for x, _, shape, _ in places
            )
            ends = [pytest.approx(100 * end) for end in (estimate.low, estimate.high)]
            assert any([x for x, _ in bar] == ends for bar in bar_ends(axes))
    assert len(places) == len(bar_ends(axes)) == 2 * len(compared.differences)
    assert any(list(line.get_xdata()) == [0, 0] for line in axes.get_lines())
    assert f"{LARGE} less {SMALL}, percentage points" in made.title
    assert {"gsm8k, self-generated", "a/b..c, held-out"} <= set(words(made))


def test_differences_after_holm_are_filled_and_the_undecided_hollow(compared):
    one, two, three, *_ = compared.differences
    made = differences(
        compared,
        found(one, 0.3, 0.2, 0.4, p=0.01),
        found(two, -0.3, -0.4, -0.2, p=0.049),
        found(three, 0.3, 0.2, 0.4, p=0.05),
    )
    judged = [(round(x), hollow) for x, _, shape, hollow in points(made.figure.axes[0])
              if shape == "o"]  # fmt: skip
    assert judged == [(30, False), (-30, False), (30, True)]


def test_what_cannot_be_compared_is_named_in_its_row(compared):
    one, two, three, *_ = compared.differences
    made = differences(compared, unjudged(one), lone(two), found(three, 0.3, 0.2, 0.4))
    assert [(round(x), hollow) for x, *_, hollow in points(made.figure.axes[0])] == [
        (100, True),
        (30, True),
        (30, True),
    ]
    assert {"not judged", "+100.0, one conversation", "+30.0 [+20.0, +40.0]"} <= set(words(made))
    assert "not corrected: a single conversation (1 cell)" in words(made)
    assert str(differences(compared, unjudged(one))) == (
        "differences: no cell has a difference: not judged"
    )


def test_more_differences_than_a_page_takes_are_a_figure_for_each_data_set(drawn_wide):
    assert {"differences-self-generated-gsm8k", "differences-held-out-a-b-c"} <= set(drawn_wide)
