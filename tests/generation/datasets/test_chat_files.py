"""Files of conversations in every shape that is read, and what is left out of them and why."""

import json

import pytest
from hostile_texts import HOSTILE_TEXTS

from generation.datasets.open_dataset import dataset_plan_from, open_dataset
from rubrics import InputError


def texts(messages):
    return [(message.role, message.content) for message in messages]


ASKED = [("user", "2+2?")]
ANSWERED = [("system", "Be brief."), ("user", "2+2?")]
SHAREGPT = [{"from": "system", "value": "Be brief."}, {"from": "human", "value": "2+2?"},
            {"from": "gpt", "value": "4"}]  # fmt: skip
OPENAI = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"},
          {"role": "assistant", "content": "4"}]  # fmt: skip


@pytest.mark.parametrize(
    "row",
    [
        {"messages": OPENAI},
        {"messages": [OPENAI[0] | {"role": "developer"}, *OPENAI[1:]]},
        {"messages": [OPENAI[0], OPENAI[1] | {"content": [{"type": "text", "text": "2+2?"}]},
                      OPENAI[2] | {"refusal": None, "tool_calls": []}]},
        {"conversations": SHAREGPT},
        {"conversations": SHAREGPT[1:], "system": "Be brief."},
        {"messages": None, "conversations": [
            {"role": None, "content": None} | entry for entry in SHAREGPT]},
        {"conversation": OPENAI, "model": "x"},
        {"prompt": OPENAI[:2], "completion": OPENAI[2:]},
        {"prompt": OPENAI[:2], "completion": "4"},
        {"id": 7, "source": "mine", "messages": OPENAI, "meta": {"kind": "sum"}},
    ],
)  # fmt: skip
def test_a_chat_that_ends_in_an_answer_is_held_out_in_every_shape(opened, row):
    dataset = opened("chat", row)
    assert dataset.rows.conversations == ()
    (answer,) = dataset.rows.held_out
    assert (texts(answer.conversation.messages), answer.text) == (ANSWERED, "4")
    assert answer.conversation.dataset == dataset.name == "set"


@pytest.mark.parametrize(
    "row",
    [{"prompt": "2+2?"}, {"prompt": [{"role": "user", "content": "2+2?"}]},
     {"messages": [{"role": "user", "content": "2+2?"}]},
     {"conversations": [{"from": "human", "value": "2+2?"}]}],
)  # fmt: skip
def test_a_chat_that_ends_in_a_question_is_asked_in_every_shape(opened, row):
    dataset = opened("chat", row)
    (conversation,) = dataset.rows.conversations
    assert texts(conversation.messages) == ASKED
    assert dataset.rows.held_out == ()


def test_a_question_after_an_answer_gives_both_and_all_turns_are_kept(opened, user, assistant):
    chat = [user("2+2?"), assistant("4"), user("And 3+3?"), assistant("6"), user("Sure?")]
    dataset = opened("chat", {"messages": chat})
    (conversation,) = dataset.rows.conversations
    assert len(conversation.messages) == 5
    (answer,) = dataset.rows.held_out
    assert texts(answer.conversation.messages)[-1] == ("user", "And 3+3?")
    assert (len(answer.conversation.messages), answer.text) == (3, "6")
    assert answer.conversation.meta == {"next_turn": "Sure?"}
    assert "next_turn" not in conversation.meta


def test_a_native_row_keeps_its_id_reference_and_meta(opened, user):
    row = {"id": "n1", "source": "mine", "messages": [user("2+2?")], "reference": "4",
           "meta": {"kind": "sum"}}  # fmt: skip
    (conversation,) = opened("chat", row).rows.conversations
    assert conversation.source_id == "n1"
    assert conversation.meta == {"kind": "sum", "reference": "4", "source": "mine"}


def test_thinking_stands_apart_from_the_answer(opened, user):
    said = [
        {"content": "<think>Two twos.</think>\n\n4"},
        {"content": "Two twos.\n</think>\n4"},
        {"content": "4", "reasoning": "Two twos."},
        {"content": "4", "reasoning_content": "Two twos."},
        {"content": [{"type": "reasoning", "reasoning": "Two twos."},
                     {"type": "text", "text": "4"}]},
    ]  # fmt: skip
    rows = [{"id": str(number), "messages": [user("2+2?"), {"role": "assistant"} | message]}
            for number, message in enumerate(said)]  # fmt: skip
    answers = opened("chat", *rows).rows.held_out
    assert [(answer.text, answer.thinking) for answer in answers] == [("4", "Two twos.")] * 5


def test_thinking_of_an_earlier_answer_is_not_in_the_conversation(opened, user, assistant):
    chat = [user("2+2?"), assistant("<think>Hm.</think>4"), user("Sure?")]
    (conversation,) = opened("chat", {"messages": chat}).rows.conversations
    assert texts(conversation.messages)[1] == ("assistant", "4")


def test_a_word_of_thinking_within_an_answer_is_left_where_it_is(opened, user, assistant):
    text = "Close it with </think> before the answer, after a <think> that opens it."
    (answer,) = opened("chat", {"messages": [user("How?"), assistant(text)]}).rows.held_out
    assert (answer.text, answer.thinking) == (text, None)


TOOL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
IMAGE = [{"type": "text", "text": "Who?"}, {"type": "image_url", "image_url": {"url": "x"}}]


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "no messages"),
        ([{"role": "user", "content": " \n"}], "an empty question"),
        ([{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": None}],
         "an empty answer"),
        ([{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "<think>Hm"}],
         "thinking that never ends, so that no answer is visible"),
        ([{"role": "assistant", "content": "Hello!"}], "no question right before the last answer"),
        ([{"role": "system", "content": "Be brief."}, {"role": "assistant", "content": "Hi"}],
         "no question right before the last answer"),
        ([{"role": "user", "content": ""}, {"role": "assistant", "content": "Hi"}],
         "no question right before the last answer"),
        ([{"role": "system", "content": "Be brief."}],
         "a chat that ends in a message of the role system"),
        ([{"role": "user", "content": "2+2?"}, TOOL],
         "tool calls, which the text of a message does not show"),
        ([{"role": "user", "content": "2+2?"}, {"role": "tool", "content": "4"}],
         "tool calls, which the text of a message does not show"),
        ([{"role": "user", "content": IMAGE}], "a content that is no text (image_url)"),
        ([{"role": "user", "content": ["2+2?"]}], "a content that is no text (str)"),
        ([{"role": "critic", "content": "Bad."}], "a message of the role 'critic'"),
        ([{"role": ["user"], "content": "2+2?"}], "a message of the role \"['user']\""),
    ],
)  # fmt: skip
def test_a_row_that_gives_nothing_is_counted_by_its_reason(opened, user, messages, why):
    good = {"messages": [user("2+2?")]}
    dataset = opened("chat", good, {"messages": messages}, {"messages": messages})
    assert len(dataset.rows.conversations) == 1
    assert dataset.rows.held_out == ()
    assert dataset.rows.left_out == {why: 2}
    with pytest.raises(InputError) as refusal:
        opened("chat", {"messages": messages})
    assert f"nothing in it can be asked or gone on from (1 rows: {why})" in str(refusal.value)


def test_rows_with_tools_are_counted(opened, user):
    dataset = opened("chat", {"messages": [user("2+2?")]},
                     {"messages": [user("3+3?")], "tools": [{"type": "function"}]})  # fmt: skip
    assert list(dataset.rows.left_out.values()) == [1]


def test_a_row_that_stands_twice_is_one(opened, user, assistant):
    asked, said = {"messages": [user("2+2?")]}, {"messages": [user("2+2?"), assistant("4")]}
    dataset = opened("chat", asked, said, asked, said, asked)
    assert (len(dataset.rows.conversations), len(dataset.rows.held_out)) == (1, 1)
    assert dataset.rows.left_out == {"the same as an earlier row": 3}
    dataset = opened("chat", asked | {"id": 1}, asked | {"id": 2}, asked | {"id": 2, "x": 1})
    assert [c.source_id for c in dataset.rows.conversations] == ["1", "2"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"text": "2+2?"}], r"set\.jsonl:1: text; expected messages \(OpenAI\), conversations"),
        ([{"messages": "2+2?"}], r":1: messages; expected messages \(OpenAI\)"),
        ([{"messages": [{"text": "2+2?"}]}], r":1: messages, message 1: .*; expected {\"role\""),
        (
            [{"messages": [{"role": "user", "content": 4}]}],
            r"message 1: the content is 4; expected",
        ),
        ([{"messages": []}, {"prompt": "2+2?"}], r":2: prompt; expected messages or .* first row"),
        ([{"prompt": "2+2?"}, {"text": "3+3?"}], r":2: text; expected prompt, as the first row"),
        ([{"prompt": 4}], r":1: prompt: 4; expected a list of chat messages"),
        ([{"messages": [{"role": "user", "content": "a\x00b"}]}], r":1: 'messages' holds a NUL"),
    ],
)
def test_a_file_that_is_no_chat_is_refused_with_its_line(opened, rows, message):
    with pytest.raises(InputError, match=message):
        opened("chat", *rows)


@pytest.mark.parametrize("text", [t for t in HOSTILE_TEXTS.values() if t.strip()])
def test_texts_are_kept_as_they_are(opened, user, assistant, text):
    dataset = opened("chat", {"messages": [user(text), assistant(f"So: {text}"), user(text)]})
    (conversation,) = dataset.rows.conversations
    assert [m.content for m in conversation.messages] == [text, f"So: {text}", text]
    assert dataset.rows.held_out[0].conversation.meta["next_turn"] == text


def test_chats_are_read_from_every_kind_of_file(tmp_path, user, assistant):
    import pyarrow as pa
    import pyarrow.parquet

    rows = [{"id": str(n), "messages": [user(f"{n}+{n}?"), assistant(f"{n + n}")]} for n in (1, 2)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "talks.jsonl").write_text(lines)
    (tmp_path / "lines.json").write_text(lines)
    (tmp_path / "talks.json").write_text(json.dumps(rows, indent=1))
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "talks.parquet")
    quoted = [json.dumps(row["messages"]).replace('"', '""') for row in rows]
    (tmp_path / "talks.csv").write_text(
        "id,messages\n" + "".join(f'{n},"{text}"\n' for n, text in zip((1, 2), quoted, strict=True))
    )
    for path in sorted(tmp_path.iterdir()):
        answers = open_dataset(dataset_plan_from(f"chat:{path}"), None).rows.held_out
        found = [(a.conversation.source_id, a.text) for a in answers]
        assert found == [("1", "2"), ("2", "4")], path.name


def test_a_file_with_a_canary_is_marked_wherever_it_says_so(opened, user):
    chat = {"messages": [user("2+2?")]}
    for row in (chat | {"canary": "x"}, chat | {"doc": {"Canary String": "x"}},
                {"messages": [user("Never train on this. canary GUID 26b5")]}):  # fmt: skip
        dataset = opened("chat", chat | {"id": 1}, row)
        assert dataset.canary
        assert all(c.meta["canary"] for c in dataset.rows.conversations)
    assert opened("chat", chat, name="samples_gpqa_main_2026.jsonl").canary
    assert not opened("chat", {"messages": [user("A canary sings.")]}).canary


def collab(turn_id, prompt, completion, conv_id=3):
    return {"conv_id": conv_id, "turn_id": turn_id, "prompt": prompt, "completion": completion,
            "score": 0.5, "single_turn_prompt": "x", "single_turn_completion": "y",
            "single_turn_metadata": {}}  # fmt: skip


def test_collab_llm_answers_know_the_real_next_turn(opened, user, assistant):
    first = [user("A poem?")]
    second = [*first, assistant("On what?"), user("The sea.")]
    flat = [collab(0, first, "Roses."), collab(0, first, "On what?"), collab(1, second, "Waves."),
            collab(0, first, "On what?", conv_id=4)]  # fmt: skip
    nested = [
        {"conv_id": 3, "single_turn_prompt": "x",
         "turns": [{"prompt": first, "responses": [{"completion": "Roses.", "score": 0.5},
                                                   {"completion": "On what?", "score": 0.5}]},
                   {"prompt": second, "responses": [{"completion": "Waves.", "score": 0.5}]}]},
        {"conv_id": 4, "turns": [{"prompt": first,
                                  "responses": [{"completion": "On what?", "score": 0.5}]}]},
    ]  # fmt: skip
    for rows in (flat, nested):
        dataset = opened("chat", *rows)
        answers = dataset.rows.held_out
        assert dataset.choices["shape"] == "CollabLLM"
        assert dataset.rows.conversations == ()
        assert [(a.conversation.source_id, a.text) for a in answers] == [
            ("3/0/0", "Roses."), ("3/0/1", "On what?"), ("3/1/0", "Waves."), ("4/0/0", "On what?"),
        ]  # fmt: skip
        said = [a.conversation.meta.get("next_turn") for a in answers]
        assert said == [None, "The sea.", None, None]
        assert len(answers[2].conversation.messages) == 3
        assert answers[0].conversation.meta["score"] == 0.5


def test_a_broken_collab_llm_row_is_refused_with_its_line(opened, user):
    with pytest.raises(InputError, match=r":2: conv_id, turns; expected conv_id, prompt and"):
        opened("chat", collab(0, [user("A poem?")], "Roses."), {"conv_id": 1, "turns": [{}]})
