"""Export of turns: every format holds what it should, comes back, and publishes no canary set."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from hostile_texts import HOSTILE_TEXTS
from pyarrow import parquet

from generation.cli import generate
from generation.example_bundle import load_example
from generation.exchange import parquet_file
from generation.exchange.cli import FORMATS, export_command
from generation.exchange.export import export_turns, format_of
from generation.exchange.exported import Format
from generation.exchange.importer import import_file, read_turns
from generation.item import Message
from generation.store import open_turns
from generation.turn import Added, Answer, Conversation, Run, Turn
from generation.turn_record import read_record, record_from_turn, turn_from_record
from rubrics import InputError

ASKED = Conversation(
    "gsm8k",
    "test-1",
    (Message("system", "Be brief."), Message("user", "2+2?")),
    {"reference": "#### 4", "nested": {"list": [1, None, 0.5]}},
)
ANSWER = Answer(
    ASKED, "It is 4.", model="m", temperature=0.0, text_raw="It is 4.<|im_end|>",
    token_ids=(7, 8, 2), finish_reason="stop", stop_token_id=2, row_id="answer-row", top_p=1.0,
    top_k=0, prompt_token_hash="sha256:0", thinking="Easy.",
)  # fmt: skip
CUT = replace(
    ANSWER, text="It", token_ids=None, row_id=None, perturbation="truncate",
    parent_id=ANSWER.answer_id,
)  # fmt: skip
FIRST = Turn(
    ANSWER, "Why?", "self-generated", model="m", temperature=0.7, sample_index=3,
    context_mode="history", seed=11, text_raw="Why?<|im_end|>", token_ids=(9, 2),
    prompt_token_hash="sha256:1", finish_reason="stop", stop_token_id=2, meta={"note": [1]},
    row_id="turn-row", top_p=0.9, top_k=20, flags=("length", "role header"),
)  # fmt: skip
OF_CUT = replace(FIRST, answer=CUT, row_id="cut-row", perturbation="truncate", flags=())
GROWN = Conversation(
    "gsm8k",
    "test-1",
    (*ASKED.messages, Message("assistant", ANSWER.text), Message("user", FIRST.text)),
    root=ASKED.conversation_id,
)
SECOND = Turn(
    Answer(GROWN, "Because.", model="m", temperature=0.0, row_id="second-answer"), "Oh.",
    "self-generated", model="m", temperature=0.7, row_id="second-row", number=2,
    follows=FIRST.turn_id, token_ids=(),
)  # fmt: skip
HELD_OUT = Turn(
    Answer(Conversation("chat", "9", (Message("user", "Hi"),)), "Hello"), "", "held-out"
)
TURNS = [FIRST, OF_CUT, HELD_OUT, SECOND]
CHAT = ("openai", "trl")
SUFFIX = {"jsonl": ".jsonl", "parquet": ".parquet", "hf": "", "openai": ".jsonl", "trl": ".jsonl"}


def parent_of(answer_id):
    return {ANSWER.answer_id: ANSWER}[answer_id]


def exported(turns, tmp_path, format, parents=parent_of):
    out = tmp_path / f"out{SUFFIX[format]}"
    done = export_turns(turns, out, format, parents)
    return done, (out / "data" / "turns.parquet" if format == "hf" else out)


def hostile_turns():
    for name, text in HOSTILE_TEXTS.items():
        conversation = Conversation("hostile", name, (Message("user", text or "?"),), {name: text})
        yield Turn(Answer(conversation, text), text, "held-out", text_raw=text, meta={name: text})


def items(turns):
    return {turn.item for turn in turns}


@pytest.mark.parametrize("format", ["jsonl", "parquet", "hf"])
def test_what_keeps_all_comes_back_equal(format, tmp_path):
    turns = [*TURNS, *hostile_turns()]
    done, path = exported(turns, tmp_path, format)
    assert done.written == len(turns)
    assert read_turns(path) == turns


@pytest.mark.parametrize("format", CHAT)
def test_messages_come_back_as_the_same_items(format, tmp_path):
    turns = [*TURNS, *hostile_turns()]
    done, path = exported(turns, tmp_path, format)
    assert done.written == len(turns)
    back = read_turns(path)
    assert items(back) == items(turns)
    assert {turn.meta.get("prompt") for turn in back} == {None}


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_study_comes_back_with_its_ids_and_what_rests_on_what(format, tmp_path):
    here, there = (open_turns(tmp_path / name / "pipeline.db") for name in ("here", "there"))
    run = Run("probe", {"plan": 1})
    here.add_answers(run, [ANSWER])
    here.add_turns(run, TURNS)
    stored = list(here.turns())
    _, path = exported(stored, tmp_path, format, here.answer)
    assert import_file(path, lambda: there) == Added(len(TURNS), 0)
    assert {turn.turn_id for turn in there.turns()} == {turn.turn_id for turn in TURNS}
    assert there.answer(ANSWER.answer_id) == here.answer(ANSWER.answer_id)
    assert import_file(path, lambda: there) == Added(0, len(TURNS))


def test_a_perturbed_turn_can_go_alone_as_it_carries_its_parent(tmp_path):
    _, path = exported([OF_CUT], tmp_path, "jsonl")
    store = open_turns(tmp_path / "pipeline.db")
    assert import_file(path, lambda: store) == Added(1, 0)
    assert store.answer(ANSWER.answer_id) == ANSWER


@pytest.mark.parametrize(
    ("turns", "what"), [([OF_CUT], "answer"), ([SECOND], "turn"), ([HELD_OUT, SECOND], "turn")]
)
def test_a_file_that_lacks_what_its_turns_rest_on_is_refused_whole(turns, what, tmp_path):
    _, path = exported(turns, tmp_path, "jsonl", None)
    with pytest.raises(InputError, match=rf":\d: rests on {what} sha256:\w+…, which is not in"):
        import_file(path, lambda: open_turns(tmp_path / "pipeline.db"))
    assert not (tmp_path / "pipeline.db").exists()


def test_the_order_of_a_file_does_not_matter(tmp_path):
    _, path = exported(TURNS, tmp_path, "jsonl")
    path.write_text("".join(sorted(path.read_text().splitlines(keepends=True), reverse=True)))
    store = open_turns(tmp_path / "pipeline.db")
    assert import_file(path, lambda: store) == Added(len(TURNS), 0)


def test_a_study_with_other_texts_for_the_same_rows_refuses_in_one_line(tmp_path):
    store = open_turns(tmp_path / "pipeline.db")
    store.add_turns(Run("probe", {}), [replace(FIRST, text="How?")])
    _, path = exported([FIRST], tmp_path, "jsonl")
    with pytest.raises(InputError, match="holds other texts for the same rows of a plan; import"):
        import_file(path, lambda: store)
    assert store.count() == 1


class TestFormats:
    def test_openai_has_the_whole_conversation(self, tmp_path):
        _, path = exported([FIRST], tmp_path, "openai")
        assert json.loads(path.read_text()) == {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "2+2?"},
                {"role": "assistant", "content": "It is 4."},
                {"role": "user", "content": "Why?"},
            ]
        }

    def test_trl_trains_the_user_turn_after_the_answer(self, tmp_path):
        _, path = exported([FIRST], tmp_path, "trl")
        row = json.loads(path.read_text())
        assert [message["role"] for message in row["prompt"]] == ["system", "user", "assistant"]
        assert row["completion"] == [{"role": "user", "content": "Why?"}]

    def test_the_table_is_flat_and_says_the_condition(self, tmp_path):
        _, path = exported([FIRST], tmp_path, "parquet")
        (row,) = parquet.read_table(path).to_pylist()
        assert (row["a"], row["u"], row["model"]) == ("It is 4.", "Why?", "m")
        assert row["condition"] == FIRST.condition == "top-p 0.9, top-k 20"
        assert json.loads(row["q"])[1] == {"role": "user", "content": "2+2?"}
        assert (row["token_ids"], row["answer_token_ids"]) == ([9, 2], [7, 8, 2])
        assert row["flags"] == ["length", "role header"]

    def test_a_table_is_written_in_row_groups(self, tmp_path, monkeypatch):
        monkeypatch.setattr(parquet_file, "BATCH", 3)
        _, path = exported([replace(FIRST, sample_index=n) for n in range(10)], tmp_path, "parquet")
        assert parquet.ParquetFile(path).num_row_groups == 4

    @pytest.mark.parametrize("format", FORMATS)
    def test_turns_are_taken_one_after_the_other(self, format, tmp_path, monkeypatch):
        monkeypatch.setattr(parquet_file, "BATCH", 10)

        def turns():
            for index in range(100):
                yield replace(FIRST, sample_index=index)
            [beside] = tmp_path.glob(".out*")
            sizes = [path.stat().st_size for path in beside.rglob("*") if path.is_file()]
            assert sum(sizes) > 8_000  # much is on the disk before the last one is asked for

        exported(turns(), tmp_path, format)

    def test_the_formats_of_the_command_are_those_there_are(self):
        assert tuple(FORMATS) == tuple(Format)

    def test_the_suffix_says_what_to_write_or_the_option_must(self, tmp_path):
        assert format_of(tmp_path / "a.jsonl", None) is Format.JSONL
        assert format_of(tmp_path / "a.PARQUET", None) is Format.PARQUET
        assert format_of(tmp_path / "a.jsonl", "trl") is Format.TRL
        with pytest.raises(InputError, match=r"a\.json does not say .*expected \.jsonl or"):
            format_of(tmp_path / "a.json", None)


class TestFolder:
    def test_hugging_face_loads_it(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
        datasets = pytest.importorskip("datasets")
        exported(TURNS, tmp_path, "hf")
        rows = datasets.load_dataset(
            str(tmp_path / "out"), split="train", cache_dir=str(tmp_path / "cache")
        )
        assert rows["u"][:] == [turn.text for turn in TURNS]
        assert rows[0]["token_ids"] == [9, 2]

    def test_the_card_says_what_the_rows_are_and_what_is_left_out(self, tmp_path):
        exported([*TURNS, canary("gpqa_main")], tmp_path, "hf")
        text = (tmp_path / "out" / "README.md").read_text()
        assert text.startswith("---\npretty_name: ")
        assert "data_files: data/turns.parquet" in text
        assert "| gsm8k | self-generated | m | 3 |" in text
        assert "| chat | held-out | not named | 1 |" in text
        assert "not by a person" in text
        assert "length 1, role header 1" in text
        assert "never be published: gpqa_main 1." in text

    def test_a_name_cannot_break_the_card(self, tmp_path):
        conversation = replace(ASKED, dataset="a|b\n---\n# c")
        exported(
            [replace(FIRST, answer=replace(ANSWER, conversation=conversation))], tmp_path, "hf"
        )
        assert "| a\\|b --- # c | self-generated |" in (tmp_path / "out" / "README.md").read_text()


def canary(dataset, **meta):
    conversation = Conversation(dataset, "1", (Message("user", "An invented SECRET?"),), meta)
    return Turn(Answer(conversation, "A SECRET."), "Which SECRET?", "self-generated", model="m")


class TestCanary:
    SECRET = (
        canary("gpqa_main"),
        canary("gpqa_diamond"),
        canary("healthbench"),
        canary("HealthBench"),
        canary("named anew", canary=True),
    )

    @pytest.mark.parametrize("format", FORMATS)
    def test_what_must_not_be_published_is_in_no_format_and_is_counted(self, format, tmp_path):
        done, _ = exported([*self.SECRET, FIRST], tmp_path, format)
        assert done.written == 1
        assert done.left_out_canary.total() == len(self.SECRET)
        assert done.left_out_canary["gpqa_main"] == 1
        for path in tmp_path.rglob("*"):
            assert path.is_dir() or b"SECRET" not in path.read_bytes()

    @pytest.mark.parametrize("format", FORMATS)
    def test_nothing_is_written_where_nothing_may_be(self, format, tmp_path):
        with pytest.raises(InputError, match="all 5 turns are of data sets that ask never to be"):
            exported(self.SECRET, tmp_path, format)
        assert list(tmp_path.iterdir()) == []


class TestWhole:
    @pytest.mark.parametrize("format", FORMATS)
    def test_what_is_interrupted_leaves_nothing(self, format, tmp_path):
        def turns():
            yield FIRST
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            exported(turns(), tmp_path, format)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("format", FORMATS)
    def test_a_file_that_is_there_is_not_replaced(self, format, tmp_path):
        out = tmp_path / f"out{SUFFIX[format]}"
        out.write_text("mine")
        with pytest.raises(InputError, match="exists already and is not overwritten"):
            exported([FIRST], tmp_path, format)
        assert out.read_text() == "mine"

    def test_no_turns_are_no_export(self, tmp_path):
        with pytest.raises(InputError, match="no turns to export"):
            exported([], tmp_path, "jsonl")
        assert list(tmp_path.iterdir()) == []


class TestRecord:
    def test_a_record_of_an_older_version_has_the_defaults_of_newer_fields(self):
        record = record_from_turn(HELD_OUT)
        for part, newer in (
            ("conversation", ("root",)),
            ("answer", ("row_id", "top_p", "thinking", "perturbation", "parent_id")),
            ("turn", ("row_id", "number", "follows", "flags")),
        ):
            for name in newer:
                del record[part][name]
        assert turn_from_record(record, "here") == HELD_OUT

    def test_the_bundled_example_is_as_it_was_written(self):
        assert sum(len(turns) for _, turns in load_example()) == 200

    @pytest.mark.parametrize(
        ("part", "name", "value"),
        [("turn", "text", "Who?"), ("answer", "text", "5"), ("answer", "parent_id", "sha256:2"),
         ("conversation", "dataset", "mine"), ("turn", "seed", 12)],
    )  # fmt: skip
    def test_a_record_that_was_changed_is_refused(self, part, name, value):
        record = json.loads(json.dumps(record_from_turn(OF_CUT, ANSWER)))
        assert read_record(record, "here").parent == ANSWER
        record[part][name] = value
        with pytest.raises(InputError, match="here: the turn does not match its turn_id"):
            read_record(record, "here")

    def test_a_parent_that_is_another_answer_is_refused(self):
        record = record_from_turn(OF_CUT, replace(ANSWER, text="5"))
        with pytest.raises(InputError, match="does not match"):
            read_record(record, "here")

    @pytest.mark.parametrize(
        "broken",
        [{"turn": 3}, {"answer": {}}, {"conversation": {"messages": []}}, {"turn": {"other": 1}},
         {"parent": "x"}, {"answer": None}],
    )  # fmt: skip
    def test_what_is_no_record_is_refused_in_one_line(self, broken):
        with pytest.raises(InputError, match=r"^here: not a turn record: .*") as refusal:
            turn_from_record(record_from_turn(FIRST) | broken, "here")
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "not a Parquet file"), (b"PAR1 nothing", "not a Parquet file")],
)
def test_what_is_no_parquet_file_is_refused(content, message, tmp_path):
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(InputError, match=rf"t\.parquet: {message}"):
        read_turns(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"q": "1", "a": "2", "u": "3"}, r":1: not a row of an exported table: KeyError"),
        ({"u": "a\0b"}, r":1: 'u' holds a NUL"),
    ],
)
def test_another_table_is_refused(row, message, tmp_path):
    parquet_file.write_rows([row], dict.fromkeys(row, "string"), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=message):
        read_turns(tmp_path / "t.parquet")


class TestCommand:
    @pytest.fixture
    def study(self, tmp_path):
        folder = tmp_path / "study"
        store = open_turns(folder / "pipeline.db")
        store.add_answers(Run("probe", {}), [ANSWER])
        store.add_turns(Run("probe", {}), [*TURNS, canary("healthbench")])
        store.add_turns(Run("import", {}), [HELD_OUT])
        return folder

    def call(self, study, *arguments):
        if "export" not in generate.commands:
            generate.add_command(export_command)
        arguments = ["export", *map(str, arguments), "--study", str(study)]
        return CliRunner().invoke(generate, arguments)

    def test_it_says_what_was_written_and_what_was_not(self, study, tmp_path):
        result = self.call(study, tmp_path / "turns.jsonl")
        assert result.exit_code == 0, result.output
        assert result.stdout.splitlines() == [
            f"{tmp_path / 'turns.jsonl'}: 4 turns",
            "left out, their data sets ask never to be published (canary): healthbench 1",
            f"to read it again: generate import {tmp_path / 'turns.jsonl'}",
        ]
        assert len(read_turns(tmp_path / "turns.jsonl")) == 4

    def test_messages_alone_are_said_to_be_that(self, study, tmp_path):
        result = self.call(study, tmp_path / "t.jsonl", "--format", "trl")
        assert "trl has a place for messages alone: models, settings" in result.stdout
        assert "among them are flagged turns: length 1, role header 1" in result.stdout

    def test_one_run_can_be_taken(self, study, tmp_path):
        run = Run("import", {}).run_id
        result = self.call(study, tmp_path / "t.parquet", "--run", run, "--json")
        assert json.loads(result.stdout) == {
            "path": str(tmp_path / "t.parquet"),
            "format": "parquet",
            "written": 1,
            "flagged": {},
            "left_out_canary": {},
        }

    def test_a_study_that_is_not_there_is_one_line_and_stays_so(self, tmp_path):
        result = self.call(tmp_path / "none", tmp_path / "t.jsonl")
        assert result.exit_code == 1
        assert "does not exist" in result.stderr
        assert result.stderr.count("\n") == 1
        assert not (tmp_path / "none").exists()

    def test_an_unknown_run_is_one_line(self, study, tmp_path):
        result = self.call(study, tmp_path / "t.jsonl", "--run", "sha256:0")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "no run is named or begins with 'sha256:0'" in result.stderr
