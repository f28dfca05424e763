"""Estimates of a study's pairs: clusters, weights, strata and runs as the engine draws them."""

import json
import random

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from annotator.measures.interval import WILSON, wilson
from judge.calibration.pair_estimates import estimate_pairs
from judge.calibration.pairing import Pair
from judge.calibration.sampling.weights import DesignWeights
from judge.judgment import Judgment, invalid_judgment
from rubrics import load_rubric

V3 = load_rubric("v3")
LABELS = V3.category_ids
A, B, C = LABELS[:3]
COEFFICIENTS = {"agreement", "pi", "ac1", "brennan_prediger", "alpha", "kappa_max"}
BINARY = {"sensitivity", "specificity", "prevalence_index", "bias_index"}


class InConversation(Pair):
    """A pair without an item behind it; its id is "conversation/number"."""

    @property
    def conversation(self):
        return self.item_id.partition("/")[0]


def judgment(label):
    return Judgment(label, 0, "", label) if label else invalid_judgment("none", raw="")


def pair(item_id, reference, *said):
    verdicts = tuple(map(judgment, said))
    return InConversation(item_id, None, reference, verdicts, (), verdicts)


def pairs_of(rows, per_conversation=1):
    return [
        pair(f"{n // per_conversation:04}/{n}", reference, *said)
        for n, (reference, *said) in enumerate(rows)
    ]


def judged(n, right=0.75, seed=3, runs=1):
    chance = random.Random(seed)
    rows = []
    for _ in range(n):
        reference = chance.choice(LABELS[:4])
        said = [
            reference if chance.random() < right else chance.choice((*LABELS[:4], None))
            for _ in range(runs)
        ]
        rows.append((reference, *said))
    return rows


def estimated(pairs, design=None):
    return estimate_pairs(pairs, V3, design or DesignWeights(), seed=1)


def test_every_number_is_there_with_an_interval_or_a_reason():
    found = estimated(pairs_of(judged(120)))
    assert found.coefficients.labels.keys() == COEFFICIENTS
    assert found.coefficients.sigma.keys() == COEFFICIENTS | BINARY
    written = json.loads(json.dumps(found.coefficients.as_dict(), allow_nan=False))
    for of_table in written.values():
        for estimate in of_table.values():
            low, high = estimate["interval"]["low"], estimate["interval"]["high"]
            assert low <= estimate["value"] <= high
    for scores in found.label_scores:
        assert scores.as_dict()["intervals"].keys() == {"precision", "recall", "f1", "kappa"}
        used = scores.category in LABELS[:4]
        assert (scores.recall.interval.low is not None) == used
        assert (scores.recall.undefined is None) == used
    assert found.effective_items is None


def test_values_are_those_of_sklearn():
    rows = judged(120)
    found = estimated(pairs_of(rows))
    references, said = zip(*[(r, s or "unreadable") for r, s in rows], strict=True)
    assert found.kappas.labels.value == pytest.approx(cohen_kappa_score(references, said))
    readable = [(r, s) for r, s in rows if s]
    assert found.kappas.parseable.items == len(readable) < 120
    assert found.kappas.parseable.value == pytest.approx(
        cohen_kappa_score(*zip(*readable, strict=True))
    )
    precision, recall, f1, support = precision_recall_fscore_support(
        references, said, labels=LABELS[:4]
    )
    for k, scores in enumerate(found.label_scores[:4]):
        assert scores.precision.value == pytest.approx(precision[k])
        assert scores.recall.value == pytest.approx(recall[k])
        assert scores.f1.value == pytest.approx(f1[k])
        assert scores.support == support[k]
        rest = [[label == LABELS[k] for label in side] for side in (references, said)]
        assert scores.kappa.value == pytest.approx(cohen_kappa_score(*rest))
    genuine = found.coefficients.sigma
    assert genuine["sensitivity"].value == pytest.approx(recall[0])


def test_kappa_and_the_other_coefficients_are_from_the_same_draws():
    """Recall of the one genuine category is the sensitivity of sigma."""
    found = estimated(pairs_of([(r, said or C) for r, said in judged(150)]))
    recall, sensitivity = found.label_scores[0].recall, found.coefficients.sigma["sensitivity"]
    assert recall.interval == sensitivity.interval
    assert found.label_scores[0].kappa.interval == found.kappas.sigma.interval


def test_the_order_of_pairs_does_not_matter():
    pairs = pairs_of(judged(90), per_conversation=3)
    shuffled = random.Random(4).sample(pairs, 90)
    assert estimated(shuffled) == estimated(pairs)


def test_items_of_one_conversation_are_drawn_together():
    rows = [row for row in judged(60) for _ in range(3)]
    alone, together = estimated(pairs_of(rows)), estimated(pairs_of(rows, per_conversation=3))
    assert alone.kappas.labels.conversations == 180
    assert together.kappas.labels.conversations == 60
    assert together.confusion == alone.confusion
    for one, other in (
        (alone.kappas.labels, together.kappas.labels),
        (alone.coefficients.labels["ac1"], together.coefficients.labels["ac1"]),
        (alone.label_scores[0].f1, together.label_scores[0].f1),
    ):
        assert other.value == one.value
        assert other.interval.half_width > 1.4 * one.interval.half_width
        assert other.standard_error == pytest.approx(3**0.5 * one.standard_error, rel=0.05)


def test_nothing_to_compare_has_a_reason_everywhere():
    found = estimated([])
    assert (found.kappas.labels.undefined, found.confusion.n) == ("no items", 0)
    assert {e.undefined for e in found.coefficients.labels.values()} == {"no items"}


# Forty items, the first ten drawn with a third of the chance of the others.
ROWS = judged(40, right=0.6)
IDS = [pair.item_id for pair in pairs_of(ROWS)]
DESIGN = DesignWeights(
    dict(zip(IDS, [0.25] * 10 + [0.75] * 30, strict=True)),
    dict(zip(IDS, ["rare"] * 10 + ["common"] * 30, strict=True)),
)


class TestDesign:
    def test_unequal_chances_weight_every_estimate_and_no_count(self):
        found = estimated(pairs_of(ROWS), DESIGN)
        thrice = estimated(pairs_of(ROWS[:10] * 3 + ROWS[10:]))
        plain = estimated(pairs_of(ROWS))
        for name in ("labels", "sigma", "parseable"):
            weighted, expected = getattr(found.kappas, name), getattr(thrice.kappas, name)
            assert weighted.value == pytest.approx(expected.value)
            assert weighted.items == getattr(plain.kappas, name).items
            assert weighted.agreement.standard_error is None
        for name, estimate in found.coefficients.sigma.items():
            assert estimate.value == pytest.approx(
                thrice.coefficients.sigma[name].value, abs=0.01
            ), name
        assert found.kappas.labels.value != plain.kappas.labels.value
        assert found.confusion == plain.confusion
        assert found.label_scores[0].support == plain.label_scores[0].support

    def test_the_effective_number_is_kishs(self):
        found = estimated(pairs_of(ROWS), DESIGN)
        assert found.effective_items == pytest.approx((10 * 3 + 30) ** 2 / (10 * 9 + 30))

    def test_equal_chances_are_no_weights(self):
        equal = DesignWeights(dict.fromkeys(IDS, 0.2), dict.fromkeys(IDS, "all"))
        assert estimated(pairs_of(ROWS), equal) == estimated(pairs_of(ROWS))

    def test_what_lies_between_strata_is_no_error(self):
        """One stratum agrees always, the other never: each resample has the same raw agreement."""
        rows = [(LABELS[n % 4], LABELS[n % 4]) for n in range(20)]
        rows += [(LABELS[n % 4], LABELS[(n + 1) % 4]) for n in range(20)]
        strata = {i: str(n < 20) for n, i in enumerate(IDS)}
        stratified = DesignWeights(dict.fromkeys(IDS, 0.5), strata)
        kappa = estimated(pairs_of(rows), stratified).kappas.labels
        plain = estimated(pairs_of(rows)).kappas.labels
        assert kappa.value == plain.value
        assert kappa.standard_error < 0.3 * plain.standard_error
        assert kappa.interval.half_width < 0.4 * plain.interval.half_width

    def test_the_standard_error_of_kappa_is_that_of_its_resamples(self):
        found = estimated(pairs_of(judged(40, right=0.7)), DESIGN).kappas.labels
        reach = (found.large_sample.high - found.large_sample.low) / 2
        assert found.interval.half_width == pytest.approx(reach, rel=0.15)

    def test_at_perfect_agreement_the_bound_goes_by_the_effective_number(self):
        """Forty items worth thirty; two thirds of the weight are on the first label."""
        rows = [(A, A)] * 20 + [(B, B)] * 20
        found = estimated(pairs_of(rows), DESIGN)
        po, pe = wilson(30, 30)[0], (2 / 3) ** 2 + (1 / 3) ** 2
        assert found.kappas.labels.interval.method == WILSON
        assert found.kappas.labels.interval.low == pytest.approx((po - pe) / (1 - pe))
        recall = found.label_scores[0].recall.interval
        assert recall.low == pytest.approx(wilson(16, 16)[0])  # (30 + 10)² / (90 + 10)


class TestRuns:
    def test_items_count_once_whatever_the_runs(self):
        rows = judged(60, runs=3)
        found = estimated(pairs_of(rows))
        assert (found.kappas.labels.items, found.confusion.n) == (60, 180)
        each = [
            cohen_kappa_score([r for r, *_ in rows], [said[run] or "-" for _, *said in rows])
            for run in range(3)
        ]
        assert found.kappas.labels.value == pytest.approx(np.mean(each), abs=0.02)

    def test_runs_that_say_the_same_are_one_run(self):
        """To every coefficient: alpha corrects for the number of items, not of verdicts."""
        rows = judged(40)
        once = estimated(pairs_of(rows)).coefficients
        often = estimated(pairs_of([(r, said, said, said) for r, said in rows])).coefficients
        for name in COEFFICIENTS | BINARY:
            assert often.sigma[name].value == pytest.approx(once.sigma[name].value, abs=1e-12)
            ends = once.sigma[name].interval
            assert often.sigma[name].interval.low == pytest.approx(ends.low)
            assert often.sigma[name].interval.high == pytest.approx(ends.high)

    def test_what_runs_have_in_common_widens_every_interval(self):
        """The third run of three is far worse."""
        chance = random.Random(8)
        rows = [
            (r, *[r if chance.random() < right else C for right in (0.9, 0.9, 0.4)])
            for r in (chance.choice((A, B)) for _ in range(200))
        ]
        three = estimated(pairs_of(rows))
        two = estimated(pairs_of([row[:3] for row in rows]))
        assert three.coefficients.labels["ac1"].run_variance > 0
        assert three.kappas.labels.standard_error > 2 * two.kappas.labels.standard_error
        assert three.label_scores[0].f1.run_variance > 0

    def test_perfect_runs_are_bounded_by_the_items(self):
        once = estimated(pairs_of([(A, A)] * 20 + [(B, B)] * 20))
        often = estimated(pairs_of([(A, A, A, A)] * 20 + [(B, B, B, B)] * 20))
        low = once.kappas.labels.interval.low
        assert often.kappas.labels.interval.low == pytest.approx(low)
        assert often.label_scores[0].f1.interval == once.label_scores[0].f1.interval
        few = estimated(pairs_of([(A, A, A)] * 7 + [(B, B, C)] * 20)).label_scores[0].recall
        assert few.interval.method == "none: fewer than 10 items with this label (7)"
