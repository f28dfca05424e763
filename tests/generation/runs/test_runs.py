"""What a run gave and rests on, and two studies' rows in one."""

from dataclasses import replace

import pytest
from small_plan import answer_or_turn, plan_of, questions

from generation.database import open_database
from generation.engines.engine import EngineDied, Failure
from generation.exchange.merge import Merged, merge_study
from generation.migrations import generation_migrations
from generation.plan.plan import Sweep
from generation.probe.row_store import open_rows
from generation.probe.start import Shard
from generation.runs.run_report import report_run, report_text, runs_text
from generation.study import Study
from rubrics import InputError, short

LONG = "a word " * 30


@pytest.fixture
def folder(tmp_path):
    return Study(tmp_path)  # the one that the fixture `study` probes into


def scored(*texts):
    data = questions(*texts)
    rows = replace(
        data.rows,
        conversations=tuple(
            replace(c, meta={"reference": f"#### {number}"})
            for number, c in enumerate(data.rows.conversations, start=4)
        ),
    )
    return replace(data, rows=rows)


def test_share_that_a_perturbation_changed_is_of_pairs_at_temperature_zero(
    study, chat_model, scripted_engine, folder
):
    def script(prompt, _):
        if prompt.endswith("assistant\n"):
            return LONG
        return "What?" if "think?" in prompt and "1?" in prompt else "Hm."

    sweep = Sweep(perturbations=("none", "ask", "truncate"), temperatures=(0.0, 0.7))
    tally = study(chat_model, scripted_engine(script), plan_of(sweep), questions("1?", "2?"))
    report = report_run(folder, short(tally.run_id))
    changed = {
        (count.perturbation, count.temperature): (count.changed, count.compared)
        for count in report.turns
    }
    assert changed[("ask", 0.0)] == (1, 2)
    assert changed[("truncate", 0.0)] == (0, 2)
    assert {changed[("ask", 0.7)], changed[("none", 0.0)]} == {(None, None)}
    assert "ask: 2 turns, 50.0 % changed of 2" in report_text(report)


def test_accuracy_flags_and_failures_are_counted(study, chat_model, scripted_engine, folder):
    def script(prompt, _):
        if "3?" in prompt:
            return Failure("server", "500 three times")
        return "It is 4." if prompt.endswith("assistant\n") else "Why?"

    data = scored("1?", "2?", "3?")
    tally = study(chat_model, scripted_engine(script), plan_of(max_turn_tokens=3), data)
    report = report_run(folder, short(tally.run_id))
    (answers,) = report.answers
    assert (answers.answers, answers.right, answers.checked) == (2, 1, 2)
    (turns,) = report.turns
    assert turns.flagged == {"length": 2}
    (failure,) = report.failures
    assert (failure.act, failure.kind, failure.rows) == ("answer", "server", 1)
    text = report_text(report)
    assert "gsm8k: 2 answers, 50.0 % right of 2 checked" in text
    assert "failed: 1 answers, server: 500 three times" in text


def test_every_sitting_says_which_engine_made_how_much(study, chat_model, scripted_engine, folder):
    plan, data = plan_of(), questions("1?", "2?")
    said = []

    def dies(prompt, sampling):
        said.append(prompt)
        if len(said) == 2:
            raise EngineDied("gone")
        return answer_or_turn(prompt, sampling)

    with pytest.raises(EngineDied):
        study(chat_model, scripted_engine(dies), plan, data)
    tally = study(chat_model, scripted_engine(answer_or_turn), plan, data)
    work = report_run(folder, short(tally.run_id)).work
    assert [(w.act, w.rows) for w in work] == [("answer", 1), ("answer", 1), ("turn", 2)]
    assert {w.record["engine"]["engine"] for w in work} == {"scripted"}
    assert work[0].output_tokens == 2, "'4' and its end"


def test_runs_are_listed_and_found_by_name_or_by_digits(study, chat_model, scripted_engine, folder):
    tally = study(chat_model, scripted_engine(answer_or_turn), plan_of(), questions("1?"))
    assert f"{short(tally.run_id)}  " in runs_text(folder, as_json=False)
    assert report_run(folder, "probe").run.run_id == tally.run_id
    with pytest.raises(InputError, match=rf"begins with 'zz'; the runs are {short(tally.run_id)}"):
        report_run(folder, "zz")


def shards(study, chat_model, scripted_engine, tmp_path, count):
    """One plan in so many shards, each in a study of its own."""
    plan, data = plan_of(Sweep(temperatures=(0.0, 0.7), user_turns=2)), questions("1?", "2?", "3?")
    parts = []
    for index in range(1, count + 1):
        part = Study(tmp_path / f"shard-{index}")
        study.store = open_rows(part.pipeline)
        engine = scripted_engine(answer_or_turn)
        study(chat_model, engine, plan, data, shard=Shard(index, count))
        study.store.close()
        parts.append(part)
    return plan, data, parts


def turn_ids(study: Study) -> set[str]:
    database = open_database(study.pipeline, (generation_migrations,))
    return {turn_id for (turn_id,) in database.execute("SELECT turn_id FROM turns")}


def test_merged_shards_are_the_run_that_one_machine_makes(
    study, chat_model, scripted_engine, tmp_path
):
    plan, data, parts = shards(study, chat_model, scripted_engine, tmp_path, 3)
    whole = Study(tmp_path / "merged")
    merged = [merge_study(whole, part.folder) for part in parts]
    assert sum(part.turns for part in merged) == 3 * 2 * 2
    assert {(part.conflicts, part.orphans, part.known) for part in merged} == {(0, 0, 0)}
    assert merge_study(whole, parts[0].pipeline) == Merged(0, 0, merged[0].turns, 0, 0)

    study.store = open_rows(whole.pipeline)
    opened = study.opened
    tally = study(chat_model, None, plan, data)
    assert (tally.turns.known, tally.turns.new, study.opened) == (12, 0, opened)
    runs = study.store.turns._db.execute("SELECT count(*) FROM runs").fetchone()[0]
    assert runs == 1, "shards of one plan are one run"
    (sittings,) = study.store.turns._db.execute("SELECT count(*) FROM run_sittings").fetchone()
    in_parts = sum(
        open_database(part.pipeline, (generation_migrations,))["run_sittings"].count
        for part in parts
    )
    assert sittings == in_parts


def test_rows_made_on_both_sides_stay_ours_and_are_counted(
    study, chat_model, scripted_engine, tmp_path
):
    def other(prompt, sampling):
        return "5" if prompt.endswith("assistant\n") else "Other?"

    scripts = (answer_or_turn, other)
    folders = []
    for script in scripts:
        folder = tmp_path / script.__name__
        folder.mkdir()
        study.store = open_rows(folder / "pipeline.db")
        study(chat_model, scripted_engine(script), plan_of(), questions("1?"))
        study.store.close()
        folders.append(Study(folder))
    ours = turn_ids(folders[0])
    merged = merge_study(folders[0], folders[1].folder)
    assert (merged.turns, merged.conflicts, merged.orphans) == (0, 1, 1)
    assert turn_ids(folders[0]) == ours


def test_study_is_not_merged_with_itself_or_with_something_else(tmp_path, study, folder):
    with pytest.raises(InputError, match="is this study itself"):
        merge_study(folder, tmp_path)
    with pytest.raises(InputError, match="expected another study's folder"):
        merge_study(folder, tmp_path / "none")
    (tmp_path / "no.db").write_text("nothing of ours at all")
    with pytest.raises(InputError, match="not a database"):
        merge_study(folder, tmp_path / "no.db")
