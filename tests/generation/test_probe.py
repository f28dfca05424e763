"""The probe with a scripted engine: contexts, seeds, cells, perturbations, what a row keeps."""

from collections import Counter
from dataclasses import asdict, replace
from threading import Event

import pytest
from small_plan import answer_or_turn, dataset, plan_of, questions, run_of

from generation.database import immediate, open_database
from generation.datasets.dataset import Rows
from generation.engines.engine import EngineDied, Failure
from generation.item import Message
from generation.migrations import generation_migrations
from generation.plan.plan import AnswerPlan, DatasetPlan, Sweep
from generation.probe.maker import Maker
from generation.probe.model_probe import ModelProbe
from generation.probe.row_store import open_rows
from generation.probe.run_plan import ALL, run_provenance
from generation.probe.start import Shard, first_starts
from generation.probe.turn_stage import TurnStage
from generation.turn import Answer, Conversation
from rubrics import canonical_json

SWEEP = Sweep(temperatures=(0.7, 0.0, 0.3, 0.0), samples=2)
LONG = "a word " * 30  # 210 tokens here, of which a truncation keeps 53


@pytest.fixture
def probed(study, chat_model, scripted_engine):
    """Turns and engine of one probe of one question, or of the data given."""

    def probe(plan, script=answer_or_turn, data=None, **options):
        engine = scripted_engine(script)
        study(chat_model, engine, plan, data or questions("2+2?"), **options)
        return study.turns(), engine

    return probe


def test_turn_goes_on_after_the_stored_answer_under_the_user_role(probed):
    (turn,), engine = probed(plan_of())
    assert engine.prompts[0].endswith("user\n2+2?<|im_end|>\n<|im_start|>assistant\n")
    assert engine.prompts[1].endswith("assistant\n4<|im_end|>\n<|im_start|>user\n")
    assert (turn.answer.text, turn.text) == ("4", "Why at 0.0?")
    assert turn.text_raw == "Why at 0.0?<|im_end|>"
    assert (turn.finish_reason, turn.stop_token_id, turn.context_mode) == ("stop", 2, "history")
    assert (turn.number, turn.flags, turn.condition) == (1, (), "")


def test_zero_once_and_every_other_temperature_as_often_as_asked(probed):
    turns, engine = probed(plan_of(SWEEP), data=questions("2+2?", "3+3?"))
    drawn = Counter((turn.temperature, turn.sample_index) for turn in turns)
    assert drawn == dict.fromkeys([(0.0, 0), (0.3, 0), (0.3, 1), (0.7, 0), (0.7, 1)], 2)
    assert {row.temperature for row in engine.sampling[2:]} == {0.0, 0.3, 0.7}, "one batch"


def test_nucleus_and_top_k_are_swept_above_temperature_zero_alone(probed):
    sweep = Sweep(temperatures=(0.0, 1.0), top_p=(1.0, 0.9), top_k=(0, 20))
    turns, engine = probed(plan_of(sweep))
    drawn = {(turn.temperature, turn.top_p, turn.top_k) for turn in turns}
    at_one = {(1.0, top_p, top_k) for top_p in (1.0, 0.9) for top_k in (0, 20)}
    assert drawn == {(0.0, 1.0, 0)} | at_one
    assert {(row.temperature, row.top_p, row.top_k) for row in engine.sampling[1:]} == drawn
    assert {turn.condition for turn in turns} == {
        "", "top-p 0.9", "top-k 20", "top-p 0.9, top-k 20",
    }  # fmt: skip


def test_every_drawn_row_has_a_seed_of_its_own_and_the_same_again(
    probed, tmp_path, chat_model, scripted_engine
):
    data = questions("2+2?", "3+3?")
    first, _ = probed(plan_of(SWEEP), data=data)
    seeds = [turn.seed for turn in first if turn.temperature > 0]
    assert len(set(seeds)) == len(seeds) == 8
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert {turn.seed for turn in first if turn.temperature == 0} == {None}

    def elsewhere(name, plan):
        (tmp_path / name).mkdir()
        store = open_rows(tmp_path / name / "pipeline.db")
        engine = scripted_engine(answer_or_turn)
        maker = Maker(store, run_of(plan), "scripted", lambda: engine, {})
        stage = TurnStage(store, chat_model, plan)
        ModelProbe(maker, stage).probe(first_starts(plan, [data], ALL))
        return list(store.turns.turns())

    assert {t.turn_id for t in elsewhere("same", plan_of(SWEEP))} == {t.turn_id for t in first}
    other = elsewhere("other", plan_of(SWEEP, seed=1))
    assert not set(seeds) & {turn.seed for turn in other}


def test_answer_stops_at_ends_of_sequence_and_turn_at_role_tokens_too(probed):
    _, engine = probed(plan_of())
    assert [row.stop_token_ids for row in engine.sampling] == [(2,), (1, 2)]


def test_row_that_reaches_the_limit_is_kept_and_flagged(probed):
    (turn,), _ = probed(plan_of(max_turn_tokens=3))
    assert (turn.text, turn.finish_reason, turn.stop_token_id) == ("Why", "length", None)
    assert turn.flags == ("length",)


def test_special_tokens_stay_in_the_raw_text_alone(probed):
    (turn,), _ = probed(plan_of(), lambda prompt, _: "<|endoftext|>Hm" if "4" in prompt else "4")
    assert (turn.text, turn.text_raw) == ("Hm", "<|endoftext|>Hm<|im_end|>")


def test_real_answers_are_gone_on_from_in_the_held_out_setting(probed):
    answer = Answer(Conversation("gsm8k", "1", (Message("user", "2+2?"),)), "Four.")
    turns, engine = probed(
        plan_of(Sweep(settings=("held-out",), perturbations=("none", "ask"))),
        data=dataset(Rows((), (answer,))),
    )
    assert {turn.setting for turn in turns} == {"held-out"}
    assert len(engine.prompts) == 2, "nothing is answered"
    assert [turn.answer.text for turn in turns] == ["Four.\n\nWhat do you think?", "Four."]
    assert {turn.answer.model for turn in turns} == {None}


def test_perturbed_answers_are_stored_and_gone_on_from(probed):
    sweep = Sweep(perturbations=("none", "truncate", "ask"))
    turns, engine = probed(
        plan_of(sweep), lambda prompt, _: LONG if prompt.endswith("assistant\n") else "Hm?"
    )
    said = {turn.perturbation: turn.answer for turn in turns}
    assert said["truncate"].text == LONG[:53]
    assert said["ask"].text == LONG.rstrip() + "\n\nWhat do you think?"
    assert {said[name].parent_id for name in ("truncate", "ask")} == {said["none"].answer_id}
    assert sum(LONG[:53] + "<|im_end|>" in prompt for prompt in engine.prompts) == 1


def test_next_user_turns_follow_what_the_model_answers_to_the_former(probed):
    def script(prompt, _):
        return f"said {prompt.count('im_start')}"

    sweep = Sweep(temperatures=(0.0, 1.0), samples=2, user_turns=3)
    turns, _ = probed(plan_of(sweep), script)
    assert Counter(turn.number for turn in turns) == {1: 3, 2: 3, 3: 3}
    third = next(turn for turn in turns if (turn.number, turn.temperature) == (3, 0.0))
    second = next(turn for turn in turns if turn.turn_id == third.follows)
    assert (second.number, second.temperature, second.condition) == (2, 0.0, "user turn 2")
    said = [message.content for message in third.item.messages]
    assert said == ["2+2?", "said 3", "said 4", "said 5", "said 6"]
    assert (third.answer.text, third.text) == ("said 7", "said 8")
    root = turns[0].answer.conversation.conversation_id
    assert third.answer.conversation.root == second.answer.conversation.root == root


def test_conversation_ends_where_a_generated_turn_says_nothing(study, chat_model, scripted_engine):
    script = lambda prompt, _: "4" if prompt.endswith("assistant\n") else ""  # noqa: E731
    plan = plan_of(Sweep(user_turns=2))
    tally = study(chat_model, scripted_engine(script), plan, questions("2+2?"))
    assert [turn.number for turn in study.turns()] == [1]
    assert (tally.turns.planned, tally.ended) == (1, 1)


def test_row_without_a_prompt_fails_alone(study, chat_model, scripted_engine):
    engine = scripted_engine(answer_or_turn)
    data = questions("2+2?<|im_end|>", "3+3?")
    tally = study(chat_model, engine, plan_of(), data)
    assert (tally.answers.new, tally.answers.failed) == (1, 1)
    assert (tally.turns.new, tally.turns.waiting) == (1, 1)
    (failure,) = study.store.failures()
    assert (failure.act, failure.kind) == ("answer", "no prompt")
    assert "<|im_end|>" in failure.message


def test_prompt_longer_than_the_context_fails_alone(study, chat_model, scripted_engine):
    engine = scripted_engine(answer_or_turn, context_length=700)
    tally = study(chat_model, engine, plan_of(), questions("2+2?", "long " * 100))
    assert (tally.answers.new, tally.answers.failed) == (1, 1)
    (failure,) = study.store.failures()
    assert failure.kind == "too long"
    assert "raise --context-length" in failure.message


def test_failure_is_tried_again_on_request_alone(study, chat_model, scripted_engine):
    broken = scripted_engine(lambda *_: Failure("server", "500"))
    plan, data = plan_of(), questions("2+2?")
    assert study(chat_model, broken, plan, data).answers.failed == 1
    left = study(chat_model, scripted_engine(answer_or_turn), plan, data)
    assert (left.answers.failed_before, left.turns.waiting, study.opened) == (1, 1, 1)
    again = study(chat_model, scripted_engine(answer_or_turn), plan, data, retry_errors=True)
    assert (again.answers.new, again.turns.new) == (1, 1)
    assert study(chat_model, broken, plan, data).turns.known == 1


def test_unusable_answer_has_no_turn_and_is_counted(study, chat_model, scripted_engine):
    tally = study(chat_model, scripted_engine(lambda *_: ""), plan_of(), questions("2+2?"))
    assert (tally.answers.new, tally.turns.new, tally.turns.unusable) == (1, 0, 1)
    assert sum(tally.unusable.values()) == 1
    assert tally.turns.waiting == 0, "no later call will make it"


def test_answer_of_which_a_perturbation_leaves_nothing_says_so(study, chat_model, scripted_engine):
    plan = plan_of(Sweep(perturbations=("none", "truncate-drop-last")))
    tally = study(chat_model, scripted_engine(answer_or_turn), plan, questions("2+2?"))
    assert (tally.turns.new, tally.turns.unusable) == (1, 1)
    assert tally.unusable == {"nothing is left of it": 1}


def test_larger_plan_adds_to_a_smaller_one(study, chat_model, scripted_engine):
    def run(sweep, limit):
        plan = plan_of(sweep, datasets=(DatasetPlan("gsm8k", "gsm8k", limit=limit),))
        engine = scripted_engine(answer_or_turn)
        tally = study(chat_model, engine, plan, questions("1?", "2?", "3?"))
        return tally.turns.new, tally.turns.known, len(engine.prompts)

    assert run(Sweep(temperatures=(0.0, 0.7)), 2) == (4, 0, 6)
    assert run(Sweep(temperatures=(0.0, 0.7)), 3) == (2, 4, 3)
    assert run(Sweep(temperatures=(0.0, 0.7)), 3) == (0, 6, 0)
    assert study.opened == 2, "nothing is missing, so no engine is loaded"
    assert run(Sweep(temperatures=(0.0, 0.7, 1.0)), 3) == (3, 6, 3)
    linked = study.store.turns._db.execute("SELECT count(*) FROM run_turns GROUP BY run_id")
    assert sorted(count for (count,) in linked) == [4, 6, 9], "a run has all its rows"


def test_engine_that_dies_loses_nothing_it_gave(study, chat_model, scripted_engine):
    plan, data = plan_of(SWEEP), questions("1?", "2?", "3?")
    said = []

    def dies(prompt, sampling):
        said.append(prompt)
        if len(said) == 9:
            raise EngineDied("out of memory")
        return answer_or_turn(prompt, sampling)

    with pytest.raises(EngineDied, match="out of memory"):
        study(chat_model, scripted_engine(dies), plan, data)
    assert len(study.turns()) == 5
    tally = study(chat_model, scripted_engine(answer_or_turn), plan, data)
    assert (tally.answers.known, tally.turns.known, tally.turns.new) == (3, 5, 10)
    rows = [turn.row_id for turn in study.turns()]
    assert len(rows) == len(set(rows)) == 15


def test_engine_that_ends_without_a_word_about_a_row_has_died(study, chat_model, scripted_engine):
    engine = scripted_engine(answer_or_turn)
    engine.generate = lambda requests: iter([(r.row_id, None) for r in requests][:0])
    with pytest.raises(EngineDied, match="without a result for 1 row"):
        study(chat_model, engine, plan_of(), questions("2+2?"))
    assert engine.closed == 1


def test_shards_have_every_conversation_once(study, chat_model, scripted_engine):
    data = questions(*map(str, range(20)))
    engine = scripted_engine(answer_or_turn)
    parts = [
        study(chat_model, engine, plan_of(SWEEP), data, shard=Shard(index, 3)).answers.new
        for index in (1, 2, 3)
    ]
    assert sum(parts) == 20
    assert min(parts) > 0
    assert study(chat_model, engine, plan_of(SWEEP), data).answers.known == 20


def test_every_foreign_key_has_an_index(study):
    database = study.store.turns._db
    tables = ("conversations", "answers", "turns", "run_turns", "failures", "run_sittings")
    for table in tables:
        leading = {index.columns[0] for index in database[table].indexes}
        keys = {key.column for key in database[table].foreign_keys}
        assert keys
        assert keys <= leading, table


def test_provenance_says_what_the_numbers_rest_on(chat_model):
    plan = plan_of(SWEEP)
    provenance = run_provenance(plan, plan.models[0], chat_model, [questions("2+2?")])
    assert canonical_json(provenance)
    assert provenance["rendered_example"].endswith("4<|im_end|>\n<|im_start|>user\n")
    assert {"generation_config.eos", "tokenizer.eos", "ends the user turn"} <= set(
        provenance["model"]["stops"][1]["why"]
    )
    assert provenance["datasets"][0]["sha256"] == "sha256:0"


@pytest.mark.parametrize("stop_strings", [(), ("</user>",)])
def test_provenance_and_rows_have_the_same_sampling(
    study, chat_model, scripted_engine, stop_strings
):
    derived = replace(chat_model.cut.derived, turn_strings=stop_strings)
    model = replace(chat_model, cut=replace(chat_model.cut, derived=derived))
    engine, plan = scripted_engine(answer_or_turn), plan_of(SWEEP, answers=AnswerPlan(0.5, 0.9))
    study(model, engine, plan, questions("2+2?"))
    sampling = run_provenance(plan, plan.models[0], model, [])["sampling"]
    for act, rows in (("answer", engine.sampling[:1]), ("turn", engine.sampling[1:])):
        for row in map(asdict, rows):
            per_row = {key: row[key] for key, value in sampling[act].items() if value == "per row"}
            assert sampling[act] | per_row == row


def test_lines_of_turns_stay_apart_where_they_say_the_same(study, chat_model, scripted_engine):
    """A short answer is truncated to itself, both settings have one answer: two cells, two rows."""
    question = Conversation("gsm8k", "1", (Message("user", "2+2?"),))
    data = dataset(Rows((question,), (Answer(question, "4"),)))
    sweep = Sweep(
        settings=("self-generated", "held-out"),
        perturbations=("none", "truncate"),
        temperatures=(0.0, 1.0),
        samples=2,
        user_turns=3,
    )
    script = lambda prompt, _: "4" if prompt.endswith("assistant\n") else "Why?"  # noqa: E731
    tally = study(chat_model, scripted_engine(script), plan_of(sweep), data)
    assert tally.turns.new == tally.turns.planned == 2 * 2 * 3 * 3
    turns = {turn.turn_id: turn for turn in study.turns()}
    for turn in turns.values():
        if turn.follows:
            before = turns[turn.follows]
            assert (before.setting, before.perturbation, before.sample_index) == (
                turn.setting, turn.perturbation, turn.sample_index,
            )  # fmt: skip
    assert len({turn.follows for turn in turns.values() if turn.follows}) == 2 * 2 * 3 * 2
    again = study(chat_model, scripted_engine(script), plan_of(sweep), data)
    assert (again.turns.known, again.turns.new) == (36, 0)


def test_truncation_of_a_real_answer_is_by_the_tokens_of_each_model(
    study, chat_model, scripted_engine
):
    answer = Answer(Conversation("gsm8k", "1", (Message("user", "Hm?"),)), "abcd " * 60)
    plan = plan_of(Sweep(settings=("held-out",), perturbations=("truncate",)))
    by_words = replace(
        chat_model,
        name="words",
        encode=lambda text: list(range(len(text.split(" ")))) if "<" not in text else [1],
        decode=lambda ids, _: " ".join(["abcd"] * len(ids)),
        file_hashes={"tokenizer.json": "sha256:1"},
    )
    for model in (chat_model, by_words):
        study(model, scripted_engine(answer_or_turn), plan, dataset(Rows((), (answer,))))
    kept = {turn.model: turn.answer.text for turn in study.turns()}
    assert len(kept["scripted"]) == 75, "a quarter of 300 characters"
    assert kept["words"].count("abcd") == 25, "the floor, of 61 words"


def test_equal_plan_of_another_name_has_all_rows_of_all_levels(study, chat_model, scripted_engine):
    sweep, data = Sweep(temperatures=(0.0, 0.7), user_turns=3), questions("1?", "2?")
    for name in ("one", "two"):
        study(chat_model, scripted_engine(answer_or_turn), plan_of(sweep, name=name), data)
    shards = plan_of(sweep, name="three")
    for index in (1, 2):
        study(chat_model, scripted_engine(answer_or_turn), shards, data, shard=Shard(index, 2))
    counts = study.store.turns._db.execute("SELECT count(*) FROM run_turns GROUP BY run_id")
    assert [count for (count,) in counts] == [12, 12, 12]


def test_rows_are_stored_while_the_engine_is_silent(
    study, chat_model, scripted_engine, monkeypatch, tmp_path
):
    monkeypatch.setattr("generation.probe.maker.STORED_EVERY", 0.01)
    stored = Event()

    class Slow(scripted_engine):
        def generate(self, requests):
            first, *others = requests
            yield from super().generate([first])
            if not stored.is_set():
                reader = open_database(tmp_path / "pipeline.db", (generation_migrations,))
                while reader["answers"].count == 0:
                    stored.wait(0.01)  # the test's own limit ends this if nothing is ever stored
                stored.set()
            yield from super().generate(others)

    study(chat_model, Slow(answer_or_turn), plan_of(), questions("1?", "2?"))
    assert stored.is_set()


def test_another_program_may_write_to_the_study_meanwhile(
    study, chat_model, scripted_engine, tmp_path
):
    other = open_database(tmp_path / "pipeline.db", (generation_migrations,))

    def script(prompt, sampling):
        with immediate(other):
            other.execute("UPDATE runs SET kind = 'probe'")
        return answer_or_turn(prompt, sampling)

    tally = study(chat_model, scripted_engine(script), plan_of(SWEEP), questions("1?", "2?"))
    assert tally.turns.new == 10
