"""Units: what is the same is counted once, whatever order it came in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from annotator.measures.layout import Layout, pair_tables
from annotator.measures.units import DENSE_CODES, Units, gather, patterns

ONE_HOT = np.eye(3)


def same(one: Units, other: Units) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("rows", "times", "strata")
    )


class TestPatterns:
    @given(
        arrays.arrays(
            np.int64,
            st.tuples(st.integers(0, 30), st.integers(1, 4)),
            elements=st.integers(-1, 5),
        )
    )
    def test_are_the_different_rows_in_lexical_order(self, ratings):
        found = patterns(ratings)
        assert found.rows[found.of_item].tolist() == ratings.tolist()
        assert found.rows.tolist() == [list(row) for row in sorted({*map(tuple, ratings)})]

    @pytest.mark.parametrize(
        "largest",
        [
            3,  # counted by index
            DENSE_CODES,  # one number per row, sorted
            2**40,  # three such columns fit no 64 bits: whole rows are sorted
        ],
    )
    def test_are_the_same_however_many_values_are_possible(self, largest):
        ratings = np.array([[largest, -1, 2], [-1, largest, 0], [largest, -1, 2], [0, 0, largest]])
        found = patterns(ratings)
        assert found.rows.tolist() == [[-1, largest, 0], [0, 0, largest], [largest, -1, 2]]
        assert found.of_item.tolist() == [2, 0, 2, 1]

    def test_of_many_raters_do_not_overflow(self):
        generator = np.random.default_rng(2)
        ratings = generator.integers(-1, 7, size=(50, 40))  # 8**40 possible rows
        found = patterns(np.concatenate([ratings, ratings[::-1]]))
        assert len(found.rows) == 50
        assert (found.rows[found.of_item[:50]] == ratings).all()
        assert (found.of_item[50:] == found.of_item[:50][::-1]).all()

    def test_none_is_a_value_of_its_own(self):
        found = patterns(np.array([[-1, 0], [0, -1], [-1, -1], [0, 0]]))
        assert found.rows.tolist() == [[-1, -1], [-1, 0], [0, -1], [0, 0]]
        assert found.of_item.tolist() == [1, 2, 0, 3]

    def test_of_nothing(self):
        found = patterns(np.zeros((0, 3), dtype=np.int64))
        assert (found.rows.shape, found.of_item.shape) == ((0, 3), (0,))


class TestGather:
    def test_counts_items_of_equal_features_once(self):
        features = np.array([[1.0, 0], [0, 1], [1, 0]])  # the first and the last pattern are alike
        units = gather(features, np.array([0, 1, 2, 2]))
        assert units.rows[:, 0].tolist() == [[0, 1], [1, 0]]
        assert units.times.tolist() == [1, 3]
        assert (units.count, units.runs, units.total.tolist()) == (4, 1, [3, 1])

    def test_sums_the_items_of_a_cluster(self):
        units = gather(ONE_HOT, np.array([0, 0, 1, 2, 2]), clusters=np.array([7, 3, 7, 3, 9]))
        assert units.rows[:, 0].tolist() == [[0, 0, 1], [1, 0, 1], [1, 1, 0]]
        assert (units.count, units.total.tolist()) == (3, [2, 1, 2])

    def test_weights_multiply_features(self):
        weights = np.array([2.0, 0.5, 0.5])
        units = gather(ONE_HOT, np.array([0, 1, 1]), weights=weights)
        assert units.rows[:, 0].tolist() == [[0, 0.5, 0], [2, 0, 0]]
        assert units.times.tolist() == [2, 1]

    def test_keeps_runs_apart_until_they_are_merged(self):
        features = np.array([[[1.0, 0], [1, 0]], [[1, 0], [0, 1]], [[0, 1], [1, 0]]])
        units = gather(features, np.array([0, 1, 2, 2]))
        assert (len(units.rows), units.runs, units.count) == (3, 2, 4)
        merged = units.merged_runs
        assert merged.rows[:, 0].tolist() == [[1, 1], [2, 0]]
        assert merged.times.tolist() == [3, 1]
        assert merged.total.tolist() == units.total.tolist() == [5, 3]
        assert units.of_run(1).total.tolist() == [3, 1]

    @pytest.mark.parametrize("numbers", [[0, 1], [4, 9], [-3, 2]])
    def test_strata_keep_equal_rows_apart_whatever_their_numbers(self, numbers):
        strata = np.array(numbers)[[0, 0, 1]]
        units = gather(ONE_HOT, np.array([1, 1, 1]), strata=strata)
        assert (units.times.tolist(), units.strata.tolist()) == ([2, 1], [0, 1])

    def test_a_single_stratum_is_none(self):
        items = np.array([0, 1, 1])
        assert same(gather(ONE_HOT, items, strata=np.array([4, 4, 4])), gather(ONE_HOT, items))

    def test_strata_that_cut_a_cluster_are_left_out(self):
        items, clusters = np.array([0, 1, 2, 2]), np.array([0, 0, 1, 1])
        whole = gather(ONE_HOT, items, clusters=clusters, strata=np.array([0, 0, 1, 1]))
        assert whole.strata.tolist() == [0, 1]
        cut = gather(ONE_HOT, items, clusters=clusters, strata=np.array([0, 1, 1, 1]))
        assert cut.strata.tolist() == [0, 0]

    @pytest.mark.parametrize("options", [{}, {"clusters"}, {"weights"}, {"strata"},
                                         {"clusters", "weights", "strata"}])  # fmt: skip
    def test_of_no_items(self, options):
        none = np.zeros(0, dtype=np.int64)
        given_ = {name: none.astype(float) if name == "weights" else none for name in options}
        units = gather(ONE_HOT, none, **given_)
        assert (units.count, units.rows.shape, units.total.tolist()) == (0, (0, 1, 3), [0, 0, 0])

    @given(st.randoms(), st.booleans(), st.booleans(), st.booleans())
    def test_the_order_of_items_and_the_numbers_of_clusters_do_not_matter(
        self, random, clustered, weighted, stratified
    ):
        """Bit for bit: a sum of weights depends on the order in which it is taken."""
        generator = np.random.default_rng(random.randrange(100))
        n = 40
        items = generator.integers(3, size=n)
        clusters = np.repeat(np.arange(8), 5)
        design = {"clusters": clusters} if clustered else {}
        if weighted:
            design["weights"] = generator.choice([0.1, 0.3, 1.7], size=n)
        if stratified:
            design["strata"] = clusters % 2
        order = generator.permutation(n)
        moved = {name: values[order] for name, values in design.items()}
        if clustered:
            moved["clusters"] = generator.permutation(100)[moved["clusters"]]
        assert same(gather(ONE_HOT, items, **design), gather(ONE_HOT, items[order], **moved))


class TestLayout:
    LAYOUT = Layout({"table": (2, 3), "one": ()})

    def test_picks_what_it_packed(self):
        tables, ones = np.arange(24).reshape(4, 2, 3), np.arange(4)
        rows = self.LAYOUT.pack({"one": ones, "table": tables})
        assert rows.shape == (4, self.LAYOUT.width) == (4, 7)
        assert (self.LAYOUT.pick(rows, "table") == tables).all()
        assert (self.LAYOUT.pick(rows, "one") == ones).all()
        assert self.LAYOUT.pick(rows.sum(axis=0), "table").shape == (2, 3)

    def test_refuses_other_blocks_than_its_own(self):
        with pytest.raises(KeyError, match="expected blocks"):
            self.LAYOUT.pack({"table": np.zeros((1, 2, 3))})

    def test_pairs_without_a_rating_are_in_no_table(self):
        tables = pair_tables(np.array([0, -1, 1]), np.array([2, 0, -1]), 2, 3)
        assert tables.sum(axis=(1, 2)).tolist() == [1, 0, 0]
        assert tables[0, 0, 2] == 1
