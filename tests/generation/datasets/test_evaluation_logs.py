"""Samples of lm-eval and logs of Inspect: answers of others, with the scores that they got."""

import json
import struct
import zipfile
import zlib
from io import BytesIO

import pyarrow as pa
import pytest

from generation.datasets.open_dataset import dataset_plan_from, open_dataset
from rubrics import InputError

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]


def sample(prompt=CHAT, responses=(("4",),), **more):
    """A row as lm-eval 0.4 writes it (evaluator.py, loggers/evaluation_tracker.py)."""
    return {
        "doc_id": 0, "doc": {"question": "2+2?", "answer": "#### 4"}, "target": "4",
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": [], "do_sample": False}}},
        "resps": responses, "filtered_resps": ["4"], "filter": "strict-match",
        "metrics": ["exact_match"], "exact_match": 1.0, "doc_hash": "a", "prompt_hash": "b",
    } | more  # fmt: skip


def messages_of(answer):
    return [(message.role, message.content) for message in answer.conversation.messages]


@pytest.mark.parametrize("prompt", [CHAT, json.dumps(CHAT), [json.dumps(CHAT)]])
def test_an_lm_eval_answer_is_held_out_with_its_scores(opened, prompt):
    dataset = opened("chat", sample(prompt), name="samples_gsm8k_2026-01-01.jsonl")
    (answer,) = dataset.rows.held_out
    assert messages_of(answer) == [("system", "Be brief."), ("user", "2+2?")]
    assert answer.text == "4"
    assert answer.conversation.meta == {
        "reference": "4",
        "asked": "as it was sent",
        "scores": {"strict-match": {"exact_match": 1.0}},
    }
    assert dataset.choices["shape"] == "lm-eval"


def test_the_filters_of_a_task_are_scores_of_one_answer(opened):
    rows = [sample(), sample(filter="flexible-extract", exact_match=0.0), sample(doc_id=1)]
    dataset = opened("chat", *rows)
    first, second = dataset.rows.held_out
    assert first.conversation.meta["scores"] == {
        "strict-match": {"exact_match": 1.0},
        "flexible-extract": {"exact_match": 0.0},
    }
    assert second.conversation.source_id == "1"
    assert dataset.rows.left_out == {}


def test_scores_of_an_older_version_are_its_numbers(opened):
    old = sample()
    del old["metrics"], old["filter"]
    (answer,) = opened("chat", old).rows.held_out
    assert answer.conversation.meta["scores"] == {"none": {"exact_match": 1.0}}


def test_repeats_of_a_document_are_answers_of_their_own(opened):
    answers = opened("chat", sample(responses=[["4", "Four.", "4"]])).rows.held_out
    found = [(answer.conversation.source_id, answer.text) for answer in answers]
    assert found == [("0", "4"), ("0/1", "Four."), ("0/2", "4")]


@pytest.mark.parametrize("prompt", ["Question: 2+2?\nAnswer:", "<|im_start|>user\n2+2?", "[2+2"])
def test_of_a_rendered_prompt_the_question_is_taken_from_the_document(opened, prompt):
    (answer,) = opened("chat", sample(prompt)).rows.held_out
    assert messages_of(answer) == [("user", "2+2?")]
    assert answer.conversation.meta["asked"] == "the document's question"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (sample("2+2?", doc={"text": "2+2?"}), "a rendered prompt, and a document without a ques"),
        (sample(arguments={"gen_args_0": {"arg_0": "2+2?", "arg_1": " 4"}}), "a log-likelihood"),
        (sample(arguments={"gen_args_0": {"arg_0": "a"}, "gen_args_1": {"arg_0": "b"}}),
         "several requests for one document"),
        (sample(responses=[[["-1.5", "False"]]]), "no generated answer"),
        (sample(responses=[[""]]), "an empty answer"),
        (sample([*CHAT, {"role": "assistant", "content": "The"}]), "no question right before"),
    ],
)  # fmt: skip
def test_what_lm_eval_cannot_give_is_counted_by_its_reason(opened, row, why):
    dataset = opened("chat", sample(doc_id=9), row)
    assert len(dataset.rows.held_out) == 1
    ((reason, count),) = dataset.rows.left_out.items()
    assert count == 1
    assert reason.startswith(why)
    with pytest.raises(InputError, match="nothing in it can be asked or gone on from"):
        opened("chat", row)


def test_a_row_that_lm_eval_never_wrote_is_refused(opened):
    with pytest.raises(InputError, match=r":2: doc_id; expected arguments and resps"):
        opened("chat", sample(), {"doc_id": 1})
    with pytest.raises(InputError, match=r":1: arguments is 'x'; expected gen_args_0"):
        opened("chat", sample(arguments="x"))


def inspect_sample(id_="a", epoch=1, answer="4", **more):
    """A sample with the fields of inspect_ai 0.3.285 that are read here."""
    content = [{"type": "reasoning", "reasoning": "Two twos."}, {"type": "text", "text": answer}]
    said = {"role": "assistant", "content": content, "source": "generate", "model": "m"}
    return {
        "id": id_, "epoch": epoch, "input": "2+2?", "target": "4",
        "messages": [{"id": "1", "role": "user", "content": "2+2?", "source": "input"}, said],
        "output": {"model": "m", "choices": [{"message": said, "stop_reason": "stop"}]},
        "scores": {"match": {"value": "C", "answer": "4"}}, "events": [], "attachments": {},
    } | more  # fmt: skip


HEAD = {"version": 2, "status": "success", "eval": {"task": "sums", "model": "org/m"}}


def json_log(tmp_path, *samples):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(HEAD | {"samples": samples}))
    return path


def eval_log(tmp_path, *samples, head="header.json", zstandard=False):
    """A log as a zip; packed with Zstandard, which this Python's zipfile cannot write, by hand."""
    members = {head: HEAD}
    members |= {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    buffer = BytesIO()
    with zipfile.ZipFile(
        buffer, "w", zipfile.ZIP_STORED if zstandard else zipfile.ZIP_DEFLATED
    ) as z:
        for name, value in members.items():
            data = json.dumps(value).encode()
            z.writestr(name, pa.compress(data, "zstd", asbytes=True) if zstandard else data)
    content = bytearray(buffer.getvalue())
    for info in zipfile.ZipFile(buffer).infolist() if zstandard else ():
        data = json.dumps(members[info.filename]).encode()
        _packed(content, info, zlib.crc32(data), len(data))
    path = tmp_path / "log.eval"
    path.write_bytes(bytes(content))
    return path


def _packed(content, info, checksum, size):
    """Writes method 93 with checksum and size into a member's two headers of a stored zip."""
    name = info.filename.encode()
    central = content.rindex(b"PK\x01\x02", 0, content.rindex(name))
    for start, method in ((info.header_offset, 8), (central, 10)):
        struct.pack_into("<H", content, start + method, 93)
        struct.pack_into("<I", content, start + method + 6, checksum)
        struct.pack_into("<I", content, start + method + 14, size)


def opened_log(path):
    return open_dataset(dataset_plan_from(f"chat:{path}"), None)


@pytest.mark.parametrize("kind", ["json", "eval", "zstandard", "unfinished"])
def test_an_inspect_log_gives_answers_with_scores_and_thinking_apart(tmp_path, kind):
    samples = [inspect_sample(), inspect_sample(epoch=2, answer="Four."), inspect_sample(7)]
    if kind == "json":
        path = json_log(tmp_path, *samples)
    else:
        head = "_journal/start.json" if kind == "unfinished" else "header.json"
        path = eval_log(tmp_path, *samples, head=head, zstandard=kind == "zstandard")
    dataset = opened_log(path)
    answers = dataset.rows.held_out
    found = [(a.conversation.source_id, a.text, a.thinking) for a in answers]
    assert found == [("a", "4", "Two twos."), ("a/2", "Four.", "Two twos."),
                     ("7", "4", "Two twos.")]  # fmt: skip
    assert messages_of(answers[0]) == [("user", "2+2?")]
    assert answers[0].conversation.meta == {
        "reference": "4", "scores": {"match": "C"}, "answered_by": "org/m",
    }  # fmt: skip
    assert dataset.choices["task"] == "sums"
    assert not dataset.canary


def test_texts_that_stand_apart_in_a_log_are_put_back(tmp_path):
    apart = inspect_sample(attachments={"k1": "A long question?"})
    apart["messages"][0]["content"] = "attachment://k1"
    (answer,) = opened_log(json_log(tmp_path, apart)).rows.held_out
    assert messages_of(answer) == [("user", "A long question?")]


def test_what_a_log_cannot_give_is_counted_by_its_reason(tmp_path):
    tools = inspect_sample("tools")
    tools["messages"][1]["tool_calls"] = [{"id": "1", "function": "bash"}]
    failed = inspect_sample("failed", error={"message": "limit"})
    dataset = opened_log(json_log(tmp_path, inspect_sample(), tools, failed))
    assert len(dataset.rows.held_out) == 1
    assert dataset.rows.left_out == {
        "tool calls, which the text of a message does not show": 1,
        "a sample that ended in an error": 1,
    }


def test_a_score_that_is_no_number_is_kept_as_its_name(tmp_path):
    path = json_log(tmp_path, inspect_sample(scores={"f1": {"value": float("nan")}}))
    (answer,) = opened_log(path).rows.held_out
    assert answer.conversation.meta["scores"] == {"f1": "NaN"}


def test_a_log_of_a_task_with_a_canary_is_marked(tmp_path):
    path = json_log(tmp_path, inspect_sample())
    path.write_text(path.read_text().replace('"sums"', '"inspect_evals/gpqa_diamond"'))
    assert opened_log(path).canary


def test_a_broken_log_is_refused(tmp_path):
    path = eval_log(tmp_path, inspect_sample(), zstandard=True)
    content = path.read_bytes()
    packed = content.index(b"\x28\xb5\x2f\xfd", content.index(b"samples/a"))  # zstd's magic number
    path.write_bytes(content[: packed + 20] + b"\xff\xff" + content[packed + 22 :])
    with pytest.raises(InputError, match=r"log\.eval: samples/a_epoch_1\.json cannot be unpacked"):
        opened_log(path)
    central = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1)
    path.write_bytes(content[: central + 16] + b"\0\0\0\0" + content[central + 20 :])
    with pytest.raises(InputError, match=r"cannot be unpacked: its checksum does not match"):
        opened_log(path)
    path.write_bytes(content[:-30])
    with pytest.raises(InputError, match=r"log\.eval: a broken zip .*; expected an Inspect log"):
        opened_log(path)
    with pytest.raises(InputError, match=r"no samples in the zip; expected an Inspect log with"):
        opened_log(eval_log(tmp_path))
    with pytest.raises(InputError, match=r"log\.json, sample 1: .*; expected a sample"):
        opened_log(json_log(tmp_path, {"input": "2+2?"}))
    path.write_text("no zip")
    with pytest.raises(InputError, match=r"log\.eval"):
        opened_log(path)
