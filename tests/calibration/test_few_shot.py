"""Few-shot examples: labelled items of the development split, evenly spread, and never a leak."""

import pytest
from click.testing import CliRunner
from hash_halves import split_of

from generation.item import Item, Message
from generation.store import TurnStore
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.few_shot import choose_shots
from judge.prompts.cli import prompt
from judge.prompts.template_store import read_template
from rubrics import InputError, load_rubric


@pytest.fixture
def labelled(builder):
    """Sixty items, all labelled by a script in turn with the first three categories."""
    builder.turns(60)
    builder.sample()
    ids = builder.rubric.category_ids[:3]
    builder.label("script", {i: ids[n % 3] for n, i in enumerate(builder.items)})
    return builder


def chosen(builder, n: int):
    return choose_shots(builder.pipeline, builder.labels, builder.rubric, n, builder.study.option)


def written(builder, *arguments: str):
    return CliRunner().invoke(prompt, [*arguments, "--study", str(builder.study.folder)])


def test_shots_are_of_the_development_split_with_the_label_that_people_gave(labelled):
    by_item = {item: i for i, item in labelled.items.items()}
    given = {row["item_id"]: row["category"] for row in labelled.labels["events"].rows}
    shots = chosen(labelled, 10)
    assert len({shot.item for shot in shots}) == 10
    for shot in shots:
        assert split_of(shot.item) == "dev"
        assert shot.label == given[by_item[shot.item]]
        assert (shot.rubric_version, shot.because) == ("v3", None)


def test_shots_go_round_the_categories_in_the_rubrics_order(labelled):
    ids = labelled.rubric.category_ids[:3]
    assert [shot.label for shot in chosen(labelled, 8)] == [*ids, *ids, *ids[:2]]


def test_the_same_labels_give_the_same_shots_and_more_begin_with_fewer(labelled):
    assert chosen(labelled, 9)[:4] == chosen(labelled, 4) == chosen(labelled, 4)


def test_a_note_is_shown_as_it_was_left_by_one_who_gave_the_label(labelled):
    item_id, label = next(
        (i, row["category"])
        for row in labelled.labels["events"].rows
        if split_of(labelled.items[i := row["item_id"]]) == "dev"
    )
    labelled.label("second script", {item_id: label}, note="  It asks why.\n")
    notes = {shot.item: shot.because for shot in chosen(labelled, 20)}
    assert notes.pop(labelled.items[item_id]) == "It asks why."
    assert set(notes.values()) == {None}


def test_ties_skips_and_unlabelled_items_are_no_shots(builder):
    builder.turns(40)
    builder.sample()
    first, second = builder.rubric.category_ids[:2]
    dev = [i for i, item in builder.items.items() if split_of(item) == "dev"]
    tied, skipped, fine = dev[:3]
    builder.label("script a", {tied: first, skipped: "skip: unclear", fine: first})
    builder.label("script b", {tied: second})
    assert [shot.item for shot in chosen(builder, 1)] == [builder.items[fine]]
    with pytest.raises(
        InputError, match=r"there is 1 item .*expected 2 \(1 labelled in all, 1 tied\)"
    ):
        chosen(builder, 2)


def test_too_few_are_refused_with_how_many_there_are(labelled):
    dev = sum(split_of(item) == "dev" for item in labelled.items.values())
    message = rf"there are {dev} items of the development split .* v3, expected 60 \(60 labelled"
    with pytest.raises(InputError, match=message) as refused:
        chosen(labelled, 60)
    assert f"annotate --rubric v3{labelled.study.option}, or ask for fewer: --shots {dev}" in str(
        refused.value
    )


def test_labels_under_another_rubric_are_no_shots(labelled):
    with pytest.raises(InputError, match=r"there are 0 items .* under rubric v2, expected 3"):
        choose_shots(labelled.pipeline, labelled.labels, load_rubric("v2"), 3)


def test_an_item_that_quotes_the_test_split_is_passed_over(builder):
    held_back, longer = _a_conversation_that_goes_on()
    builder.turns(30)
    turns = [
        Turn(Answer(Conversation("test", "long", i.messages), i.answer), i.turn, "held-out")
        for i in (held_back, longer)
    ]
    TurnStore(builder.pipeline).add_turns(Run("import", {}), turns)
    builder.sample()
    first, second = builder.rubric.category_ids[:2]
    labels = {i: second if item == longer else first for i, item in builder.items.items()}
    builder.label("script", labels)
    assert longer not in [shot.item for shot in chosen(builder, 5)]
    with pytest.raises(InputError, match=r"\(1 more would quote the test split\)"):
        chosen(builder, 32)


def test_a_template_is_written_with_shots_and_shows_them(labelled):
    result = written(labelled, "new", "strict", "--note", "with examples", "--shots", "6")
    assert result.exit_code == 0, result.output
    assert "strict@1 written" in result.stdout
    assert ", 6 shots, from followupeval\n" in result.stdout
    template = read_template(labelled.study, "strict")
    assert template.shots == chosen(labelled, 6)
    shown = written(labelled, "show", "strict").stdout
    assert shown.count("\nLabelled example ") == 6
    assert all(f'- u: "{shot.item.turn}"' in shown for shot in template.shots)


def test_an_edit_keeps_the_shots_unless_it_says_how_many(labelled, tmp_path):
    written(labelled, "new", "strict", "--note", "with examples", "--shots", "6")
    template = read_template(labelled.study, "strict")
    file = tmp_path / "my.md"
    file.write_text(f"Be strict.\n{template.text}")
    written(labelled, "edit", "strict", "--note", "stricter", "--file", str(file))
    assert read_template(labelled.study, "strict").shots == template.shots
    written(labelled, "edit", "strict", "--note", "fewer", "--shots", "2")
    assert read_template(labelled.study, "strict").shots == template.shots[:2]
    written(labelled, "edit", "strict", "--note", "none", "--shots", "0")
    edited = read_template(labelled.study, "strict")
    assert (edited.shots, edited.text) == ((), file.read_text())


def test_a_template_with_shots_is_shown_under_their_rubric(labelled):
    labelled.label("script", dict.fromkeys(labelled.items, "malformed"), rubric=load_rubric("v2"))
    result = written(labelled, "new", "old", "--note", "x", "--shots", "2", "--rubric", "v2")
    assert result.stdout.endswith(f"--model NAME --rubric v2{labelled.study.option}\n")
    assert "old@1 × rubric v2: " in written(labelled, "show", "old").stderr
    assert "labelled under rubric v2, not v3" in str(
        written(labelled, "show", "old", "--rubric", "v3").exception
    )


def test_diff_shows_which_shots_differ(labelled):
    written(labelled, "new", "six", "--note", "x", "--shots", "6")
    written(labelled, "new", "two", "--note", "x", "--from", "six", "--shots", "2")
    out = written(labelled, "diff", "six", "two").stdout
    gone = read_template(labelled.study, "six").shots[5]
    assert f'-    "turn": "{gone.item.turn}"' in out


def _a_conversation_that_goes_on() -> tuple[Item, Item]:
    """An item of the test split, and one of the other half whose conversation goes on from it."""
    asked = "How many clips did Natalia sell to her friends in April and May together, please"
    for sign in range(100):
        messages = (Message("user", asked + "?" * sign),)
        held_back = Item(messages, "72", "Why?")
        more = (*messages, Message("assistant", "72"), Message("user", f"And in June?{sign}"))
        longer = Item(more, "None", "Why none?")
        if (split_of(held_back), split_of(longer)) == ("test", "dev"):
            return held_back, longer
    raise AssertionError("no such pair")
