"""Bounds at the ends, where resampling cannot leave, and what the measures rest on."""

import numpy as np
import pytest
from lone_items import alone, units_of
from statsmodels.stats.proportion import proportion_confint

from annotator.measures.edge_bounds import Counted, with_squares
from annotator.measures.estimate import estimates
from annotator.measures.interval import WILSON
from annotator.measures.table_measures import (
    CHANCE,
    binary_measures,
    label_measures,
    table_measures,
)
from annotator.measures.units import gather, patterns

SOME = 200


def flat(shape):
    return lambda sums: sums[..., : np.prod(shape)].reshape(*sums.shape[:-1], *shape)


def measured(table, measures_of, items=None, **options):
    """Estimates of a table whose items are independent, or whose conversations hold `items`."""
    table = np.asarray(table)
    items = alone(table) if items is None else items
    measures = measures_of(flat(table.shape), **options)
    return estimates(units_of(items), measures, seed=1, resamples=SOME)


def of_label(k):
    return lambda pick, **options: label_measures(k, pick, **options)


def wilson(hits, n):
    return proportion_confint(hits, n, method="wilson")


def ends(estimate):
    return estimate.interval.low, estimate.interval.high


class TestPerfectAgreement:
    TABLE = np.diag([30, 10, 10])

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("agreement", 0.0),
            ("kappa", 0.36 + 0.04 + 0.04),
            ("pi", 0.36 + 0.04 + 0.04),
            ("alpha", 0.36 + 0.04 + 0.04),
            ("ac1", (0.6 * 0.4 + 2 * 0.2 * 0.8) / 2),
            ("brennan_prediger", 1 / 3),
        ],
    )
    def test_is_wilsons_po_through_the_coefficient(self, name, expected):
        found = measured(self.TABLE, table_measures)[name]
        low, _ = wilson(50, 50)
        assert found.value == 1
        assert ends(found) == pytest.approx(((low - expected) / (1 - expected), 1))
        assert found.interval.method == WILSON

    def test_each_conversation_counts_as_one_item(self):
        twice = measured(2 * self.TABLE, table_measures, 2 * alone(self.TABLE))
        once = measured(self.TABLE, table_measures)
        for name in (*CHANCE, "agreement"):
            assert twice[name].interval == once[name].interval

    def test_no_agreement_at_all_has_a_bound_too(self):
        found = measured([[0, 20], [20, 0]], table_measures)["agreement"]
        assert found.value == 0
        assert ends(found) == pytest.approx(wilson(0, 40))

    def test_what_disagrees_is_resampled(self):
        found = measured([[20, 1], [0, 20]], table_measures)
        assert {found[name].interval.method for name in CHANCE} == {"BCa bootstrap"}


class TestShares:
    def test_all_and_none_are_bounded_by_the_items_of_the_row(self):
        found = measured([[12, 0], [0, 30]], binary_measures)
        assert ends(found["sensitivity"]) == pytest.approx(wilson(12, 12))
        assert ends(found["specificity"]) == pytest.approx(wilson(30, 30))
        none = measured([[0, 12], [1, 30]], binary_measures)["sensitivity"]
        assert none.value == 0
        assert ends(none) == pytest.approx(wilson(0, 12))

    def test_never_by_more_units_than_there_are(self):
        """Forty items in ten conversations that are all alike."""
        found = measured(np.diag([20, 20]), binary_measures, np.tile(np.diag([2, 2]), (10, 1, 1)))
        assert ends(found["sensitivity"]) == pytest.approx(wilson(10, 10))

    def test_of_a_label(self):
        found = measured([[15, 0, 0], [3, 20, 2], [0, 0, 12]], of_label(0))
        assert ends(found["recall"]) == pytest.approx(wilson(15, 15))
        assert found["precision"].value == pytest.approx(15 / 18)
        assert found["precision"].interval.method == "BCa bootstrap"

    def test_f1_of_none_or_all_goes_by_the_share_of_hits_in_what_either_said(self):
        found = measured([[0, 12], [8, 20]], of_label(0))["f1"]
        jaccard = wilson(0, 20)[1]
        assert (found.value, found.interval.low) == (0, 0)
        assert found.interval.high == pytest.approx(2 * jaccard / (1 + jaccard))
        perfect = measured(np.diag([15, 30]), of_label(0))
        low = wilson(15, 15)[0]
        assert ends(perfect["f1"]) == pytest.approx((2 * low / (1 + low), 1))
        po = wilson(45, 45)[0]
        pe = (15 / 45) ** 2 + (30 / 45) ** 2
        assert ends(perfect["kappa"]) == pytest.approx(((po - pe) / (1 - pe), 1))


class TestFewPositives:
    @pytest.mark.parametrize(("positives", "has"), [(9, False), (10, True)])
    def test_a_label_that_people_gave_to_few_items_has_no_interval(self, positives, has):
        found = measured([[positives - 3, 3], [4, 40]], of_label(0))
        for estimate in found.values():
            assert estimate.value is not None
            assert (estimate.interval.low is not None) == has
        if not has:
            assert {estimate.interval.method for estimate in found.values()} == {
                "none: fewer than 10 items with this label (9)"
            }

    def test_judged_often_is_not_given_often(self):
        assert measured([[5, 0], [40, 40]], of_label(0))["precision"].interval.low is None

    def test_runs_are_no_items(self):
        """Seven items that three runs judged: 21 in the table."""
        found = measured([[15, 6], [10, 50]], of_label(0), runs=3)["recall"]
        assert found.interval.method == "none: fewer than 10 items with this label (7)"
        assert measured([[24, 6], [10, 50]], of_label(0), runs=3)["recall"].interval.low


class TestWeights:
    """Weights of 1 and 9: forty items of the first label, twenty of the other, all agreeing."""

    CELLS = np.repeat([0, 3], [40, 20])
    WEIGHTS = np.where(np.arange(60) % 4 == 0, 9.0, 1.0)

    def found(self, measures_of, weights=WEIGHTS):
        features, of_item = with_squares(np.eye(4), self.CELLS, weights)
        pick = flat((2, 2))
        measures = measures_of(pick, squares=lambda sums: pick(sums[..., 4:]))
        return estimates(gather(features, of_item), measures, seed=1, resamples=SOME)

    def test_bounds_go_by_the_effective_number_of_items(self):
        """Of forty items ten weigh 9: (30 + 90)² / (30 + 810) = 17.14."""
        found = self.found(binary_measures)["sensitivity"]
        assert ends(found)[0] == pytest.approx(wilson(120**2 / 840, 120**2 / 840)[0])
        kappa = self.found(table_measures)["kappa"]
        po, pe = wilson(180**2 / 1260, 180**2 / 1260)[0], (2 / 3) ** 2 + (1 / 3) ** 2
        assert ends(kappa) == pytest.approx(((po - pe) / (1 - pe), 1))

    def test_it_does_not_depend_on_the_unit_of_weights(self):
        scaled = self.found(binary_measures, 7 * self.WEIGHTS)["sensitivity"]
        assert ends(scaled) == pytest.approx(ends(self.found(binary_measures)["sensitivity"]))

    def test_equal_weights_are_as_none(self):
        equal = self.found(of_label(0), np.full(60, 0.25))
        plain = measured(np.diag([40, 20]), of_label(0))
        assert ends(equal["recall"]) == pytest.approx(ends(plain["recall"]))

    def test_few_effective_items_have_no_interval(self):
        """Twenty items of which five weigh 9: (15 + 45)² / (15 + 405) = 8.57."""
        found = self.found(of_label(1))["recall"]
        assert found.interval.method == (
            "none: fewer than 10 effective items with this label (8.57)"
        )

    def test_squares_add_up_beside_the_weighted_features(self):
        features, of_item = with_squares(np.eye(2), np.array([0, 1, 0]), np.array([2.0, 3, 5]))
        assert features[of_item].sum(axis=0).tolist() == [7, 3, 29, 9]
        runs = with_squares(np.ones((1, 3, 2)), np.array([0, 0]), np.array([2.0, 2]))
        assert (runs[0].shape, runs[0].sum(axis=0).tolist()) == ((1, 3, 4), [[2, 2, 4, 4]] * 3)

    def test_effective_items_of_runs_are_items(self):
        counted = Counted(flat((1, 2)), runs=3, squares=lambda sums: flat((1, 2))(sums[..., 2:]))
        sums = 3 * np.array([4.0, 4.0, 8.0, 8.0])  # in each cell two items of weight 2
        assert counted.items(sums, lambda table: table.sum()) == pytest.approx(4)


def test_every_measure_has_a_name_of_its_own():
    pick = flat((2, 3))
    names = [
        measure.name
        for measures in (
            table_measures(pick),
            binary_measures(pick),
            *[label_measures(k, pick, f"{k} ") for k in range(2)],
        )
        for measure in measures
    ]
    assert len(set(names)) == len(names)
    assert "1 recall" in names


def test_without_a_reference_nothing_is_held_against_it():
    names = [m.name for m in label_measures(0, flat((2, 2)), reference=False)]
    assert names == ["f1", "kappa"]


def test_everything_is_drawn_together():
    """Recall of a label is the sensitivity of the table against the rest: draw for draw."""
    ratings = patterns(np.array([[0, 0]] * 30 + [[0, 1]] * 8 + [[1, 0]] * 5 + [[1, 1]] * 40))
    cells = ratings.rows @ [2, 1]
    pick = flat((2, 2))
    found = estimates(
        gather(np.eye(4)[cells], ratings.of_item),
        [*binary_measures(pick), *label_measures(0, pick), *label_measures(1, pick, "1 ")],
        seed=1,
        resamples=SOME,
    )
    assert found["recall"].interval == found["sensitivity"].interval
    assert found["1 recall"].interval == found["specificity"].interval
    assert found["1 kappa"].interval == found["kappa"].interval
