"""judges.toml: what it may hold, and several judges side by side with rows of their own."""

import json

import pytest
from judged_study import judgments, rows
from stub_http import Answer
from stub_server import StubServer, completion, error, verdict

from judge.config import JudgeConfig
from judge.judges_file import read_judges
from rubrics import InputError

ITEMS = 8  # distinct items of the `study` fixture
KEY = "sk-made-up-0123456789"


@pytest.fixture
def judges_toml(tmp_path):
    def write(text: str):
        path = tmp_path / "judges.toml"
        path.write_text(text)
        return path

    return write


def test_every_entry_is_read(judges_toml):
    path = judges_toml(
        '[[judge]]\nmodel = "a"\nbase_url = "http://x/v1"\napi_key_env = "A_KEY"\nrubric = "v3"\n'
        'prompt = "mine"\ntemperature = 0.5\nreasoning_effort = "low"\nmax_tokens = 99\nruns = 2\n'
        "concurrency = 3\nrequests_per_minute = 4\ntokens_per_minute = 5\n[[judge]]\n"
        'model = "lexical"\n'
    )
    first, lexical = read_judges(path)
    assert first == JudgeConfig(
        "a", "http://x/v1", "A_KEY", "v3", "mine", 0.5, "low", 99, 2, 3, 4, 5, f"{path}, judge 1"
    )
    assert (lexical, first.key_variable, lexical.key_variable) == (
        JudgeConfig(source=f"{path}, judge 2"),
        "A_KEY",
        "OPENAI_API_KEY",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "found no [[judge]]; expected [[judge]] tables"),
        ("judge = []", "found no [[judge]]"),
        ("judge = [1]", "judge 1: found int; expected a table"),
        ('model = "a"', "found model; expected [[judge]]"),
        ('[judge]\nmodel = "a"', "found no [[judge]]"),
        ('[[judges]]\nmodel = "a"', "found judges; expected [[judge]]"),
        ("[[judge]\n", "is no TOML"),
        ('[[judge]]\nmodel = "a"\n[[judge]]\nmodl = "b"', "judge 2: unknown modl; expected model"),
        ("[[judge]]\nmodel = 3", "judge 1: model = 3; expected a text"),
        ('[[judge]]\nmodel = ""', "model = ''; expected a text"),
        ('[[judge]]\nmodel = "a\\u001b[31m"', "expected a text of 1 to 300 printable characters"),
        (f'[[judge]]\nmodel = "{"x" * 301}"', "expected a text of 1 to 300 printable characters"),
        ('[[judge]]\nmodel = "a"\nruns = 0', "runs = 0; expected a whole number, 1 to 100"),
        ('[[judge]]\nmodel = "a"\nruns = 1.0', "runs = 1.0; expected a whole number"),
        ('[[judge]]\nmodel = "a"\nruns = true', "runs = True; expected a whole number"),
        ('[[judge]]\nmodel = "a"\ntemperature = 3', "temperature = 3; expected a number, 0 to 2"),
        ('[[judge]]\nmodel = "a"\ntemperature = nan', "temperature = nan; expected a number"),
        ('[[judge]]\nmodel = "a"\nreasoning_effort = "huge"', "'huge'; expected one of none, min"),
        ('[[judge]]\nmodel = "a"\nconcurrency = 5000', "expected a whole number, 1 to 1024"),
        ("[[judge]]\n", "judge 1: found an empty table; expected model"),
        ("[[judge]]\nmax_tokens = 5", "judge 1: max_tokens: for which model? add model"),
    ],
)
def test_refusals(judges_toml, text, says):
    path = judges_toml(text)
    with pytest.raises(InputError) as refused:
        read_judges(path)
    assert str(refused.value).startswith(str(path))
    assert says in str(refused.value)


@pytest.mark.parametrize("name", ["api_key", "key", "openai_api_key"])
def test_a_key_in_the_file_is_refused_and_not_shown(judges_toml, run_cli, study, name):
    path = judges_toml(f'[[judge]]\nmodel = "a"\n{name} = "{KEY}"\n')
    code, out, err = run_cli("--study", study.folder, "--judge-config", path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "a key stays out of files, name its variable: api_key_env" in err
    assert KEY not in err


def test_a_key_where_its_variable_belongs_is_refused_and_not_shown(judges_toml, run_cli, study):
    path = judges_toml(f'[[judge]]\nmodel = "a"\napi_key_env = "{KEY}"\n')
    code, _out, err = run_cli("--study", study.folder, "--judge-config", path)
    assert (code, err.count("\n"), KEY in err) == (1, 1, False)
    assert "api_key_env" in err


def test_a_missing_file_is_one_line(run_cli, study, tmp_path):
    code, _out, err = run_cli("--study", study.folder, "--judge-config", tmp_path / "none.toml")
    assert (code, err.count("\n")) == (1, 1)
    assert "none.toml: No such file or directory" in err


def two_judges(server, *, runs: int = 1) -> str:
    return (
        f'[[judge]]\nmodel = "a"\nbase_url = "{server.url}"\napi_key_env = "A_KEY"\n'
        f'[[judge]]\nmodel = "b"\nbase_url = "{server.url}"\nruns = {runs}\ntemperature = 0.5\n'
        '[[judge]]\nmodel = "lexical"\n'
    )


@pytest.mark.usefixtures("quick")
def test_judges_side_by_side_have_rows_of_their_own(study, judges_toml, run_cli, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)

    def behave(request):
        label = "malformed" if request.body["model"] == "a" else "new_task_prompt"
        return Answer(body=completion(verdict(label)))

    with StubServer(behave) as server:
        path = judges_toml(two_judges(server, runs=2))
        code, out, err = run_cli("--study", study.folder, "--judge-config", path, "--json")
        assert (code, err) == (0, "")
        summaries = json.loads(out)
        assert [(s["model"], s["judged_now"], s["runs"]) for s in summaries] == [
            ("a", ITEMS, 1),
            ("b", 2 * ITEMS, 2),
            ("lexical", ITEMS, 1),
        ]
        assert summaries[0]["labels"]["malformed"] == ITEMS
        assert summaries[1]["labels"]["new_task_prompt"] == 2 * ITEMS
        keys = {(r.body["model"], r.headers["authorization"]) for r in server.requests}
        assert keys == {("a", f"Bearer {KEY}"), ("b", "Bearer none")}
        assert {r.body["temperature"] for r in server.requests if r.body["model"] == "b"} == {0.5}
        labels = {(row["model"], row["label"]) for row in judgments(study) if row["raw"]}
        assert {("a", "malformed"), ("b", "new_task_prompt")} <= labels
        assert len(rows(study, "SELECT * FROM judges")) == 3
        _code, out, _err = run_cli("--study", study.folder, "--judge-config", path)
        assert out.count("0 items judged by") + out.count("0 verdicts judged by") == 3
        assert len(server.requests) == 3 * ITEMS


@pytest.mark.usefixtures("quick")
def test_one_budget_for_all_judges(study, judges_toml, run_cli, monkeypatch, tmp_path):
    """What the first has spent the second no longer has: 8 answers of 100 tokens at $10 each."""
    monkeypatch.setenv("A_KEY", KEY)
    prices = tmp_path / "prices.toml"
    prices.write_text("[a]\ninput = 0\noutput = 1e7\n[b]\ninput = 0\noutput = 1e7\n")
    usage = (10, 0, 1)  # an answer of one token: $10

    with StubServer(lambda r: Answer(body=completion(verdict(), usage=usage))) as server:
        path = judges_toml(two_judges(server).replace('"\n[[', '"\nmax_tokens = 1\n[[', 1))
        path.write_text(path.read_text().replace("runs = 1", "max_tokens = 1"))
        options = ("--judge-config", path, "--prices", prices, "--max-cost", 100)
        code, out, err = run_cli("--study", study.folder, *options)
    assert code == 1
    assert out.startswith("8 items judged by a under rubric v3\n")
    assert "\ncost: $80.0000\n" in out
    assert "stopped before --max-cost" in err
    assert [row["model"] for row in judgments(study)].count("b") == 2


@pytest.mark.usefixtures("quick")
def test_a_judge_that_is_refused_stops_before_the_next(study, judges_toml, run_cli, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    with StubServer(lambda request: error(401, "no such key")) as server:
        path = judges_toml(two_judges(server))
        code, _out, err = run_cli("--study", study.folder, "--judge-config", path)
        assert [request.body["model"] for request in server.requests] == ["a"]
    assert (code, err.count("\n")) == (1, 1)
    assert "check A_KEY" in err
