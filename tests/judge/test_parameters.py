"""Agreeing with a server on the parameters: what is sent, recorded and never asked twice."""

import json

import pytest
from judged_study import judges, judgments, rows
from stub_http import Answer
from stub_server import StubServer, any_verdict, completion, error, turn_of, verdict

ITEMS = 8  # distinct items of the `study` fixture
WANTED = {
    "temperature": 0,
    "max_completion_tokens": 1024,
    "seed": 0,
    "response_format": "json_schema",
}

pytestmark = pytest.mark.usefixtures("quick")


def no_temperature(body):
    if "temperature" in body:
        said = "Unsupported value: 'temperature' does not support 0 with this model."
        return error(400, said, "unsupported_value", "temperature")


def no_newer_limit(body):
    if "max_completion_tokens" in body:
        return error(400, "Unrecognized request argument supplied: max_completion_tokens")


def no_seed(body):
    if "seed" in body:
        fault = {
            "type": "extra_forbidden",
            "loc": ["body", "seed"],
            "msg": "Extra inputs",
            "input": 0,
        }
        return Answer(422, {"detail": [fault]})


def no_logprobs(body):
    if "logprobs" in body:
        return error(400, "You are not allowed to request logprobs from this model.")


def no_schema(body):
    if body.get("response_format", {}).get("type") == "json_schema":
        said = "Invalid parameter: 'response_format' of type 'json_schema' is not supported."
        return error(400, said, param="response_format")


def text_only(body):
    if "response_format" in body:
        return error(400, "This response_format type is unavailable now")


def taking_all_but(*refusals):
    """A stub's script: the first refusal that applies, else a verdict."""

    def behave(request):
        found = (refusal(request.body) for refusal in refusals)
        return next((answer for answer in found if answer), None) or any_verdict(request)

    return behave


def without(*names, **instead):
    return {name: value for name, value in WANTED.items() if name not in names} | instead


CASES = {
    "temperature": ((no_temperature,), without("temperature"), 1),
    "older limit": ((no_newer_limit,), without("max_completion_tokens", max_tokens=1024), 1),
    "seed": ((no_seed,), without("seed"), 1),
    "logprobs": ((no_logprobs,), WANTED, 1),
    "json_object": ((no_schema,), without(response_format="json_object"), 1),
    "text": ((text_only,), without(response_format="text"), 2),
    "all": (
        (no_logprobs, no_seed, text_only, no_newer_limit, no_temperature),
        {"max_tokens": 1024, "response_format": "text"},
        6,
    ),
}


@pytest.mark.parametrize(("refusals", "agreed", "tries"), CASES.values(), ids=CASES)
def test_what_the_server_takes_is_found_out_once_and_recorded(
    study, judge_by, refusals, agreed, tries
):
    with StubServer(taking_all_but(*refusals)) as server:
        code, out, err = judge_by(server)
        assert code == 0
        assert out.startswith(f"{ITEMS} items judged by m under rubric v3\n")
        assert len(server.requests) == tries + ITEMS  # the first verdict is the question
        assert server.counts["duplicates"] == 0
        assert judges(study) == [agreed]
        assert len({row["item_hash"] for row in judgments(study)}) == len(judgments(study)) == ITEMS
        sent = [request.body for request in server.requests[tries:]]
        (remembered,) = rows(study, "SELECT * FROM agreed_parameters")
        assert json.loads(remembered["wanted"]) == WANTED
        assert json.loads(remembered["agreed"]) == agreed
        assert remembered["server"] == server.url
        with_logprobs = no_logprobs not in refusals
        assert remembered["logprobs"] == with_logprobs
        for body in sent:
            plain = {name: value for name, value in body.items() if name in WANTED | agreed}
            plain["response_format"] = plain.get("response_format", {"type": "text"})["type"]
            assert plain == agreed
            assert ("logprobs" in body, "top_logprobs" in body) == (with_logprobs, with_logprobs)
        told = tries - (not with_logprobs)  # they only look on, and make no other judge
        assert err.count("warning: the server of m takes less than was asked: ") == told
        assert err.count("\n") == told
        code, out, _err = judge_by(server)
        assert out.startswith(f"0 items judged by m under rubric v3, {ITEMS} judged before\n")
        assert (code, len(server.requests)) == (0, tries + ITEMS)


@pytest.mark.parametrize(
    "refusal",
    [
        error(400, "Your organization must be verified to use this model."),
        error(400, "We do not answer 'seed, logprobs or temperature?' here."),
        error(401, "temperature", param="temperature"),
        Answer(422, {"detail": [{"loc": ["body", "model"], "msg": "no such model"}]}),
    ],
    ids=["other", "all the time", "no parameter's status", "detail"],
)
def test_a_refusal_about_nothing_of_ours_stops_in_one_line(study, judge_by, refusal):
    with StubServer(lambda request: refusal) as server:
        code, out, err = judge_by(server)
    *_before, last = err.splitlines()
    assert (code, out, err.count("error: ")) == (1, "", 1)
    assert last.startswith(f"error: {server.url} answered {refusal.status} for model m: ")
    assert (judges(study), judgments(study)) == ([], [])
    assert rows(study, "SELECT * FROM agreed_parameters") == []


def test_words_about_the_messages_are_about_no_parameter(study, judge_by):
    """Such a refusal repeats the item's text; nothing but another item is tried in its wake."""
    refusal = error(400, "Invalid input: 'the temperature?'", param="messages.[1].content")
    with StubServer(lambda request: refusal) as server:
        judge_by(server)
        first, second = (request.body for request in server.requests)
    assert first.keys() == second.keys()
    assert first["messages"] != second["messages"]


OVERFLOWS = {
    "vLLM": (
        "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum context "
        "length is 512 tokens and your request has 400 input tokens."
    ),
    "Anthropic": "prompt is too long: 213462 tokens > 200000 maximum",
    "Gemini": "The input token count (1500000) exceeds the maximum number of tokens allowed.",
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("said", OVERFLOWS.values(), ids=OVERFLOWS)
def test_a_context_overflow_is_the_items_fault_whatever_it_names(study, judge_by, said, first):
    """The item may be the very one that the server is asked about its parameters."""
    hashes = rows(study, "SELECT text FROM turns GROUP BY item_hash ORDER BY item_hash")
    long = hashes[0 if first else 3]["text"]

    def behave(request):
        return error(400, said) if turn_of(request.body) == long else any_verdict(request)

    with StubServer(behave) as server:
        code, out, err = judge_by(server)
        assert (code, err) == (0, "")
        assert "    prompt and verdict do not fit the model's context: 1\n" in out
        assert len(server.requests) == ITEMS
    assert judges(study) == [WANTED]
    assert [row["turn"] for row in judgments(study) if row["label"] is None] == [long]


def test_parameters_are_agreed_on_by_a_verdict_and_not_by_an_items_fault(study, judge_by):
    """A server may measure the prompt before it looks at the parameters."""
    texts = rows(study, "SELECT text FROM turns GROUP BY item_hash ORDER BY item_hash")
    long = {row["text"] for row in texts[:2]}

    def behave(request):
        if turn_of(request.body) in long:
            return error(400, "too long", "context_length_exceeded")
        return no_temperature(request.body) or any_verdict(request)

    with StubServer(behave) as server:
        code, _out, err = judge_by(server)
    assert (code, err.count("\n")) == (0, 1)
    assert judges(study) == [without("temperature")]
    assert {row["turn"] for row in judgments(study) if row["label"] is None} == long
    assert len(judgments(study)) == ITEMS


def test_a_server_that_takes_less_later_makes_another_judge(study, judge_by):
    """The rows of the two are not mixed: the second judges every item itself."""
    refuse = error(401, "no")
    with StubServer(lambda r: any_verdict(r) if r.number < 3 else refuse) as server:
        assert judge_by(server, "--concurrency", 1)[0] == 1
        assert [json.loads(row["parameters"]) for row in judgments(study)] == [WANTED] * 3
        server.behave = taking_all_but(no_temperature)
        before = len(server.requests)
        code, out, err = judge_by(server)
        assert (code, len(server.requests) - before) == (0, 1 + ITEMS)
        assert out.startswith(f"{ITEMS} items judged by m under rubric v3\n")
        assert "temperature 0 was not taken" in err
        assert judges(study) == [WANTED, without("temperature")]
        found = [json.loads(row["parameters"]) for row in judgments(study)]
        assert (found.count(WANTED), found.count(without("temperature"))) == (3, ITEMS)
        judge_by(server)
        assert len(server.requests) - before == 1 + ITEMS


def test_options_are_sent_and_are_part_of_the_judge(study, judge_by):
    with StubServer() as server:
        judge_by(server, "--temperature", 0.7, "--reasoning-effort", "low", "--max-tokens", 99)
        sent = {
            (body["temperature"], body["reasoning_effort"], body["max_completion_tokens"])
            for body in (request.body for request in server.requests)
        }
        assert sent == {(0.7, "low", 99)}
        expected = {"temperature": 0.7, "reasoning_effort": "low", "max_completion_tokens": 99}
        assert judges(study) == [WANTED | expected]
        judge_by(server, "--temperature", "0.0")
        judge_by(server)  # 0 and 0.0 are the same judge
        assert len(judges(study)) == 2
        assert len(server.requests) == 2 * ITEMS


def test_a_refused_effort_is_not_left_out_in_silence(study, judge_by):
    refusal = error(400, "Unknown parameter: 'reasoning_effort'.", param="reasoning_effort")
    with StubServer(lambda request: refusal) as server:
        code, _out, err = judge_by(server, "--reasoning-effort", "high")
    assert (code, len(server.requests), err.count("\n")) == (1, 2, 1)
    assert judges(study) == []


def test_every_run_has_a_seed_of_its_own(study, judge_by):
    def behave(request):
        return Answer(body=completion(verdict(rationale=f"Seed {request.body['seed']}.")))

    with StubServer(behave) as server:
        code, out, _err = judge_by(server, "--runs", 3)
        assert (code, server.counts["duplicates"]) == (0, 0)
        assert out.startswith(f"{3 * ITEMS} verdicts judged by m under rubric v3\n")
        judge_by(server, "--runs", 4)  # only the fourth is missing
    assert len(server.requests) == 4 * ITEMS
    assert [row["rationale"] for row in judgments(study)] == [
        f"Seed {n}." for n in range(4)
    ] * ITEMS
    assert judges(study) == [WANTED]
