"""Where libraries disagree or break: every such case has a named outcome, never NaN."""

import json

import numpy as np
import pytest
from item_alpha import nominal_alpha
from lone_items import alone, kappa_of_tables, scores_of

from annotator.measures.agreement import (
    NO_ITEMS,
    ONE_CLASS,
    agreement,
    band,
    table_agreement,
)
from annotator.measures.alpha import alpha_with_interval
from annotator.measures.confusion import INVALID, from_table, tally
from annotator.measures.interval import WILSON
from rubrics import InputError


def kappa_of(pairs, categories="abc", judge_only=()):
    items = alone(tally(pairs, categories, judge_only).table)
    return kappa_of_tables(items, resamples=2000)


def test_no_items():
    found = kappa_of([])
    assert found.agreement.undefined == NO_ITEMS
    assert (found.value, found.agreement.observed, found.agreement.n) == (None, None, 0)
    assert found.interval.low is None


def test_one_class_is_undefined_with_full_raw_agreement():
    found = kappa_of([("a", "a")] * 5)
    assert (found.value, found.agreement.observed) == (None, 1.0)
    assert found.agreement.undefined == ONE_CLASS
    assert found.interval.low is None
    assert found.interval.high is None


def test_a_single_agreeing_item_is_undefined():
    found = kappa_of([("a", "a")])
    assert (found.value, found.agreement.n) == (None, 1)


def test_a_single_disagreeing_item_has_a_value_and_no_interval():
    found = kappa_of([("a", "b")])
    assert (found.value, found.agreement.standard_error, found.standard_error) == (0, None, None)
    assert found.interval.method == "none: a single conversation"


def test_disjoint_labels_give_zero_and_say_so():
    found = kappa_of([("a", "b"), ("a", "c"), ("a", "b")])
    assert found.value == 0
    assert "no common label" in found.agreement.notes[0]
    assert found.interval.low is None


def test_a_constant_rater_gives_zero_without_a_negative_variance():
    """statsmodels takes the root of a negative rounding error here: nan."""
    found = kappa_of([("a", "a")] * 5 + [("b", "a")] * 3)
    assert (found.value, found.agreement.standard_error, found.standard_error) == (0, 0, 0)
    assert "single label" in found.agreement.notes[0]
    assert found.interval.method == "none: every resample gives the same value"
    assert found.interval.undefined > 0  # resamples where the other side is constant as well


def test_a_label_that_one_side_alone_uses_counts_as_a_class():
    """sklearn, statsmodels and nltk give .6 as well."""
    pairs = [("a", "a"), ("a", "a"), ("b", "b"), ("b", "c")]
    assert kappa_of(pairs).value == pytest.approx(0.6)


def test_unused_categories_change_nothing():
    pairs = [("a", "a"), ("a", "b"), ("b", "b")]
    assert agreement(pairs, "ab") == agreement(pairs, "abcdefg")


def test_an_invalid_verdict_is_a_disagreement_not_a_gap():
    pairs = [("a", "a"), ("a", "a"), ("b", "b"), ("b", INVALID)]
    assert agreement(pairs, "ab", [INVALID]).observed == 0.75
    assert agreement(pairs, "ab", [INVALID]).kappa == pytest.approx(0.6)
    assert agreement(pairs[:3], "ab").kappa == 1


def test_only_invalid_verdicts():
    found = kappa_of([("a", INVALID), ("b", INVALID)], judge_only=[INVALID])
    assert found.value == 0
    assert "no common label" in found.agreement.notes[0]


@pytest.mark.parametrize(
    ("label", "hint"),
    [
        (None, ""),
        (float("nan"), ""),
        (np.nan, ""),
        ("", ""),
        (1, "did you mean '1'?"),
        ("genuine", ""),
        ("Genuine_followup", "did you mean 'genuine_followup'?"),
        ("genuine_followup ", "did you mean 'genuine_followup'?"),
        (["genuine_followup"], ""),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_what_is_no_category_is_refused(label, hint, side):
    pair = ["1", "1"]
    pair[side] = label
    with pytest.raises(InputError, match="unknown label") as caught:
        tally([("1", "1"), tuple(pair)], ["genuine_followup", "1"])
    assert repr(label) in str(caught.value)
    assert hint in str(caught.value)


def test_composed_and_decomposed_letters_are_told_apart():
    with pytest.raises(InputError, match="did you mean 'café'"):
        tally([("café", "cafe\u0301")], ["café"])


def test_a_category_may_be_spelt_nan():
    """krippendorff and irrCAC take such a label for a missing one; sklearn gives .6875 too."""
    first, second = ["neg", "nan", "neg", "neu", "nan"], ["neg", "nan", "neg", "neu", "neg"]
    pairs = list(zip(first, second, strict=True))
    assert agreement(pairs, ["neg", "nan", "neu"]).kappa == pytest.approx(0.6875)
    raters = [dict(enumerate(first)), dict(enumerate(second))]
    renamed = [{k: v.replace("nan", "pos") for k, v in rater.items()} for rater in raters]
    alpha, items = nominal_alpha(raters, ["neg", "nan", "neu"])
    assert (alpha, items) == nominal_alpha(renamed, ["neg", "pos", "neu"])
    assert alpha == pytest.approx(0.710, abs=5e-4)
    assert items == 5


def test_an_invalid_verdict_is_no_reference():
    with pytest.raises(InputError, match="unknown label 'invalid'"):
        tally([(INVALID, "a")], "ab", [INVALID])


@pytest.mark.parametrize(("names", "outcomes"), [("ab", "b"), ("aa", ""), ("a", "xx")])
def test_two_columns_of_one_name_are_refused(names, outcomes):
    with pytest.raises(InputError, match="share a name"):
        tally([], names, outcomes)


def test_scores_with_nothing_to_divide_by_are_null_with_a_reason():
    """sklearn prints 0.0 with a warning."""
    a, b, c = scores_of(from_table(np.array([[2, 1, 0], [0, 0, 0], [0, 0, 0]]), "abc"))
    assert (a.precision.value, a.undefined) == (1, {})
    assert (b.recall.value, b.precision.value, b.f1.value, b.kappa.value) == (None, 0, 0, 0)
    assert b.undefined == {"recall": "no item has this reference label"}
    assert (c.precision.value, c.recall.value, c.f1.value, c.kappa.value) == (None,) * 4
    assert set(c.undefined) == {"precision", "recall", "f1", "kappa"}
    assert a.recall.interval.method == "none: fewer than 10 items with this label (3)"
    assert json.loads(json.dumps(c.as_dict(), allow_nan=False))["f1"] is None


def test_scores_count_an_invalid_verdict_against_recall():
    (score,) = scores_of(from_table(np.array([[3, 1]]), "a", [INVALID]))
    assert (score.support, score.judged) == (4, 3)
    assert (score.recall.value, score.precision.value) == (0.75, 1.0)


def test_alpha_without_two_labels_in_use_is_undefined():
    assert nominal_alpha([{"1": "a", "2": "a"}, {"1": "a"}, {}], "ab") == (None, 1)
    assert nominal_alpha([{"1": "a"}, {"2": "b"}, {"3": "a"}], "ab") == (None, 0)


def test_alpha_decides_degeneracy_after_leaving_out_what_cannot_be_paired():
    """nltk divides by zero: the one "b" stands on an item with a single label."""
    assert nominal_alpha([{"1": "a", "2": "b"}, {"1": "a"}, {}], "ab") == (None, 1)


def test_large_tables_do_not_overflow():
    """sklearn once gave 5.22 at n = 250,000: the product of margins passed 32 bits."""
    found = table_agreement(np.array([[100_000_000, 1], [1, 150_000_000]]))
    assert found.kappa == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize(
    ("kappa", "word"),
    [
        (-1, "poor"), (-0.001, "poor"), (0, "slight"), (0.2, "slight"), (0.205, "fair"),
        (0.4, "fair"), (0.6, "moderate"), (0.726, "substantial"), (0.8, "substantial"),
        (0.81, "almost perfect"), (1, "almost perfect"),
    ],
)  # fmt: skip
def test_bands_of_landis_and_koch(kappa, word):
    assert band(kappa) == word


def test_alpha_without_an_interval_says_why():
    unpaired = alpha_with_interval([{"1": "a"}, {"2": "b"}, {}], "ab", {}, seed=1)
    assert (unpaired.value, unpaired.undefined) == (None, "no item has two labels")
    assert unpaired.interval.method == "none: no item has two labels"
    agreed = {"1": "a", "2": "b", "3": "a"}
    perfect = alpha_with_interval([agreed] * 3, "ab", {i: i for i in agreed}, seed=1)
    assert (perfect.value, perfect.interval.high, perfect.large_sample.low) == (1, 1, None)
    assert perfect.interval.low < 0 < 1  # three items that agree tell next to nothing
    assert perfect.interval.method == WILSON
