"""What is said of two runs: in how many cells they differ, which way, how far, by which test."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from annotator.measures.multiplicity import holm
from annotator.measures.paired_difference import difference_of
from annotator.measures.rate_difference import corrected_difference
from judge.calibration.main_run.main_run import NOT_JUDGED
from judge.calibration.main_run.run_comparison import CellDifference, RunComparison
from judge.calibration.main_run.statements.run_differences import difference_statements
from judge.calibration.main_run.statements.statement import Kind
from judge.calibration.main_run.tables.table import Table
from judge.calibration.rates.turn_verdicts import Cell

TABLE = Table("differences", "made up", (), ())


def cell(
    temperature: float, moved: Sequence[float], dataset: str = "gsm8k", model: str = "A"
) -> CellDifference:
    """Of conversations that moved so far from the base to the other run."""
    moved = np.array(moved, dtype=float)
    base = np.where(moved < 0, -moved, 0.0)
    found = difference_of(base, base + moved, seed=0)
    where = Cell("held-out", model, dataset, temperature, "none")
    return CellDifference(where, model, found, corrected_difference(found, None), True, 0)


def compared(*cells: CellDifference) -> RunComparison:
    after = iter(holm([of.p for of in cells if of.p is not None]))
    done = tuple(replace(of, p_holm=None if of.p is None else next(after)) for of in cells)
    return RunComparison("base", "sft", done, TABLE, ())


def unjudged(temperature: float) -> CellDifference:
    of = cell(temperature, [1, 0])
    return replace(of, found=None, corrected=None, gap=NOT_JUDGED)


UP, SAME, DOWN = [1] * 8 + [0] * 2, [1, -1] + [0] * 8, [-1] * 9 + [0]


def test_one_cell_of_two_that_differs_is_counted_with_its_direction_size_and_test():
    """8 of 10 conversations moved, all up: p = 2 / 2⁸, and by Holm over two twice that."""
    found = compared(cell(0.0, SAME), cell(1.0, UP))
    (said,) = difference_statements(found)
    interval = found.differences[1].found.interval
    ends = f"[{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
    assert said.wording == (
        "gsm8k (held-out): sft has more genuine follow-ups than base in 1 of 2 cells compared, "
        f"the data do not decide on 1; the largest difference shown is at T = 1, +80.0 points "
        f"{ends} as judged; not corrected: no labelled items tell the judge's errors. Tested by "
        "sign flips over 10 conversations that both runs have; smallest p = 0.008, Holm over 2 "
        "tests: p = 0.016."
    )
    assert (said.kind, said.verdict, said.n, said.tests) == (Kind.RUNS, "more", 10, 2)
    assert (said.p, said.adjusted_p) == pytest.approx((2 / 2**8, 4 / 2**8))
    assert said.numbers["largest_difference"] == pytest.approx(0.8)
    assert (said.numbers["compared"], said.numbers["more"], said.numbers["fewer"]) == (2, 1, 0)


def test_where_nothing_differs_the_data_do_not_decide():
    (said,) = difference_statements(compared(cell(0.0, SAME), cell(1.0, [1] * 3 + [0] * 7)))
    assert said.verdict == "undecided"
    assert said.wording.startswith(
        "gsm8k (held-out): the data do not decide whether sft has more or fewer genuine follow-ups "
        "than base: of 2 cells compared none is shown to differ; the largest difference is at "
        "T = 1, +30.0 points ["
    )
    assert "smallest p = 0.250, Holm over 2 tests: p = 0.500." in said.wording


def test_both_directions_are_told_and_a_larger_undecided_difference_is_not_the_largest_shown():
    undecided = cell(0.5, [1] * 5)  # 5 of 5 up: p = 1 / 16
    (said,) = difference_statements(compared(cell(0.0, UP), undecided, cell(1.0, DOWN)))
    assert said.verdict == "more and fewer"
    assert "in 1 of 3 cells compared and fewer in 1, the data do not decide on 1" in said.wording
    assert "the largest difference shown is at T = 1, -90.0 points" in said.wording
    assert "sign flips over 5 to 10 conversations that both runs have" in said.wording


def test_data_sets_have_statements_of_their_own_and_one_correction():
    said = difference_statements(compared(cell(0.0, UP), cell(0.0, SAME, "ifbench")))
    assert [(of.about, of.verdict) for of in said] == [
        ("gsm8k (held-out)", "more"),
        ("ifbench (held-out)", "undecided"),
    ]
    assert [of.tests for of in said] == [2, 2]
    assert said[0].adjusted_p == pytest.approx(2 * said[0].p)


def test_cells_that_cannot_be_compared_are_counted_with_the_reason():
    (said,) = difference_statements(compared(unjudged(0.0), unjudged(0.5), cell(1.0, UP)))
    assert "in 1 of 1 cell compared" in said.wording
    assert said.wording.endswith("the only test of its kind; not tested: 2 cells, not judged.")
    (nothing,) = difference_statements(compared(unjudged(0.0), cell(1.0, [1])))
    assert nothing.wording == (
        "gsm8k (held-out): the data do not decide: not tested: 1 cell, not judged; 1 cell, a "
        "single conversation."
    )
    assert (nothing.verdict, nothing.p, nothing.tests) == ("undecided", None, 0)


def test_two_samples_and_conversations_left_out_are_told():
    paired = replace(cell(0.0, UP), left_out=7)
    (said,) = difference_statements(compared(paired, replace(cell(1.0, UP), paired=False)))
    assert (
        "Tested by sign flips over 10 conversations that both runs have (1 cell) and "
        "permutations between two samples of 10 conversations in all (1 cell), up to 7 with judged "
        "turns in one run alone left out; "
    ) in said.wording


def test_of_several_models_the_one_with_the_largest_difference_is_named():
    (said,) = difference_statements(compared(cell(0.0, UP), cell(0.0, DOWN, model="B")))
    assert "the largest difference shown is B, at T = 0, -90.0 points" in said.wording
    json.dumps(said.as_dict(), allow_nan=False)
