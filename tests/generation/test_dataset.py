"""Readers of local data files."""

import json
import os
import threading

import pytest

from generation.dataset import read_dataset, read_named_dataset, read_open_assistant
from rubrics import InputError, bytes_fingerprint

ROWS = {
    "gsm8k": {"question": "2+2?", "answer": "#### 4"},
    "ifeval": {"key": 7, "prompt": "No commas.", "instruction_id_list": ["x"], "kwargs": [{}]},
    "mt_bench": {"question_id": 81, "category": "math", "turns": ["2+2?", "Why?"]},
}


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "source_id", "question"),
    [("gsm8k", "set-1", "2+2?"), ("ifeval", "7", "No commas."), ("mt_bench", "81", "2+2?")],
)
def test_reader_takes_the_question(tmp_path, name, source_id, question):
    dataset = read_dataset(name, write(tmp_path / "set.jsonl", ROWS[name]))
    (conversation,) = dataset.conversations
    assert conversation.source_id == source_id
    assert [(m.role, m.content) for m in conversation.messages] == [("user", question)]
    assert dataset.provenance()["file"] == "set.jsonl"


def test_a_gsm8k_row_is_named_after_its_split_and_line(tmp_path):
    for name in ("gsm8k_train.jsonl", "train.jsonl"):
        path = write(tmp_path / name, ROWS["gsm8k"], {"question": "3+3?", "answer": "6"})
        ids = [c.source_id for c in read_dataset("gsm8k", path).conversations]
        assert ids == ["train-1", "train-2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"question": "1", "question": "2", "answer": ""}', "the key 'question' stands twice"),
        ('{"question": "1", "answer": NaN}', "NaN is no JSON value"),
        ('{"question": "1", "answer": 1e999}', "the number 1e999 is too large"),
        ('{"question": "a\\u0000b", "answer": ""}', "'question' holds a NUL character"),
        ('{"question": "\\ud800", "answer": ""}', "'question' holds half of a surrogate pair"),
        ('{"question": "", "answer": ""}', "the question is ''; expected text"),
        ('{"question": ["1"], "answer": ""}', "the question is .*; expected text"),
    ],
)
def test_a_row_that_no_store_keeps_is_refused_with_its_line(tmp_path, line, message):
    path = write(tmp_path / "set.jsonl", ROWS["gsm8k"])
    path.write_text(path.read_text() + line, encoding="utf-8")
    with pytest.raises(InputError, match=rf"set\.jsonl:2: .*{message}"):
        read_dataset("gsm8k", path)


@pytest.mark.parametrize("name", ROWS)
def test_file_of_another_data_set_is_refused_with_its_line(tmp_path, name):
    for other in set(ROWS) - {name}:
        path = write(tmp_path / f"{other}.jsonl", ROWS[other])
        with pytest.raises(InputError, match=rf"{other}\.jsonl:1: no .*a row of {name} has"):
            read_dataset(name, path)


def test_broken_line_is_named(tmp_path):
    path = write(tmp_path / "set.jsonl", ROWS["gsm8k"])
    path.write_text(path.read_text() + "\n{", encoding="utf-8")
    with pytest.raises(InputError, match=r"set\.jsonl:3: not JSON"):
        read_dataset("gsm8k", path)


@pytest.mark.parametrize("text", ["gsm8k", "gsm8k:", "nosuch:file", "gsm8k:missing.jsonl"])
def test_data_option_is_explained(text):
    with pytest.raises(InputError, match=r"expected NAME:FILE|unknown data set|No such file"):
        read_named_dataset(text)


def test_missing_data_says_what_to_type(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refusal:
        read_named_dataset("gsm8k:x")
    assert str(refusal.value) == (
        f"x: No such file or directory (looked for {tmp_path / 'x'}); expected your copy of gsm8k, "
        "JSONL with question, answer: --data gsm8k:FILE"
    )


def test_data_may_come_from_a_pipe(tmp_path):
    content = json.dumps(ROWS["gsm8k"]).encode()
    os.mkfifo(tmp_path / "test.jsonl")
    write_once = (tmp_path / "test.jsonl").write_bytes
    threading.Thread(target=write_once, args=[content], daemon=True).start()
    dataset = read_named_dataset(f"gsm8k:{tmp_path / 'test.jsonl'}")
    assert dataset.file_hash == bytes_fingerprint(content)


def test_sample_is_seeded_and_nested(tmp_path):
    rows = [{"question": f"{n}?", "answer": ""} for n in range(20)]
    dataset = read_dataset("gsm8k", write(tmp_path / "set.jsonl", *rows))
    assert dataset.sample(9, seed=0)[:4] == dataset.sample(4, seed=0)
    assert dataset.sample(9, seed=0) != dataset.sample(9, seed=1)
    assert len(dataset.sample(None, seed=0)) == 20


def node(name, role, *replies, **more):
    return {"message_id": name, "role": role, "text": name, "review_result": True,
            "deleted": False, "synthetic": False, "replies": list(replies)} | more  # fmt: skip


def test_open_assistant_paths_become_held_out_turns(tmp_path):
    tree = node(
        "q", "prompter",
        node("a", "assistant",
             node("u", "prompter", node("a2", "assistant", node("u2", "prompter"))),
             node("gone", "prompter", deleted=True)),
        node("robot", "assistant", node("to robot", "prompter"), synthetic=True),
        node("poor", "assistant", node("to poor", "prompter"), review_result=False),
    )  # fmt: skip
    path = write(tmp_path / "trees.jsonl", {"message_tree_id": "t", "prompt": tree})
    turns = read_open_assistant(path)
    assert [(t.answer.text, t.text) for t in turns] == [("a", "u"), ("a2", "u2")]
    assert [m.role for m in turns[1].answer.conversation.messages] == ["user", "assistant", "user"]
    assert {t.setting for t in turns} == {"held-out"}
    assert turns[0].meta == {"answer_message": "a", "turn_message": "u"}


def test_other_file_is_no_tree(tmp_path):
    with pytest.raises(InputError, match=r":1: no 'message_tree_id'"):
        read_open_assistant(write(tmp_path / "trees.jsonl", ROWS["gsm8k"]))
