"""`judge --prompt EXPORT --anchors`: the main run of a judge that has not changed, or none."""

import json

import pytest
from judged_study import judgments, make_study, rows
from stub_http import Answer
from stub_server import StubServer, completion, turn_of, verdict
from written_export import write_export

from judge.judge import Judge
from judge.prompts.prompt import render_prompt
from judge.reading import Reading
from judge.server.parameters import wanted_parameters
from rubrics import load_rubric

ANCHORS = 20  # of the export; their turns are u0 … u19
TURNS = ["Why?", "Thanks!", "Now June."]


class Server(StubServer):
    """Calls everything malformed, and `changed` of the anchors a generic reply."""

    changed = 0

    def __init__(self):
        super().__init__(self.answer)

    def answer(self, request):
        turn = turn_of(request.body)
        drifted = turn.startswith("u") and int(turn[1:]) < self.changed
        label = "generic_reply" if drifted else "malformed"
        return Answer(body=completion(verdict(label), usage=(100, 0, 10)))

    @property
    def turns(self) -> list[str]:
        return [turn_of(request.body) for request in self.requests]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Server() as server:
        yield server


@pytest.fixture
def study(tmp_path):
    return make_study(tmp_path / "study", TURNS)


@pytest.fixture
def export(study, tmp_path):
    def make(**changes):
        prompt = render_prompt(load_rubric("v3"))
        judge = Judge("m", wanted_parameters().values, "v3", prompt.prompt_hash)
        changes = {"items": ANCHORS} | changes
        return write_export(study, judge, prompt, tmp_path / "exports", **changes)

    return make


@pytest.fixture
def main_run(run_cli, study, server):
    def run(folder, *options):
        return run_cli(
            *("--study", study.folder, "--prompt", folder, "--base-url", server.url, *options)
        )

    return run


def test_a_judge_that_has_not_changed_labels_the_study(main_run, export, server, study):
    code, out, err = main_run(export(), "--anchors")
    assert code == 0
    assert err == (
        "anchors: 0 of 20 anchors got another label; about 1.0 were expected (5 %); p = 1.000\n"
    )
    assert out.startswith("3 items judged by m under rubric v3\n")
    assert sorted(server.turns[:ANCHORS]) == sorted(f"u{k}" for k in range(ANCHORS))
    assert sorted(server.turns[ANCHORS:]) == sorted(TURNS)
    assert sorted(row["turn"] for row in judgments(study)) == sorted(TURNS)
    (check,) = rows(study, "SELECT * FROM anchor_checks")
    assert (check["anchors"], check["changed"], check["drifted"]) == (ANCHORS, 0, 0)


def test_a_judge_that_has_drifted_labels_nothing(main_run, export, server, study):
    """P(X ≥ 5 | 20, 0.05) = 0.0026 (1 - the binomial's first five terms), below 1 in 100."""
    server.changed = 5
    folder = export()
    code, out, err = main_run(folder, "--anchors")
    assert (code, out) == (3, "")
    assert err == (
        f"error: m has drifted from its calibration in {folder}: 5 of 20 anchors got another "
        "label; about 1.0 were expected (5 %); p = 0.003; nothing was labelled: calibrate it anew\n"
    )
    assert (len(server.turns), judgments(study)) == (ANCHORS, [])
    (check,) = rows(study, "SELECT * FROM anchor_checks")
    assert (check["changed"], check["drifted"]) == (5, 1)


def test_what_two_runs_differ_by_anyway_is_no_drift(main_run, export, server):
    """One run in two called each anchor otherwise, so that ten of twenty are not too many."""
    server.changed = 10
    folder = export(reading=Reading.MEAN, labels=("malformed", "generic_reply"))
    code, _out, err = main_run(folder, "--anchors")
    assert code == 0
    assert "10 of 20 anchors got another label; about 20.0 were expected (100 %)" in err


def test_without_the_option_no_anchor_is_asked(main_run, export, server):
    server.changed = ANCHORS
    code, _out, err = main_run(export())
    assert (code, err) == (0, "")
    assert sorted(server.turns) == sorted(TURNS)


def test_the_runs_that_were_calibrated_are_run(main_run, export, server, study):
    folder = export(reading=Reading.MAJORITY, labels=("malformed",) * 3)
    code, out, err = main_run(folder)
    assert (code, err) == (0, "")
    assert out.startswith("9 verdicts judged by m under rubric v3\n  (3 runs over each item)\n")
    assert [row["run_index"] for row in judgments(study)] == [0, 1, 2] * 3
    assert sorted({request.body["seed"] for request in server.requests}) == [0, 1, 2]
    code, _out, err = main_run(folder, "--runs", 4)
    assert code == 0
    assert err == (
        f"warning: the calibration in {folder} does not carry over to this judge: runs 4, "
        "calibrated were 3\n"
    )


def test_a_server_that_takes_less_than_was_calibrated_is_said(main_run, export, server, study):
    def answer(request):
        if "temperature" in request.body:
            return Answer(400, {"error": {"message": "no", "param": "temperature"}})
        return Answer(body=completion(verdict("malformed")))

    server.behave = answer
    code, _out, err = main_run(export())
    assert code == 0
    told, carried = err.splitlines()
    assert told == "warning: the server of m takes less than was asked: temperature 0 was not taken"
    assert carried.endswith("does not carry over to this judge: temperature None, calibrated was 0")
    (judged,) = {row["parameters"] for row in judgments(study)}
    assert "temperature" not in json.loads(judged)


def test_zero_degrees_are_the_calibrated_ones_however_they_are_written(main_run, export, server):
    folder = export()
    main_run(folder)
    code, out, err = main_run(folder, "--temperature", "0.0")
    assert (code, err) == (0, "")
    assert out.startswith("0 items judged by m under rubric v3, 3 judged before\n")


def test_anchors_are_paid_for_out_of_the_same_budget(main_run, export, server, tmp_path):
    """At $1 an answer of ten tokens twenty anchors leave $2 of 22: two items of three."""
    prices = tmp_path / "prices.toml"
    prices.write_text("m = {input = 0, output = 100_000}")
    folder = export()
    budget = ("--prices", prices, "--max-cost", 22, "--max-tokens", 10, "--concurrency", 1)
    code, _out, err = main_run(folder, "--anchors", *budget)
    assert code == 1
    assert "stopped before --max-cost 22: $22.0000 spent by this command" in err
    assert len(server.turns) == ANCHORS + 2
    code, out, _err = main_run(folder, "--anchors", *budget)
    assert code == 0
    assert "\ncost: $21.0000\n" in out


def test_anchors_need_an_export_that_has_some(run_cli, study, server, main_run, export):
    code, _out, err = run_cli("--study", study.folder, "--anchors")
    assert code == 1
    assert "--anchors needs an export to check against" in err
    code, _out, err = main_run(export(items=0), "--anchors")
    assert code == 1
    assert "holds no anchors" in err
    assert server.turns == []


def test_a_study_without_turns_is_found_out_before_anything_is_paid_for(
    main_run, export, server, study
):
    folder = export()
    study.pipeline.unlink()
    code, _out, err = main_run(folder, "--anchors")
    assert code == 1
    assert "does not exist" in err
    assert server.turns == []
