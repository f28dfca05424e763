"""The loader takes one well-formed rubric and refuses every kind of fault with an InputError."""

import re
from types import SimpleNamespace

import pytest

from rubrics import InputError, available_versions, latest_version, load_rubric, parse_rubric

IDS = ("follow", "again", "echo", "other", "drift", "polite", "broken")

HEAD = """
version = "v1"
changed = "Everything."
why = "It is the first."
instructions = "Choose one label."
precedence = ["The first move decides."]
"""

CATEGORY = """
[[categories]]
id = "{id}"
name = "The {id} turn"
sigma = {sigma}
key = "{key}"
definition = "What {id} means."
decision_rules = ["A rule for {id}."]

[[categories.examples]]
q = "2 + 2?"
a = "4"
u = "Why?"
why = "A reason for {id}."
"""


def category(position: int) -> str:
    return CATEGORY.format(id=IDS[position], sigma=int(position == 0), key=position + 1)


TEXT = HEAD + "".join(category(position) for position in range(7))


def edited(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new, 1)


def refusal(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_rubric(text, source="my.toml")
    return str(caught.value)


def test_a_rubric_is_read_in_the_order_of_its_file():
    rubric = parse_rubric(TEXT, source="my.toml")
    assert (rubric.version, rubric.changed, rubric.why) == ("v1", "Everything.", "It is the first.")
    assert rubric.precedence == ("The first move decides.",)
    assert rubric.category_ids == IDS
    assert rubric.text == TEXT
    first = rubric.category("follow")
    assert (first.name, first.sigma, first.key) == ("The follow turn", 1, "1")
    assert first.decision_rules == ("A rule for follow.",)
    assert first.examples[0].u == "Why?"


def test_precedence_rules_and_examples_may_be_absent():
    bare = re.sub(r"precedence.*|decision_rules.*", "", TEXT)
    bare = re.sub(r"\[\[categories\.examples\]\]\n(.+\n){4}", "", bare)
    rubric = parse_rubric(bare, source="my.toml")
    assert rubric.precedence == ()
    assert {(c.decision_rules, c.examples) for c in rubric.categories} == {((), ())}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('why = "It', 'author = "me"\nwhy = "It', "my.toml: unknown key author"),
        ('key = "2"', 'key = "2"\ncolour = "red"', "category 2: unknown key colour"),
        ('u = "Why?"', 'u = "Why?"\nlabel = "x"', "category 1, example 1: unknown key label"),
        ('changed = "Everything."', "", "my.toml: missing changed"),
        ('definition = "What again means."', "", "category 2: missing definition"),
        ('a = "4"', "", "category 1, example 1: missing a"),
    ],
)
def test_unknown_and_missing_keys_are_named_with_their_place(old, new, message):
    assert message in refusal(edited(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "again"', 'id = "follow"', "duplicate id follow"),
        ('key = "2"', 'key = "1"', "duplicate key 1"),
        ('name = "The again turn"', 'name = "The follow turn"', "duplicate name The follow turn"),
        ("sigma = 0", "sigma = 1", "sigma = 1 for follow, again, expected exactly one"),
        ("sigma = 1", "sigma = 0", "sigma = 1 for no category, expected exactly one"),
        (category(6), "", "6 categories, expected 7"),
    ],
)
def test_the_categories_must_fit_together(old, new, message):
    assert message in refusal(edited(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sigma = 1", "sigma = true", "category 1: sigma is True, expected 0 or 1"),
        ("sigma = 1", "sigma = 1.0", "category 1: sigma is 1.0"),
        ("sigma = 1", 'sigma = "1"', "category 1: sigma is '1'"),
        ("sigma = 1", "sigma = [1]", "category 1: sigma is [1]"),
        ("sigma = 1", "sigma = 2", "category 1: sigma is 2"),
        ("sigma = 1", "sigma = nan", "category 1: sigma is nan"),
        ('key = "2"', 'key = "12"', "category 2: key is '12', expected one digit"),
        ('key = "2"', 'key = ""', "category 2: key is ''"),
        ('key = "2"', 'key = " "', "category 2: key is ' '"),
        ('key = "2"', 'key = "B"', "category 2: key is 'B'"),
        ('key = "2"', "key = 2", "category 2: key is 2, expected text"),
        ('id = "again"', 'id = "Again "', "category 2: id is 'Again ', expected lower-case"),
        ('id = "again"', 'id = ["again"]', "category 2: id is ['again'], expected text"),
        ('name = "The again turn"', "name = 2020-01-01", "category 2: name is datetime.date"),
        ('definition = "What follow means."', "definition = 5", "category 1: definition is 5"),
        ('definition = "What follow means."', 'definition = " "', "definition is empty"),
        ('["A rule for follow."]', '"A rule"', "category 1: decision_rules is not a list of texts"),
        ('["A rule for follow."]', "[1]", "category 1: decision_rules is not a list of texts"),
        ('["A rule for follow."]', '[""]', "category 1: decision_rules holds an empty text"),
        ('["A rule for follow."]', '["A", " A "]', "decision_rules holds 'A' twice"),
        ('["The first move decides."]', '["A", "A"]', "my.toml: precedence holds 'A' twice"),
        ('u = "Why?"', "u = 4", "category 1, example 1: u is 4, expected text"),
        ('version = "v1"', "version = 1", "my.toml: version is 1, expected text"),
        ('"Choose one label."', "[]", "my.toml: instructions is [], expected text"),
        ('["The first move decides."]', '"It"', "my.toml: precedence is not a list of texts"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_and_quoted(old, new, message):
    assert message in refusal(edited(old, new))


@pytest.mark.parametrize("categories", ["5", '"seven"', "[1, 2]", "{ id = 1 }"])
def test_categories_must_be_tables(categories):
    assert "categories is not a list of tables" in refusal(HEAD + f"categories = {categories}\n")


@pytest.mark.parametrize("examples", ["5", '["Why?"]', "{ q = 1 }"])
def test_examples_must_be_tables(examples):
    start = TEXT.index("[[categories.examples]]")
    end = TEXT.index("[[categories]]", start)
    text = f"{TEXT[:start]}examples = {examples}\n{TEXT[end:]}"
    assert "category 1: examples is not a list of tables" in refusal(text)


@pytest.mark.parametrize("text", ["{", "version = ", "\ufeff" + TEXT, TEXT + "\n[[categories"])
def test_text_that_is_not_toml_is_refused_with_its_source(text):
    assert refusal(text).startswith("my.toml: not TOML: ")


def test_the_hash_ignores_comments_and_layout():
    laid_out = edited('why = "It is the first."\n', "")
    laid_out = laid_out.replace(
        'version = "v1"', '# a comment\nwhy = """\nIt is \\\n  the first.\n"""\n\nversion = \'v1\''
    )
    assert laid_out != TEXT
    assert parse_rubric(laid_out, source="x").hash == parse_rubric(TEXT, source="y").hash


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Everything.", "Nothing."),
        ("the first.", "the second."),
        ("Choose one label.", "Choose one label!"),
        ("The first move decides.", "The last move decides."),
        ("What follow means.", "What follow meant."),
        ("A rule for follow.", "One rule for follow."),
        ("The follow turn", "A follow turn"),
        ('key = "1"', 'key = "8"'),
        ('u = "Why?"', 'u = "Why? "'),
        ("A reason for follow.", "No reason for follow."),
    ],
)
def test_the_hash_changes_with_any_word(old, new):
    changed = parse_rubric(edited(old, new), source="x")
    assert changed.hash != parse_rubric(TEXT, source="x").hash


def test_the_hash_changes_with_the_order_of_the_categories():
    swapped = HEAD + "".join(category(position) for position in (1, 0, 2, 3, 4, 5, 6))
    assert parse_rubric(swapped, source="x").hash != parse_rubric(TEXT, source="x").hash


def test_study_text_in_examples_is_kept_letter_by_letter():
    rubric = parse_rubric(edited('u = "Why?"', r'u = " \u200B\n"'), source="x")
    assert rubric.categories[0].examples[0].u == " \u200b\n"


def test_an_unknown_version_names_the_known_ones():
    with pytest.raises(InputError, match=r"unknown rubric 'v99': the versions are v1, v2, v3"):
        load_rubric("v99")


def test_a_version_never_reaches_outside_the_package():
    with pytest.raises(InputError, match="unknown rubric"):
        load_rubric("../rubrics/v1")


def test_an_unknown_category_names_the_known_ones():
    with pytest.raises(InputError, match="unknown category 'Follow': rubric v1 has follow, again"):
        parse_rubric(TEXT, source="x").category("Follow")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that stands in for the package's own."""
    monkeypatch.setattr("rubrics.rubric.resources", SimpleNamespace(files=lambda package: tmp_path))
    return tmp_path


def test_versions_are_ordered_by_number_not_by_letter(folder):
    for name in ("v10.toml", "v9.toml", "v2.toml", "rubric.py"):
        (folder / name).write_text(TEXT)
    assert available_versions() == ("v2", "v9", "v10")
    assert latest_version() == "v10"


def test_a_file_must_say_the_version_of_its_name(folder):
    (folder / "v9.toml").write_text(TEXT)
    with pytest.raises(InputError, match=r"rubrics/v9.toml says version 'v1'"):
        load_rubric("v9")
