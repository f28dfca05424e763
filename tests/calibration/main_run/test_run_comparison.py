"""Two runs compared: paired where they share conversations, as two samples where they do not."""

from dataclasses import replace

import pytest

from annotator.measures.multiplicity import holm
from generation.study import Study
from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.run_comparison import compare_runs
from judge.calibration.main_run.run_labels import Choices
from judge.calibration.main_run.selection import select_runs
from judge.calibration.main_run.study_main_run import study_main_run
from judge.store import open_pipeline
from rubrics import InputError, load_rubric
from tests.support.main_run_study import MadeRun, make_main_run


def rate(cell) -> float:
    """The second model gives more follow-ups on gsm8k, and as many on ifbench."""
    return 0.6 if cell.model == "Made-8B" and cell.dataset == "gsm8k" else 0.1


MADE = MadeRun(
    datasets={"gsm8k": 60, "ifbench": 40}, temperatures=(0.0, 1.0), rate=rate, perturbations=()
)


def loaded(study: Study, name: str) -> MainRun:
    with open_pipeline(study.pipeline) as database:
        selection = select_runs(database, name, "")
        return study_main_run(database, study, load_rubric("v3"), selection, Choices())


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[MainRun, MainRun]:
    study = make_main_run(tmp_path_factory.mktemp("two") / "study", MADE)
    return loaded(study, "made/Made-1B"), loaded(study, "made/Made-8B")


def rows(comparison) -> list[dict]:
    return comparison.table.as_dict()["rows"]


def test_runs_of_one_model_each_are_compared_cell_by_cell(runs):
    found = rows(compare_runs(*runs))
    assert [(row["dataset"], row["temperature"], row["how"]) for row in found] == [
        ("gsm8k", "0", "paired"),
        ("gsm8k", "1", "paired"),
        ("ifbench", "0", "paired"),
        ("ifbench", "1", "paired"),
    ]
    assert {row["model"] for row in found} == {"Made-1B → Made-8B"}
    assert [row["conversations"] for row in found] == [60, 60, 40, 40]
    assert [row["verdict"] for row in found] == ["more", "more", "undecided", "undecided"]


def test_the_differences_are_the_rows_of_the_table_by_setting_and_data_set(runs):
    found = compare_runs(*runs)
    assert (found.base, found.other, found.tests) == ("made/Made-1B", "made/Made-8B", 4)
    assert list(found.groups) == [("self-generated", "gsm8k"), ("self-generated", "ifbench")]
    assert [of.verdict for of in found.differences] == [row["verdict"] for row in rows(found)]
    assert [of.p_holm for of in found.differences] == pytest.approx(
        holm([of.p for of in found.differences])
    )


def test_the_difference_is_that_of_the_two_rates_and_corrected_it_is_larger(runs):
    base, other = runs
    for row, one, two in zip(rows(compare_runs(*runs)), base.cells, other.cells, strict=True):
        difference = two.rate.raw.value - one.rate.raw.value
        assert row["difference"]["value"] == pytest.approx(difference)
        assert row["base"]["value"] == pytest.approx(one.rate.raw.value)
        assert row["difference"]["low"] < difference < row["difference"]["high"]
        assert abs(row["corrected"]["value"]) >= abs(difference)


def test_the_other_way_round_the_signs_change_and_nothing_else(runs):
    one, two = (rows(compare_runs(*of)) for of in (runs, runs[::-1]))
    for row, back in zip(one, two, strict=True):
        assert row["difference"]["value"] == pytest.approx(-back["difference"]["value"])
        assert row["difference"]["low"] == pytest.approx(-back["difference"]["high"])
        assert row["p"] == back["p"]


def test_conversations_that_one_run_alone_has_are_left_out_and_counted(runs, tmp_path):
    base, _ = runs
    part = make_main_run(tmp_path / "study", replace(MADE, datasets={"gsm8k": 25}))
    found = rows(compare_runs(base, numbered_as(base, loaded(part, "made/Made-8B"))))
    assert [(row["conversations"], row["left_out"]) for row in found] == [(25, 35), (25, 35)]


def test_runs_without_a_shared_conversation_are_two_samples_and_say_so(runs, tmp_path):
    base, _ = runs
    other = make_main_run(tmp_path / "study", replace(MADE, datasets={"gsm8k": 30}))
    found = loaded(other, "made/Made-8B")
    shift = max(base.verdicts.conversation) + 1
    verdicts = replace(found.verdicts, conversation=found.verdicts.conversation + shift)
    comparison = compare_runs(base, replace(found, verdicts=verdicts))
    assert [(row["how"], row["conversations"], row["verdict"]) for row in rows(comparison)] == [
        ("not paired", 90, "more"),
        ("not paired", 90, "more"),
    ]
    assert comparison.absent == (f"2 cells of {base.name} alone, not compared",)


def test_no_difference_is_beyond_a_whole_or_outside_its_interval(tmp_path):
    """All turns of one run are judged genuine, none of the other's."""
    made = replace(MADE, datasets={"gsm8k": 12}, rate=lambda of: float(of.model == "Made-8B"))
    made = replace(made, sensitivity=0.9, specificity=0.9, labelled=60)
    study = make_main_run(tmp_path / "study", made)
    for row in rows(compare_runs(loaded(study, "made/Made-1B"), loaded(study, "made/Made-8B"))):
        for key in ("difference", "corrected"):
            found = row[key]
            assert -1 <= found["low"] <= found["value"] <= found["high"] <= 1


def test_a_cell_without_verdicts_is_a_row_that_says_so(runs):
    base, other = runs
    gone = other.verdicts.cell == 0
    verdicts = replace(
        other.verdicts,
        cell=other.verdicts.cell[~gone],
        conversation=other.verdicts.conversation[~gone],
        sample=other.verdicts.sample[~gone],
        verdicts=other.verdicts.verdicts[~gone],
    )
    first, *_ = rows(compare_runs(base, replace(other, verdicts=verdicts)))
    assert (first["verdict"], first["p"]) == ("not judged", "no test")
    assert first["difference"]["gap"] == "not judged"


def test_runs_with_no_cell_in_common_are_refused(runs, tmp_path):
    other = make_main_run(tmp_path / "study", replace(MADE, datasets={"coval": 5}, labelled=0))
    with pytest.raises(InputError, match="have no cell in common"):
        compare_runs(runs[0], loaded(other, "made/Made-8B"))


def numbered_as(base: MainRun, run: MainRun) -> MainRun:
    """Another study numbers its conversations otherwise; here they are the first of the base's."""
    cell = base.of_cell(base.cells[0].cell)
    numbers = sorted(set(cell.conversation.tolist()))
    own = sorted(set(run.verdicts.conversation.tolist()))
    to = dict(zip(own, numbers, strict=False))
    conversation = run.verdicts.conversation.copy()
    for row, number in enumerate(run.verdicts.conversation.tolist()):
        conversation[row] = to[number]
    return replace(run, verdicts=replace(run.verdicts, conversation=conversation))
