"""The command line: bare `judge`, its options, its refusals, and that help answers at once."""

import json
import subprocess
import sys

import pytest

from judge.lexical.baseline import lexical_parameters
from judge.store import JudgmentStore, open_pipeline
from rubrics import latest_version

ITEMS = 8


def test_bare_judge_is_the_baseline_under_the_latest_rubric(study, run_cli, monkeypatch):
    monkeypatch.chdir(study.folder.parent)
    code, out, err = run_cli()
    assert (code, err) == (0, "")
    assert out.endswith("next: calibrate sample\n")
    assert out.startswith(f"{ITEMS} items judged by lexical under rubric {latest_version()}\n")
    (judge,) = JudgmentStore(open_pipeline(study.pipeline)).judges(latest_version())
    assert (judge.judge.model, judge.judge.parameters) == ("lexical", lexical_parameters())
    assert judge.judged == ITEMS


def test_named_baseline_and_rubric_as_json(study, run_cli):
    code, out, _err = run_cli(
        "--study", study.folder, "--judge", "lexical", "--rubric", "v2", "--json"
    )
    summary = json.loads(out)
    assert code == 0
    assert (summary["items"], summary["judged_now"]) == (ITEMS, ITEMS)
    assert summary["rubric_version"] == "v2"
    assert len(summary["labels"]) == 7
    assert sum(summary["labels"].values()) == ITEMS
    assert (summary["invalid"], summary["invalid_count"]) == ({}, 0)


def test_fewer_items_than_turns_are_explained_once(study, run_cli):
    _code, out, _err = run_cli("--study", study.folder)
    assert out.splitlines()[1] == (
        f"  ({ITEMS + 1} turns hold {ITEMS} distinct items; equal ones are judged once)"
    )
    _code, out, _err = run_cli("--study", study.folder, "--json")
    assert json.loads(out)["turns"] == ITEMS + 1
    database = open_pipeline(study.pipeline)
    database.conn.execute("DELETE FROM run_turns")
    database.conn.execute("DELETE FROM turns WHERE sample_index = 1")
    database.close()
    _code, out, _err = run_cli("--study", study.folder)
    assert "distinct" not in out


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ('[{"who": "user", "says": "2+2?"}]', "a stored message is {'says': '2+2?', 'who'"),
        ('[{"role": "user", "content": null}]', "a stored message is {'content': None, 'role'"),
        ('[{"role": "user", "content": "\\ud800"}]', "a stored message is {'content': '\\ud800'"),
        ('["2+2?"]', "a stored message is '2+2?'"),
        ("[]", "conversation are []"),
        ('{"role": "user"}', "conversation are {'role': 'user'}"),
        ("7", "conversation are 7"),
    ],
)
def test_foreign_messages_in_the_store_are_one_line(study, run_cli, messages, found):
    database = open_pipeline(study.pipeline)
    database.conn.execute("UPDATE conversations SET messages = ?", [messages])
    database.close()
    code, out, err = run_cli("--study", study.folder)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert found in err
    assert "expected" in err


def test_one_item_is_no_items(study, run_cli):
    run_cli("--study", study.folder)
    database = open_pipeline(study.pipeline)
    database.conn.execute("DELETE FROM judgments WHERE judgment_id = 1")
    database.close()
    code, out, _err = run_cli("--study", study.folder)
    assert code == 0
    assert out.startswith("1 item judged by lexical under rubric v3, 7 judged before\n")


def test_two_studies_get_equal_labels(study, run_cli):
    _code, first, _err = run_cli("--study", study.folder, "--json")
    _code, again, _err = run_cli("--study", study.folder, "--json")
    before, after = json.loads(first), json.loads(again)
    assert (after.pop("judged_now"), after.pop("judged_before")) == (0, ITEMS)
    assert (before.pop("judged_now"), before.pop("judged_before")) == (ITEMS, 0)
    assert before == after


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--study", "missing"], 1, "missing/pipeline.db does not exist; make a study first"),
        (["--rubric", "v9"], 1, "unknown rubric 'v9': the versions are v1, v2, v3"),
        (["--model", "m"], 1, "found neither --base-url nor OPENAI_API_KEY; give --base-url"),
        (["--base-url", "http://localhost:1/v1"], 2, "--base-url: for which model? add --model"),
        (["--max-tokens", "9", "--concurrency", "2"], 2, "--concurrency, --max-tokens: for which"),
        (["--judge", "lexical", "--max-tokens", "9"], 2, "--judge lexical takes no --max-tokens"),
        (["--model", "m", "--base-url", "localhost:8000"], 1, "expected one like http://"),
        (["--model", "m", "--base-url", "http://x:99999/v1"], 1, "expected one like http://"),
        (["--model", "m", "--base-url", "http://[x/v1"], 1, "expected one like http://"),
        (["--model", "lexical", "--base-url", "http://x/v1"], 1, "run it with: judge --judge"),
        (["--judge", "lexical", "--model", "m"], 2, "takes no --model"),
        (["--prompt", "exports/none"], 1, "exports/none is no exported judge prompt"),
        (["--prompt", "exports/x", "--rubric", "v3"], 1, "brings its own rubric: drop --rubric"),
        (["--judge", "lexical", "--prompt", "exports/x"], 2, "takes no --prompt"),
        (["--concurrency", "0"], 2, "0 is not in the range"),
        (["--max-cost", "nan"], 2, "'nan' is not a finite number"),
        (["--max-cost", "inf"], 2, "'inf' is not a finite number"),
        (["--temperature", "nan"], 2, "'nan' is not a finite number"),
        (["--max-tokens", "1000001"], 2, "1000001 is not in the range"),
        (["--max-tokens", f"1{'0' * 400}"], 2, "is not in the range"),
        (["--requests-per-minute", f"1{'0' * 400}"], 2, "is not in the range"),
        (["--tokens-per-minute", f"1{'0' * 400}"], 2, "is not in the range"),
        (["--judge", "other"], 2, "'other' is not 'lexical'"),
    ],
)
def test_refusals(run_cli, server, arguments, code, says):
    found, out, err = run_cli(*arguments)
    assert (found, out) == (code, "")
    assert says in err
    assert "Traceback" not in err
    if code == 1:
        assert err.startswith("error: ")
        assert err.count("\n") == 1


def test_a_study_without_turns(study, run_cli):
    database = open_pipeline(study.pipeline)
    database.conn.execute("DELETE FROM run_turns")
    database.conn.execute("DELETE FROM turns")
    database.close()
    code, _out, err = run_cli("--study", study.folder)
    assert code == 1
    assert "holds no turns; add some first: generate example" in err


def test_a_rubric_that_was_edited_is_refused(study, run_cli):
    run_cli("--study", study.folder)
    database = open_pipeline(study.pipeline)
    database.conn.execute("UPDATE judge_prompts SET rubric_hash = 'sha256:other'")
    database.close()
    code, _out, err = run_cli("--study", study.folder)
    assert code == 1
    assert "a rubric is never edited: give the changed text a new version" in err


def test_a_row_that_breaks_a_rule_is_never_dropped_silently(study, run_cli):
    import sqlite3

    from judge.judgment import Judgment

    run_cli("--study", study.folder)
    store = JudgmentStore(open_pipeline(study.pipeline))
    (judge,) = store.judges("v3")
    with pytest.raises(sqlite3.IntegrityError):
        store.add_judgment(judge.judge_id, "new item", Judgment(None, None, None, "raw"))


def test_an_instrument_needs_no_openai_until_it_asks():
    code = "import judge.instrument, sys; assert 'openai' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
