"""Coefficients: published tables, nltk as an oracle, and what must hold of every table."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lone_items import alone, units_of
from nltk.metrics.agreement import AnnotationTask
from sklearn.metrics import cohen_kappa_score

from annotator.measures.coefficients import (
    ac1_chance,
    beyond_chance,
    kappa_chance,
    kappas,
    largest_kappa,
    observed,
    one_against_rest,
    pi_chance,
    total,
    uniform_chance,
)
from annotator.measures.estimate import estimates
from annotator.measures.table_measures import (
    CHANCE,
    binary_measures,
    label_measures,
    table_measures,
)

# Source: the table (rows: rater 1), and every coefficient that is published of it or was recomputed
# with nltk and irrCAC. BP is Brennan-Prediger (PABAK of 2 × 2), S of Bennett et al. the same.
PUBLISHED = {
    "Cohen 1960 p45": (
        [[88, 14, 18], [10, 40, 10], [2, 6, 12]],
        {"agreement": 0.70, "kappa": 0.491525, "pi": 0.487179, "ac1": 0.575972,
         "brennan_prediger": 0.55, "alpha": 0.488462, "kappa_max": 0.8305},
    ),
    "Cohen 1960 p37": (
        [[25, 12, 3], [13, 2, 15], [12, 16, 2]],
        {"agreement": 0.29, "kappa": -0.092308, "pi": -0.100775, "ac1": -0.047970},
    ),
    "Artstein-Poesio 2008 p568": (
        [[46, 0, 0], [6, 32, 6], [0, 0, 10]],
        {"kappa": 0.801325, "pi": 0.799532, "brennan_prediger": 0.82, "alpha": 0.800535},
    ),
    "Artstein-Poesio 2008 p558": (
        [[20, 10], [20, 50]],
        {"kappa": 0.347826, "pi": 0.340659, "brennan_prediger": 0.40, "alpha": 0.343956},
    ),
    "Krippendorff 2004 p246 a": (
        [[12, 9, 9], [9, 14, 9], [9, 9, 20]], {"kappa": 0.185766, "pi": 0.185766},
    ),
    "Krippendorff 2004 p246 b": (
        [[12, 18, 18], [0, 14, 18], [0, 0, 20]], {"kappa": 0.258242, "pi": 0.185766},
    ),
    "Feinstein-Cicchetti 1990, Byrt 1993 a": (
        [[40, 9], [6, 45]],
        {"agreement": 0.85, "kappa": 0.699519, "brennan_prediger": 0.70, "ac1": 0.700748,
         "prevalence_index": -0.05, "bias_index": -0.03},
    ),
    "Feinstein-Cicchetti 1990, Byrt 1993 b": (
        [[80, 10], [5, 5]],
        {"agreement": 0.85, "kappa": 0.318182, "brennan_prediger": 0.70, "ac1": 0.808,
         "prevalence_index": 0.75, "bias_index": -0.05},
    ),
    "Gwet 2008 a": ([[8, 1], [0, 1]], {"kappa": 0.615385, "ac1": 0.865772, "pi": 0.607843}),
    "Gwet 2008 b": ([[118, 5], [2, 0]], {"kappa": -0.023392, "ac1": 0.940776, "pi": -0.028807}),
    "Brennan-Prediger 1981 p689": (
        [[50, 0, 0], [10, 10, 10], [20, 0, 0]],
        {"kappa": 0.272727, "brennan_prediger": 0.40, "ac1": 0.461279},
    ),
    "Zwick 1988 a": (
        [[20, 0, 0, 5], [0, 10, 15, 0], [0, 15, 10, 0], [5, 0, 0, 20]],
        {"kappa": 0.466667, "pi": 0.466667},
    ),
    "Zwick 1988 b": (
        [[20, 5, 5, 10], [0, 10, 5, 5], [0, 5, 10, 5], [0, 0, 0, 20]],
        {"kappa": 0.473684, "pi": 0.459459},
    ),
    "Krippendorff 2011 A": ([[5, 3], [1, 1]], {"alpha": 0.095238}),
}  # fmt: skip
CASES = [(source, name) for source, (_, values) in PUBLISHED.items() for name in values]


def flat(shape):
    return lambda sums: sums.reshape(*sums.shape[:-1], *shape)


def measured(table, resamples=50, **options):
    """Every coefficient of a table whose items are independent."""
    table = np.asarray(table)
    pick = flat(table.shape)
    measures = table_measures(pick, **options)
    if len(table) == 2:
        measures += binary_measures(pick, **options)
    return estimates(units_of(alone(table)), measures, seed=1, resamples=resamples)


@pytest.mark.parametrize(("source", "name"), CASES)
def test_published_values(source, name):
    table, values = PUBLISHED[source]
    digits = 5e-5 if name == "kappa_max" else 5e-7
    assert measured(table)[name].value == pytest.approx(values[name], abs=digits)


@pytest.mark.parametrize("source", PUBLISHED)
def test_nltk_agrees(source):
    table = np.array(PUBLISHED[source][0])
    items = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    task = AnnotationTask(
        [
            (rater, n, label)
            for n, pair in enumerate(items)
            for rater, label in zip("ab", pair, strict=True)
        ]
    )
    found = measured(table)
    assert found["agreement"].value == pytest.approx(task.avg_Ao(), abs=1e-12)
    assert found["kappa"].value == pytest.approx(task.kappa(), abs=1e-12)
    assert found["pi"].value == pytest.approx(task.pi(), abs=1e-12)
    assert found["alpha"].value == pytest.approx(task.alpha(), abs=1e-12)
    if table.any(axis=0).all() or table.any(axis=1).all():  # nltk's S counts labels in use
        assert found["brennan_prediger"].value == pytest.approx(task.S(), abs=1e-12)


def test_kappa_rewards_raters_who_differ_in_margins_and_pi_does_not():
    """Krippendorff 2004: the same raw agreement and the same pooled margins."""
    a, b = (measured(PUBLISHED[f"Krippendorff 2004 p246 {x}"][0]) for x in "ab")
    assert a["agreement"].value == b["agreement"].value
    assert a["pi"].value == b["pi"].value
    assert a["kappa"].value < b["kappa"].value


def test_the_largest_kappa_is_reached_by_a_table_with_these_margins():
    table = np.array([[30, 0], [10, 60]])
    assert largest_kappa(table) == kappas(table)
    moved = np.array([[25, 5], [15, 55]])
    assert largest_kappa(moved) == largest_kappa(table) > kappas(moved)


def test_one_class_leaves_kappa_and_its_like_undefined_and_agreement_full():
    found = measured([[7, 0], [0, 0]])
    for name in ("kappa", "pi", "alpha", "kappa_max"):
        assert (found[name].value, found[name].undefined[:9]) == (None, "one class")
    assert found["agreement"].value == 1
    # Chance that does not hang on what was seen leaves them defined.
    assert (found["ac1"].value, found["brennan_prediger"].value) == (1, 1)
    assert found["specificity"].undefined == "no item has sigma 0 by the reference"


class TestJudgeOnlyColumn:
    """What cannot be read is a class that people never use: it only ever disagrees."""

    TABLE = np.array([[40, 5, 3], [6, 44, 2]])

    def test_it_is_a_class_of_its_own_for_kappa_and_pi(self):
        square = np.vstack([self.TABLE, [0, 0, 0]])
        found, whole = measured(self.TABLE), measured(square)
        for name in ("agreement", "kappa", "pi", "alpha", "kappa_max"):
            assert found[name].value == pytest.approx(whole[name].value, abs=1e-12)
        items = [(i, j) for i in range(2) for j in range(3) for _ in range(self.TABLE[i, j])]
        assert found["kappa"].value == pytest.approx(cohen_kappa_score(*zip(*items, strict=True)))

    def test_the_number_of_categories_stays_the_rubrics(self):
        found = measured([[70, 5, 3], [4, 16, 2]])
        assert found["brennan_prediger"].value == pytest.approx((0.86 - 0.5) / 0.5)
        pooled = np.array([78 + 74, 22 + 21, 5]) / 200
        chance = (pooled * (1 - pooled)).sum() / (2 - 1)
        assert found["ac1"].value == pytest.approx((0.86 - chance) / (1 - chance))

    def test_chance_is_never_taken_for_more_than_guessing(self):
        """Three classes in use of two: Σπ(1 - π) / (K - 1) would be 5/8, and AC1 -1.67."""
        assert measured([[0, 0, 0], [1, 0, 1]])["ac1"].value == -1

    def test_it_counts_against_the_judge(self):
        found = measured(self.TABLE)
        assert found["sensitivity"].value == pytest.approx(40 / 48)
        assert found["specificity"].value == pytest.approx(44 / 52)
        assert found["prevalence_index"].value == pytest.approx(-0.04)
        assert found["bias_index"].value == pytest.approx((46 - 48) / 100)

    def test_it_is_part_of_the_rest(self):
        assert one_against_rest(self.TABLE, 0).tolist() == [[40, 8], [6, 46]]
        assert one_against_rest(self.TABLE, 1).tolist() == [[44, 8], [5, 43]]


square = st.integers(1, 4).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, 6), min_size=k, max_size=k), min_size=k, max_size=k
    )
).map(np.array)  # fmt: skip
extended = st.integers(1, 4).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, 6), min_size=k + 1, max_size=k + 1), min_size=k, max_size=k
    )
).map(np.array)  # fmt: skip
ALL = [*CHANCE.values()]


def values(table):
    """Every coefficient, NaN where undefined."""
    found = [
        beyond_chance(table, chance) for chance in ALL if len(table) > 1 or chance != ac1_chance
    ]
    return np.array([*found, observed(table), largest_kappa(table)])


@given(square)
def test_every_coefficient_is_symmetric_in_the_raters(table):
    assert values(table.T) == pytest.approx(values(table), nan_ok=True)


@given(extended, st.randoms(use_true_random=False))
def test_the_order_of_labels_does_not_matter(table, random):
    k, extra = table.shape
    order = random.sample(range(k), k)
    moved = table[order][:, [*order, *range(k, extra)]]
    assert values(moved) == pytest.approx(values(table), nan_ok=True)


@given(extended, st.integers(2, 9))
def test_duplicated_data_change_nothing(table, times):
    assert values(table * times) == pytest.approx(values(table), nan_ok=True, abs=1e-12)


@given(extended)
def test_no_agreement_beyond_chance_is_above_what_margins_allow(table):
    kappa = kappas(table)
    assume(not np.isnan(kappa))
    assert kappa <= largest_kappa(table) + 1e-12
    assert largest_kappa(table) <= 1 + 1e-12


@given(extended)
def test_kappa_is_the_weighted_mean_of_one_label_against_the_rest(table):
    """Σ wₖκₖ / Σ wₖ with wₖ = 1 - pe of label k; what only the judge says is a label too."""
    assume(not np.isnan(kappas(table)))
    k, extra = table.shape
    table = np.vstack([table, np.zeros((extra - k, extra), dtype=np.int64)])
    n = total(table)
    weights, ones = [], []
    for label in range(len(table)):
        rest = one_against_rest(table, label)
        weight = 1 - kappa_chance(rest) / n**2
        if weight > 0:
            weights.append(weight)
            ones.append(kappas(rest))
    assert np.average(ones, weights=weights) == pytest.approx(kappas(table), abs=1e-9)


@given(square)
def test_pabak_is_twice_the_raw_agreement_less_one(table):
    assume(len(table) == 2)
    assume(table.any())
    assert beyond_chance(table, uniform_chance) == pytest.approx(2 * observed(table) - 1)


@given(st.lists(extended.filter(lambda table: table.shape == (2, 3)), min_size=1, max_size=4))
def test_many_tables_are_worked_out_as_each(many):
    together = np.stack(many).astype(float)
    for chance in ALL:
        expected = [float(beyond_chance(table, chance)) for table in many]
        assert beyond_chance(together, chance).tolist() == pytest.approx(expected, nan_ok=True)
    assert pi_chance(together).shape == (len(many),)


@given(extended)
def test_every_interval_contains_its_estimate(table):
    pick = flat(table.shape)
    measures = [] if len(table) < 2 else table_measures(pick)
    for k in range(len(table)):
        measures += label_measures(k, pick, f"{k} ")
    units = units_of(alone(table))
    for estimate in estimates(units, measures, seed=1, resamples=60).values():
        for interval in (estimate.interval, estimate.large_sample):
            assert interval.low is None or interval.low <= estimate.value <= interval.high
