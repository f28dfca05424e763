"""A study that an earlier version has judged goes on as the same judge, and pays for nothing."""

import json

from judged_study import judgments, make_study, rows
from sqlite_utils import Database
from stub_server import StubServer

from generation.migrations import generation_migrations
from judge.judge import Judge
from judge.migrations import judge_migrations
from judge.prompts.prompt import render_prompt
from rubrics import load_rubric

# As the first version recorded it; the judge that goes on must be this one.
CHAT_PARAMETERS = (
    '{"max_completion_tokens":1024,"response_format":"json_schema","seed":0,"temperature":0}'
)


def test_judgments_of_the_first_schema_stand(tmp_path, run_cli, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    new = make_study(tmp_path / "new", ["Why?", "Thanks!"])
    with StubServer() as server:
        run_cli("--study", new.folder, "--model", "m", "--base-url", server.url)
    (judge_id,) = {row["judge_id"] for row in judgments(new)}
    prompt = render_prompt(load_rubric("v3"))
    assert judge_id == Judge("m", json.loads(CHAT_PARAMETERS), "v3", prompt.prompt_hash).judge_id
    old = make_study(tmp_path / "old", ["Why?", "Thanks!"])
    old.pipeline.unlink()
    database = Database(str(old.pipeline), strict=True)
    generation_migrations.apply(database)
    judge_migrations.apply(database, stop_before="m002_accounts")
    database.conn.execute("ATTACH ? AS new", [str(new.pipeline)])
    for table in ("runs", "conversations", "answers", "turns", "run_turns", "judge_prompts"):
        database.conn.execute(f"INSERT INTO {table} SELECT * FROM new.{table}")
    database.conn.execute(
        "INSERT INTO judges VALUES (?, 'm', ?, 'v3', ?, 'then')",
        [judge_id, CHAT_PARAMETERS, prompt.prompt_hash],
    )
    database.conn.execute(
        "INSERT INTO judgments SELECT judgment_id, judge_id, item_hash, run_index, label, sigma,"
        " rationale, invalid_reason, raw, judged_at FROM new.judgments LIMIT 1"
    )
    database.conn.commit()
    database.close()

    with StubServer() as server:
        code, out, _err = run_cli("--study", old.folder, "--model", "m", "--base-url", server.url)
        assert len(server.requests) == 1
    assert code == 0
    assert out.startswith("1 item judged by m under rubric v3, 1 judged before\n")
    before, after = sorted(judgments(old), key=lambda row: row["judgment_id"])
    assert (before["prompt_tokens"], after["prompt_tokens"] > 0) == (None, True)
    assert rows(old, "SELECT count(*) AS n FROM judges") == [{"n": 1}]
