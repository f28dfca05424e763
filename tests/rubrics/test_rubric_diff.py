"""diff_rubrics reports what moved and nothing else; render_diff stays readable in 100 columns."""

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubrics import Example, available_versions, diff_rubrics, load_rubric, render_diff
from rubrics.diff import FieldChange, ListDiff, Rewording

BASE = load_rubric("v2")
EXAMPLE = Example("2 + 2?", "4", "Why 4?", "It asks about the answer.")


def with_category(category_id, **fields):
    """v2 with some fields of one category replaced."""
    categories = tuple(
        replace(category, **fields) if category.id == category_id else category
        for category in BASE.categories
    )
    return replace(BASE, version="v9", categories=categories)


def moved(diff):
    return [category for category in diff.categories if category.moved]


def test_a_rubric_does_not_differ_from_itself():
    diff = diff_rubrics(BASE, BASE)
    assert moved(diff) == []
    assert diff.instructions == diff.precedence == ListDiff()
    assert (diff.added, diff.removed, diff.reordered) == ((), (), False)
    assert diff.same_meaning == BASE.category_ids


def test_what_the_new_version_says_of_itself_is_carried():
    new = replace(BASE, version="v9", changed="One word.", why="It was wrong.")
    diff = diff_rubrics(BASE, new)
    assert (diff.old, diff.new, diff.changed, diff.why) == (
        "v2",
        "v9",
        "One word.",
        "It was wrong.",
    )


@pytest.mark.parametrize(
    ("field", "value", "same_meaning"),
    [("name", "Ok", True), ("key", "0", True), ("sigma", 1, False), ("definition", "Ok.", False)],
)
def test_a_changed_field_is_reported_and_only_meaning_ends_same_meaning(field, value, same_meaning):
    diff = diff_rubrics(BASE, with_category("generic_reply", **{field: value}))
    [category] = moved(diff)
    assert category.id == "generic_reply"
    old = getattr(BASE.category("generic_reply"), field)
    assert category.fields == (FieldChange(field, old, value),)
    assert ("generic_reply" in diff.same_meaning) == same_meaning
    assert len(diff.same_meaning) == 6 + same_meaning


def test_rules_are_added_removed_and_reworded():
    first, second, *rest = BASE.category("generic_reply").decision_rules
    new = with_category(
        "generic_reply", decision_rules=(first.replace("warm", "kind"), *rest, "A rule apart.")
    )
    [category] = moved(diff_rubrics(BASE, new))
    assert category.decision_rules == ListDiff(
        added=("A rule apart.",),
        removed=(second,),
        reworded=(Rewording(first, first.replace("warm", "kind")),),
    )


def test_a_rule_that_only_moved_up_is_a_change_of_order():
    first, second, *rest = BASE.precedence
    diff = diff_rubrics(BASE, replace(BASE, precedence=(second, first, *rest)))
    assert diff.precedence == ListDiff(reordered=True)


def test_a_rewording_in_place_is_no_change_of_order():
    first, *rest = BASE.precedence
    diff = diff_rubrics(BASE, replace(BASE, precedence=(f"{first} Always.", *rest)))
    assert diff.precedence == ListDiff(reworded=(Rewording(first, f"{first} Always."),))


def test_a_reworded_rule_that_also_moved_is_a_change_of_order():
    first, second, *rest = BASE.precedence
    diff = diff_rubrics(BASE, replace(BASE, precedence=(second, f"{first} Always.", *rest)))
    assert diff.precedence == ListDiff(
        reworded=(Rewording(first, f"{first} Always."),), reordered=True
    )


def test_one_of_two_equal_paragraphs_can_go():
    twice = replace(BASE, instructions="Choose.\n\nChoose.")
    once = replace(BASE, instructions="Choose.")
    assert diff_rubrics(twice, once).instructions == ListDiff(removed=("Choose.",))


def test_a_twin_example_is_another_example_and_a_new_reason_is_a_rewording():
    old = with_category("malformed", examples=(EXAMPLE,))
    twin = replace(EXAMPLE, u="Now do it in French.", why="A change is wanted.")
    reason = replace(EXAMPLE, why="It asks about this answer.")
    [category] = moved(diff_rubrics(old, with_category("malformed", examples=(twin,))))
    assert category.examples == ListDiff(added=(twin,), removed=(EXAMPLE,))
    [category] = moved(diff_rubrics(old, with_category("malformed", examples=(reason,))))
    assert category.examples == ListDiff(reworded=(Rewording(EXAMPLE, reason),))


def test_categories_are_matched_by_id_and_may_come_and_go():
    *kept, last = BASE.categories
    new = replace(BASE, categories=(*kept, replace(last, id="unreadable")))
    diff = diff_rubrics(BASE, new)
    assert [category.id for category in diff.removed] == ["malformed"]
    assert [category.id for category in diff.added] == ["unreadable"]
    assert moved(diff) == []
    assert not diff.reordered
    assert "malformed" not in diff.same_meaning
    assert "unreadable" not in diff.same_meaning
    text = render_diff(diff)
    assert "- malformed (Malformed, sigma 0, key 7)" in text
    assert "+ unreadable (Malformed, sigma 0, key 7)" in text


def test_another_order_of_the_categories_is_reported():
    diff = diff_rubrics(BASE, replace(BASE, categories=BASE.categories[::-1]))
    assert diff.reordered
    assert moved(diff) == []
    assert "order of the categories: malformed, generic_reply," in render_diff(diff)


rules = st.lists(st.text("abc ", max_size=6), unique=True)


@given(rules, rules)
def test_a_list_diff_leads_from_the_old_list_to_the_new_one(old, new):
    diff = diff_rubrics(
        replace(BASE, precedence=tuple(old)), replace(BASE, precedence=tuple(new))
    ).precedence
    went = Counter(diff.removed) + Counter(change.old for change in diff.reworded)
    came = Counter(diff.added) + Counter(change.new for change in diff.reworded)
    assert Counter(old) - went + came == Counter(new)
    assert diff.moved == (old != new)


def test_the_text_names_what_moved_with_signs_and_the_rest_in_one_line():
    new = with_category("malformed", key="0", definition="Nothing to read.")
    new = replace(new, changed="A shorter definition.", why="It was long.")
    old = replace(BASE, categories=with_category("malformed", definition="No text.").categories)
    assert (
        render_diff(diff_rubrics(old, new))
        == """\
Rubric v2 -> v9
changed  A shorter definition.
why      It was long.

malformed
  key
    - 7
    + 0
  definition
    - No text.
    + Nothing to read.

did not move: genuine_followup, previous_turn_restate, assistant_turn_restate, new_task_prompt,
              assistant_continuation, generic_reply
same definition and sigma: genuine_followup, previous_turn_restate, assistant_turn_restate,
                           new_task_prompt, assistant_continuation, generic_reply
"""
    )


def test_an_example_is_shown_field_by_field_with_invisible_signs_written_out():
    hostile = Example(q=" ", a="", u="\u200b\n\x1b[2JWhy?", why="It\u202eis hostile.")
    text = render_diff(diff_rubrics(BASE, with_category("malformed", examples=(hostile,))))
    assert (
        """\
malformed
  examples
    + q    (blank)
      a    (blank)
      u    \\u200b\\n\\x1b[2JWhy?
      why  It\\u202eis hostile.
"""
        in text
    )


def test_a_change_of_order_is_said_beside_the_title():
    diff = diff_rubrics(BASE, replace(BASE, precedence=BASE.precedence[::-1]))
    assert "\nprecedence (order changed)\n" in render_diff(diff)


def test_nothing_moved_is_one_line():
    text = render_diff(diff_rubrics(BASE, BASE))
    assert text.endswith(
        "\n\ndid not move: every category\nsame definition and sigma: every category\n"
    )
    assert len(text.split("\n\n")) == 2


@pytest.mark.parametrize(("old", "new"), list(product(available_versions(), repeat=2)))
def test_no_line_is_wider_than_a_hundred_columns(old, new):
    text = render_diff(diff_rubrics(load_rubric(old), load_rubric(new)))
    assert max(map(len, text.splitlines())) <= 100


def test_a_word_without_a_blank_is_broken_to_fit():
    text = render_diff(diff_rubrics(BASE, with_category("malformed", definition="x" * 1000)))
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("x") >= 1000
