"""The two halves of a study: by the query alone, the same everywhere."""

import pytest
from hash_halves import split_of

from generation.item import Item, Message


def item(query: str, answer: str = "a", turn: str = "u", before: tuple[Message, ...] = ()) -> Item:
    return Item((*before, Message("user", query)), answer, turn)


def test_about_half_of_all_queries_are_in_each_half():
    halves = [split_of(item(f"What is {i} + {i}?")) for i in range(4000)]
    assert set(halves) == {"dev", "test"}
    assert abs(halves.count("dev") - 2000) < 4 * 32  # four standard deviations of a fair coin


def test_a_query_is_in_the_same_half_on_every_machine():
    halves = [split_of(item(query)) for query in ("2+2?", "Why?", "Hello", "How many clips?")]
    assert halves == ["dev", "test", "test", "dev"]


def test_all_items_after_the_same_query_are_in_one_half():
    for i in range(50):
        query = f"Question {i}?"
        before = (Message("user", "Hi"), Message("assistant", f"Hello {i}"))
        assert (
            split_of(item(query))
            == split_of(item(query, answer="other", turn=f"Thanks {i}"))
            == split_of(item(query, before=before))
        )


@pytest.mark.parametrize(
    "same",
    ["CAFÉ au\tlait,  Straße?", "  café au lait, strasse?\n", "cafe\u0301 au lait,\u00a0straße?"],
)
def test_case_blanks_and_unicode_form_make_no_other_query(same):
    for i in range(20):
        first = split_of(item(f"{i} Café au lait, Straße?"))
        assert split_of(item(f"{i} {same.lstrip()}")) == first
