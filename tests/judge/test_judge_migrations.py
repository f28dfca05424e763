"""A study that an earlier version has judged goes on as the same judge, and pays for nothing."""

import json

from judged_study import judgments, make_study, rows
from sqlite_utils import Database
from stub_server import StubServer

from generation.migrations import generation_migrations
from generation.study import Study
from judge.calibration.splits.frozen_split import frozen_split
from judge.calibration.splits.opening import openings, record_opening
from judge.calibration.splits.study_split import split_study
from judge.judge import Judge
from judge.migrations import judge_migrations
from judge.prompts.prompt import render_prompt
from judge.store import open_pipeline
from rubrics import load_rubric
from tests.calibration.conftest import LABELS, StudyBuilder

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


def test_openings_and_all_else_from_before_the_workbench_stand(tmp_path):
    """An opening that was made before an intent was asked for has none, and is counted."""
    builder = StudyBuilder(Study(tmp_path / "new"))
    builder.from_pairs((LABELS[k % 2], LABELS[k % 2]) for k in range(8))
    split_study(builder.pipeline, builder.labels, "v3")
    (judge,) = builder.pipeline["judges"].rows
    (tmp_path / "old").mkdir()
    path = tmp_path / "old" / "pipeline.db"
    old = Database(str(path), strict=True)
    generation_migrations.apply(old)
    judge_migrations.apply(old, stop_before="m004_workbench")
    tables = [name for name in old.table_names() if not name.startswith(("_", "sqlite_"))]
    assert "cause_notes" not in tables
    old.conn.execute("ATTACH ? AS new", [str(builder.study.pipeline)])
    for table in tables:
        columns = ", ".join(f'"{column.name}"' for column in old[table].columns)
        old.conn.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table}")
    opening = (frozen_split(builder.pipeline).split_hash, judge["judge_id"])
    for when in ("then", "later"):
        old.conn.execute(
            "INSERT INTO test_openings (split_hash, judge_id, rubric_version, opened_at)"
            " VALUES (?, ?, 'v3', ?)",
            [*opening, when],
        )
    old.conn.commit()
    kept = {table: list(old[table].rows) for table in tables if table != "test_openings"}
    assert {"judgments", "sample_items", "split_queries"} <= {t for t in kept if kept[t]}
    old.close()

    with open_pipeline(path) as carried:
        assert {table: list(carried[table].rows) for table in kept} == kept
        assert [(o.number, o.opened_at, o.intent) for o in openings(carried)] == [
            (1, "then", None),
            (2, "later", None),
        ]
        assert openings(carried)[0].as_dict()["intent"] is None
        split = frozen_split(carried)
        made = record_opening(carried, split, judge["judge_id"], "v3", "to see it once more")
        assert (made.number, made.of_this_judge, made.intent) == (3, 3, "to see it once more")
        for table in ("cause_notes", "workbench_drafts", "launches"):
            assert carried[table].count == 0
        assert not list(carried.query("PRAGMA foreign_key_check"))
