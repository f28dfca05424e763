"""The lines of a batch and their accounting, without a server."""

import json

import pytest
from stub_server import completion, verdict

from generation.item import is_storable
from judge.batch.lines import Result, batch_ask, packed, read_result, request_line
from judge.batch.record import read_record
from judge.batch.tally import Collector
from judge.judgment import valid_judgment
from judge.reply import Reply
from judge.server.errors import OddAnswer

GOOD = completion(verdict())
CONTEXT = "This model's maximum context length is 9 tokens."


def same(text: str) -> str:
    return text


def line(response=None, error=None, custom_id="a") -> bytes:
    return json.dumps({"custom_id": custom_id, "response": response, "error": error}).encode()


def test_an_id_names_judge_item_and_run():
    ask = batch_ask("sha256:1", "sha256:2", 0)
    others = [("sha256:0", "sha256:2", 0), ("sha256:1", "sha256:0", 0), ("sha256:1", "sha256:2", 1)]
    assert ask == batch_ask("sha256:1", "sha256:2", 0)
    assert len({ask.custom_id, *(batch_ask(*other).custom_id for other in others)}) == 4
    assert len(ask.custom_id) <= 64
    assert ask.custom_id.isalnum()


def test_a_request_line_is_one_line_whatever_it_holds():
    raw = request_line("a", {"messages": [{"content": "é\n\u2028\r\0\x85"}]})
    assert raw.count(b"\n") == 1
    assert json.loads(raw) == {
        "custom_id": "a",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"messages": [{"content": "é\n\u2028\r\0\x85"}]},
    }


@pytest.mark.parametrize(
    ("most", "size", "expected"),
    [(3, 1000, [3, 3, 1]), (100, 20, [2, 2, 2, 1]), (100, 1, [1] * 7), (7, 70, [7])],
)
def test_files_keep_to_both_limits(most, size, expected):
    asks = [batch_ask("j", f"i{n}", 0) for n in range(7)]
    found = []
    for file in packed(((ask, b"0123456789") for ask in asks), most, size):
        file.data.seek(0)
        assert file.data.read() == b"0123456789" * len(file.asks)
        assert file.size == 10 * len(file.asks)
        found.append(file.asks)
    assert [len(part) for part in found] == expected
    assert [ask for part in found for ask in part] == asks


def test_a_file_is_made_when_it_is_asked_for():
    made = []

    def lines():
        for n in range(10):
            made.append(n)
            yield batch_ask("j", str(n), 0), b"x"

    next(packed(lines(), 3, 1000))
    assert len(made) == 4


def test_a_verdict(rubric):
    for response in (
        {"status_code": 200, "body": GOOD},
        {"status_code": "200", "body": GOOD},
        {"body": GOOD, "request_id": "r"},
    ):
        result = read_result(line(response), rubric, same)
        assert (result.custom_id, result.reply.judgment.label) == ("a", "generic_reply")
        assert result.failure is None


def test_an_unreadable_verdict_is_a_reply(rubric):
    cut = completion(verdict(), finish="length")
    result = read_result(line({"status_code": 200, "body": cut}), rubric, same)
    assert result.reply.judgment.invalid_reason == "cut off by the token limit"


@pytest.mark.parametrize(
    "raw", [b"", b"no", b"[]", b"null", b'{"custom_id": 1}', b"{}", b"\xff\xfe", b"[" * 100_000]
)
def test_no_result_at_all(rubric, raw):
    assert read_result(raw, rubric, same) is None


@pytest.mark.parametrize(
    ("response", "error"),
    [
        # OpenAI: the response's own error; vLLM: the error of the line, wrapped or not.
        ({"status_code": 400, "body": {"error": {"message": CONTEXT}}}, None),
        ({"status_code": 400, "body": None}, {"error": {"message": CONTEXT, "code": 400}}),
        ({"status_code": 400}, CONTEXT),
        ({"status_code": 400}, {"code": "context_length_exceeded", "message": CONTEXT}),
        ({"status_code": 200, "body": {"error": {"message": CONTEXT, "code": 400}}}, None),
    ],
)
def test_an_item_that_is_refused_is_an_invalid_outcome(rubric, response, error):
    judgment = read_result(line(response, error), rubric, same).reply.judgment
    assert judgment.invalid_reason == "prompt and verdict do not fit the model's context"
    assert judgment.raw == CONTEXT


@pytest.mark.parametrize(
    ("response", "error", "failure"),
    [
        (None, {"code": "batch_expired", "message": "late"}, "batch_expired"),
        (None, "out of memory", "out of memory"),
        (None, None, "no chat completion"),
        (None, {"code": 7}, "no chat completion"),
        (None, 5, "no chat completion"),
        ("odd", ["odd"], "no chat completion"),
        ({"status_code": 500, "body": {"error": {"message": "no"}}}, None, "status 500"),
        ({"status_code": 429, "body": {"error": {"code": "rate"}}}, None, "rate"),
        ({"status_code": 400, "body": {"error": {"message": "odd field"}}}, None, "status 400"),
        ({"status_code": 200, "body": {"detail": "hello"}}, None, "no chat completion"),
        ({"status_code": 200, "body": None}, None, "no chat completion"),
        ({"status_code": "500", "body": {"error": {"message": "no"}}}, None, "status 500"),
        ({"status_code": "2²0", "body": GOOD}, None, "no chat completion"),
        ({"status_code": 200, "body": {"choices": [{"error": {"code": 502}}]}}, None, "status 502"),
    ],
)
def test_what_brought_no_verdict_has_a_reason(rubric, response, error, failure):
    result = read_result(line(response, error), rubric, same)
    assert (result.reply, result.failure) == (None, failure)


def test_neither_key_nor_control_characters_are_kept(rubric):
    def without_key(text: str) -> str:
        return text.replace("geheim", "…")

    raw = line(None, {"code": "\x1bgeheim" + "x" * 500})
    failure = read_result(raw, rubric, without_key).failure
    assert failure.isprintable()
    assert "geheim" not in failure
    assert len(failure) == 60
    body = completion(verdict(rationale="By geheim."))
    reply = read_result(line({"status_code": 200, "body": body}), rubric, without_key).reply
    assert "geheim" not in reply.judgment.raw + reply.judgment.rationale
    odd = line({"status_code": 400, "body": {"error": {"message": f"{CONTEXT}\ud800geheim"}}})
    raw_kept = read_result(odd, rubric, without_key).reply.judgment.raw
    assert is_storable(raw_kept)
    assert "geheim" not in raw_kept


@pytest.fixture
def collected(rubric):
    """Collects (custom_id, label or failure) pairs of the asks a, b, c; returns tally and kept."""

    def collect(*pairs, known=()):
        asks = {name: batch_ask("j", name, 0) for name in "abc"}
        by_id = {asks[name].custom_id: asks[name] for name in asks}
        kept = []

        def keep(ask, reply):
            if ask.item_hash in known:
                return False
            kept.append((ask.item_hash, reply.judgment.label))
            return True

        collector = Collector(by_id, keep)
        for name, found in pairs:
            custom_id = asks[name].custom_id if name in asks else name
            if found in rubric.category_ids:
                reply = Reply(valid_judgment(rubric, found, "r", raw=found))
                collector.add(Result(custom_id, reply))
            else:
                collector.add(Result(custom_id, failure=found))
        return collector.tally(), kept

    return collect


def test_every_ask_is_counted_once(collected):
    tally, kept = collected(("a", "malformed"), ("b", "batch_expired"), ("z", "malformed"))
    assert kept == [("a", "malformed")]
    assert (tally.asked, tally.kept, tally.failed, tally.missing) == (3, 1, {"batch_expired": 1}, 1)
    assert (tally.unknown, tally.unreadable) == (1, 0)


def test_of_two_verdicts_the_first_counts(collected):
    tally, kept = collected(("a", "malformed"), ("a", "malformed"), ("a", "generic_reply"))
    assert kept == [("a", "malformed")]
    assert (tally.kept, tally.duplicates, tally.differing) == (1, 2, 1)


@pytest.mark.parametrize("order", [("malformed", "late"), ("late", "malformed")])
def test_a_verdict_counts_beside_a_failure(collected, order):
    tally, kept = collected(*(("a", found) for found in order))
    assert kept == [("a", "malformed")]
    assert (tally.kept, tally.failed, tally.missing) == (1, {}, 2)
    assert (tally.duplicates, tally.differing) == (1, 1)


def test_what_was_known_stays(collected):
    tally, kept = collected(("a", "malformed"), known=("a",))
    assert (kept, tally.kept, tally.known, tally.missing) == ([], 0, 1, 2)


@pytest.mark.parametrize("found", [None, [], {}, {"id": "b"}, {"id": 1, "status": "x"}, "html"])
def test_no_record(found):
    with pytest.raises(OddAnswer):
        read_record(found, same)


@pytest.mark.parametrize("name", ["a\nb", "\ud800", "é", "\x1b[2J", "x" * 201, "by-geheim"])
def test_an_id_that_cannot_be_used(name):
    def without_key(text: str) -> str:
        return text.replace("geheim", "…")

    assert read_record({"id": "x" * 200, "status": "s"}, without_key).batch_id == "x" * 200
    with pytest.raises(OddAnswer):
        read_record({"id": name, "status": "s"}, without_key)
    with pytest.raises(OddAnswer):
        read_record({"id": "b", "status": "s", "error_file_id": name}, without_key)


def test_a_sparse_record():
    record = read_record({"id": "b", "status": "failed", "errors": {"data": ["no\n", {}]}}, same)
    assert (record.files, record.total, record.token) == ((), None, None)
    assert record.errors == ("no", "None")
    assert record.ended
