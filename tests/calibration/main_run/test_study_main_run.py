"""A judged main run out of the two stores: its rates, its gaps, and what they rest on."""

from dataclasses import replace

import numpy as np
import pytest

from generation.study import Study
from judge.calibration.export import export_calibration
from judge.calibration.main_run.main_run import NOT_JUDGED, NOT_RUN, Group, MainRun
from judge.calibration.main_run.model_facts import ModelFacts
from judge.calibration.main_run.run_labels import Choices
from judge.calibration.main_run.selection import select_runs
from judge.calibration.main_run.study_main_run import study_main_run
from judge.calibration.rates.rate import INVERTED, POST_STRATIFIED
from judge.calibration.rates.study_rates import study_rates
from judge.calibration.rates.turn_verdicts import Cell
from judge.calibration.study_calibration import calibrate_study
from judge.exported import load_export
from judge.store import open_pipeline
from rubrics import InputError, load_rubric
from tests.support.main_run_study import MadeRun, make_main_run

RUBRIC = load_rubric("v3")
MADE = MadeRun(datasets={"gsm8k": 6, "ifbench": 4}, held_out={"coval": 3}, labelled=60)


def loaded(study: Study, name: str = "made", choices: Choices | None = None, **more) -> MainRun:
    with open_pipeline(study.pipeline) as database:
        selection = more.pop("selection", None) or select_runs(database, name, study.option)
        return study_main_run(database, study, RUBRIC, selection, choices or Choices(), **more)


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Study:
    return make_main_run(tmp_path_factory.mktemp("made") / "study", MADE)


@pytest.fixture(scope="module")
def run(study) -> MainRun:
    return loaded(study)


def test_all_runs_of_a_study_have_the_rates_that_calibrate_rates_gives(study, run):
    from annotator.labels import open_labels

    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        rates = study_rates(pipeline_db, labels_db, RUBRIC)
    assert tuple(of.rate for of in run.cells) == rates.cells
    assert run.whole == rates.whole
    assert run.errors == rates.errors


def test_one_run_has_its_own_turns_alone_and_the_judge_s_errors_of_all_labels(study, run):
    one = loaded(study, "made/Made-1B")
    assert {of.cell.model for of in one.cells} == {"Made-1B"}
    assert [of.rate.raw for of in one.cells] == [
        of.rate.raw for of in run.cells if of.cell.model == "Made-1B"
    ]
    assert one.labelled.n == run.labelled.n == 60
    assert one.whole.turns == run.whole.turns // 2
    assert one.whole.labelled < run.whole.labelled  # labelled items that its turns read like
    assert one.whole.method in (POST_STRATIFIED, INVERTED)


def test_settings_are_groups_of_their_own_with_a_cell_per_temperature(run):
    assert {(of.setting, of.dataset) for of in run.groups} == {
        ("self-generated", "gsm8k"),
        ("self-generated", "ifbench"),
        ("held-out", "coval"),
    }
    sweep = run.sweep(Group("self-generated", "gsm8k", "Made-1B"))
    assert [of.cell.temperature for of in sweep] == [0.0, 0.3, 0.7, 1.0]
    assert [of.rate.samples.k for of in sweep] == [1, 4, 4, 4]
    for perturbation in ("ask", "truncate"):
        perturbed = replace(sweep[0].cell, perturbation=perturbation)
        assert run.by_cell[perturbed].rate is not None
        assert run.unperturbed(perturbed) == sweep[0]


def test_accuracy_and_changed_turns_are_those_that_generate_show_counts(run):
    found = run.accuracy("Made-8B", "gsm8k")
    assert (found.answers, found.checked) == (6, 6)
    assert found.interval.low < found.value < found.interval.high
    assert run.accuracy("Made-8B", "coval") is None  # whose answers nobody generated
    (changed,) = {of.changed.compared for of in run.cells if of.changed and of.turns == 6}
    assert changed == 6


def test_models_are_in_order_of_size_and_kappa_says_whose_labels(run):
    assert list(run.models) == ["Made-1B", "Made-8B"]
    assert run.quality.labels.n == 60
    assert run.quality.source.startswith("this study's labels")


def test_half_of_the_judgments_leave_the_rest_counted(tmp_path):
    run = loaded(make_main_run(tmp_path / "study", replace(MADE, judged=0.5)))
    turns = sum(of.turns for of in run.cells)
    assert turns == 2 * (10 * (13 + 2) + 3 * 13)
    assert 0 < sum(of.unjudged for of in run.cells) < turns
    assert all(of.gap == (NOT_JUDGED if of.rate is None else None) for of in run.cells)


def test_a_cell_without_a_verdict_is_there_and_says_so(tmp_path):
    study = make_main_run(tmp_path / "study", MADE)
    with open_pipeline(study.pipeline) as database:
        database.conn.execute(
            """DELETE FROM judgments WHERE item_hash IN
               (SELECT item_hash FROM turns WHERE model = 'Made-8B' AND temperature = 1)"""
        )
        database.conn.commit()
    run = loaded(study)
    gone = [of for of in run.cells if of.cell.model == "Made-8B" and of.cell.temperature == 1.0]
    assert [(of.rate, of.gap) for of in gone] == [(None, NOT_JUDGED)] * 3
    assert [of.turns for of in gone] == [3 * 4, 6 * 4, 4 * 4]
    assert run.judged(gone[0].cell) is None


def test_a_planned_cell_that_was_not_run_is_there_and_says_so(study):
    with open_pipeline(study.pipeline) as database:
        selection = select_runs(database, "made", "")
    cell = Cell("self-generated", "Made-70B", "gsm8k", 0.0, "none")
    run = loaded(study, selection=replace(selection, planned=(cell,)))
    assert run.by_cell[cell].gap == NOT_RUN
    assert "Made-70B" in run.models


def test_without_verdicts_it_is_refused_with_what_to_type(tmp_path):
    study = make_main_run(tmp_path / "study", replace(MADE, judged=0.0, labelled=0))
    with pytest.raises(InputError, match="nothing is judged under rubric v3 yet; run: judge"):
        loaded(study)


def test_a_run_of_which_nothing_is_judged_names_the_judge_that_did_not(tmp_path):
    study = make_main_run(tmp_path / "study", MADE)
    with open_pipeline(study.pipeline) as database:
        database.conn.execute(
            """DELETE FROM judgments WHERE item_hash IN
               (SELECT item_hash FROM turns WHERE model = 'Made-8B')"""
        )
        database.conn.commit()
    with pytest.raises(InputError, match=r"none of the 189 turns of made/Made-8B is judged by"):
        loaded(study, "made/Made-8B")


def test_without_labels_rates_stay_as_judged_and_say_why(tmp_path):
    study = make_main_run(tmp_path / "study", replace(MADE, labelled=0))
    run = loaded(study)
    assert run.labelled is None
    assert run.errors is None
    assert run.quality.labels.undefined == "nobody has labelled under rubric v3"
    assert {of.rate.sigma.undefined for of in run.cells} == {run.quality.source}
    assert {of.rate.method for of in run.cells} == {None}
    study.labels.unlink()
    assert loaded(study).quality.source == "nobody has labelled: the study has no labels.db"


def test_an_export_lends_its_labels_to_a_study_that_has_none(study, run, tmp_path):
    export = exported(study, tmp_path)
    bare = make_main_run(tmp_path / "bare", replace(MADE, labelled=0, seed=1))
    found = loaded(bare, export=export)
    assert found.quality.labels == run.quality.labels
    assert found.quality.source == f"export {export.folder.name}"
    assert found.errors.sensitivity == pytest.approx(run.errors.sensitivity)
    assert {of.rate.method for of in found.cells} <= {INVERTED, None}
    assert found.whole.reason.startswith("the labels are those of export")
    own = set(found.verdicts.conversation.tolist())
    assert own.isdisjoint(found.labelled.conversations.tolist())


def test_an_export_of_a_judge_that_judged_nothing_here_is_refused(study, tmp_path):
    export = exported(study, tmp_path)
    other = replace(export, judge=replace(export.judge, model="another"))
    with pytest.raises(InputError, match=r"is of judge .*\(another\).*the judges are: made-up"):
        loaded(study, export=other)


def exported(study: Study, folder):
    from annotator.labels import open_labels

    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        calibration = calibrate_study(pipeline_db, labels_db, RUBRIC)
        return load_export(export_calibration(pipeline_db, calibration, folder / "x").folder)


def test_no_annotator_is_named_and_ties_are_told(study, run):
    assert "made-up," not in run.quality.source
    assert run.reference_rule == "labels of the only annotator"


def test_its_fingerprint_changes_with_a_single_verdict(study, run, tmp_path):
    assert loaded(study).inputs == run.inputs
    other = make_main_run(tmp_path / "study", MADE)
    assert loaded(other).inputs == run.inputs
    with open_pipeline(other.pipeline) as database:
        database.conn.execute(
            """UPDATE judgments SET label = 'malformed', sigma = 0 WHERE judgment_id =
               (SELECT min(judgment_id) FROM judgments WHERE label <> 'malformed')"""
        )
        database.conn.commit()
    assert loaded(other).inputs != run.inputs


def test_its_fingerprint_changes_with_a_score(run, tmp_path):
    other = make_main_run(tmp_path / "study", MADE)
    with open_pipeline(other.pipeline) as database:
        database.conn.execute("UPDATE answer_scores SET outcome = 'wrong'")
        database.conn.commit()
    assert loaded(other).inputs != run.inputs


def test_its_fingerprint_changes_with_what_is_told_of_a_model(study, run):
    told = {"Made-1B": ModelFacts("Made-1B", "another family", 1e9)}
    assert loaded(study, told=told).inputs != run.inputs


def test_of_a_cell_it_gives_the_verdicts_by_conversation(run):
    cell = run.sweep(run.groups[0])[1].cell
    judged = run.judged(cell)
    assert judged.counts.shape == (6, len(RUBRIC.categories) + 1)
    assert judged.counts.sum(axis=1).tolist() == [4.0] * 6
    share = judged.shares[np.flatnonzero(run.sigmas)].sum()
    assert share == pytest.approx(run.by_cell[cell].rate.raw.value)
