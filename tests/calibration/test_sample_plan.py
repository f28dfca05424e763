"""How many labels a result takes: published sizes, and a plan that draws nothing."""

import json

import numpy as np
import pytest
from calibrate_command import run

from annotator.measures.sample_size import (
    KAPPA,
    MARGINS,
    error_per_item,
    items_for_difference,
    items_for_half_width,
    items_for_test,
    largest_error,
)
from generation.study import Study
from judge.calibration.sampling.plan import plan_sample
from rubrics import InputError


@pytest.mark.parametrize(
    ("margins", "kappa", "null_kappa", "power", "items"),
    [
        # R package irr 0.84.1, help of N2.cohen.kappa
        ((0.2, 0.25, 0.55), 0.6, 0.4, 0.8, 100.613),
        ((0.2, 0.25, 0.55), 0.6, 0.4, 0.9, 135.798),
        ((0.2, 0.05, 0.2, 0.05, 0.2, 0.3), 0.5, 0.1, 0.8, 17.698),
        # irr, N.cohen.kappa: two categories; its help states the second test and calls the first
        ((0.5, 0.5), 0.7, 0.85, 0.8, 95.716),
        ((0.5, 0.5), 0.85, 0.7, 0.8, 116.354),
    ],
)
def test_sizes_of_a_test_are_those_of_irr(margins, kappa, null_kappa, power, items):
    found = items_for_test(kappa=kappa, null_kappa=null_kappa, margins=margins, power=power)
    assert found == pytest.approx(items, abs=5e-4)


@pytest.mark.parametrize(
    ("null_kappa", "kappa", "items"), [(0.60, 0.726, 138), (0.65, 0.75, 199), (0.70, 0.80, 172)]
)
def test_sizes_of_a_test_with_seven_categories(null_kappa, kappa, items):
    found = items_for_test(kappa=kappa, null_kappa=null_kappa, margins=MARGINS)
    assert np.ceil(found) == items


def test_no_table_of_these_margins_has_a_larger_error():
    """Tables of the same margins and kappa, made by moving counts around, stay below."""
    margins, kappa = np.array([0.2, 0.3, 0.5]), 0.5
    largest = largest_error(kappa=kappa, margins=margins)
    assert error_per_item(kappa=kappa, margins=margins) < largest
    table = kappa * np.diag(margins) + (1 - kappa) * np.outer(margins, margins)
    move = np.array([[1, -2, 1], [-2, 1, 1], [1, 1, -2]])  # changes no margin, nor the agreement
    expected = margins @ margins
    squares = (np.eye(3) - (1 - kappa) * (margins[:, None] + margins)) ** 2
    errors = []
    for step in np.linspace(-0.05, 0.015, 14):
        moved = table + step * move
        assert (moved > -1e-12).all()
        variance = (moved * squares).sum() - (kappa - expected * (1 - kappa)) ** 2
        errors.append(np.sqrt(variance) / (1 - expected))
    assert error_per_item(kappa=kappa, margins=margins) < max(errors) <= largest + 1e-9


def test_impossible_margins_and_tests_are_refused():
    with pytest.raises(InputError, match="expected the shares of two or more categories"):
        items_for_half_width(0.1, kappa=0.7, margins=(0.5, 0.4))
    with pytest.raises(InputError, match=r"no table with these margins has a kappa of -0\.9"):
        largest_error(kappa=-0.9, margins=(0.9, 0.1))
    with pytest.raises(InputError, match="from itself"):
        items_for_test(kappa=0.7, null_kappa=0.7, margins=MARGINS)


def test_a_difference_of_two_prompts_has_its_power():
    """Draws of two judges that copy the reference together more often than by chance."""
    items = items_for_difference(0.15, kappa=KAPPA, margins=MARGINS)
    assert 380 <= items_for_difference(0.08, kappa=KAPPA, margins=MARGINS) <= 420
    rng = np.random.default_rng(7)
    shares, k = np.array(MARGINS), len(MARGINS)
    upper, lower = KAPPA + 0.075, KAPPA - 0.075
    together, found, draws = 0.5, 0, 400  # half of the items: right or wrong for the same reason
    for _ in range(draws):
        h = rng.choice(k, items, p=shares)
        same, luck, other = rng.random(items) < together, rng.random(items), rng.random(items)
        a = np.where(luck < lower, h, rng.choice(k, items, p=shares))
        b = np.where(np.where(same, luck, other) < upper, h, rng.choice(k, items, p=shares))
        difference = psi(h, b) - psi(h, a)
        delta = kappa(h, b) - kappa(h, a)
        found += abs(delta) > 1.96 * difference.std() / np.sqrt(items)
    assert 0.72 < found / draws < 0.90  # 80%, and what these judges differ from those planned for


def kappa(h: np.ndarray, a: np.ndarray) -> float:
    expected = np.bincount(h, minlength=7) @ np.bincount(a, minlength=7) / len(h) ** 2
    return float(((h == a).mean() - expected) / (1 - expected))


def psi(h: np.ndarray, a: np.ndarray) -> np.ndarray:
    rows = np.bincount(h, minlength=7) / len(h)
    columns = np.bincount(a, minlength=7) / len(h)
    return ((h == a) - (1 - kappa(h, a)) * (columns[h] + rows[a])) / (1 - rows @ columns)


def test_the_plan_says_its_sizes_and_what_several_turns_cost():
    plan = plan_sample()
    assert [(need.wanted, need.items) for need in plan.half_widths] == [
        (0.10, 101),
        (0.07, 205),
        (0.05, 402),
        (0.03, 1115),
    ]
    assert [need.wanted for need in plan.differences] == [0.15, 0.10, 0.08, 0.05]
    assert plan.half_widths[0].items_in_clusters == 152


def test_the_command_plans_without_a_study(tmp_path):
    study = Study(tmp_path / "none")
    result = run(study, "sample", "--plan")
    assert result.exit_code == 0, result.output
    assert not study.folder.exists()
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    rows = {" ".join(line.split()) for line in lines}
    assert "95% interval of kappa within ±0.03 1,115 1,673" in rows
    assert "nothing was drawn" in result.stdout
    as_json = json.loads(run(study, "sample", "--plan", "--json").stdout)
    assert as_json == json.loads(json.dumps(plan_sample().as_dict()))
    assert not study.folder.exists()


@pytest.mark.parametrize("option", [("--n", "5"), ("--by", "model"), ("--repeats", "0")])
def test_a_plan_takes_no_choices_of_a_draw(tmp_path, option):
    result = run(Study(tmp_path / "none"), "sample", "--plan", *option)
    assert result.exit_code == 2
    assert "--plan draws nothing" in result.stderr


def test_the_command_draws_by_strata_and_lists_them(builder):
    builder.turns(12)
    result = run(builder, "sample", "--n", "6", "--by", "dataset, model")
    assert result.exit_code == 0, result.output
    assert "stratified by model × dataset (1 stratum, chances 0.5)" in result.stdout
    assert any(
        line.split() == ["model=unknown,", "dataset=test", "6", "12", "0.5"]
        for line in result.stdout.splitlines()
    )
    again = json.loads(run(builder, "sample", "--json").stdout)
    assert again["sample"]["strata"] == [
        {"name": "model=unknown, dataset=test", "drawn": 6, "population": 12}
    ]
    assert (again["drawn_before"], again["handed_over"], again["caveat"]) == (6, 0, None)
