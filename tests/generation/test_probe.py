"""The probe with a scripted engine: contexts, seeds, temperatures, what a row keeps."""

from dataclasses import asdict, replace

import pytest

from generation.dataset import Dataset
from generation.item import Message
from generation.probe import Plan, Probe
from generation.probe_run import run_probe
from generation.store import open_turns
from generation.turn import Added, Conversation
from rubrics import InputError, canonical_json

SWEEP = Plan(temperatures=(0.7, 0.0, 0.3, 0.0), samples=2)


def conversations(*questions):
    return [
        Conversation("gsm8k", f"test-{number}", (Message("user", question),))
        for number, question in enumerate(questions, start=1)
    ]


def answer_or_turn(prompt, sampling):
    return "4" if prompt.endswith("assistant\n") else f"Why at {sampling.temperature}?"


def test_turn_goes_on_after_the_stored_answer_under_the_user_role(chat_model, scripted_engine):
    engine = scripted_engine(answer_or_turn)
    turns = Probe(chat_model, engine, Plan()).turns(conversations("2+2?"))
    assert engine.prompts[0].endswith("user\n2+2?<|im_end|>\n<|im_start|>assistant\n")
    assert engine.prompts[1].endswith("assistant\n4<|im_end|>\n<|im_start|>user\n")
    (turn,) = turns
    assert (turn.answer.text, turn.text) == ("4", "Why at 0.0?")
    assert turn.text_raw == "Why at 0.0?<|im_end|>"
    assert (turn.finish_reason, turn.stop_token_id, turn.context_mode) == ("stop", 2, "history")


def test_zero_once_and_every_other_temperature_as_often_as_asked(chat_model, scripted_engine):
    engine = scripted_engine(answer_or_turn)
    turns = Probe(chat_model, engine, SWEEP).turns(conversations("2+2?", "3+3?"))
    drawn = [(turn.temperature, turn.sample_index) for turn in turns]
    assert drawn == [(0.0, 0), (0.3, 0), (0.3, 1), (0.7, 0), (0.7, 1)] * 2
    assert {row.temperature for row in engine.sampling[2:]} == {0.0, 0.3, 0.7}, "one batch"


def test_every_drawn_row_has_a_seed_of_its_own(chat_model, scripted_engine):
    probe = Probe(chat_model, scripted_engine(answer_or_turn), SWEEP)
    first, again = (probe.turns(conversations("2+2?", "3+3?")) for _ in range(2))
    seeds = [turn.seed for turn in first if turn.temperature > 0]
    assert len(set(seeds)) == len(seeds) == 8
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert {turn.seed for turn in first if turn.temperature == 0} == {None}
    assert [turn.turn_id for turn in first] == [turn.turn_id for turn in again]
    other = Probe(chat_model, scripted_engine(answer_or_turn), replace(SWEEP, seed=1))
    assert not set(seeds) & {turn.seed for turn in other.turns(conversations("2+2?", "3+3?"))}


def test_answer_stops_at_ends_of_sequence_and_turn_at_role_tokens_too(chat_model, scripted_engine):
    engine = scripted_engine(answer_or_turn)
    Probe(chat_model, engine, Plan()).turns(conversations("2+2?"))
    assert [row.stop_token_ids for row in engine.sampling] == [(2,), (1, 2)]


def test_row_that_reaches_the_limit_is_kept_as_such(chat_model, scripted_engine):
    engine = scripted_engine(answer_or_turn)
    (turn,) = Probe(chat_model, engine, Plan(max_turn_tokens=3)).turns(conversations("2+2?"))
    assert (turn.text, turn.finish_reason, turn.stop_token_id) == ("Why", "length", None)


def test_special_tokens_stay_in_the_raw_text_alone(chat_model, scripted_engine):
    engine = scripted_engine(lambda prompt, _: "<|endoftext|>Hm" if "4" in prompt else "4")
    (turn,) = Probe(chat_model, engine, Plan()).turns(conversations("2+2?"))
    assert (turn.text, turn.text_raw) == ("Hm", "<|endoftext|>Hm<|im_end|>")


def test_context_that_does_not_fit_is_refused_before_anything_is_generated(
    chat_model, scripted_engine
):
    engine = scripted_engine(answer_or_turn, context_length=700)
    with pytest.raises(InputError, match=r"test-2 has .* raise --context-length"):
        Probe(chat_model, engine, Plan()).turns(conversations("2+2?", "long " * 100))
    assert engine.prompts == []


def test_control_token_in_a_question_is_refused(chat_model, scripted_engine):
    probe = Probe(chat_model, scripted_engine(answer_or_turn), Plan())
    with pytest.raises(InputError, match=r"test-1 holds '<\|im_end\|>'"):
        probe.turns(conversations("2+2?<|im_end|>"))


def test_thinking_model_is_refused_with_the_way_out(chat_model, scripted_engine):
    engine = scripted_engine(lambda *_: "<think>Well")
    with pytest.raises(InputError, match="enable_thinking"):
        Probe(chat_model, engine, Plan()).turns(conversations("2+2?"))


def test_run_resumes_and_adds_nothing_twice(tmp_path, chat_model, scripted_engine):
    dataset = Dataset("gsm8k", "f.jsonl", "sha256:0", tuple(conversations("1?", "2?", "3?")))
    store = open_turns(tmp_path / "pipeline.db")
    progress = []

    def run(limit):
        engine = scripted_engine(answer_or_turn)
        probe = Probe(chat_model, engine, Plan(temperatures=(0.0, 0.7)))
        report = lambda done, total: progress.append((done, total))  # noqa: E731
        added = run_probe(store, probe, [dataset], limit=limit, on_progress=report)
        return added, len(engine.prompts)

    assert run(2) == (Added(4, 0), 6)
    assert run(3) == (Added(2, 4), 3)
    assert run(3) == (Added(0, 6), 0)
    assert progress == [(0, 2), (2, 2), (2, 3), (3, 3), (3, 3)]


def test_run_whose_turns_another_run_gave_first_is_resumed_too(
    tmp_path, chat_model, scripted_engine
):
    dataset = Dataset("gsm8k", "f.jsonl", "sha256:0", tuple(conversations("1?", "2?")))
    store = open_turns(tmp_path / "pipeline.db")

    def run(seed):
        engine = scripted_engine(answer_or_turn)
        probe = Probe(chat_model, engine, Plan(seed=seed))
        added = run_probe(store, probe, [dataset], limit=None, on_progress=lambda *_: None)
        return added, len(engine.prompts)

    assert run(0) == (Added(2, 0), 4)
    assert run(1) == (Added(0, 2), 4), "it says the same at T = 0"
    assert run(1) == (Added(0, 2), 0)


def test_every_foreign_key_has_an_index(tmp_path):
    database = open_turns(tmp_path / "pipeline.db")._db
    for table in ("answers", "turns", "run_turns"):
        leading = {index.columns[0] for index in database[table].indexes}
        keys = {key.column for key in database[table].foreign_keys}
        assert keys
        assert keys <= leading, table


def test_provenance_says_what_the_numbers_rest_on(chat_model, scripted_engine):
    probe = Probe(chat_model, scripted_engine(answer_or_turn), SWEEP)
    provenance = probe.provenance([{"dataset": "gsm8k", "sha256": "sha256:0"}], "0.1.0")
    assert canonical_json(provenance)
    assert provenance["rendered_example"].endswith("4<|im_end|>\n<|im_start|>user\n")
    assert provenance["model"]["stops"][1]["why"] == [
        "generation_config.eos", "tokenizer.eos", "ends the user turn",
    ]  # fmt: skip
    assert provenance["sampling"]["turn"]["top_k"] == 0


@pytest.mark.parametrize("stop_strings", [(), ("</user>",)])
def test_provenance_and_rows_have_the_same_sampling(chat_model, scripted_engine, stop_strings):
    model = replace(chat_model, cut=replace(chat_model.cut, stop_strings=stop_strings))
    engine = scripted_engine(answer_or_turn)
    probe = Probe(model, engine, SWEEP)
    probe.turns(conversations("2+2?"))
    sampling = probe.provenance([], "0.1.0")["sampling"]
    for act, rows in (("answer", engine.sampling[:1]), ("turn", engine.sampling[1:])):
        for row in map(asdict, rows):
            per_row = {key: row[key] for key, value in sampling[act].items() if value == "per row"}
            assert sampling[act] | per_row == row
