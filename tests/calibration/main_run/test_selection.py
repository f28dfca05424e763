"""Which runs a report is about."""

import json

import pytest

from generation.plan.plan import DatasetPlan, ModelPlan, Plan, Sweep
from judge.calibration.main_run.selection import (
    newest_runs,
    planned_cells,
    select_plan,
    select_runs,
)
from judge.store import open_pipeline
from rubrics import InputError


@pytest.fixture
def database(tmp_path):
    with open_pipeline(tmp_path / "pipeline.db", create=True) as database:
        yield database


def add_run(database, name: str, *, day: int = 1, run_id: str = "", kind: str = "probe", **told):
    database["runs"].insert(
        {
            "run_id": run_id or f"sha256:{name}{day}",
            "kind": kind,
            "provenance": json.dumps({"name": name, **told}),
            "started_at": f"2026-01-{day:02}",
        }
    )


def plan(*models: str, **changes) -> Plan:
    return Plan(
        name="mine",
        models=tuple(ModelPlan(name, name) for name in models),
        datasets=(DatasetPlan("gsm8k", "gsm8k"),),
        sweeps=(Sweep(temperatures=(0.0, 1.0), samples=2, **changes),),
        date="2026-01-01",
    )


def names(selection) -> list[str]:
    return [run.name for run in selection.runs]


def test_a_plan_s_name_selects_the_runs_of_all_its_models(database):
    for name in ("mine/b", "mine/a", "other/a"):
        add_run(database, name)
    assert names(select_runs(database, "mine", "")) == ["mine/a", "mine/b"]


def test_of_runs_of_one_name_the_last_counts(database):
    add_run(database, "mine/a", day=1)
    add_run(database, "mine/b", day=1)
    add_run(database, "mine/a", day=2)
    found = select_runs(database, "mine", "")
    assert [run.run_id for run in found.runs] == ["sha256:mine/a2", "sha256:mine/b1"]


def test_a_run_is_named_whole_or_by_the_head_of_its_id(database):
    add_run(database, "mine/a", run_id="sha256:abcdef")
    add_run(database, "mine/b", run_id="sha256:123456")
    assert names(select_runs(database, "mine/a", "")) == ["mine/a"]
    assert names(select_runs(database, "1234", "")) == ["mine/b"]


def test_of_imports_of_one_name_none_is_guessed(database):
    for day in (1, 2):
        add_run(database, "example", day=day, kind="example", run_id=f"sha256:{day}abc")
    with pytest.raises(InputError, match=r"2 runs are named 'example'; name one by its id: 1abc"):
        select_runs(database, "example", "")
    assert select_runs(database, "2abc", "").name == "example 2abc"
    assert newest_runs(database).name == "example 2abc"


def test_of_two_imports_one_can_be_named_anew(database):
    for day in (1, 2):
        add_run(database, "import", day=day, kind="import", run_id=f"sha256:{day}abc")
    with pytest.raises(InputError, match=r"by its id: 1abc .*generate import FILE --name NAME"):
        select_runs(database, "import", "")


def test_an_unknown_run_is_refused_with_those_there_are(database):
    add_run(database, "mine/a")
    with pytest.raises(InputError, match=r"'nothing'; the runs are .*mine/a.*--study s"):
        select_runs(database, "nothing", " --study s")


def test_the_newest_run_brings_those_of_its_plan(database):
    add_run(database, "mine/a", day=1)
    add_run(database, "mine/b", day=3)
    add_run(database, "other/a", day=2)
    assert newest_runs(database).name == "mine"
    assert names(newest_runs(database)) == ["mine/a", "mine/b"]
    add_run(database, "import of a/file", day=4, kind="import")
    assert names(newest_runs(database)) == ["import of a/file"]


def test_a_study_without_runs_says_what_makes_one(database):
    with pytest.raises(InputError, match="no runs; make one: generate"):
        newest_runs(database)


def test_a_plan_names_the_models_that_have_no_run_and_keeps_their_cells(database):
    add_run(database, "mine/a")
    found = select_plan(database, plan("a", "b"), "")
    assert names(found) == ["mine/a"]
    assert found.remarks == ("b has no run: its cells are named as not run",)
    assert {cell.model for cell in found.planned} == {"a", "b"}


def test_a_run_made_by_another_plan_of_that_name_is_told(database):
    add_run(database, "mine/a", plan={"seed": 7, "max_turn_tokens": 256})
    found = select_plan(database, plan("a"), "")
    assert found.remarks == ("mine/a was made by another plan of that name: other seed",)


def test_a_plan_without_any_run_is_refused(database):
    add_run(database, "other/a")
    with pytest.raises(InputError, match=r"no model of plan 'mine' has a run .* other/a"):
        select_plan(database, plan("a"), "")


def test_later_user_turns_are_planned_cells_too():
    cells = planned_cells(plan("a", user_turns=2))
    assert [(of.temperature, of.condition) for of in cells] == [
        (0.0, ""),
        (0.0, "user turn 2"),
        (1.0, ""),
        (1.0, "user turn 2"),
    ]


def test_a_plan_whose_name_holds_a_slash_is_found_by_it(database):
    for model in ("x", "y"):
        add_run(database, f"a/b/{model}", plan={"name": "a/b"})
    assert names(select_runs(database, "a/b", "")) == ["a/b/x", "a/b/y"]
    assert newest_runs(database).name == "a/b"


def test_planned_cells_are_counted_once_whatever_the_samples():
    cells = planned_cells(plan("a", contexts=("history", "naive"), perturbations=("none", "ask")))
    assert [(of.temperature, of.perturbation, of.condition) for of in cells] == [
        (0.0, "ask", ""),
        (1.0, "ask", ""),
        (0.0, "none", ""),
        (1.0, "none", ""),
        (0.0, "ask", "naive"),
        (1.0, "ask", "naive"),
        (0.0, "none", "naive"),
        (1.0, "none", "naive"),
    ]
