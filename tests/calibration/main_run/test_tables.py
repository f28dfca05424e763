"""The tables of a main run: their rows, counted again from the stores, and their gaps."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from math import nan

import pytest

from annotator.measures.double_sample import Corrected, uncorrected
from annotator.measures.interval import Interval, no_interval
from generation.study import Study
from judge.calibration.main_run.main_run import LONE, Accuracy, MainRun
from judge.calibration.main_run.model_facts import facts_of
from judge.calibration.main_run.reported.reported import reported_by
from judge.calibration.main_run.tables.accuracy import accuracy_table
from judge.calibration.main_run.tables.all_tables import Tables, tables
from judge.calibration.main_run.tables.estimates import (
    LONE_CONVERSATION,
    accuracy_share,
)
from judge.calibration.main_run.tables.table import (
    ABOVE,
    BELOW,
    Column,
    Estimate,
    Kind,
    Table,
    corrected_share,
    share,
)
from tests.support.gapped_run import (
    CONDITION,
    PLAIN,
    PLANNED,
    SILENT,
    STAGED,
    gapped_run,
    gapped_study,
)

OWN, HELD_OUT = "self-generated", "held-out"


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Study:
    return gapped_study(tmp_path_factory.mktemp("gapped") / "study")


@pytest.fixture(scope="module")
def run(study) -> MainRun:
    return gapped_run(study)


@pytest.fixture(scope="module")
def found(run) -> Tables:
    return tables(run)


@pytest.fixture(scope="module")
def beside(run) -> Tables:
    return tables(run, reported_by("paper"))


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory) -> MainRun:
    """Nobody labelled, nothing was perturbed, no checkpoint is named."""
    made = replace(PLAIN, labelled=0, perturbations=(), held_out={}, datasets={"gsm8k": 3})
    study = gapped_study(tmp_path_factory.mktemp("bare") / "study", made)
    return gapped_run(study, made, stages=False)


@pytest.fixture(scope="module")
def stored(study):
    """What the store counts of a query, apart from any code of ours."""

    def counts(sql: str) -> list[tuple]:
        with closing(sqlite3.connect(study.pipeline)) as database:
            return database.execute(sql).fetchall()

    return counts


def table(of: Tables, name: str) -> Table:
    return next(table for table in of.tables if table.name == name)


def rows(of: Tables, name: str, **where: object) -> list[dict]:
    """The rows of a table with these values, by key of column."""
    made = table(of, name)
    keys = [column.key for column in made.columns]
    every = [dict(zip(keys, row, strict=True)) for row in made.rows]
    return [row for row in every if all(row[key] == value for key, value in where.items())]


def row(of: Tables, name: str, **where: object) -> dict:
    (only,) = rows(of, name, **where)
    return only


def test_every_table_is_there_or_named_with_the_reason(found, unlabelled):
    assert [made.name for made in found.tables] == [
        "accuracy",
        "temperature",
        "perturbation",
        "labels",
        "labels-corrected",
        "checkpoints",
        "conditions",
    ]
    assert found.absent == ()
    bare = tables(unlabelled)
    assert [made.name for made in bare.tables] == ["accuracy", "temperature", "labels"]
    assert bare.absent == (
        "no table perturbation: no answer was perturbed under the usual conditions",
        f"no table labels-corrected: not corrected: {unlabelled.quality.source}",
        "no table checkpoints: no checkpoints are named: give their stages in a file, "
        "--models FILE",
        "no table conditions: every turn was made under the usual conditions",
    )


def test_no_turn_is_dropped(found, stored):
    """Each turn is counted, as judged or not, in one row of one of three tables."""
    counted = sum(
        made["n"] + made["not_judged"]
        for name in ("temperature", "perturbation", "conditions")
        for made in rows(found, name)
    )
    assert stored("SELECT count(*) FROM turns") == [(counted,)]


def test_every_row_has_n_k_and_the_kappa_of_its_judge(run, found):
    kappa = run.quality.labels
    for made in found.tables:
        for of in rows(found, made.name):
            assert isinstance(of["n"], int)
            assert isinstance(of["k"], int)
            assert of["kappa"] == Estimate(kappa.value, kappa.low, kappa.high)


def test_no_value_is_empty_and_no_gap_unnamed(found, beside):
    for made in (*found.tables, *beside.tables):
        for of in made.rows:
            for column, value in zip(made.columns, of, strict=True):
                assert value != "", column.key
                if isinstance(value, Estimate) and column.interval:
                    told = value.low is None or value.gap in (BELOW, ABOVE)
                    assert told == (value.gap is not None), (made.name, value)


def test_accuracy_counts_the_right_answers_of_those_checked(found, stored):
    (right, checked), *_ = stored(
        """SELECT sum(outcome = 'right'), count(*) FROM answer_scores JOIN answers USING (answer_id)
           WHERE model = 'Made-1B' AND answer_id LIKE 'a-gsm8k-%'"""
    )
    of = row(found, "accuracy", dataset="gsm8k", model="Made-1B")
    assert of["accuracy"].value == right / checked
    assert (of["checked"], of["not_checked"]) == (checked, 0)


def test_accuracy_has_wilsons_interval():
    """5 of 10: .2366 to .7634 (Agresti and Coull 1998)."""
    found = accuracy_share(Accuracy("m", "d", 10, 5, 10, 0), "missing")
    assert (found.low, found.high) == pytest.approx((0.2366, 0.7634), abs=5e-5)


def test_accuracy_is_of_the_models_own_answers_at_the_lowest_temperature(found):
    made = rows(found, "accuracy")
    assert {of["dataset"] for of in made} == {"gsm8k", "ifbench", "lone"}
    assert {of["temperature"] for of in made} == {"0"}


def test_answers_without_a_turn_have_their_accuracy(run):
    more = replace(run, accuracies=(*run.accuracies, Accuracy("Mute-1B", "gsm8k", 4, 1, 4, 0)))
    of = row(tables(more), "accuracy", model="Mute-1B")
    assert of["accuracy"].value == 0.25
    assert of["judged"].gap == "no turns"


def test_rates_are_shares_of_the_judged_turns(found, stored):
    (genuine, judged), *_ = stored(
        """SELECT sum(sigma), count(*) FROM turns JOIN judgments USING (item_hash)
           WHERE model = 'Made-1B' AND setting = 'self-generated' AND temperature = 1
             AND turn_id LIKE 't-gsm8k-%'"""
    )
    of = row(found, "temperature", dataset="gsm8k", model="Made-1B", temperature="1")
    assert (of["judged"].value, of["n"]) == (genuine / judged, judged)
    assert of["judged"].low < of["judged"].value < of["judged"].high


def test_settings_are_rows_apart(found):
    settings = [of["setting"] for of in rows(found, "temperature")]
    assert settings == sorted(settings, reverse=True)
    assert Counter(settings)[HELD_OUT] == 2 * len(PLAIN.models)


def test_models_stand_in_order_of_family_and_size(run):
    names = ("b-30B", "a-9B", "b-4B", "a-0.8B", "a")
    models = facts_of(names, {})
    assert list(models) == ["a", "a-0.8B", "a-9B", "b-4B", "b-30B"]
    cells = tuple(
        replace(of, cell=replace(of.cell, model=name))
        for name in names
        for of in run.cells
        if of.cell.model == "Made-1B" and of.cell.dataset == "gsm8k"
    )
    made = Tables((accuracy_table(replace(run, models=models, cells=cells)),))
    ordered = [of["model"] for of in rows(made, "accuracy", dataset="gsm8k")]
    assert [name for name in ordered if name in models] == list(models)


def test_perturbed_cells_stand_beside_the_plain_ones(found, stored):
    before = row(found, "temperature", dataset="gsm8k", model="Made-1B", temperature="0")
    of = row(found, "perturbation", dataset="gsm8k", model="Made-1B", perturbation="truncate")
    assert (of["judged_before"], of["corrected_before"]) == (before["judged"], before["corrected"])
    assert (of["n_before"], of["not_judged_before"]) == (before["n"], before["not_judged"])
    (compared, changed), *_ = stored(
        """SELECT count(*), sum(turns.text <> plain.text) FROM turns JOIN turns AS plain
             ON plain.turn_id = replace(turns.turn_id, 'truncate', 'none')
           WHERE turns.model = 'Made-1B' AND turns.perturbation = 'truncate'
             AND turns.turn_id LIKE 't-gsm8k-%'"""
    )
    assert (of["compared"], of["changed"].value) == (compared, changed / compared)


def test_gaps_say_what_is_missing(found):
    silent = row(found, "accuracy", dataset="gsm8k", model=SILENT)
    assert silent["judged"].gap == silent["corrected"].gap == "not judged"
    assert (silent["n"], silent["not_judged"]) == (0, 12)
    planned = row(found, "accuracy", model=PLANNED)
    assert {planned[key].gap for key in ("accuracy", "judged", "corrected")} == {"not run"}
    never = row(found, "perturbation", model=PLANNED, perturbation="truncate")
    assert never["changed"].gap == "not run"
    assert row(found, "accuracy", dataset="ifbench", model=STAGED)["accuracy"].gap == "not scored"
    lone = row(found, "accuracy", dataset="lone", model=STAGED)
    assert lone["accuracy"].gap == "no answer could be checked"
    assert lone["judged"].gap == lone["corrected"].gap == LONE
    several = row(found, "temperature", dataset="lone", model=STAGED, temperature="1")
    assert several["n"] > 1
    assert several["judged"].gap == LONE_CONVERSATION
    assert row(found, "temperature", dataset="gsm8k", model=STAGED, temperature="0")["sd"] == (
        Estimate(None, gap="k = 1")
    )
    assert row(found, "temperature", model=STAGED, temperature="unknown")["n"] > 0


def test_without_labels_rates_stay_as_judged_and_say_so(unlabelled):
    of = row(tables(unlabelled), "accuracy", model="Made-1B")
    assert of["judged"].value is not None
    assert of["corrected"].gap == f"not corrected: {unlabelled.quality.source}"
    assert of["correction"] == "none"
    assert of["kappa"].gap == unlabelled.quality.labels.undefined


def test_labels_and_unreadable_verdicts_are_all_of_the_judged_turns(run, found):
    keys = (*(f"label_{of}" for of in run.rubric.category_ids), "unreadable")
    for of in rows(found, "labels"):
        if of["n"]:
            assert sum(of[key].value for key in keys) == pytest.approx(1)
    unreadable = rows(found, "labels", model="Made-1B", temperature="1", dataset="gsm8k")
    assert unreadable[0]["unreadable"].value > 0


def test_a_label_that_nobody_got_is_not_sure_to_be_absent(run, found):
    """0 of n judged turns: it may have happened to be none."""
    judged, corrected = rows(found, "labels"), rows(found, "labels-corrected")
    lacking = [
        after[key]
        for before, after in zip(judged, corrected, strict=True)
        for key in (f"label_{of}" for of in run.rubric.category_ids)
        if before[key].value == 0 and before[key].low is not None
    ]
    assert lacking
    for of in lacking:
        assert of.gap or of.high - of.low > 0.01


def test_checkpoints_stand_in_order_of_their_stages(found):
    made = rows(found, "checkpoints", dataset="gsm8k")
    assert [of["stage"] for of in made] == ["base", "SFT"]
    assert made[1]["accuracy"] == row(found, "accuracy", dataset="gsm8k", model=STAGED)["accuracy"]
    assert row(found, "checkpoints", dataset="coval", stage="SFT")["accuracy"].gap == "held-out"


def test_unusual_conditions_have_a_table_apart(found):
    (of,) = rows(found, "conditions")
    assert (of["condition"], of["setting"], of["dataset"]) == (CONDITION, HELD_OUT, "coval")
    assert not any("condition" in column.key for column in table(found, "temperature").columns)


def test_reported_numbers_stand_beside_and_are_named_as_such(found, beside):
    of = row(beside, "accuracy", dataset="gsm8k", model="Qwen/Qwen3.5-9B")
    assert of["reported_accuracy"] == Estimate(0.578)
    assert of["reported_rate"] == Estimate(0.008)
    other = row(beside, "accuracy", dataset="gsm8k", model="Made-1B")
    assert other["reported_rate"] == Estimate(None, gap="not reported")
    made = table(beside, "accuracy")
    assert "reported: by arXiv 2604.02315, not measured here" in made.notes
    assert (
        "also reported, without a row here: 16 settings (gpqa_diamond 6, gsm8k 5, ifbench 5)"
        in (made.notes)
    )
    measured = [column for column in made.columns if not column.key.startswith("reported_")]
    assert measured == list(table(found, "accuracy").columns)


def test_reported_sweeps_are_of_generated_answers_at_their_temperature(beside):
    reported = {
        (of["setting"], of["dataset"], of["temperature"]): of["reported_rate"].value
        for of in rows(beside, "temperature", model="Qwen/Qwen3.5-9B")
    }
    assert {key: value for key, value in reported.items() if value is not None} == {
        (OWN, "ifbench", "1"): 0.36
    }


def test_reported_checkpoints_go_by_what_they_are_checkpoints_of(run):
    models = {
        name: replace(facts, checkpoint_of="Qwen3.5-2B") if facts.stage else facts
        for name, facts in run.models.items()
    }
    made = tables(replace(run, models=models), reported_by("paper"))
    of = row(made, "checkpoints", dataset="coval", stage="SFT")
    assert (of["reported_rate"].value, of["reported_accuracy"].gap) == (0.452, "not reported")
    assert row(made, "checkpoints", dataset="gsm8k", stage="base")["reported_accuracy"].value == (
        0.629
    )


def test_notes_say_whose_judge_which_correction_and_which_intervals(run, found, stored):
    notes = " ".join(table(found, "accuracy").notes)
    kappa = run.quality.labels
    for part in (
        "judge: made-up-judge (55555555, ",
        "single-run, rubric v3",
        f"{kappa.value:.2f} [{kappa.low:.2f}, {kappa.high:.2f}], n = {kappa.n}",
        "I inverted (Rogan and Gladen",
        "9 cells inverted: fewer than 30 of its items are labelled",
        "not judged in every run that counts, in no rate: ",
        "intervals are 95%, by conversation",
        "as their names tell them; told by a file: Made-1B, Made-1B-SFT",
    ):
        assert part in notes
    (unreadable,), *_ = stored("SELECT count(*) FROM judgments WHERE label IS NULL")
    assert f"{unreadable} unreadable verdicts" in " ".join(table(found, "temperature").notes)
    assert "P post-stratified" not in notes


def test_estimates_are_numbers_or_named_gaps():
    for bad in ((nan,), (0.5, nan, 1.0), (None,), (float("inf"),)):
        with pytest.raises(ValueError, match="no gap says why"):
            Estimate(*bad)


def test_a_share_without_an_interval_says_why():
    assert share(0.5, no_interval("a single conversation"), "alone") == Estimate(0.5, gap="alone")
    assert share(0.5, no_interval("standard error 0"), "alone") == Estimate(
        0.5, gap="no interval: standard error 0"
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (0.2, 0.1, 0.3, Estimate(0.2, 0.1, 0.3)),
        # Moved with its interval, not cut off: that would look the surer the less it fits.
        (-0.25, -0.375, -0.125, Estimate(0.0, 0.0, 0.125, BELOW)),
        (1.25, 1.125, 1.375, Estimate(1.0, 0.875, 1.0, ABOVE)),
        (0.08, 0.09, 0.11, Estimate(0.08, 0.08, 0.11)),  # projected: the interval reaches to it
    ],
)
def test_corrected_shares_stay_between_0_and_1(value, low, high, shown):
    assert corrected_share(Corrected(value, Interval(low, high, "delta")), "alone") == shown


def test_a_share_that_is_not_corrected_says_why():
    found = corrected_share(uncorrected("nobody has labelled"), "alone")
    assert found == Estimate(None, gap="not corrected: nobody has labelled")


def test_a_table_for_machines_has_every_value_under_its_key():
    made = Table(
        "t", "T", (Column("a", "A"), Column("b", "B %", Kind.SHARE)), (("x", Estimate(0.5)),)
    )
    assert made.as_dict()["rows"] == [
        {"a": "x", "b": {"value": 0.5, "low": None, "high": None, "gap": None}}
    ]
