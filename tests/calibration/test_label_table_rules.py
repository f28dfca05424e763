"""What becomes of the values in a label table: every case where libraries disagree has one rule."""

import random

import pytest

from annotator.measures.confusion import INVALID
from judge.calibration.label_table.normalise import (
    AGAIN,
    NO_LABEL,
    SINGLE,
    given_categories,
    label_table,
)
from judge.calibration.label_table.raw_rating import RawRating, RawTable
from judge.calibration.label_table.table import LabelTable
from rubrics import InputError

NAN = float("nan")
PAIR = [("i1", "r1", "x"), ("i1", "r2", "y"), ("i2", "r1", "y"), ("i2", "r2", "y")]


def table_of(rows, categories=None, **columns) -> LabelTable:
    """A table of (item, rater, label) rows; each of `columns` has one value per row."""
    ratings = [
        RawRating(*row, f"row {k}", **{name: values[k - 2] for name, values in columns.items()})
        for k, row in enumerate(rows, start=2)
    ]
    return label_table(RawTable("long table", tuple(ratings)), "t.csv", categories)


def refused(rows, categories=None, **columns) -> str:
    with pytest.raises(InputError) as caught:
        table_of(rows, categories, **columns)
    assert str(caught.value).startswith("t.csv: ")
    return str(caught.value)


def excluded(table: LabelTable) -> dict[str, int]:
    return {e.reason: e.count for e in table.excluded}


def labels(table: LabelTable) -> list[str]:
    return [rating.label for rating in table.ratings]


def test_a_table_in_order():
    table = table_of(PAIR)
    assert table.raters == ("r1", "r2")
    assert table.items == ("i1", "i2")
    assert table.categories == ("x", "y")
    assert table.labels_of("r1") == {"i1": "x", "i2": "y"}
    assert (table.excluded, table.repeats) == ((), ())
    assert (table.clustered, table.weighted) == (False, False)


def test_people_come_before_judges():
    kinds = ["judge", "human", "judge", "human"]
    table = table_of([("i", "a", "x"), ("i", "z", "x"), ("i", "b", "x"), ("i", "y", "x")],
                     kind=kinds)  # fmt: skip
    assert table.raters == ("y", "z", "a", "b")
    assert table.humans == ("y", "z")


def test_order_of_rows_does_not_matter():
    rows = [(i, r, "xyz"[(i * r) % 3]) for i in range(6) for r in range(3)]
    shuffled = rows.copy()
    random.Random(5).shuffle(shuffled)
    assert table_of(shuffled) == table_of(rows)


@pytest.mark.parametrize("missing", [None, NAN])
def test_a_missing_label_is_no_label_and_is_counted(missing):
    """nltk takes None, sklearn NaN for a class of its own."""
    table = table_of([*PAIR, ("i3", "r1", missing), ("i3", "r2", "y")])
    assert table.categories == ("x", "y")
    assert excluded(table) == {NO_LABEL: 1, SINGLE: 1}
    assert "i3" not in table.labels_of("r1")


def test_the_text_nan_is_a_label():
    """krippendorff takes it for a missing one."""
    table = table_of([("i", "r1", "nan"), ("i", "r2", "NaN")])
    assert table.categories == ("NaN", "nan")
    assert excluded(table) == {}
    assert "unknown label" in refused([("i", "r1", "nan"), ("i", "r2", "x")], ("x", "y"))


@pytest.mark.parametrize("blank", ["", "  ", "\t\n", "\u00a0"])
@pytest.mark.parametrize("categories", [None, ("x", "y")])
def test_a_blank_label_of_a_person_is_refused(blank, categories):
    """irrCAC takes it for a missing one, other libraries for a class."""
    message = refused([*PAIR, ("i3", "r1", blank)], categories)
    assert "row 6" in message
    assert "a blank label; leave the cell empty" in message


def test_composed_and_decomposed_letters_and_blanks_around_are_one_label():
    rows = [("caf\u00e9", "r\u00e9", "\u00e9t\u00e9"), ("cafe\u0301 ", "s", " e\u0301te\u0301\n")]
    table = table_of(rows, ("e\u0301te\u0301", "x"))
    assert table.items == ("caf\u00e9",)
    assert labels(table) == ["\u00e9t\u00e9"] * 2
    assert table.categories[0] == "\u00e9t\u00e9"


@pytest.mark.parametrize("label", ["Genuine", "genuin", "GENUINE ", "genuine!"])
def test_case_and_spelling_are_not_mended_but_the_nearest_is_named(label):
    message = refused([("i", "r1", "genuine"), ("i", "r2", label)], ("other", "genuine"))
    assert "row 3" in message
    assert repr(label.strip()) in message
    assert "expected one of other, genuine; did you mean 'genuine'?" in message


def test_without_categories_case_makes_two_labels():
    assert table_of([("i", "r1", "Yes"), ("i", "r2", "yes")]).categories == ("Yes", "yes")


@pytest.mark.parametrize("number", [1, "1", 1.0, " 1"])
def test_numbers_are_their_text(number):
    """nltk finds no agreement between 1 and "1"."""
    table = table_of([(7, 3, number), ("7", "4", "1")])
    assert (table.items, table.raters, table.categories) == (("7",), ("3", "4"), ("1",))


def test_other_values_are_their_text_too():
    table = table_of([(1.5, "r1", True), (1.5, "r2", False)])
    assert (table.items, table.categories) == (("1.5",), ("false", "true"))


@pytest.mark.parametrize("value", [["x"], {"x": 1}, b"x"])
def test_what_is_no_text_or_number_is_refused(value):
    assert "expected a text or a number" in refused([("i", "r1", value)])


@pytest.mark.parametrize("value", [None, NAN, "", " "])
@pytest.mark.parametrize("column", [0, 1])
def test_ids_must_be_there(value, column):
    """In some tools items without an id become one item."""
    row = ["i3", "r1", "x"]
    row[column] = value
    assert f"row 6: no {('item', 'rater')[column]}" in refused([*PAIR, tuple(row)])


def test_a_second_rating_of_the_same_rater_replaces_the_first():
    """Counted as pairs of their own they once gave kappa 1.43."""
    table = table_of([("i1", "r1", "y"), *PAIR, ("i2", "r2", "x"), ("i1", "r1", "y")])
    assert table.labels_of("r1")["i1"] == "y"
    assert table.labels_of("r2")["i2"] == "x"
    assert len(table.ratings) == 4
    assert excluded(table) == {AGAIN: 3}
    assert [(r.rater, r.item, r.label) for r in table.repeats] == [
        ("r1", "i1", "y"),
        ("r1", "i1", "x"),
        ("r2", "i2", "y"),
    ]


def test_a_missing_label_replaces_nothing():
    table = table_of([*PAIR, ("i1", "r1", None)])
    assert table.labels_of("r1")["i1"] == "x"
    assert excluded(table) == {NO_LABEL: 1}


def test_a_judges_label_outside_the_categories_is_an_outcome_of_its_own():
    rows = [("i1", "r", "x"), ("i2", "r", "y"), ("i1", "m", "garbage"), ("i2", "m", " ")]
    table = table_of(rows, ("x", "y"), kind=[None, "human", "judge", "judge"])
    assert table.labels_of("m") == {"i1": INVALID, "i2": INVALID}
    assert table.invalid == {"m": 2}
    assert table.categories == ("x", "y")


def test_that_outcome_must_not_share_its_name():
    rows, kind = [("i", "r", "x"), ("i", "m", "y")], ["human", "judge"]
    assert "rename that category" in refused(rows, ("x", INVALID), kind=kind)


@pytest.mark.parametrize("kind", ["Human", "judges", "llm", 1])
def test_unknown_kinds_are_refused(kind):
    message = refused(PAIR, kind=["human", kind, "human", "human"])
    assert f"row 3: unknown kind {str(kind)!r}: expected human or judge" in message


def test_a_rater_is_of_one_kind():
    message = refused(PAIR, kind=["human", "human", "judge", "human"])
    assert "row 4: rater 'r1' is both human and judge" in message


def test_clusters_and_weights_by_item():
    table = table_of(PAIR, cluster=["c", None, 7, "7"], weight=["2", 2, 0.5, None])
    assert table.clusters == {"i1": "c", "i2": "7"}
    assert table.weights == {"i1": 2.0, "i2": 0.5}
    assert (table.clustered, table.weighted) == (True, True)


def test_empty_columns_are_no_columns():
    table = table_of(PAIR, cluster=[None] * 4, weight=[NAN] * 4)
    assert table.clusters == {"i1": None, "i2": None}
    assert table.weights == {"i1": 1.0, "i2": 1.0}


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("cluster", ["c", "d", "e", "e"], "row 3: item 'i1' has cluster 'd' here and 'c' before"),
        ("cluster", ["c", "c", None, NAN], "row 4: item 'i2' has no cluster, others have"),
        ("cluster", ["c", " ", "d", "d"], "row 3: a blank cluster"),
        ("weight", [1, 2, 1, 1], "row 3: item 'i1' has weight 2.0 here and 1.0 before"),
        ("weight", [1, 1, None, None], "row 4: item 'i2' has no weight, others have"),
        ("weight", [1, 1, 0, 0], "row 4: weight 0: expected a number above 0"),
        ("weight", [1, 1, -2, 1], "row 4: weight -2: expected a number above 0"),
        ("weight", ["inf", 1, 1, 1], "row 2: weight 'inf': expected a number above 0"),
        ("weight", ["nan", 1, 1, 1], "row 2: weight 'nan': expected a number above 0"),
        ("weight", ["heavy", 1, 1, 1], "row 2: weight 'heavy': expected a number above 0"),
    ],
)
def test_clusters_and_weights_at_odds_are_refused(column, values, expected):
    assert expected in refused(PAIR, **{column: values})


def test_items_with_a_single_rating_are_counted():
    assert excluded(table_of([*PAIR, ("i3", "r1", "x"), ("i4", "r3", "x")])) == {SINGLE: 2}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], "no label in it"),
        ([("i", "r", None)], "no label in it"),
        ([("i", "r", "x"), ("j", "r", "y")], "a single rater, 'r'"),
        (
            [("i1", "r1", "x"), ("I1", "r2", "x"), ("I2", "r2", "x")],
            "no item has two raters: 'r1' rated 'i1', 'r2' rated 'I1', 'I2'",
        ),
    ],
)
def test_nothing_to_compare(rows, expected):
    """Other libraries divide by zero here."""
    assert expected in refused(rows)


@pytest.mark.parametrize("text", ["", "a", "a,,b", "a, a", "e\u0301,\u00e9", " ,a"])
def test_categories_must_be_two_or_more_different_names(text):
    with pytest.raises(InputError, match="two or more different names"):
        given_categories(text)


def test_the_nearest_category_may_differ_in_case_alone():
    message = refused([("i", "r", "yes")], ("NO", "YES"))
    assert "did you mean 'YES'?" in message
