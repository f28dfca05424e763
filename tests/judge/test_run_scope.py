"""`judge --on dev`, `--draw N` and `--estimate`: which items a run asks for, and which never."""

import json
import shutil

import pytest
from judged_study import judges, judgments
from stub_server import StubServer, any_verdict, error, turn_of

from generation.study import Study
from judge.calibration.splits.frozen_split import frozen_split, part_of
from judge.calibration.splits.study_split import split_study
from judge.prompts.prompt_template import PACKAGED, PromptTemplate
from judge.prompts.template_store import TemplateStore
from judge.runs.estimate import RunEstimate, estimate_text
from judge.server.usage import estimated_usage
from tests.calibration.conftest import LABELS, StudyBuilder

ITEMS, LABELLED = 26, 20


@pytest.fixture(autouse=True)
def _quick(quick):
    """No key, no proxy, no waits."""


@pytest.fixture(scope="module")
def labelled_folder(tmp_path_factory):
    """26 items in the sample and two beside it; two people label 20 of them, each one half."""
    builder = StudyBuilder(Study(tmp_path_factory.mktemp("labelled") / "study"))
    builder.turns(ITEMS, "Why is number {} the right one?")
    builder.sample(repeats=0)
    labels = {item: LABELS[k % 3] for k, item in enumerate(builder.items)}
    items = list(labels)
    builder.label("ann", {item: labels[item] for item in items[:10]})
    builder.label("bo", {item: labels[item] for item in items[10:LABELLED]})
    builder.label("bo", {items[LABELLED]: "skip: too long"})
    builder.add(["Not in the sample.", "Nor this."])
    return builder.study.folder


@pytest.fixture
def builder(labelled_folder, tmp_path):
    """A copy of that study for every test."""
    return StudyBuilder(Study(shutil.copytree(labelled_folder, tmp_path / "study")))


@pytest.fixture
def study(builder):
    split_study(builder.pipeline, builder.labels, "v3")
    return builder.study


@pytest.fixture
def server():
    with StubServer() as server:
        yield server


@pytest.fixture
def on_dev(judge_by, server, study):
    """Runs `judge --on dev` with further options; returns what it printed."""

    def run(*options: object) -> str:
        code, out, err = judge_by(server, "--on", "dev", *options, of=study)
        assert (code, err) == (0, "")
        return out

    return run


def turns_of(builder, part: str) -> set[str]:
    """The turns of the labelled items in this half."""
    frozen, items = frozen_split(builder.pipeline), builder.items
    labelled = {row["item_id"] for row in builder.labels["events"].rows if row["kind"] == "label"}
    return {items[item].turn for item in labelled if part_of(items[item], frozen) == part}


def asked(server) -> list[str]:
    return [turn_of(request.body) for request in server.requests]


def test_exactly_the_labelled_items_of_dev_are_asked_for(builder, server, on_dev):
    out = on_dev()
    dev, test = turns_of(builder, "dev"), turns_of(builder, "test")
    assert len(dev) + len(test) == LABELLED
    assert min(len(dev), len(test)) > 5
    assert sorted(asked(server)) == sorted(dev)
    assert not set(asked(server)) & test
    assert out.startswith(
        f"{len(dev)} items judged by m under rubric v3\n"
        f"  (of the {len(dev)} labelled items of the dev half)\n"
    )
    assert sum(int(line.split()[-1]) for line in out.splitlines()[2:10]) == len(dev)
    assert "batch" not in out


def test_an_item_whose_label_was_taken_back_is_not_asked_for(builder, server, study, on_dev):
    items = {item.turn: item_id for item_id, item in builder.items.items()}
    gone = min(turns_of(builder, "dev"))
    for who in ("ann", "bo"):
        builder.label(who, {items[gone]: "skip: too long"})
    on_dev()
    assert gone not in asked(server)


def test_labels_of_any_rubric_version_count(builder, server, study, on_dev):
    """So that a new rubric is tried on the items that people have labelled under the old one."""
    on_dev("--rubric", "v2")
    assert sorted(asked(server)) == sorted(turns_of(builder, "dev"))


def test_the_baseline_can_be_run_on_dev(builder, study, run_cli):
    dev = turns_of(builder, "dev")
    code, out, _err = run_cli("--study", study.folder, "--on", "dev")
    assert (code, out.splitlines()[0]) == (0, f"{len(dev)} items judged by lexical under rubric v3")
    assert {row["turn"] for row in judgments(study)} == dev


def test_a_draw_is_a_part_of_a_larger_one_and_the_same_for_every_judge(
    builder, server, study, on_dev
):
    drawn = []
    for n, model in ((3, "a"), (7, "b"), (3, "c")):
        before = len(server.requests)
        out = on_dev("--draw", n, "--model", model)
        drawn.append(sorted(asked(server)[before:]))
        size = len(turns_of(builder, "dev"))
        assert f"\n  (of {n} of the {size} labelled items of the dev half, drawn by hash)\n" in out
    assert [len(turns) for turns in drawn] == [3, 7, 3]
    assert drawn[0] == drawn[2]
    assert set(drawn[0]) < set(drawn[1]) < turns_of(builder, "dev")


def test_a_larger_draw_and_then_the_whole_study_ask_only_for_the_rest(
    builder, server, study, on_dev, judge_by
):
    assert on_dev("--draw", 4).startswith("4 items judged by m under rubric v3\n")
    out = on_dev("--draw", 6)
    assert out.startswith("2 items judged by m under rubric v3, 4 judged before\n")
    size = len(turns_of(builder, "dev"))
    assert on_dev().startswith(f"{size - 6} items judged by m under rubric v3, 6 judged before\n")
    code, out, _err = judge_by(server, of=study)
    assert code == 0
    rest = ITEMS + 2 - size
    assert out.startswith(f"{rest} items judged by m under rubric v3, {size} judged before\n")
    assert "dev half" not in out
    assert len(asked(server)) == len(set(asked(server))) == ITEMS + 2
    assert on_dev().startswith(f"0 items judged by m under rubric v3, {size} judged before\n")


def test_a_draw_of_more_than_there_are_is_all_of_them(builder, server, on_dev):
    size = len(turns_of(builder, "dev"))
    for n in (size, 1000):
        assert f"  (of the {size} labelled items of the dev half)\n" in on_dev("--draw", n)
    assert sorted(asked(server)) == sorted(turns_of(builder, "dev"))


def test_json_tells_the_scope_and_counts_within_it(builder, server, on_dev, judge_by, study):
    judge_by(server, of=study)  # the whole study
    found = json.loads(on_dev("--draw", 5, "--runs", 2, "--json"))
    assert found["scope"].startswith("5 of the ")
    counts = ("items", "runs", "judged_now", "judged_before", "waiting")
    assert [found[name] for name in counts] == [5, 2, 5, 5, 0]
    assert sum(found["labels"].values()) + sum(found["invalid"].values()) == 10
    assert found["turns"] == ITEMS + 2


def test_without_a_split_there_is_no_dev_half(builder, server, run_cli):
    options = ("--model", "m", "--base-url", server.url, "--on", "dev")
    code, out, err = run_cli("--study", builder.study.folder, *options)
    assert (code, out) == (1, "")
    assert f"freeze it: calibrate split{builder.study.option}\n" in err
    assert not server.requests


def test_without_labels_there_is_nothing_to_try_a_prompt_on(
    builder, server, study, judge_by, tmp_path
):
    other = StudyBuilder(Study(tmp_path / "other"))
    other.turns(4)
    other.sample(repeats=0)
    items = list(other.items)
    other.label("ann", dict.fromkeys(items, LABELS[0]))
    split_study(other.pipeline, other.labels, "v3")
    other.label("ann", dict.fromkeys(items, "skip: too long"))
    code, out, err = judge_by(server, "--on", "dev", of=other.study)
    assert (code, out) == (1, "")
    assert f"no item of the dev half is labelled; label some: annotate{other.study.option}\n" in err
    other.study.labels.unlink()
    code, _out, err = judge_by(server, "--on", "dev", of=other.study)
    assert (code, err.count("\n")) == (1, 1)
    assert "labels.db does not exist" in err
    assert not server.requests


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--draw", "3"], "--draw: of which items? add --on dev"),
        (["--on", "dev", "--draw", "0"], "0 is not in the range x>=1"),
        (["--on", "test"], "'test' is not 'dev'"),
        (["--estimate", "--anchors"], "--estimate is of one judge"),
        (["--estimate", "--judge-config", "judges.toml"], "--estimate is of one judge"),
    ],
)
def test_usage_errors(study, run_cli, tmp_path, options, message):
    (tmp_path / "judges.toml").write_text("")
    code, out, err = run_cli("--study", study.folder, *options)
    assert (code, out) == (2, "")
    assert message in err


class TestEstimate:
    @pytest.fixture
    def estimate(self, judge_by, server, study):
        def run(*options: object) -> dict:
            before = len(server.requests)
            code, out, err = judge_by(server, "--estimate", "--json", *options, of=study)
            assert (code, err) == (0, "")
            assert len(server.requests) == before
            return json.loads(out)

        return run

    def test_it_asks_nothing_and_stores_nothing(self, server, study, judge_by):
        code, out, err = judge_by(server, "--estimate", of=study)
        assert (code, err) == (0, "")
        first, second = out.splitlines()
        assert first == (
            f"{ITEMS + 2} verdicts to be had of m with followupeval × rubric v3 over all items of "
            "the study"
        )
        assert second.startswith("about ")
        assert second.endswith(f"at most {(ITEMS + 2) * 1024:,} of answers")
        assert (server.calls, server.requests, judgments(study)) == ({}, [], [])

    def test_it_counts_what_is_waiting_in_every_run_and_less_when_part_is_judged(
        self, builder, estimate, on_dev
    ):
        size = len(turns_of(builder, "dev"))
        whole = estimate("--runs", 3)
        assert (whole["items"], whole["verdicts"]) == (ITEMS + 2, (ITEMS + 2) * 3)
        dev = estimate("--on", "dev")
        assert (dev["items"], dev["verdicts"]) == (size, size)
        on_dev("--draw", 4)
        left = estimate("--on", "dev")
        assert (left["items"], left["verdicts"]) == (size, size - 4)
        assert left["prompt_tokens"] < dev["prompt_tokens"]
        drawn = estimate("--on", "dev", "--draw", 6)
        assert (drawn["items"], drawn["verdicts"]) == (6, 2)
        assert drawn["scope"] == f"6 of the {size} labelled items of the dev half, drawn by hash"
        on_dev()
        done = estimate("--on", "dev")
        tokens = ("verdicts", "prompt_tokens", "completion_tokens")
        assert [done[name] for name in tokens] == [0, 0, 0]

    def test_its_tokens_are_those_of_the_requests_that_follow(self, server, estimate, on_dev):
        found = estimate("--on", "dev", "--max-tokens", 500)
        on_dev("--max-tokens", 500)
        usages = [estimated_usage(request.body["messages"], 500) for request in server.requests]
        assert found["prompt_tokens"] == sum(usage.prompt_tokens for usage in usages)
        assert found["completion_tokens"] == sum(usage.completion_tokens for usage in usages)

    def test_with_prices_it_says_the_most_that_it_costs(
        self, estimate, judge_by, server, study, tmp_path
    ):
        assert estimate("--on", "dev")["cost"] is None
        prices = tmp_path / "prices.toml"
        prices.write_text('["m"]\ninput = 2\noutput = 8.0\n')
        found = estimate("--on", "dev", "--prices", prices)
        cost = (found["prompt_tokens"] * 2 + found["completion_tokens"] * 8) / 1e6
        assert found["cost"] == pytest.approx(cost)
        options = ("--estimate", "--on", "dev", "--prices", prices)
        assert f", at most ${cost:.4f}\n" in judge_by(server, *options, of=study)[1]
        prices.write_text("")
        code, _out, err = judge_by(server, *options, of=study)
        assert code == 1
        assert "has no price of m" in err

    def test_it_knows_the_judge_whose_server_took_less_than_was_wanted(
        self, server, study, estimate, judge_by
    ):
        """What was judged with the parameters that were agreed on is not to be had again."""

        def behave(request):
            if "seed" in request.body:
                return error(400, "Unsupported parameter: 'seed'.", "unsupported_parameter", "seed")
            return any_verdict(request)

        server.behave = behave
        assert judge_by(server, "--on", "dev", of=study)[0] == 0
        (parameters,) = judges(study)
        assert "seed" not in parameters
        assert estimate("--on", "dev")["verdicts"] == 0

    def test_one_verdict_is_one(self, server, study, judge_by):
        options = ("--estimate", "--on", "dev", "--draw", 1)
        assert judge_by(server, *options, of=study)[1].startswith("1 verdict to be had of m with ")

    def test_the_baseline_takes_no_tokens(self, study, run_cli):
        code, out, _err = run_cli("--study", study.folder, "--estimate", "--json")
        found = json.loads(out)
        assert (code, found["model"], found["verdicts"]) == (0, "lexical", ITEMS + 2)
        assert (found["prompt_tokens"], found["completion_tokens"], found["cost"]) == (0, 0, None)

    def test_no_name_can_act_on_the_terminal(self):
        evil = "m\x1b[2J\nnext: rm"
        text = estimate_text(RunEstimate(evil, evil, evil, "one item", 1, 1, 2, 3, None))
        assert text.startswith(r"1 verdict to be had of m\x1b[2J\nnext: rm with m\x1b[2J\nnext")
        assert text.count("\n") == 1
        assert "\x1b" not in text

    def test_what_a_run_would_refuse_is_refused(self, builder, server, study, judge_by):
        builder.judge({})
        builder.pipeline.conn.execute("UPDATE judge_prompts SET rubric_hash = 'sha256:other'")
        code, out, err = judge_by(server, "--estimate", of=study)
        assert (code, out) == (1, "")
        assert "is not what it was when this study first used it" in err

    def test_a_prompt_that_quotes_the_test_half_is_refused_as_by_a_run(
        self, builder, server, study, judge_by
    ):
        text = f"> {min(turns_of(builder, 'test'))}\n\n{PACKAGED.text}"
        store = TemplateStore(builder.pipeline)
        store.put(PromptTemplate("mine", 1, text, (), "x", "followupeval"))
        for options in (["--estimate"], []):
            code, out, err = judge_by(server, "--prompt", "mine", *options, of=study)
            assert (code, out) == (1, "")
            assert "judge prompt mine@1 × rubric v3 quotes the turn of item" in err
        assert not server.requests
