"""Dawid-Skene: the published example, known error rates found again, and what must not matter."""

import numpy as np
import pytest

from annotator.measures.dawid_skene import dawid_skene

# Dawid and Skene 1979 (Appl Stat 28:20), table 1: fitness of 45 patients for anaesthesia, the first
# anaesthetist three times and four others once each.
PATIENTS = """
    1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343
    1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222
    1111111 1111111 2322222 1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343
    2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
"""
RATINGS = np.array([[int(label) - 1 for label in patient] for patient in PATIENTS.split()])
ANAESTHETISTS = (0, 0, 0, 1, 2, 3, 4)

# What they estimate: table 2's error rates by true class, and the marginal probabilities.
ERROR_RATES = [
    [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]],
    [[0.83, 0.17, 0, 0], [0.05, 0.63, 0.31, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    [[1, 0, 0, 0], [0.11, 0.79, 0.11, 0], [0, 0.40, 0.20, 0.40], [0, 0, 0.67, 0.33]],
    [[0.94, 0.06, 0, 0], [0.05, 0.84, 0.10, 0], [0, 0, 0.80, 0.20], [0, 0, 0.33, 0.67]],
    [[1, 0, 0, 0], [0.16, 0.73, 0.11, 0], [0, 0.21, 0.79, 0], [0, 0, 0.33, 0.67]],
]
MARGINALS = [0.40, 0.42, 0.11, 0.07]


def test_the_published_example_by_maximum_likelihood():
    found = dawid_skene(RATINGS, 4, annotators=ANAESTHETISTS, smoothing=0)
    assert found.converged
    np.testing.assert_allclose(found.prior, MARGINALS, atol=0.006)
    np.testing.assert_allclose(found.confusion, ERROR_RATES, atol=0.006)
    # The patients of whom they are not certain to two decimals: 7, 35 and 38.
    uncertain = [[0.98, 0.02, 0, 0], [0, 0.95, 0.05, 0], [0, 0.02, 0.98, 0]]
    np.testing.assert_allclose(found.posterior[[6, 34, 37]], uncertain, atol=0.006)
    certain = np.delete(found.posterior, [6, 34, 37], axis=0)
    assert (certain.max(axis=1) > 0.99).all()


def test_the_default_smoothing_moves_the_published_example_by_less_than_a_hundredth():
    found = dawid_skene(RATINGS, 4, annotators=ANAESTHETISTS)
    np.testing.assert_allclose(found.prior, MARGINALS, atol=0.01)
    np.testing.assert_allclose(found.confusion, ERROR_RATES, atol=0.011)
    assert (found.confusion > 0).all()


def simulated(accuracies, n=1500, k=3, missing=0.0, seed=1):
    """True labels (n,) and ratings (n, A) of annotators whose errors are one label too high."""
    draw = np.random.default_rng(seed)
    truth = draw.choice(k, size=n, p=np.array([0.5, 0.3, 0.2]))
    right = draw.random((n, len(accuracies))) < accuracies
    ratings = np.where(right, truth[:, np.newaxis], (truth[:, np.newaxis] + 1) % k)
    absent = draw.random(ratings.shape) < missing
    absent[:, 0] = False
    return truth, np.where(absent, -1, ratings)


def test_known_error_rates_are_found_again_with_labels_missing():
    truth, ratings = simulated([0.95, 0.9, 0.8, 0.7, 0.85], missing=0.3)
    found = dawid_skene(ratings, 3)
    diagonal = found.confusion[:, range(3), range(3)]
    expected = np.array([0.95, 0.9, 0.8, 0.7, 0.85])[:, np.newaxis]
    np.testing.assert_allclose(diagonal, np.broadcast_to(expected, (5, 3)), atol=0.06)
    np.testing.assert_allclose(found.prior, np.bincount(truth) / len(truth), atol=0.03)
    np.testing.assert_allclose(found.confusion.sum(axis=2), 1)
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1)


def test_it_beats_the_majority_where_annotators_are_bad():
    truth, ratings = simulated([0.95, 0.4, 0.4, 0.9], seed=2)
    votes = np.stack([(ratings == k).sum(axis=1) for k in range(3)], axis=1)
    majority = (votes.argmax(axis=1) == truth).mean()
    assert (dawid_skene(ratings, 3).labels == truth).mean() > majority + 0.05


def test_unanimous_items_keep_their_label():
    _, ratings = simulated([0.9, 0.8, 0.75], n=300)
    unanimous = (ratings == ratings[:, :1]).all(axis=1)
    assert (dawid_skene(ratings, 3).labels[unanimous] == ratings[unanimous, 0]).all()


def test_the_order_of_items_does_not_matter_at_all():
    _, ratings = simulated([0.9, 0.7, 0.8], n=200, missing=0.2)
    order = np.random.default_rng(3).permutation(len(ratings))
    one, other = dawid_skene(ratings, 3), dawid_skene(ratings[order], 3)
    np.testing.assert_array_equal(one.posterior[order], other.posterior)
    np.testing.assert_array_equal(one.confusion, other.confusion)


def test_names_of_labels_and_order_of_annotators_do_not_matter():
    _, ratings = simulated([0.9, 0.7, 0.8], n=200, missing=0.2)
    to = np.array([2, 0, 1, -1])  # the last is no label
    renamed = dawid_skene(to[ratings][:, ::-1], 3)
    found = dawid_skene(ratings, 3)
    np.testing.assert_allclose(renamed.posterior[:, to[:3]], found.posterior, atol=1e-6)
    np.testing.assert_array_equal(renamed.labels, to[found.labels])
    back = renamed.confusion[::-1][:, to[:3]][:, :, to[:3]]
    np.testing.assert_allclose(back, found.confusion, atol=1e-6)


def test_what_nothing_tells_apart_is_a_tie():
    found = dawid_skene(np.array([[0, 1], [1, 0], [0, 0], [1, 1]]), 2)
    assert found.labels.tolist() == [-1, -1, 0, 1]


def test_an_item_without_any_label_is_a_defect_of_the_caller():
    with pytest.raises(ValueError, match="without a label"):
        dawid_skene(np.array([[0, 1], [-1, -1]]), 2)


def test_one_category_and_one_item_are_no_special_cases():
    assert dawid_skene(np.array([[0, 0]]), 1).labels.tolist() == [0]
    assert dawid_skene(np.array([[2, -1]]), 3).labels.tolist() == [2]
