"""Where a data set's file is looked for, and that it is checked to be of that set."""

import json
import os
import threading

import pytest

from generation.datasets import open_dataset as opening
from generation.datasets.open_dataset import (
    KNOWN_SOURCES,
    dataset_plan_from,
    expected_rows,
    open_dataset,
)
from generation.plan.plan import DatasetPlan
from rubrics import InputError, bytes_fingerprint

ROWS = {
    "gsm8k": {"question": "2+2?", "answer": "#### 4"},
    "ifeval": {"key": 7, "prompt": "No commas.", "instruction_id_list": ["x"], "kwargs": [{}]},
    "mt_bench": {"question_id": 81, "category": "math", "turns": ["2+2?", "Why?"]},
}


def texts(conversation):
    return [(message.role, message.content) for message in conversation.messages]


@pytest.mark.parametrize(
    ("name", "source_id", "question"),
    [("gsm8k", "set-1", "2+2?"), ("ifeval", "7", "No commas."), ("mt_bench", "81", "2+2?")],
)
def test_reader_takes_the_question(opened, name, source_id, question):
    dataset = opened(name, ROWS[name])
    (conversation,) = dataset.rows.conversations
    assert conversation.source_id == source_id
    assert texts(conversation) == [("user", question)]
    assert dataset.provenance()["file"] == "set.jsonl"


def test_rows_keep_the_identities_that_studies_hold(opened):
    known = {
        "gsm8k": "sha256:be78620f43d77849",
        "ifeval": "sha256:2e4566128d935533",
        "mt_bench": "sha256:45ba395115625638",
    }
    found = {}
    for name in known:
        (conversation,) = opened(name, ROWS[name]).rows.conversations
        found[name] = conversation.conversation_id[:23]
    assert found == known


def test_a_gsm8k_row_is_named_after_its_split_and_line(opened):
    rows = [ROWS["gsm8k"], {"question": "3+3?", "answer": "6"}]
    for name in ("gsm8k_train.jsonl", "train.jsonl", "train.json"):
        conversations = opened("gsm8k", *rows, name=name).rows.conversations
        assert [c.source_id for c in conversations] == ["train-1", "train-2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"question": "1", "question": "2", "answer": ""}', "the key 'question' stands twice"),
        ('{"question": "1", "answer": NaN}', "NaN is no JSON value"),
        ('{"question": "1", "answer": 1e999}', "the number 1e999 is too large"),
        ('{"question": "a\\u0000b", "answer": ""}', "'question' holds a NUL character"),
        ('{"question": "\\ud800", "answer": ""}', "'question' holds half of a surrogate pair"),
        ('{"question": "", "answer": ""}', "the question is ''; expected text"),
        ('{"question": " \\n", "answer": ""}', "the question is .*; expected text"),
        ('{"question": ["1"], "answer": ""}', "the question is .*; expected text"),
        ("{", "not JSON"),
    ],
)
def test_a_row_that_no_store_keeps_is_refused_with_its_line(write, line, message):
    path = write("set.jsonl", ROWS["gsm8k"])
    path.write_text(path.read_text() + line, encoding="utf-8")
    with pytest.raises(InputError, match=rf"set\.jsonl:2: .*{message}"):
        open_dataset(dataset_plan_from(f"gsm8k:{path}"), None)


@pytest.mark.parametrize("name", ROWS)
def test_file_of_another_data_set_is_refused_with_its_line(opened, name):
    for other in set(ROWS) - {name}:
        with pytest.raises(InputError, match=rf"{other}\.jsonl:1: no .*a row of {name} has"):
            opened(name, ROWS[other], name=f"{other}.jsonl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gsm8k:", "no file after the name; expected gsm8k:FILE"),
        ("nosuch:file", "unknown data set 'nosuch': the known ones are gsm8k, .*chat:FILE"),
        ("chat", "no file after the name; expected chat:FILE"),
    ],
)
def test_data_option_is_explained(text, message):
    with pytest.raises(InputError, match=message):
        dataset_plan_from(text)


def test_data_option_names_a_set_and_its_file():
    assert dataset_plan_from("gsm8k") == DatasetPlan("gsm8k", "gsm8k")
    assert dataset_plan_from("gsm8k:a:b", 5) == DatasetPlan("gsm8k", "gsm8k", "a:b", 5)
    assert dataset_plan_from("chat:in/my talks.json").name == "my talks"


def test_missing_data_says_what_to_type(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refusal:
        open_dataset(dataset_plan_from("gsm8k:x"), None)
    assert str(refusal.value) == (
        f"x: No such file or directory (looked for {tmp_path / 'x'}); expected your copy of gsm8k, "
        "JSONL or Parquet with question, answer: --data gsm8k:FILE"
    )


def test_a_file_that_is_named_comes_before_the_folder_and_the_folder_before_the_hub(
    write, tmp_path, monkeypatch
):
    monkeypatch.setattr(opening, "hub_file", lambda file: pytest.fail(f"asked for {file}"))
    write("gsm8k_test.jsonl", {"question": "in the folder", "answer": ""})
    named = write("mine.jsonl", {"question": "named", "answer": ""})
    for text, found in [("gsm8k", "in the folder"), (f"gsm8k:{named}", "named")]:
        dataset = open_dataset(dataset_plan_from(text), tmp_path)
        assert dataset.rows.conversations[0].messages[0].content == found


def test_a_copy_downloaded_from_the_hub_is_found_in_the_folder(tmp_path):
    place = tmp_path / "IFEval" / "ifeval_input_data.jsonl"
    place.parent.mkdir()
    place.write_text(json.dumps(ROWS["ifeval"]))
    assert open_dataset(dataset_plan_from("ifeval"), tmp_path).file_name == place.name


def test_a_set_that_is_nowhere_names_the_file_and_the_folder(tmp_path):
    with pytest.raises(InputError, match=r"mt_bench: no mt_bench_question\.jsonl or question\.jso"
                                         r"nl in .*; expected .*--data mt_bench:FILE"):  # fmt: skip
        open_dataset(dataset_plan_from("mt_bench"), tmp_path)
    with pytest.raises(InputError, match=r"--data-dir .*nowhere: no such folder"):
        open_dataset(dataset_plan_from("gsm8k"), tmp_path / "nowhere")


def test_data_may_come_from_a_pipe(tmp_path):
    content = json.dumps(ROWS["gsm8k"]).encode()
    os.mkfifo(tmp_path / "test.jsonl")
    write_once = (tmp_path / "test.jsonl").write_bytes
    threading.Thread(target=write_once, args=[content], daemon=True).start()
    dataset = open_dataset(dataset_plan_from(f"gsm8k:{tmp_path / 'test.jsonl'}"), None)
    assert dataset.file_hash == bytes_fingerprint(content)


def test_counts_are_known_before_a_file_is_read():
    paper = {"gsm8k": 1319, "ifeval": 541, "ifbench": 300, "gpqa_main": 448, "gpqa_diamond": 198}
    assert {name: expected_rows(name, "self-generated") for name in paper} == paper
    assert expected_rows("healthbench", "held-out") == 1470
    assert expected_rows("coval", "held-out") == 1078
    assert expected_rows("gsm8k", "held-out") == 0
    assert expected_rows("chat", "self-generated") is None


def test_every_set_has_a_licence_note_and_canaries_mark_each_conversation(opened, user):
    assert all(source.licence for source in KNOWN_SOURCES.values())
    canaried = {name for name, source in KNOWN_SOURCES.items() if source.canary}
    assert canaried == {"gpqa_main", "gpqa_diamond", "healthbench"}
    dataset = opened("healthbench", {"prompt": [user("I cough.")], "prompt_id": "p1"})
    assert dataset.canary
    assert dataset.provenance()["canary"]
    assert dataset.rows.conversations[0].meta["canary"] is True
    assert "canary" not in opened("gsm8k", ROWS["gsm8k"]).rows.conversations[0].meta


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "set.json",
            b'[{"question": "1", "answer": ""}, 2]',
            "json, row 2: expected a JSON object",
        ),
        ("set.json", b'[{"question": "1",]', "set.json:1: not JSON"),
        ("set.json", b'{"question": "1", "answer": ""}\n{"question": 2}', "set.json:2: no answer"),
        ("set.parquet", b"PAR1 and no more", "not a Parquet file that can be read"),
        ("set.csv", b"question,answer\n1\n", "set.csv:2: 1 cells, expected 2"),
        ("set.jsonl", b"", "the file is empty"),
        ("set.jsonl", b'{"question": "\xff"}', "not UTF-8"),
    ],
)
def test_a_broken_file_is_refused_whatever_its_kind(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        open_dataset(dataset_plan_from(f"gsm8k:{tmp_path / name}"), None)
