"""The human ceiling, alpha without each annotator, and agreement with oneself on repeats."""

import json

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotator.agreement.annotator_influence import ONE_LABEL, annotator_influence
from annotator.agreement.intra_annotator import intra_annotator
from annotator.measures.agreement import ONE_CLASS
from annotator.measures.confusion import INVALID
from annotator.measures.panel import NO_PAIR
from judge.calibration.human_ceiling import human_ceiling
from judge.calibration.report.human_text import human_text
from judge.calibration.sampling.weights import DesignWeights
from rubrics import InputError, load_rubric

RUBRIC = load_rubric("v3")
LABELS = RUBRIC.category_ids
A, B, C = LABELS[:3]
EQUAL = DesignWeights()

# irr's anxiety data, 20 subjects by 3 raters, ratings 1 to 6 (statistics.md R20).
ANXIETY = "332 361 344 464 523 542 221 346 531 231 221 632 133 533 221 221 113 233 432 342"
# Fleiss 1971's diagnoses, 30 patients by 6 raters, 5 classes (R18).
DIAGNOSES = """
    444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333
    144444 224445 333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224
    111155 224444 133333 555555
"""


def raters(rows):
    """Labels by annotator of rows with a digit per rater; a dot is none."""
    return {
        f"r{k}": {f"{i:03}": LABELS[int(row[k]) - 1] for i, row in enumerate(rows) if row[k] != "."}
        for k in range(len(rows[0]))
    }


def ceiling(labels, outcomes, references=None, conversations=None, design=EQUAL, seed=1):
    if conversations is None:
        conversations = {item_id: item_id for item_id in outcomes}
    outcomes = {i: (said,) if isinstance(said, str) else said for i, said in outcomes.items()}
    return human_ceiling(
        labels, outcomes, references or {}, RUBRIC, conversations, design, seed=seed
    )


def simulated(n=200, people=(0.85, 0.85, 0.85), judge=0.85, runs=1, seed=0):
    """Labels by annotator, outcomes and the truth; a wrong one is any of the seven."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(7, size=n)

    def said(accuracy):
        given = np.where(draw.random(n) < accuracy, truth, draw.integers(7, size=n))
        return {f"{i:03}": LABELS[k] for i, k in enumerate(given)}

    labels = {f"p{k}": said(accuracy) for k, accuracy in enumerate(people)}
    verdicts = [said(judge) for _ in range(runs)]
    outcomes = {i: tuple(run[i] for run in verdicts) for i in verdicts[0]}
    return labels, outcomes, {f"{i:03}": LABELS[k] for i, k in enumerate(truth)}


def sigma(label):
    return RUBRIC.category(label).sigma


def test_the_means_over_pairs_of_the_anxiety_data():
    """Pairwise .1195, -.1656, -.0063, their mean is Light's kappa (R20: -.0175)."""
    labels = raters(ANXIETY.split())
    found = ceiling(labels, labels["r0"])
    assert found.labels.people.value == pytest.approx(np.mean([0.1195, -0.1656, -0.0063]), abs=1e-4)
    assert found.labels.people.value == pytest.approx(-0.0175, abs=1e-4)
    # The first rater as the judge: it agrees with itself, and as above with the others.
    assert found.labels.judge.value == pytest.approx(np.mean([1, 0.1195, -0.1656]), abs=1e-4)


def test_means_are_those_of_cohens_kappas_where_everybody_labelled_everything():
    labels, outcomes, truth = simulated(60)
    found = ceiling(labels, outcomes, truth)
    said = [list(given.values()) for given in labels.values()]
    judged = [outcome for (outcome,) in outcomes.values()]
    for level, view in ((found.labels, lambda x: x), (found.sigma, sigma)):
        seen = [[view(label) for label in given] for given in said]
        verdicts = [view(outcome) for outcome in judged]
        pairs = [(0, 1), (0, 2), (1, 2)]
        people = np.mean([cohen_kappa_score(seen[a], seen[b]) for a, b in pairs])
        judge = np.mean([cohen_kappa_score(given, verdicts) for given in seen])
        assert level.people.value == pytest.approx(people)
        assert level.judge.value == pytest.approx(judge)
        assert level.difference.value == pytest.approx(judge - people)
        reference = cohen_kappa_score([view(label) for label in truth.values()], verdicts)
        assert level.reference.value == pytest.approx(reference)
    assert (found.items, found.pairs, found.reference_items) == (60, 3, 60)


def test_only_items_that_the_judge_judged_and_two_people_labelled_count():
    labels = {"ann": {"1": A, "2": B, "3": A, "5": C}, "bo": {"1": A, "2": C, "4": B, "5": C}}
    found = ceiling(labels, {"1": A, "2": B, "3": A, "4": B})
    assert found.items == 2
    assert found.annotators == {"ann": 2, "bo": 2}
    assert found.labels.judge.value == ceiling(labels, {"1": A, "2": B}).labels.judge.value


def test_pairs_weigh_by_shared_items_and_annotators_alike_on_both_sides():
    """Cy shares two items with ann, so that one pair weighs 2 and the other 20."""
    draw = np.random.default_rng(1)
    ann = {f"{i:03}": LABELS[k] for i, k in enumerate(draw.integers(3, size=20))}
    bo = {i: LABELS[k] for i, k in zip(ann, draw.integers(3, size=20), strict=True)}
    judge = {i: LABELS[k] for i, k in zip(ann, draw.integers(3, size=20), strict=True)}
    cy = {"000": ann["000"], "001": LABELS[3]}

    def kappa(one, other):
        """With chance from all labels of either, and agreement from the shared ones."""
        agreed = np.mean([one[i] == other[i] for i in one.keys() & other.keys()])
        shares = [
            [list(of.values()).count(label) / len(of) for label in LABELS] for of in (one, other)
        ]
        chance = np.dot(*shares)
        return (agreed - chance) / (1 - chance)

    labels = {"ann": ann, "bo": bo, "cy": cy}
    found = ceiling(labels, judge)
    pairs = [kappa(ann, bo), kappa(ann, cy), kappa(bo, cy)]
    assert found.labels.people.value == pytest.approx(np.average(pairs, weights=[20, 2, 2]))
    only = {i: judge[i] for i in cy}
    judged = [kappa(ann, judge), kappa(bo, judge), kappa(cy, only)]
    assert found.labels.judge.value == pytest.approx(np.average(judged, weights=[22, 22, 4]))


def test_few_shared_items_per_pair_do_not_pull_the_mean_down():
    """Nine people, two labels per item: pairs share three items or so."""
    labels, outcomes, _ = simulated(120, people=[0.85] * 9, seed=3)
    draw = np.random.default_rng(4)
    two = {i: set(draw.choice(9, size=2, replace=False).tolist()) for i in outcomes}
    sparse = {
        who: {i: label for i, label in given.items() if k in two[i]}
        for k, (who, given) in enumerate(labels.items())
    }
    full, thin = ceiling(labels, outcomes).labels, ceiling(sparse, outcomes).labels
    assert thin.people.value == pytest.approx(full.people.value, abs=0.06)
    assert abs(thin.difference.value) < 0.08


def test_the_difference_is_paired():
    """Judge and people err on the same hard items: the difference knows, two intervals do not."""
    labels, outcomes, _ = simulated(200, people=[0.95] * 3, judge=0.95)
    draw = np.random.default_rng(5)
    for i in list(outcomes)[:60]:  # hard items: everybody guesses
        guesses = draw.integers(7, size=4)
        for given, k in zip(labels.values(), guesses, strict=False):
            given[i] = LABELS[k]
        outcomes[i] = (LABELS[guesses[3]],)
    found = ceiling(labels, outcomes).labels
    independent = np.hypot(found.people.standard_error, found.judge.standard_error)
    assert found.difference.standard_error < 0.75 * independent
    assert found.difference.interval.low < found.difference.value < found.difference.interval.high
    assert found.difference.two_sided_p > 0.05


def test_a_judge_below_the_ceiling_is_told():
    labels, outcomes, truth = simulated(200, people=[0.95] * 3, judge=0.6)
    found = ceiling(labels, outcomes, truth).labels
    assert found.difference.interval.high < 0
    assert found.difference.two_sided_p < 0.01


def test_kappa_with_the_reference_exceeds_that_with_individuals():
    labels, outcomes, truth = simulated(300, people=[0.7] * 5, judge=0.8)
    found = ceiling(labels, outcomes, truth).labels
    assert found.reference.value > found.judge.value + 0.1


def test_an_unreadable_verdict_is_a_disagreement_and_no_label_of_the_judge():
    labels = {"ann": {"1": A, "2": B, "3": A, "4": B}, "bo": {"1": A, "2": B, "3": A, "4": B}}
    found = ceiling(labels, {"1": A, "2": B, "3": A, "4": INVALID}, {"1": A, "4": B})
    # po 3/4; pe 1/2·1/2 + 1/2·1/4, what cannot be read being no label by chance either.
    assert found.labels.judge.value == pytest.approx((0.75 - 0.375) / (1 - 0.375))
    assert found.reference_items == 2
    assert found.labels.reference.value == pytest.approx((0.5 - 0.25) / 0.75)


def test_pairs_of_one_class_are_named_and_left_out_of_the_mean():
    labels = {
        "ann": {"1": A, "2": A, "3": B, "4": B},
        "bo": {"1": A, "2": A, "3": B, "4": A},
        "cy": {"1": A, "2": A},
        "dee": {"1": A, "2": A},
    }
    found = ceiling(labels, {"1": A, "2": A, "3": B, "4": B}).labels
    assert found.undefined == ("cy – dee", "judge – cy", "judge – dee")
    assert found.judge.value is not None
    same = ceiling({k: labels[k] for k in ("cy", "dee")}, {"1": A, "2": A}).labels
    assert same.undefined == ("cy – dee", "judge – cy", "judge – dee")
    assert same.people.value is None
    assert same.people.undefined == ONE_CLASS
    assert same.difference.value is None


def test_nothing_to_compare_is_a_named_state():
    for labels in ({}, {"ann": {"1": A}}, {"ann": {"1": A}, "bo": {"2": A}}):
        found = ceiling(labels, {"1": A, "2": B})
        assert (found.items, found.pairs) == (0, 0)
        assert found.labels.people.undefined == NO_PAIR
        assert found.labels.difference.value is None
        json.dumps(found.as_dict(), allow_nan=False)


def test_one_item_has_a_value_and_no_interval():
    found = ceiling({"ann": {"1": A}, "bo": {"1": B}}, {"1": A})
    assert found.labels.people.value == 0
    assert found.labels.people.interval.low is None


def test_perfect_agreement_of_people_has_a_wilson_bound():
    labels = {who: {str(i): LABELS[i % 7] for i in range(40)} for who in ("ann", "bo")}
    found = ceiling(labels, labels["ann"]).labels
    assert found.people.value == 1
    # Wilson's lower end for 40 of 40 is .9124; pe is close to 1/7.
    assert found.people.interval.low == pytest.approx(1 - (1 - 0.9124) / (1 - 1 / 7), abs=1e-3)
    assert found.difference.value == 0
    assert found.difference.interval.low is None


def test_conversations_are_the_units():
    labels, outcomes, _ = simulated(100)
    together = ceiling(labels, outcomes, conversations={i: int(i) // 5 for i in outcomes})
    assert together.conversations == 20
    assert together.labels.people.units == 20


def test_runs_count_each_and_four_runs_alike_change_no_value():
    labels, outcomes, _ = simulated(40, judge=0.7)
    repeated = {i: said * 4 for i, said in outcomes.items()}
    one, four = ceiling(labels, outcomes).labels, ceiling(labels, repeated).labels
    for name in ("people", "judge", "difference"):
        assert getattr(four, name).value == pytest.approx(getattr(one, name).value)


def test_the_judges_mean_over_runs_lies_between_the_runs():
    labels, outcomes, _ = simulated(40, judge=0.7, runs=2)
    by_run = [ceiling(labels, {i: said[r] for i, said in outcomes.items()}).labels for r in (0, 1)]
    both = ceiling(labels, outcomes).labels
    assert both.judge.value == pytest.approx(np.mean([r.judge.value for r in by_run]), abs=0.02)
    assert both.people.value == pytest.approx(by_run[0].people.value)


def test_design_weights_count_items_as_often_as_they_stand_for():
    labels, outcomes, _ = simulated(30)
    heavy = {f"{i:03}": 0.5 if i < 10 else 1.0 for i in range(30)}
    weighted = ceiling(labels, outcomes, design=DesignWeights(heavy))
    twice = {
        who: given | {f"x{i}": given[i] for i in list(given)[:10]} for who, given in labels.items()
    }
    again = outcomes | {f"x{i}": outcomes[i] for i in list(outcomes)[:10]}
    doubled = ceiling(twice, again)
    assert weighted.labels.people.value == pytest.approx(doubled.labels.people.value)
    assert weighted.sigma.difference.value == pytest.approx(doubled.sigma.difference.value)


def test_names_and_order_of_items_and_annotators_do_not_matter():
    labels, outcomes, truth = simulated(50)
    found = ceiling(labels, outcomes, truth)
    shuffled = {who: dict(reversed(given.items())) for who, given in reversed(labels.items())}
    other = ceiling(shuffled, dict(reversed(outcomes.items())), truth)
    assert other.as_dict() == found.as_dict()


def test_an_unknown_label_is_refused():
    with pytest.raises(InputError, match="unknown label 'nonsense'"):
        ceiling({"ann": {"1": "nonsense"}, "bo": {"1": A}}, {"1": A})


def influence(labels, conversations=None):
    ids = {item_id for given in labels.values() for item_id in given}
    conversations = conversations or {item_id: item_id for item_id in ids}
    return annotator_influence(labels, LABELS, conversations, seed=1)


def test_alpha_without_each_rater_of_the_diagnoses_is_krippendorffs():
    """Alpha .4334 of all six (R18); without each as the krippendorff package has it."""
    found = influence(raters(DIAGNOSES.split()))
    assert found.alpha.value == pytest.approx(0.4334, abs=5e-5)
    data = np.array([[int(label) for label in row] for row in DIAGNOSES.split()]).T
    for k, without in enumerate(found.without):
        oracle = krippendorff.alpha(np.delete(data, k, axis=0), level_of_measurement="nominal")
        assert without.alpha.value == pytest.approx(oracle)
        assert without.change.value == pytest.approx(oracle - found.alpha.value)
        assert without.alpha.interval.low < oracle < without.alpha.interval.high


def test_items_left_with_one_label_are_no_part_of_the_alpha_without():
    labels = raters(["11.", "22.", "121", "1.1", "2.2", "33.", "212"])
    found = influence(labels)
    assert found.items == 7
    by_name = {without.annotator: without for without in found.without}
    assert by_name["r2"].items == 5
    data = [[1, 2, 1, 1, 2, 3, 2], [1, 2, 2, np.nan, np.nan, 3, 1]]
    oracle = krippendorff.alpha(data, level_of_measurement="nominal")
    assert by_name["r2"].alpha.value == pytest.approx(oracle)


def test_the_annotator_who_lowers_agreement_is_told():
    labels, _, _ = simulated(150, people=[0.9, 0.9, 0.9, 0.3])
    found = influence(labels)
    assert [without.annotator for without in found.without if without.lowers] == ["p3"]


def test_two_annotators_leave_nothing_without_one():
    assert influence(raters(["12", "11"])) is None


def test_alpha_without_an_annotator_can_be_undefined_by_name():
    labels = {"ann": {"1": A, "2": A}, "bo": {"1": A, "2": A}, "cy": {"1": B, "2": A}}
    without = {of.annotator: of for of in influence(labels).without}
    assert without["cy"].alpha.value is None
    assert without["cy"].alpha.undefined == ONE_LABEL
    assert without["cy"].change.undefined == ONE_LABEL
    assert without["ann"].alpha.undefined is None
    json.dumps(influence(labels).as_dict(), allow_nan=False)


def repeats(labels, of, conversations=None):
    ids = {item_id for given in labels.values() for item_id in given} | set(of.values())
    conversations = conversations or {item_id: item_id for item_id in ids}
    return intra_annotator(labels, of, LABELS, conversations, seed=1)


def test_self_agreement_is_kappa_of_items_and_their_repeats():
    first = [A, A, B, B, C, A, B, C]
    second = [A, A, B, A, C, A, C, C]
    items = {str(i): label for i, label in enumerate(first)}
    again = {f"r{i}": label for i, label in enumerate(second)}
    of = {f"r{i}": str(i) for i in range(8)}
    found = repeats({"ann": items | again}, of)
    (ann,) = found.annotators
    assert ann.kappa.items == 8
    assert ann.kappa.agreement.observed == 6 / 8
    assert ann.kappa.value == pytest.approx(cohen_kappa_score(first, second))
    assert ann.kappa.interval.low < ann.kappa.value < ann.kappa.interval.high
    assert found.pooled == ann.kappa


def test_repeats_labelled_once_are_counted_and_skips_leave_nothing():
    labels = {"bo": {"1": A, "r1": A, "2": B}, "ann": {"1": A}, "cy": {"9": A}}
    found = repeats(labels, {"r1": "1", "r2": "2"})
    assert found.repeats == 2
    assert [of.annotator for of in found.annotators] == ["ann", "bo", "cy"]
    assert dict(found.unpaired) == {"ann": 1, "bo": 1, "cy": 0}
    ann, bo, _ = found.annotators
    assert (ann.kappa.items, ann.kappa.undefined) == (0, "no items")
    assert bo.kappa.undefined.startswith("one class")
    assert bo.kappa.agreement.observed == 1
    json.dumps(found.as_dict(), allow_nan=False)


def test_pooled_pairs_of_one_item_are_one_unit():
    people = {who: {} for who in ("ann", "bo", "cy")}
    draw = np.random.default_rng(2)
    for given in people.values():
        for i in range(20):
            given[str(i)] = LABELS[draw.integers(3)]
            given[f"r{i}"] = given[str(i)] if draw.random() < 0.7 else LABELS[draw.integers(3)]
    found = repeats(people, {f"r{i}": str(i) for i in range(20)})
    assert (found.pooled.items, found.pooled.conversations) == (60, 20)


def test_without_repeats_there_is_nothing_to_say():
    found = repeats({"ann": {"1": A}}, {})
    assert (found.repeats, found.pooled.items) == (0, 0)


def test_the_text_says_what_is_compared_and_who_lowers_agreement():
    labels, outcomes, truth = simulated(60, people=[0.9, 0.9, 0.3])
    first = list(outcomes)[:10]
    again = {who: given | {f"r{i}": given[i] for i in first} for who, given in labels.items()}
    text = human_text(
        ceiling(labels, outcomes, truth),
        influence(labels),
        repeats(again, {f"r{i}": i for i in first}),
    )
    assert "60 items in 60 conversations that the judge judged" in text
    assert "judge less people" in text
    assert "p2 lowers alpha" in text
    assert "10 items were shown twice" in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_text_names_what_is_undefined():
    labels = {"ann": {"1": A, "2": A}, "bo": {"1": A, "2": A}}
    text = human_text(ceiling(labels, {"1": A, "2": A}), None, None)
    assert "undefined" in text
    assert "ann – bo" in text
    assert human_text(ceiling({}, {"1": A}), None, None) == (
        "human ceiling: undefined, no item that the judge judged has labels of two people\n"
    )
