"""Published tables of the agreement literature, with sklearn and statsmodels as oracles."""

import math

import krippendorff
import numpy as np
import pytest
from item_alpha import nominal_alpha
from lone_items import scores_of
from scipy.stats import bootstrap, norm, t
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support
from statsmodels.stats.inter_rater import cohens_kappa

from annotator.measures.agreement import agreement, table_agreement
from annotator.measures.alpha import (
    alpha_features,
    alpha_with_interval,
    alphas,
    counted_alpha,
)
from annotator.measures.confusion import collapsing, from_table

# Name (source): table (rows: rater 1), kappa, Fleiss-Cohen-Everitt standard error where published
# or recomputed with SAS, statsmodels or irrCAC.
TABLES = {
    "Cohen 1960 p45": ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.491525, 0.051002),
    "Cohen 1960 p37": ([[25, 12, 3], [13, 2, 15], [12, 16, 2]], -0.092308, 0.056641),
    "Fleiss-Cohen-Everitt 1969": ([[106, 10, 4], [22, 28, 10], [2, 12, 6]], 0.428571, 0.053711),
    "SAS, in statsmodels' tests": ([[0, 4, 1], [0, 8, 0], [0, 1, 5]], 0.484163, 0.138014),
    "Agresti 1992": (
        [[22, 2, 2, 0], [5, 7, 14, 0], [0, 2, 36, 0], [0, 1, 17, 10]], 0.493006, 0.056743,
    ),
    "vcd SexualFun": (
        [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]], 0.129330, 0.068599,
    ),
    "Artstein-Poesio 2008 p568": ([[46, 0, 0], [6, 32, 6], [0, 0, 10]], 0.801325, None),
    "Artstein-Poesio 2008 p558": ([[20, 10], [20, 50]], 0.347826, None),
    "Krippendorff 2004 p246 a": ([[12, 9, 9], [9, 14, 9], [9, 9, 20]], 0.185766, None),
    "Krippendorff 2004 p246 b": ([[12, 18, 18], [0, 14, 18], [0, 0, 20]], 0.258242, None),
    "Byrt 1993 a": ([[40, 9], [6, 45]], 0.699519, None),
    "Byrt 1993 b": ([[80, 10], [5, 5]], 0.318182, None),
    "Gwet 2008 a": ([[8, 1], [0, 1]], 0.615385, None),
    "Gwet 2008 b": ([[118, 5], [2, 0]], -0.023392, None),
    "Wikipedia a": ([[20, 5], [10, 15]], 0.4, None),
    "Wikipedia b": ([[45, 15], [25, 15]], 0.130435, None),
    "Wikipedia c": ([[25, 35], [5, 35]], 0.259259, None),
    "Brennan-Prediger 1981 p689": ([[50, 0, 0], [10, 10, 10], [20, 0, 0]], 0.272727, None),
    "Zwick 1988 a": (
        [[20, 0, 0, 5], [0, 10, 15, 0], [0, 15, 10, 0], [5, 0, 0, 20]], 0.466667, None,
    ),
    "Zwick 1988 b": (
        [[20, 5, 5, 10], [0, 10, 5, 5], [0, 5, 10, 5], [0, 0, 0, 20]], 0.473684, None,
    ),
}  # fmt: skip
COHEN = np.array(TABLES["Cohen 1960 p45"][0])


def ratings(table) -> list[tuple[str, str]]:
    """The pairs behind a table of counts."""
    return [
        (str(i), str(j))
        for i, row in enumerate(table)
        for j, count in enumerate(row)
        for _ in range(count)
    ]


@pytest.mark.parametrize("source", TABLES)
def test_published_kappa(source):
    table, kappa, standard_error = TABLES[source]
    found = table_agreement(np.array(table))
    assert found.kappa == pytest.approx(kappa, abs=5e-7)
    if standard_error is not None:
        assert found.standard_error == pytest.approx(standard_error, abs=5e-7)


@pytest.mark.parametrize("source", TABLES)
def test_oracles_agree(source):
    table = np.array(TABLES[source][0])
    pairs = ratings(table)
    categories = [str(k) for k in range(len(table))]
    found = agreement(pairs, categories)
    first, second = zip(*pairs, strict=True)
    oracle = cohens_kappa(table)
    assert found == table_agreement(table)
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    assert found.kappa == pytest.approx(oracle.kappa, abs=1e-12)
    assert found.standard_error == pytest.approx(oracle.std_kappa, abs=1e-12)


def test_raw_and_expected_agreement_of_cohen_1960():
    first = table_agreement(np.array(TABLES["Cohen 1960 p37"][0]))
    assert (first.n, first.observed, first.expected) == (100, 0.29, 0.35)
    second = table_agreement(COHEN)
    assert (second.n, second.observed, second.expected) == (200, 0.70, 0.41)


def test_confidence_interval_of_sas():
    found = table_agreement(np.array(TABLES["SAS, in statsmodels' tests"][0]))
    z = 1.959964
    assert found.kappa - z * found.standard_error == pytest.approx(0.2137, abs=5e-5)
    assert found.kappa + z * found.standard_error == pytest.approx(0.7547, abs=5e-5)


def test_standard_error_is_not_cohens_of_1960():
    """sqrt(po(1-po)/n)/(1-pe) is 0.0549 on Cohen's own table; shipped code has used it."""
    naive = math.sqrt(0.7 * 0.3 / 200) / (1 - 0.41)
    assert naive == pytest.approx(0.0549, abs=5e-5)
    assert table_agreement(COHEN).standard_error == pytest.approx(0.0510, abs=5e-5)


@pytest.mark.parametrize(
    ("first", "second", "kappa"),
    [
        ("neg pos neg neu pos", "neg pos neg neu neg", 0.6875),
        ("2 0 2 2 0 1", "0 0 2 2 0 2", 0.428571),
    ],
)
def test_examples_of_sklearns_documentation(first, second, kappa):
    pairs = list(zip(first.split(), second.split(), strict=True))
    categories = sorted({label for pair in pairs for label in pair})
    assert agreement(pairs, categories).kappa == pytest.approx(kappa, abs=5e-7)


def test_scores_by_label_on_cohen_1960():
    scores = scores_of(from_table(COHEN, "abc"))
    assert [s.precision.value for s in scores] == pytest.approx([0.88, 2 / 3, 0.30])
    assert [s.recall.value for s in scores] == pytest.approx([88 / 120, 2 / 3, 0.60])
    assert [s.f1.value for s in scores] == pytest.approx([0.80, 2 / 3, 0.40])
    assert [s.support for s in scores] == [120, 60, 20]
    assert sum(s.f1.value for s in scores) / 3 == pytest.approx(0.622222, abs=5e-7)


def test_scores_by_label_agree_with_sklearn():
    pairs = ratings(COHEN)
    truth, predicted = zip(*pairs, strict=True)
    oracle = precision_recall_fscore_support(truth, predicted)
    scores = scores_of(from_table(COHEN, "012"))
    for name, expected in zip(("precision", "recall", "f1"), oracle, strict=False):
        assert [getattr(s, name).value for s in scores] == pytest.approx(expected.tolist())
    assert [s.support for s in scores] == oracle[3].tolist()


@pytest.mark.parametrize(
    ("source", "kappas"),
    [
        ("Cohen 1960 p45", [0.56, 0.523810, 0.307692]),
        ("Agresti 1992", [0.7810, 0.2663, 0.4405, 0.4587]),
    ],
)
def test_one_label_against_the_rest(source, kappas):
    """Kappa is the mean of these, weighted by 1 - pe of each (Cohen 1960 p45)."""
    table = np.array(TABLES[source][0])
    scores = scores_of(from_table(table, "abcd"[: len(table)]))
    assert [score.kappa.value for score in scores] == pytest.approx(kappas, abs=5e-5)
    rest = [
        table_agreement(collapsing([int(k != j) for j in range(len(table))])(table))
        for k in range(len(table))
    ]
    assert [found.kappa for found in rest] == pytest.approx(kappas, abs=5e-5)
    weights = [1 - found.expected for found in rest]
    mean = sum(w * found.kappa for w, found in zip(weights, rest, strict=True)) / sum(weights)
    assert mean == pytest.approx(table_agreement(table).kappa, abs=1e-12)


# One string per coder, one sign per unit, "." where the coder said nothing.
ALPHAS = {
    "Krippendorff 2004, in Wikipedia": (
        [".....34121133.3", "1.213343.......", "..21344.21133.4"], 0.691358, 12,
    ),
    "Krippendorff 2011 C": (
        ["123321412...", "1233224125.3", ".3332342251.", "12332441251."], 904 / 1216, 11,
    ),
    "Krippendorff 2011 A": (["0100000010", "1110010000"], 0.095238, 10),
    "Krippendorff 2011 B": (["112243335441", "212223335444"], 0.691964, 12),
}  # fmt: skip


@pytest.mark.parametrize("source", ALPHAS)
def test_published_alpha(source):
    coders, alpha, items = ALPHAS[source]
    raters = [
        {str(unit): sign for unit, sign in enumerate(coder) if sign != "."} for coder in coders
    ]
    found, pairable = nominal_alpha(raters, "012345")
    assert found == pytest.approx(alpha, abs=5e-7)
    assert pairable == items
    # The interval's own formula, from counts per unit.
    units = zip(*coders, strict=True)
    counts = np.array([[unit.count(sign) for sign in "012345"] for unit in units])
    features = alpha_features(counts[counts.sum(axis=1) >= 2])
    assert alphas(features.sum(axis=0)) == pytest.approx(found, abs=1e-12)


# "Diagnoses": one word per patient, one digit per psychiatrist.
FLEISS_1971 = """
444444 222555 233335 555555 222444 113333
333355 113334 114444 555555 144444 124444
222333 144444 224445 333335 111455 111112
224444 133555 555555 244444 224555 114444
144445 222224 111155 224444 133333 555555
"""


def test_alpha_of_fleiss_1971():
    """30 patients, six psychiatrists each; nominal alpha .4334."""
    rows = FLEISS_1971.split()
    raters = [{str(p): row[r] for p, row in enumerate(rows)} for r in range(6)]
    alpha, items = nominal_alpha(raters, "12345")
    assert (round(alpha, 4), items) == (0.4334, 30)
    counts = np.array([[row.count(sign) for sign in "12345"] for row in rows])
    assert alphas(alpha_features(counts).sum(axis=0)) == pytest.approx(alpha, abs=1e-12)


# How often each unit got each label, alpha as recomputed with krippendorff and irrCAC.
COUNTS = {
    "Fleiss 1971, in Wikipedia": (
        [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
         [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]],
        0.215574,
    ),
    "the first 15 patients of Fleiss 1971, in Gwet 2014": (
        [[row.count(sign) for sign in "12345"] for row in FLEISS_1971.split()[:15]], 0.420438,
    ),
    "O'Malley 2006, in Warrens 2010": (
        [[8, 0]] * 14 + [[7, 1]] * 2 + [[0, 8]] * 10 + [[2, 6]] * 2 + [[3, 5]] + [[4, 4]],
        0.833048,
    ),
}  # fmt: skip


@pytest.mark.parametrize("source", COUNTS)
def test_alpha_of_published_counts(source):
    counts, alpha = COUNTS[source]
    counts = np.array(counts)
    assert counted_alpha(counts) == pytest.approx(alpha, abs=5e-7)
    assert alphas(alpha_features(counts).sum(axis=0)) == pytest.approx(alpha, abs=5e-7)


IRR_ANXIETY = """
332 361 344 464 523 542 221 346 531 231 221 632 133 533 221 221 113 233 432 342
"""


def test_kappas_of_irrs_anxiety_data():
    """Twenty persons, three raters; kappa of two raters in the help of irr: .119."""
    first, second, third = zip(*IRR_ANXIETY.split(), strict=True)
    for one, other, kappa in (
        (first, second, 0.1195), (first, third, -0.1656), (second, third, -0.0063),
    ):  # fmt: skip
        found = agreement(zip(one, other, strict=True), "123456")
        assert found.kappa == pytest.approx(kappa, abs=5e-5)


def test_interval_of_alpha_of_fleiss_1971():
    """Near scipy's BCa over krippendorff, a little wider as 30 patients are few."""
    rows = FLEISS_1971.split()
    raters = [{f"{p:02}": row[r] for p, row in enumerate(rows)} for r in range(6)]
    own = {f"{p:02}": p for p in range(30)}
    found = alpha_with_interval(raters, "12345", own, seed=1)
    counts = np.array([[row.count(sign) for sign in "12345"] for row in rows])
    oracle = bootstrap(
        (np.arange(30),),
        lambda i: krippendorff.alpha(value_counts=counts[i], level_of_measurement="nominal"),
        vectorized=False,
        n_resamples=2000,
        confidence_level=2 * norm.cdf((30 / 29) ** 0.5 * t.ppf(0.975, 29)) - 1,
        rng=5,
    )
    low, high = oracle.confidence_interval
    assert found.interval.low == pytest.approx(low, abs=0.015)
    assert found.interval.high == pytest.approx(high, abs=0.015)
    shared = alpha_with_interval(raters, "12345", {i: p // 2 for i, p in own.items()}, seed=1)
    assert (shared.value, shared.items, shared.conversations) == (found.value, 30, 15)
    assert shared.interval != found.interval
