"""What the readers of the named sets make of their rows; no row is of a real set."""

import csv

import pytest

from generation.datasets.gpqa import LETTERS, option_order
from generation.datasets.open_assistant import open_assistant_turns
from generation.datasets.open_dataset import dataset_plan_from, open_dataset
from rubrics import InputError

IFEVAL = {"key": 7, "prompt": "No commas.", "instruction_id_list": ["x"], "kwargs": [{}]}


def texts(conversation):
    return [(message.role, message.content) for message in conversation.messages]


def test_ifeval_and_ifbench_are_told_apart_by_their_instructions(opened):
    for name, other, instruction in [
        ("ifeval", "ifbench", "count:numbers"),
        ("ifbench", "ifeval", "punctuation:no_comma"),
    ]:
        row = IFEVAL | {"instruction_id_list": [instruction]}
        assert len(opened(other, row).rows.conversations) == 1
        with pytest.raises(InputError, match=rf"set\.jsonl:1: '{instruction}' is .* of {other}; "
                                             rf".*--data {other}:FILE"):  # fmt: skip
            opened(name, row)


def test_kwargs_are_the_same_from_a_table_that_fills_its_columns(opened):
    filled = {"N": 3.0, "percentage": 12.5, "word": None, "keyword": "sea"}
    row = IFEVAL | {"key": "7", "kwargs": [filled]}
    (conversation,) = opened("ifbench", row).rows.conversations
    (kwargs,) = conversation.meta["kwargs"]
    assert kwargs == {"N": 3, "percentage": 12.5, "keyword": "sea"}
    assert isinstance(kwargs["N"], int)


def test_instructions_and_kwargs_must_be_as_many(opened):
    with pytest.raises(InputError, match=r":1: kwargs holds 'N=3'; expected objects"):
        opened("ifeval", IFEVAL | {"kwargs": ["N=3"]})
    with pytest.raises(InputError, match=r":1: 1 instructions, 2 kwargs"):
        opened("ifeval", IFEVAL | {"kwargs": [{}, {}]})


def test_a_row_that_stands_twice_is_asked_once(opened):
    dataset = opened("ifeval", IFEVAL, IFEVAL)
    assert len(dataset.rows.conversations) == 1
    assert dataset.rows.left_out == {"the same as an earlier row": 1}


GPQA = {
    "Record ID": "rec1", "Question": "Which sum is four?\n", "Correct Answer": "2+2 ",
    "Incorrect Answer 1": "1+2", "Incorrect Answer 2": "3,\n3", "Incorrect Answer 3": "1+1",
    "Canary String": "invented",
}  # fmt: skip


def gpqa_file(tmp_path, *rows):
    path = tmp_path / "gpqa_main.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(GPQA))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_gpqa_options_are_shuffled_by_the_record_and_the_letter_is_kept(tmp_path):
    rows = [GPQA | {"Record ID": f"rec{n}"} for n in range(40)]
    gpqa_file(tmp_path, *rows)
    dataset = open_dataset(dataset_plan_from("gpqa_main"), tmp_path)
    letters = [c.meta["reference_letter"] for c in dataset.rows.conversations]
    assert set(letters) == set(LETTERS)
    for conversation in dataset.rows.conversations:
        (message,) = conversation.messages
        assert f"({conversation.meta['reference_letter']}) 2+2\n" in message.content
        assert message.content.startswith("Which sum is four?\n\n(A) ")
        assert all(f"({letter}) " in message.content for letter in LETTERS)
    assert dataset.choices["option_seed"] == 0
    assert option_order("rec1", 0) != option_order("rec1", 1)
    again = open_dataset(dataset_plan_from("gpqa_main"), tmp_path)
    assert again.rows == dataset.rows


def test_a_gpqa_row_without_an_option_is_refused(tmp_path):
    path = gpqa_file(tmp_path, GPQA, GPQA | {"Record ID": "rec2", "Incorrect Answer 2": ""})
    with pytest.raises(InputError, match=r"gpqa_main\.csv:\d+: Incorrect Answer 2 is ''"):
        open_dataset(dataset_plan_from(f"gpqa_diamond:{path}"), None)


def test_healthbench_gives_questions_and_the_answers_that_stand_in_them(opened, user, assistant):
    long = [user("My knee hurts."), assistant("Since when?"), user("Monday.")]
    dataset = opened(
        "healthbench",
        {"prompt": [user("I cough.")], "prompt_id": "p1", "canary": "c", "rubrics": []},
        {"prompt": long, "prompt_id": "p2", "example_tags": ["theme:knees"], "canary": "c"},
        {"prompt": [assistant("Hello!"), user("Hi.")], "prompt_id": "p3"},
    )
    questions = dataset.rows.conversations
    assert [texts(c)[-1][1] for c in questions] == ["I cough.", "Monday.", "Hi."]
    assert len(questions[1].messages) == 3
    (answer,) = dataset.rows.held_out
    assert texts(answer.conversation) == [("user", "My knee hurts.")]
    assert answer.text == "Since when?"
    assert answer.conversation.source_id == "p2"
    assert answer.conversation.meta["next_turn"] == "Monday."
    assert "1470" in dataset.surprises("held-out")[0]


def coval(prompt_id, *responses):
    return {
        "prompt_id": prompt_id,
        "prompt": {"id": prompt_id, "messages": [{"role": "developer", "content": "Be kind."},
                                                 {"role": "user", "content": "Is it fair?"}]},
        "responses": [
            {"response_index": index, "messages": [{"role": "assistant", "content": text}]}
            for index, text in zip("ABCD", responses, strict=False)],
        "metadata": {"assessments": []},
    }  # fmt: skip


def test_coval_gives_one_recorded_response_per_prompt_by_a_seed(opened):
    rows = [coval(f"p{n}", "one", "two", "three", "four") for n in range(30)]
    dataset = opened("coval", *rows)
    assert len(dataset.rows.conversations) == len(dataset.rows.held_out) == 30
    assert {answer.text for answer in dataset.rows.held_out} == {"one", "two", "three", "four"}
    first = dataset.rows.held_out[0]
    assert texts(first.conversation) == [("system", "Be kind."), ("user", "Is it fair?")]
    index = first.conversation.meta["response_index"]
    assert dict(zip("ABCD", ["one", "two", "three", "four"], strict=True))[index] == first.text
    assert opened("coval", *reversed(rows)).rows.held_out[-1] == first
    assert dataset.choices == {"response_seed": 0}


def test_coval_rows_that_give_no_answer_are_counted(opened):
    dataset = opened("coval", coval("p1", "fine"), coval("p2", " "))
    assert len(dataset.rows.conversations) == 2
    assert dataset.rows.left_out == {"an empty answer": 1}
    with pytest.raises(InputError, match=r":1: no responses; expected one at least"):
        opened("coval", coval("p3"))


def node(name, role, *replies, **more):
    return {"message_id": name, "role": role, "text": name, "review_result": True,
            "deleted": False, "synthetic": False, "replies": list(replies)} | more  # fmt: skip


TREE = node(
    "q", "prompter",
    node("a", "assistant",
         node("u", "prompter", node("a2", "assistant", node("u2", "prompter"))),
         node("gone", "prompter", deleted=True),
         node("v", "prompter")),
    node("robot", "assistant", node("to robot", "prompter"), synthetic=True),
    node("poor", "assistant", node("to poor", "prompter"), review_result=False),
)  # fmt: skip


def test_open_assistant_paths_become_held_out_turns(write):
    turns = open_assistant_turns(write("trees.jsonl", {"message_tree_id": "t", "prompt": TREE}))
    assert [(t.answer.text, t.text) for t in turns] == [("a", "u"), ("a2", "u2"), ("a", "v")]
    assert [m.role for m in turns[1].answer.conversation.messages] == ["user", "assistant", "user"]
    assert {t.setting for t in turns} == {"held-out"}
    assert turns[0].meta == {"answer_message": "a", "turn_message": "u"}


def test_open_assistant_answers_are_held_out_with_what_people_said_next(opened):
    dataset = opened("open_assistant", {"message_tree_id": "t", "prompt": TREE})
    first, second = dataset.rows.held_out
    assert (first.text, first.conversation.source_id) == ("a", "a")
    meta = {"tree": "t", "next_turn": "u", "other_next_turns": ["v"]}
    assert first.conversation.meta == meta
    assert (second.text, second.conversation.meta["next_turn"]) == ("a2", "u2")
    assert dataset.rows.conversations == ()


def test_other_file_is_no_tree(opened):
    with pytest.raises(InputError, match=r":1: no 'message_tree_id'"):
        opened("open_assistant", IFEVAL)
