"""Import of q, a, u: hostile text comes back exactly, bad files end in one line and add nothing."""

import csv
import json
import os
import threading
from pathlib import Path

import pytest
from hostile_texts import HOSTILE_TEXTS
from hypothesis import given
from hypothesis import strategies as st

from generation.exchange.import_file import MAX_FIELD_CHARACTERS
from generation.exchange.importer import import_file, read_turns
from generation.runs.run_record import find_run, run_records
from generation.store import open_turns
from generation.turn import Added, Run
from rubrics import InputError, bytes_fingerprint

SEPARATORS = "line\u2028separators\u2029and\x85more\x0band\x1cmore"


def jsonl(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def csv_file(path, header, *rows):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerows([header, *rows])
    return path


def row(**more):
    return {"q": "2+2?", "a": "4", "u": "Why?"} | more


def parts(*texts):
    return [{"type": "text", "text": text, "annotations": []} for text in texts]


def test_hostile_texts_come_back_exactly_from_jsonl_and_csv(tmp_path):
    rows = [(text or "?", text, text) for text in (*HOSTILE_TEXTS.values(), SEPARATORS)]
    lines = jsonl(tmp_path / "t.jsonl", *({"q": q, "a": a, "u": u} for q, a, u in rows))
    table = csv_file(tmp_path / "t.csv", ["q", "a", "u"], *rows)
    for path in (lines, table):
        store = open_turns(tmp_path / f"{path.suffix}.db")
        assert import_file(path, lambda store=store: store) == Added(len(rows), 0)
        stored = {(i.messages[-1].content, i.answer, i.turn) for _, i in store.items()}
        assert stored == set(rows)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_any_text_comes_back_exactly_from_csv(tmp_path_factory, text):
    path = csv_file(tmp_path_factory.mktemp("t") / "t.csv", ["q", "a", "u"], [text] * 3)
    (turn,) = read_turns(path)
    assert (turn.item.messages[-1].content, turn.item.answer, turn.item.turn) == (text,) * 3


def test_chat_messages_in_q_and_whole_conversations(tmp_path):
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
    ends = [{"role": "assistant", "content": "4"}, {"role": "user", "content": "Why?"}]
    path = jsonl(tmp_path / "t.jsonl", row(q=chat), {"messages": chat + ends, "name": "x"})
    first, second = read_turns(path)
    assert first.item == second.item
    assert second.meta == {"name": "x"}


def test_chat_messages_in_a_csv_cell(tmp_path):
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
    path = csv_file(tmp_path / "t.csv", ["q", "a", "u"], [json.dumps(chat), "4", "Why?"])
    lines = jsonl(tmp_path / "t.jsonl", row(q=chat))
    assert read_turns(path)[0].item == read_turns(lines)[0].item


@pytest.mark.parametrize(
    "text",
    [
        "[1, 2]",
        "[]",
        "[" * 50_000,
        '["role", "content"]',
        '[{"role": "user"}]',
        '[{"role": "user", "content": "2+2?"}, 3]',
        '[{"role": "user", "content": "2+2?"}',
        '{"role": "user", "content": "2+2?"}',
        '[{"role": "user", "content": NaN}]',
        '"2+2?"',
    ],
)
def test_any_other_csv_cell_is_text(tmp_path, text):
    (turn,) = read_turns(csv_file(tmp_path / "t.csv", ["q", "a", "u"], [text, text, text]))
    assert [(m.role, m.content) for m in turn.item.messages] == [("user", text)]


def test_chat_messages_in_a_csv_cell_are_checked(tmp_path):
    chat = json.dumps([{"role": "robot", "content": "2+2?"}])
    path = csv_file(tmp_path / "t.csv", ["q", "a", "u"], [chat, "4", "Why?"])
    check_refused(path, r":2: q, message 1, role is 'robot'", tmp_path / "study" / "pipeline.db")


def test_text_parts_make_the_text(tmp_path):
    chat = [{"role": "user", "content": parts("2", "+2?")}]
    ends = [
        {"role": "assistant", "content": parts("4")},
        {"role": "user", "content": parts("Why", "?")},
    ]
    path = jsonl(tmp_path / "t.jsonl", {"messages": chat + ends}, row(q=chat, id=2))
    first, second = read_turns(path)
    assert first.item == second.item == read_turns(jsonl(tmp_path / "p.jsonl", row()))[0].item


def test_columns_go_to_their_places_and_the_rest_to_meta(tmp_path):
    header = ["q", "a", "u", "setting", "model", "temperature", "perturbation", "sample_index",
              "dataset", "source_id", "note"]  # fmt: skip
    path = csv_file(
        tmp_path / "t.csv", header,
        ["2+2?", "4", "Why?", "self-generated", "m", "0.7", "truncation", "2", "gsm8k", "9", "n"],
        ["2+2?", "4", "Why?", *[""] * 8],
    )  # fmt: skip
    full, bare = read_turns(path)
    assert (full.setting, full.model, full.temperature) == ("self-generated", "m", 0.7)
    assert (full.perturbation, full.sample_index) == ("truncation", 2)
    conversation = full.answer.conversation
    assert (conversation.dataset, conversation.source_id) == ("gsm8k", "9")
    assert full.meta == {"note": "n"}
    assert (bare.setting, bare.model, bare.temperature) == ("held-out", None, None)
    assert (bare.perturbation, bare.sample_index) == ("none", 0)
    assert bare.answer.conversation.dataset == "imported"


def test_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("\ufeffq,a,u\r\n2+2?,4,Why?\r\n".encode())
    assert len(read_turns(path)) == 1


def test_same_text_with_other_metadata_is_another_turn(tmp_path):
    assert len(read_turns(jsonl(tmp_path / "t.jsonl", row(id=1), row(id=2)))) == 2


def test_again_adds_nothing(tmp_path):
    path = jsonl(tmp_path / "t.jsonl", row(id=1), row(id=2))
    store = open_turns(tmp_path / "pipeline.db")
    assert import_file(path, lambda: store) == Added(2, 0)
    assert import_file(path, lambda: store) == Added(0, 2)


def named(store) -> list[tuple[str, int]]:
    return [(run.name, run.turns) for run in run_records(store._db)]


def test_a_name_is_the_run_s_and_without_one_it_is_called_import(tmp_path):
    one, two = (jsonl(tmp_path / f"{n}.jsonl", row(id=n)) for n in (1, 2))
    store = open_turns(tmp_path / "pipeline.db")
    import_file(one, lambda: store)
    assert import_file(two, lambda: store, "mine") == Added(1, 0)
    assert import_file(two, lambda: store, "mine") == Added(0, 1)
    assert sorted(named(store)) == [("import", 1), ("mine", 1)]
    assert import_file(one, lambda: store, "again") == Added(0, 1)
    assert find_run(store._db, "again", "").turns == 1


@pytest.mark.parametrize("taken", ["mine", "other", "import", "plan"])
def test_a_name_that_another_run_or_a_plan_has_is_refused_and_adds_nothing(tmp_path, taken):
    store = open_turns(tmp_path / "pipeline.db")
    for n, name in enumerate(["mine", "other", None]):
        import_file(jsonl(tmp_path / f"{n}.jsonl", row(id=n)), lambda: store, name)
    store.add_turns(Run("probe", {"name": "plan/model"}), [])
    path = jsonl(tmp_path / "new.jsonl", row(id="new"))
    with pytest.raises(InputError, match=rf"'{taken}' names a run or plan .* already.*--name NAME"):
        import_file(path, lambda: store, taken)
    assert store.count() == 3
    assert import_file(path, lambda: store, "model") == Added(1, 0)


def test_a_name_that_begins_the_id_of_another_run_is_refused(tmp_path):
    store = open_turns(tmp_path / "pipeline.db")
    import_file(jsonl(tmp_path / "a.jsonl", row()), lambda: store, "mine")
    (run,) = run_records(store._db)
    head = run.run_id.removeprefix("sha256:")[:8]
    for name in (head, f"sha256:{head}"):
        with pytest.raises(InputError, match=rf"'{name}' names a run .*, or begins its id"):
            import_file(jsonl(tmp_path / "b.jsonl", row(id=2)), lambda: store, name)
    assert named(store) == [("mine", 1)]


@pytest.mark.parametrize("name", ["", " ", "mine ", "two\nlines", "plan/model"])
def test_a_name_that_a_run_cannot_have_makes_no_study(tmp_path, name):
    path = jsonl(tmp_path / "t.jsonl", row())
    with pytest.raises(InputError, match=r"the name of a run is .*; expected"):
        import_file(path, lambda: open_turns(tmp_path / "pipeline.db"), name)
    assert not (tmp_path / "pipeline.db").exists()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"q": "2+2?", "a": "4"}, r":2: no column u; expected q, a and u .*, found q, a"),
        (row(u=None), r':2: u is None; expected text \(an empty turn is ""\)'),
        (row(a=4), r":2: a is 4; expected text"),
        (row(q=""), r":2: q is ''; expected text"),
        (row(q=[{"role": "user", "content": ""}]), r":2: q is ''; expected text"),
        (
            {"messages": [{"role": r, "content": ""} for r in ("user", "assistant", "user")]},
            r":2: q is ''; expected text",
        ),
        (row(q=[]), r":2: q is \[\]; expected text or a list of chat messages"),
        (row(q=[{"role": "user"}]), r"message 1, content is None"),
        (
            row(q=[{"role": "user", "content": []}]),
            r":2: q, message 1, content is \[\]; expected text",
        ),
        (
            row(q=[{"role": "user", "content": [*parts("2"), {"type": "image_url"}]}]),
            r":2: q, message 1, content, part 2 is \{'type': 'image_url'\}; expected",
        ),
        (row(q=[{"role": "user", "content": ["2"]}]), r"content, part 1 is '2'; expected"),
        (
            row(q=[{"role": "user", "content": [{"type": "text", "text": "2", "more": 1}]}]),
            r"content, part 1 is .*'more': 1",
        ),
        (row(q=[{"role": "robot", "content": ""}]), r"role is 'robot'; expected one of system"),
        (row(q=[{"role": "assistant", "content": "4"}]), r"end in assistant; expected a user"),
        (row(q=[{"role": "user", "content": "2", "name": "Al"}]), r"message 1 has name"),
        (row(setting="both"), r":2: setting is 'both'; expected one of held-out, self-generated"),
        (row(temperature="hot"), r":2: temperature is 'hot'; expected a number"),
        (row(temperature=-1), r":2: temperature is -1; expected a number from 0 up"),
        (row(temperature=True), r":2: temperature is True"),
        (row(temperature=10**400), r":2: temperature is 1000*…; expected a smaller number"),
        (row(sample_index=0.5), r":2: sample_index is 0.5; expected a whole number"),
        (row(sample_index=-1), r":2: sample_index is -1; expected a whole number"),
        (row(sample_index=2**63), r":2: sample_index is 9223372036854775808; expected"),
        (row(sample_index=10**26), r":2: sample_index is 10{26}; expected a smaller number"),
        (row(sample_index=1e26), r":2: sample_index is 1e\+26; expected a whole number"),
        (row(model=3), r":2: model is 3; expected text"),
        (row(u="\ud800"), r":2: 'u' holds half of a surrogate pair \(\\ud800\)"),
        (row(note={"deep": ["\udfff"]}), r":2: 'note' holds half of a surrogate"),
        (row(**{"two\nlines": "\0"}), r":2: 'two\\nlines' holds a NUL"),
        ({"one\nname": 1, "x" * 1000: 2}, r":2: no column q, a, u; .*, found one name"),
        (row(note=json.loads("[" * 300 + "]" * 300)), r":2: nested deeper than 100"),
        (row(u="a\0b"), r":2: 'u' holds a NUL character"),
        (
            row(u="x" * 5_000_000),
            rf":2: 'u' has 5000000 characters; expected {MAX_FIELD_CHARACTERS}",
        ),
        ([1], r":2: expected a JSON object, found list"),
        ({"messages": [{"role": "user", "content": "2"}]}, r"end in user; expected user, assist"),
        ({"messages": "hello"}, r":2: messages is 'hello'; expected"),
        (row(id=1), r":2: the same turn as line 1"),
    ],
)
def test_bad_row_is_one_line_with_its_place_and_adds_nothing(tmp_path, bad, message):
    path = jsonl(tmp_path / "t.jsonl", row(id=1), bad)
    check_refused(path, message, tmp_path / "study" / "pipeline.db")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.jsonl", b"", "the file is empty"),
        ("t.csv", b"\xef\xbb\xbf", "no rows|empty"),
        ("t.csv", b"q,a,u\n", "no rows"),
        ("t.csv", b"q,a\n1,2\n", ":2: no column u; expected q, a and u .*found q, a"),
        ("t.csv", b"q,a,u\n1,2\n", ":2: 2 cells, expected 3: q, a, u"),
        ("t.csv", b"q,a,u,u\n1,2,3,4\n", ":1: the column 'u' stands twice"),
        ("t.csv", b'q,a,u\n"1,2,3\n', "not CSV: unexpected end of data"),
        ("t.csv", b'q,a,u\n"1\n2",2,3\n4,5,\x00\n', ":4: 'u' holds a NUL"),
        ("t.csv", b"q,a,u\n1,2,caf\xe9\n", r":2: not UTF-8 \(byte 0xe9\); save the file as UTF-8"),
        ("t.csv", b"q,a,u\n1,2,3\n1,2,3\n", ":3: the same turn as line 2"),
        ("t.csv", b"q,a,u\n1,2," + b"x" * 5_000_000, ":2: 'u' has 5000000 characters"),
        ("t.csv", b"messages\n[1\n", ":2: messages is not JSON"),
        ("t.csv", b"messages\n[1e999]\n", ":2: .*the number 1e999 is too large"),
        (
            "t.csv",
            b"q,a,u,temperature\n1,2,3,1e999\n",
            ":2: temperature is '1e999'; expected a smaller",
        ),
        ("t.csv", b"q,a,u,temperature\n1,2,3,nan\n", ":2: temperature is 'nan'; expected a number"),
        ("t.csv", b"q,a,u,sample_index\n1,2,3,inf\n", ":2: sample_index is 'inf'; expected"),
        ("t.csv", b"q,a,u,sample_index\n1,2,3,1" + b"0" * 26, ":2: sample_index is '10*'; exp"),
        ("t.jsonl", b'{"q": "\xff"}', ":1: not UTF-8"),
        ("t.jsonl", b'{"q": 1,}', ":1: not JSON: .* at character 9"),
        ("t.jsonl", b'{"q": "1", "q": "2"}', ":1: .*the key 'q' stands twice"),
        ("t.jsonl", b'{"q": NaN}', ":1: .*NaN is no JSON value"),
        ("t.jsonl", b'{"q": 1, "note": -1e999}', ":1: .*the number -1e999 is too large"),
        ("t.jsonl", b'{"sample_index": Infinity}', ":1: .*Infinity is no JSON value"),
        ("t.jsonl", b"[" * 100_000, ":1: not JSON"),
        ("t.jsonl", b"1" * 5_000, ":1: not JSON"),
        ("t.xlsx", b"PK", r"the name ends in '\.xlsx'; expected \.csv or \.jsonl"),
    ],
)
def test_bad_file_is_one_line_and_makes_no_study(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    check_refused(path, message, tmp_path / "study" / "pipeline.db")


def check_refused(path, message, database):
    with pytest.raises(InputError, match=message) as refusal:
        import_file(path, lambda: open_turns(database))
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).startswith(str(path))
    assert len(str(refusal.value)) < 500
    assert not database.exists()


def test_largest_numbers_that_can_be_kept_come_back(tmp_path):
    big = 2**63 - 1
    path = csv_file(tmp_path / "t.csv", ["q", "a", "u", "sample_index"], ["1", "2", "3", big])
    lines = jsonl(tmp_path / "t.jsonl", row(sample_index=big, temperature=1e308, note=10**30))
    store = open_turns(tmp_path / "pipeline.db")
    for source in (path, lines):
        assert import_file(source, lambda: store) == Added(1, 0)
        assert read_turns(source)[0].sample_index == big


def test_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"t\.csv: No such file .*; expected .*: generate import"):
        read_turns(tmp_path / "t.csv")


def test_missing_file_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refusal:
        read_turns(Path("t.csv"))
    assert f"(looked for {tmp_path / 't.csv'})" in str(refusal.value)


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv"])
def test_a_pipe_is_read_once_and_its_rows_are_what_is_hashed(tmp_path, name):
    content = {"t.jsonl": json.dumps(row()).encode(), "t.csv": b"q,a,u\n2+2?,4,Why?\n"}[name]
    os.mkfifo(tmp_path / name)
    writer = threading.Thread(target=(tmp_path / name).write_bytes, args=[content], daemon=True)
    writer.start()
    store = open_turns(tmp_path / "pipeline.db")
    assert import_file(tmp_path / name, lambda: store) == Added(1, 0)
    (provenance,) = store._db.conn.execute("SELECT provenance FROM runs").fetchone()
    assert json.loads(provenance)["sha256"] == bytes_fingerprint(content)


def test_field_limit_of_csv_is_as_before(tmp_path):
    before = csv.field_size_limit()
    read_turns(csv_file(tmp_path / "t.csv", ["q", "a", "u"], ["x" * 200_000, "4", "Why?"]))
    assert csv.field_size_limit() == before
    refused = csv_file(tmp_path / "no.csv", ["q", "a", "u"], ["", "4", "Why?"])
    with pytest.raises(InputError) as refusal:  # keeps the readers' frames alive
        read_turns(refused)
    assert csv.field_size_limit() == before, refusal
