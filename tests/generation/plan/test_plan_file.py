"""Plans as TOML: strict to read, equal when written and read again."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.perturbation import KNOWN
from generation.plan.plan import AnswerPlan, DatasetPlan, ModelPlan, Plan, Sweep
from generation.plan.plan_file import plan_from, plan_text, read_plan
from generation.toml_file import parse_toml
from rubrics import InputError

PLAN = Plan(
    "mine",
    (ModelPlan("org/m", "m", template_kwargs={"enable_thinking": False}),),
    (DatasetPlan("gsm8k", "gsm8k", limit=5), DatasetPlan("chat", "logs", "logs.jsonl")),
    (Sweep(temperatures=(0.0, 0.7), samples=4), Sweep(("logs",), ("held-out",))),
    date="2026-11-30",
    answers=AnswerPlan(0.5, max_tokens=99),
)


def parsed(text: str) -> Plan:
    return plan_from(parse_toml(text.encode(), "mine.toml", "a plan"), "mine.toml")


def refused(text: str) -> str:
    with pytest.raises(InputError) as refusal:
        parsed(text)
    return str(refusal.value)


sweeps = st.builds(
    Sweep,
    perturbations=st.lists(st.sampled_from(("none", *KNOWN)), min_size=1, unique=True).map(tuple),
    temperatures=st.lists(st.floats(0, 2), min_size=1, max_size=3).map(tuple),
    top_p=st.lists(st.floats(0.01, 1), min_size=1, max_size=2).map(tuple),
    samples=st.integers(1, 9),
    user_turns=st.integers(1, 3),
)


@given(st.lists(sweeps, min_size=1, max_size=3).map(tuple), st.integers(0, 2**31))
def test_plan_that_is_written_reads_back_equal(made, seed):
    plan = replace(PLAN, sweeps=made, seed=seed)
    assert parsed(plan_text(plan)) == plan


def test_names_follow_from_sources_where_they_are_left_out():
    plan = parsed(
        'name = "x"\ndate = "2026-01-01"\n[[models]]\nsource = "Qwen/Qwen3.5-27B"\n'
        '[[datasets]]\nsource = "gsm8k"\n[[sweeps]]\n'
    )
    assert (plan.models[0].name, plan.datasets[0].name) == ("Qwen3.5-27B", "gsm8k")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("[answers]", "[answer]"), "'answer' is unknown; expected name"),
        (("samples = 4", "sample = 4"), "sweeps 1: 'sample' is unknown"),
        (("samples = 4", "samples = 4.5"), "sweeps 1, samples is 4.5; expected a whole number"),
        (("samples = 4", "samples = 0"), "samples: 0; expected a whole number from 1 to"),
        (("samples = 4", "samples = true"), "samples is True; expected a whole number"),
        (("samples = 4", "samples = 1000000000"), "expected a whole number from 1 to 10000"),
        (("user_turns = 1", "user_turns = 1000000000"), "user_turns: 1000000000; expected"),
        (("limit = 5", "limit = -3"), "limit: -3; expected a whole number from 1 to"),
        (("context_length = 4096", "context_length = -5"), "context_length: -5; expected"),
        (('name = "mine"', 'name = "a\\nb"'), "the name of a plan is 'a\\nb'; expected printable"),
        (('date = "2026-11-30"', 'date = "soon"'), "date 'soon': expected a day"),
        (('date = "2026-11-30"', 'date = "20261130"'), "date '20261130': expected a day"),
        (('source = "org/m"', 'sauce = "org/m"'), "models 1: 'sauce' is unknown"),
        (('"history"', '"future"'), "context 'future': expected one of history, raw, naive"),
        (('"none"', '"shout"'), "perturbation 'shout': expected one of none, truncate"),
        (("0.7", "-0.7"), "temperature -0.7: expected a number from 0 up to 100"),
        (("enable_thinking = false", "enable_thinking = 2026-01-01"), "expected a table of JSON"),
        (("0.7", "nan"), "temperatures is nan; expected a number"),
        (('"logs",\n]', '"lots",\n]'), "data set 'lots': expected one of gsm8k, logs"),
        (('name = "logs"', 'name = "gsm8k"'), "two of the plan's data sets are named 'gsm8k'"),
        (('"history"', '"raw"'), "held-out answer was not sampled"),
    ],
)
def test_wrong_plan_is_refused_with_what_is_expected(change, reason):
    text = plan_text(PLAN)
    assert change[0] in text
    if change[1] == '"raw"':  # in the last sweep, which is held-out
        head, _, tail = text.rpartition(change[0])
        assert reason in refused(head + change[1] + tail)
    else:
        assert reason in refused(text.replace(*change, 1))


def test_raw_context_takes_no_perturbation():
    with pytest.raises(InputError, match="a perturbed answer was never sampled"):
        Sweep(contexts=("raw",), perturbations=("none", "ask"))


def test_papers_design_comes_with_the_tool():
    plan = read_plan(Path("paper.toml"))
    assert len(plan.models) == 11
    assert {temperature for sweep in plan.sweeps for temperature in sweep.temperatures} == {
        0.0, 0.3, 0.7, 1.0,
    }  # fmt: skip
    assert {sweep.samples for sweep in plan.sweeps if len(sweep.temperatures) > 1} == {4}
    assert {name for sweep in plan.sweeps for name in sweep.perturbations} == {
        "none", "truncate", "ask",
    }  # fmt: skip
    explicit = {"enable_thinking", "reasoning_effort"}
    assert all(explicit & model.template_kwargs.keys() for model in plan.models)


def test_missing_plan_is_one_line_with_what_a_plan_is():
    with pytest.raises(InputError, match=r"nowhere\.toml"):
        read_plan(Path("nowhere.toml"))
