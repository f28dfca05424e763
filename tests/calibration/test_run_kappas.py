"""Run kappas: every run alone, and mean-of-runs beside majority-of-k."""

import json
import random
from statistics import stdev

import pytest
from sklearn.metrics import cohen_kappa_score

from annotator.measures.interval import wilson
from annotator.measures.replicates import FEW_RUNS
from judge.calibration.pair_estimates import estimate_pairs
from judge.calibration.pairing import Pair
from judge.calibration.run_kappas import run_kappas
from judge.calibration.sampling.weights import DesignWeights
from judge.judgment import Judgment, invalid_judgment
from judge.reading import Reading, majority_run, read
from rubrics import load_rubric

V3 = load_rubric("v3")
A, B, C = V3.category_ids[:3]


class OwnConversation(Pair):
    """A pair without an item behind it."""

    @property
    def conversation(self):
        return self.item_id


def pairs(references, runs, reading=Reading.MEAN):
    def judgment(label):
        return Judgment(label, 0, "", label) if label else invalid_judgment("none", raw="")

    found = []
    for k, (reference, said) in enumerate(zip(references, runs, strict=True)):
        verdicts = read([judgment(label) for label in said], reading)
        found.append(
            OwnConversation(f"{k:04}", None, reference, verdicts.counted, (), verdicts.runs)
        )
    return found


def judged(n, rights, seed=1):
    """Runs that are right with these chances, and else say C or nothing that can be read."""
    chance = random.Random(seed)
    references = [chance.choice((A, B)) for _ in range(n)]
    runs = [
        tuple(r if chance.random() < right else chance.choice((C, None)) for right in rights)
        for r in references
    ]
    return references, runs


def found_of(references, runs, reading=Reading.MEAN, design=None):
    return run_kappas(pairs(references, runs, reading), V3, design or DesignWeights(), seed=1)


def kappa(references, said):
    return cohen_kappa_score(references, [label or "unreadable" for label in said])


def test_each_run_and_majority_are_what_sklearn_gives():
    references, runs = judged(80, (0.9, 0.7, 0.6))
    found = found_of(references, runs)
    each = [kappa(references, said) for said in zip(*runs, strict=True)]
    assert found.each == pytest.approx(each)
    assert found.spread == pytest.approx(stdev(each))
    most = [said[majority_run(said)] for said in runs]
    assert found.majority_of_k.value == pytest.approx(kappa(references, most))


def test_mean_and_majority_are_what_the_calibration_gives_under_either_reading():
    references, runs = judged(60, (0.9, 0.8, 0.7, 0.6))
    both = found_of(references, runs)
    for reading, estimate in (
        (Reading.MEAN, both.mean_of_runs),
        (Reading.MAJORITY, both.majority_of_k),
    ):
        assert found_of(references, runs, reading) == both
        of_pairs = pairs(references, runs, reading)
        alone = estimate_pairs(of_pairs, V3, DesignWeights(), seed=1).kappas.labels
        assert estimate.value == pytest.approx(alone.value, abs=1e-12)
    assert both.difference.value == pytest.approx(
        both.majority_of_k.value - both.mean_of_runs.value
    )


def test_the_difference_is_paired():
    references, runs = judged(300, (0.8, 0.8, 0.8, 0.8))
    found = found_of(references, runs)
    assert found.majority_of_k.value > found.mean_of_runs.value + 0.05
    apart = found.majority_of_k.standard_error + found.mean_of_runs.standard_error
    assert 0 < found.difference.standard_error < 0.8 * apart
    assert found.difference.interval.low > 0


def test_what_runs_have_in_common_widens_the_mean_and_not_the_majority():
    references, runs = judged(300, (0.95, 0.8, 0.5))
    assert len(runs[0]) == FEW_RUNS
    found = found_of(references, runs)
    assert found.mean_of_runs.run_variance > 0
    assert found.majority_of_k.run_variance == 0


def test_runs_that_say_the_same_do_not_spread():
    references, (said, *rest) = judged(40, (0.8,))
    runs = [(*one, *one) for one in (said, *rest)]
    found = found_of(references, runs)
    assert found.spread == 0
    assert (found.difference.value, found.difference.interval.low) == (0, None)


def test_a_run_without_a_kappa_leaves_the_spread_open():
    found = found_of([A, A, A], [(A, A), (A, A), (A, B)])
    assert found.each == (None, 0)
    assert found.spread is None
    assert found.difference.undefined == "one of them is undefined"
    json.dumps(found.as_dict(), allow_nan=False)


def test_weights_count_an_item_as_so_many():
    references, runs = judged(40, (0.9, 0.6))
    chances = {f"{k:04}": 0.25 if k < 10 else 0.75 for k in range(40)}
    strata = {f"{k:04}": "rare" if k < 10 else "common" for k in range(40)}
    weighted = found_of(references, runs, design=DesignWeights(chances, strata))
    thrice = found_of(references[:10] * 3 + references[10:], runs[:10] * 3 + runs[10:])
    assert weighted.each == pytest.approx(thrice.each)
    assert weighted.majority_of_k.value == pytest.approx(thrice.majority_of_k.value)


def test_at_perfect_agreement_the_bound_goes_by_the_effective_number_of_items():
    """Ten of forty items weigh three times as much: (30 + 30)² / (90 + 30) = 30."""
    chances = {f"{k:04}": 0.25 if k < 10 else 0.75 for k in range(40)}
    references = [A] * 20 + [B] * 20
    design = DesignWeights(chances, dict.fromkeys(chances, "all"))
    found = found_of(references, [(r, r) for r in references], design=design)
    po, pe = wilson(30, 30)[0], (2 / 3) ** 2 + (1 / 3) ** 2
    for estimate in (found.mean_of_runs, found.majority_of_k):
        assert estimate.interval.low == pytest.approx((po - pe) / (1 - pe))


def test_there_is_nothing_to_set_side_by_side_of_a_single_run():
    assert found_of(*judged(5, (0.9,)), reading=Reading.SINGLE) is None
    assert run_kappas([], V3, DesignWeights(), seed=1) is None
