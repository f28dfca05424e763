"""The bootstrap: its spread is the known one, its seed is all it depends on."""

import numpy as np
import pytest
from lone_items import alone, kappa_of_tables, units_of

from annotator.measures.agreement import table_agreement
from annotator.measures.coefficients import kappa_chance, kappas
from annotator.measures.confusion import parseable
from annotator.measures.estimate import estimates
from annotator.measures.interval import FEW_NOTE
from annotator.measures.kappa import reported_kappa
from annotator.measures.replicates import resampled_sums
from annotator.measures.table_measures import coefficient

COHEN = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
# Seven classes with skewed margins; true kappa .726.
MARGINS = np.array([0.30, 0.20, 0.15, 0.12, 0.10, 0.08, 0.05])
TRUTH = (np.outer(MARGINS, MARGINS) * 0.274 + np.diag(MARGINS) * 0.726).ravel()


def drawn(conversations: np.ndarray, **options: int) -> np.ndarray:
    sums = np.concatenate(list(resampled_sums(units_of(conversations), **options)))
    return sums.reshape(-1, *conversations.shape[1:])


@pytest.mark.parametrize("scale", [1, 5, 100])
def test_spread_is_that_of_fleiss_cohen_everitt(scale):
    table = COHEN * scale
    spread = kappas(drawn(alone(table), seed=7)).std()
    assert spread == pytest.approx(table_agreement(table).standard_error, rel=0.03)


def test_interval_of_a_large_table_is_nearly_walds():
    found = kappa_of_tables(alone(COHEN * 50), seed=7)
    reach = 1.96 * found.agreement.standard_error
    assert found.interval.low == pytest.approx(found.value - reach, abs=0.0005)
    assert found.interval.high == pytest.approx(found.value + reach, abs=0.0005)


def test_covers_the_true_kappa_about_as_often_as_it_says():
    """n = 100, each in a conversation of its own; tests/simulation asks it of many more studies."""
    generator = np.random.default_rng(11)
    studies = generator.multinomial(100, TRUTH / TRUTH.sum(), size=150).reshape(-1, 7, 7)
    covered = 0
    for k, table in enumerate(studies):
        found = kappa_of_tables(alone(table), seed=k, resamples=400).interval
        covered += found.low <= 0.726 <= found.high
    assert 0.90 <= covered / 150 <= 0.99  # .95 with three standard errors of 150 studies


def test_items_alone_in_their_conversations_are_resampled_as_cells_of_the_table():
    """Draw for draw the plain multinomial over the occupied cells, last cell first."""
    table = 10 * np.array([[5, 0, 2], [1, 3, 0]])
    draws = drawn(alone(table), seed=1, resamples=50)
    assert draws.shape == (50, 2, 3)
    assert (draws.sum(axis=(1, 2)) == 110).all()
    occupied = [30, 10, 20, 50]
    cells = np.random.default_rng(1).multinomial(110, np.array(occupied) / 110, size=50)
    assert (draws[:, table > 0] == cells[:, ::-1]).all()
    assert (draws[:, table == 0] == 0).all()


def test_the_seed_decides_and_the_order_of_conversations_does_not():
    items = alone(COHEN)
    assert (drawn(items, seed=5) == drawn(items[::-1], seed=5)).all()
    assert (drawn(items, seed=5) != drawn(items, seed=6)).any()


def test_perfect_agreement_gets_a_bound_instead_of_a_point():
    """Wilson's lower bound for 50 of 50 is .92865; through kappa at pe = .5 it is .8573."""
    table = np.diag([25, 25])
    found = kappa_of_tables(alone(table), seed=1)
    assert found.value == 1
    assert found.interval.low == pytest.approx((0.928652 - 0.5) / 0.5, abs=1e-5)
    assert found.interval.high == 1
    assert "Wilson" in found.interval.method
    assert (found.band, found.lower_band) == ("almost perfect", "almost perfect")


def test_undefined_resamples_are_counted():
    """Eight of ten items share a cell: .8 ** 10 of the resamples draw nothing else, one class."""
    table = np.array([[8, 1], [0, 1]])
    found = kappa_of_tables(alone(table), seed=1).interval
    share = found.undefined / 10_000
    assert share == pytest.approx(0.8**10, abs=0.01)
    assert found.low is not None


class TestConversationsWithSeveralItems:
    def test_the_interval_covers_where_one_that_takes_items_for_independent_does_not(self):
        """60 conversations of 1 to 5 items; in four of ten all items fall into the same cell."""
        generator = np.random.default_rng(3)
        items = np.arange(5)
        covered, too_narrow = 0, 0
        for k in range(100):
            sizes = generator.integers(1, 6, size=60)
            cells = generator.choice(49, size=(60, 5), p=TRUTH / TRUTH.sum())
            alike = generator.random(60) < 0.4
            cells[alike] = cells[alike, :1]
            one_by_one = np.eye(49, dtype=np.int64)[cells] * (items < sizes[:, None])[..., None]
            tables = one_by_one.sum(axis=1).reshape(60, 7, 7)
            found = kappa_of_tables(tables, seed=k, resamples=400)
            covered += found.interval.low <= 0.726 <= found.interval.high
            reach = 1.96 * found.agreement.standard_error
            too_narrow += abs(found.value - 0.726) > reach
        assert 0.89 <= covered / 100 <= 0.99
        assert 1 - too_narrow / 100 < 0.90

    def test_the_standard_error_is_the_spread_of_the_resamples(self):
        pairs = alone(COHEN).reshape(-1, 2, 3, 3).sum(axis=1)  # 100 conversations, items alike
        found = kappa_of_tables(pairs, seed=2)
        assert found.conversations == 100
        spread = kappas(drawn(pairs, seed=2)).std()
        assert found.standard_error == pytest.approx(spread, rel=0.03)
        assert found.standard_error > 1.3 * found.agreement.standard_error

    def test_the_standard_error_is_the_usual_one_where_none_is_shared(self):
        found = kappa_of_tables(alone(COHEN), seed=2)
        expected = 0.051002 * np.sqrt(200 / 199)
        assert found.standard_error == pytest.approx(expected, abs=5e-7)
        assert found.as_dict()["standard_error"] == found.standard_error

    def test_items_doubled_in_their_conversations_tell_nothing_new(self):
        once, twice = (
            kappa_of_tables(alone(COHEN), seed=4),
            kappa_of_tables(2 * alone(COHEN), seed=4),
        )
        assert (twice.agreement.n, twice.conversations) == (400, 200)
        assert twice.interval == once.interval
        assert twice.standard_error == pytest.approx(once.standard_error)

    def test_perfect_agreement_is_bounded_by_the_number_of_conversations(self):
        once, twice = (
            kappa_of_tables(times * alone(np.diag([25, 25])), seed=1) for times in (1, 2)
        )
        assert twice.interval == once.interval
        assert "each conversation as one item" in twice.interval.method

    def test_a_single_conversation_has_no_interval(self):
        found = kappa_of_tables(COHEN[np.newaxis], seed=1)
        assert found.interval.method == "none: a single conversation"
        assert found.standard_error is None

    def test_few_conversations_are_named(self):
        few, enough = (kappa_of_tables(alone([[n, 2], [3, 7]]), seed=1) for n in (17, 18))
        assert (few.conversations, few.notes) == (29, (FEW_NOTE,))
        assert few.as_dict()["notes"] == [FEW_NOTE]
        assert (enough.conversations, enough.notes) == (30, ())

    def test_conversations_that_a_view_empties_are_not_counted(self):
        items = alone([[3, 1, 2], [1, 3, 0]])
        assert kappa_of_tables(items, seed=1).conversations == 10
        units = units_of(items)

        def readable(sums):
            return parseable(sums.reshape(*sums.shape[:-1], 2, 3))

        measure = coefficient("kappa", readable, kappa_chance)
        found = reported_kappa(units, readable, estimates(units, [measure], seed=1)["kappa"])
        assert (found.agreement.n, found.conversations) == (8, 8)
