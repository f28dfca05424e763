"""What a plan amounts to: cells that add up, ids that follow from what decides the text."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from generation.plan.cells import (
    Cell,
    Draw,
    answer_row_suffix,
    cells_of,
    row_seed,
    shard_of,
    turn_row_suffix,
)
from generation.plan.plan import AnswerPlan, DatasetPlan, ModelPlan, Plan, Sweep

PLAN = Plan(
    "x", (ModelPlan("m", "m"),), (DatasetPlan("gsm8k", "gsm8k"),), (Sweep(),), date="2026-01-01"
)


def cells(*sweeps, dataset="gsm8k", setting="self-generated"):
    names = ("gsm8k", "coval")
    datasets = tuple(DatasetPlan(name, name) for name in names)
    return cells_of(replace(PLAN, datasets=datasets, sweeps=sweeps), dataset, setting)


def test_temperature_zero_is_one_draw_whatever_is_swept():
    found = cells(Sweep(temperatures=(0, 0.0), top_p=(1.0, 0.5), top_k=(0, 9), samples=7))
    assert list(found) == [Cell("history", "none", Draw(0.0))]


def test_draws_are_every_combination():
    found = cells(Sweep(temperatures=(0, 0.5, 1), top_p=(0.9, 1.0), samples=3))
    assert len(found) == 1 + 2 * 2 * 3
    assert list(found) == sorted(found)


def test_sweeps_add_up_and_what_two_have_is_one():
    wide = Sweep(temperatures=(0.0, 0.7), samples=2)
    deep = Sweep(temperatures=(0.0,), perturbations=("none", "ask"), user_turns=3)
    found = cells(wide, deep)
    assert len(found) == 4
    assert found[Cell("history", "none", Draw(0.0))] == 3
    assert found[Cell("history", "none", Draw(0.7))] == 1


def test_sweep_is_for_the_data_sets_and_settings_that_it_names():
    sweep = Sweep(datasets=("coval",), settings=("held-out",))
    assert cells(sweep) == {}
    assert cells(sweep, dataset="coval") == {}
    assert len(cells(sweep, dataset="coval", setting="held-out")) == 1


def test_end_of_a_row_id_changes_with_everything_that_decides_the_text_and_with_nothing_else():
    drawn = Cell("history", "none", Draw(0.7))

    def turn(plan=PLAN, setup="s", cell=drawn):
        return turn_row_suffix(plan, setup, cell)

    same = turn()
    different = [
        turn(plan=replace(PLAN, seed=1)),
        turn(plan=replace(PLAN, max_turn_tokens=9)),
        turn(setup="other"),
        turn(cell=Cell("naive", "none", Draw(0.7))),
        turn(cell=Cell("history", "none", Draw(0.7, sample_index=1))),
        turn(cell=Cell("history", "none", Draw(0.7, top_p=0.9))),
        turn(cell=Cell("history", "none", Draw(0.7, top_k=9))),
        turn(cell=Cell("history", "none", Draw(0.8))),
        turn(cell=Cell("history", "none", Draw(0.0))),
    ]
    assert len({same, *different}) == len(different) + 1
    assert turn(plan=replace(PLAN, name="other", sweeps=(Sweep(samples=9),))) == same


def test_seed_of_a_plan_does_not_matter_where_nothing_is_drawn():
    greedy = Cell("history", "none", Draw(0.0))
    other = replace(PLAN, seed=1)
    assert turn_row_suffix(PLAN, "s", greedy) == turn_row_suffix(other, "s", greedy)
    assert answer_row_suffix(PLAN, "s") == answer_row_suffix(other, "s")
    drawn = replace(PLAN, answers=AnswerPlan(0.5))
    assert answer_row_suffix(drawn, "s") != answer_row_suffix(replace(drawn, seed=1), "s")
    assert answer_row_suffix(drawn, "s") != answer_row_suffix(drawn, "t")


@given(st.text(), st.text())
def test_seeds_have_31_bits_and_differ_with_the_row(first, second):
    seed = row_seed(Draw(0.7), first)
    assert 0 <= seed < 2**31
    assert row_seed(Draw(0.7), first) == seed
    assert row_seed(Draw(0.0), first) is None
    if first != second:
        assert row_seed(Draw(0.7), second) != seed


@given(st.binary(min_size=32, max_size=32), st.integers(1, 50))
def test_every_conversation_is_in_one_shard(digest, count):
    assert 0 <= shard_of(f"sha256:{digest.hex()}", count) < count
