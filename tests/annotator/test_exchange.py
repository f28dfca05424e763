"""Export and import: the whole history, every character, and nobody's password."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from annotated_labels import (
    GENUINE,
    MALFORMED,
    NEW_TASK,
    RUBRIC,
    everything,
    ids,
    new_labels,
    say,
    study_rows,
)
from click.testing import CliRunner
from hostile_texts import HOSTILE_TEXTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import annotator.exchange
from annotator.annotation import current_annotations
from annotator.cli import annotate
from annotator.exchange import export
from annotator.exchange.cli import FORMATS, WHO
from annotator.exchange.export import Format, export_labels, format_of
from annotator.exchange.jsonl import canonical_lines
from annotator.exchange.jsonl_import import import_jsonl
from annotator.exchange.row_check import keys_by_record
from annotator.exchange.tables import EXPORTED, KEPT_BACK
from annotator.exchange.who import People, Who
from annotator.labels import open_labels, recorded_rubric
from rubrics import InputError, parse_rubric

HOSTILE = (
    *HOSTILE_TEXTS.values(),
    "\u2028\u2029\x85",
    "\\u0000",
    "\U0010ffff",
    "x\r",
    "語" * 67_000,
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study's folder; nobody here writes into its labels.db."""
    folder = tmp_path_factory.mktemp("study")
    everything(folder / "labels.db", HOSTILE).close()
    return folder


@pytest.fixture(scope="module")
def labels(study):
    with open_labels(study / "labels.db") as database:
        yield database


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """The canonical export of a store without hostile texts."""
    with everything(tmp_path_factory.mktemp("plain") / "labels.db") as database:
        return [line.rstrip("\n") for line in canonical_lines(database, People())]


def exported(labels, path, format, **options):
    return export_labels(labels, path, Format(format), **options)


def command(tmp_path, *arguments):
    return CliRunner().invoke(annotate, [*arguments, "--study", str(tmp_path)])


class TestCanonical:
    def test_an_import_has_every_row_and_every_character_of_the_export(self, labels, tmp_path):
        exported(labels, tmp_path / "out.jsonl", "jsonl")
        import_jsonl(tmp_path / "out.jsonl", tmp_path / "other" / "labels.db")
        with open_labels(tmp_path / "other" / "labels.db") as restored:
            assert study_rows(restored) == study_rows(labels)
            assert list(canonical_lines(restored, People())) == list(
                canonical_lines(labels, People())
            )

    def test_what_is_said_after_an_import_gets_a_new_number(self, labels, tmp_path):
        exported(labels, tmp_path / "out.jsonl", "jsonl")
        import_jsonl(tmp_path / "out.jsonl", tmp_path / "other" / "labels.db")
        with open_labels(tmp_path / "other" / "labels.db") as restored:
            say(restored, "zoe", 3, second=50)
            assert restored["events"].count == labels["events"].count + 1

    @given(
        texts=st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=5, max_size=9
        )
    )
    @settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
    def test_any_text_survives(self, texts, tmp_path_factory):
        folder = tmp_path_factory.mktemp("any")
        with everything(folder / "labels.db", texts) as labels:
            exported(labels, folder / "out.jsonl", "jsonl")
            import_jsonl(folder / "out.jsonl", folder / "again.db")
            with open_labels(folder / "again.db") as restored:
                assert study_rows(restored) == study_rows(labels)

    def test_lines_are_ascii_so_that_no_text_can_end_one(self, labels, tmp_path):
        exported(labels, tmp_path / "out.jsonl", "jsonl")
        content = (tmp_path / "out.jsonl").read_bytes()
        assert content.isascii()
        assert b"\r" not in content
        header, *records = map(json.loads, content.decode().splitlines())
        assert sum(header["records"].values()) == len(records)
        item = next(r for r in records if r["type"] == "item")
        assert item["messages"] == [{"role": "user", "content": f"q {HOSTILE[0]}"}]

    def test_every_table_is_exported_or_kept_back_for_a_reason(self, labels):
        tables = {table.name for table in EXPORTED} | KEPT_BACK.keys()
        assert tables == {t for t in labels.table_names() if t[0] != "_" and t != "sqlite_sequence"}

    @pytest.mark.parametrize("format", FORMATS)
    def test_no_export_holds_anything_of_logins(self, labels, tmp_path, format):
        out = tmp_path / "out"
        exported(labels, out, format, version=None)
        written = [out] if out.is_file() else [path for path in out.rglob("*") if path.is_file()]
        assert written
        assert not any(b"SECRET" in path.read_bytes() for path in written)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda lines: lines[:-1], "cut short or changed"),
            (lambda lines: lines[1:], "line 1 is no header"),
            (lambda lines: [], "line 1 is empty"),
            (lambda lines: ["q,a,u,label"], r"not JSON.*calibrate agreement bad\.jsonl"),
            (lambda lines: [*lines, "{"], "not JSON"),
            (lambda lines: [*lines, '{"type": "account"}'], "type is 'account'; expected one"),
            (lambda lines: swapped(lines, '"format": 1', '"format": 2'), "format 2, expected 1"),
            (lambda lines: swapped(lines, '"turn":', '"turm":'), "no key turn and .* key turm"),
            (lambda lines: swapped(lines, '"flagged": 0', '"flagged": 7'), "CHECK constraint"),
            (lambda lines: swapped(lines, '"flagged": 0', '"flagged": NaN'), "no JSON number"),
            (lambda lines: swapped(lines, "too long", "too\\u0000long"), "NUL or a lone surrogate"),
            (lambda lines: swapped(lines, "too long", "too\\ud800long"), "NUL or a lone surrogate"),
            (lambda lines: swapped(lines, '"stands": true', '"stands": 0'), "annotations stand"),
            (lambda lines: swapped(lines, '"zoe", "item', '"zo", "item'), "belongs to one of anno"),
        ],
    )  # fmt: skip
    def test_a_changed_file_is_refused_and_leaves_nothing(self, lines, tmp_path, change, message):
        (tmp_path / "bad.jsonl").write_text("\n".join(change(lines)))
        with pytest.raises(InputError, match=message):
            import_jsonl(tmp_path / "bad.jsonl", tmp_path / "new" / "labels.db")
        assert list(tmp_path.glob("new/*")) == []

    def test_an_import_never_replaces_a_store(self, study, labels, tmp_path):
        exported(labels, tmp_path / "out.jsonl", "jsonl")
        with pytest.raises(InputError, match=r"exists already.*annotate merge"):
            import_jsonl(tmp_path / "out.jsonl", study / "labels.db")


def swapped(lines, old, new):
    text = "\n".join(lines)
    assert old in text
    return text.replace(old, new, 1).split("\n")


class TestTables:
    def test_csv_and_parquet_have_every_event_and_every_character(self, labels, tmp_path):
        exported(labels, tmp_path / "t.csv", "csv")
        exported(labels, tmp_path / "t.parquet", "parquet")
        content = (tmp_path / "t.csv").read_bytes().decode()
        rows = list(csv.DictReader(io.StringIO(content, newline=""), strict=True))
        same = parquet.read_table(tmp_path / "t.parquet").to_pylist()
        assert [row["turn"] for row in rows] == [row["turn"] for row in same]
        assert [(r["rater"], r["act"], r["category"], r["label"], r["stands"]) for r in rows] == [
            ("ann", "label", GENUINE, "", "false"),
            ("zoe", "label", NEW_TASK, NEW_TASK, "true"),
            ("ann", "skip", "", "", "true"),
            ("ann", "label", MALFORMED, MALFORMED, "true"),
        ]
        assert same[0]["active_ms"] == 1_200
        assert [row["place"] for row in same] == [1, 1, 2, 1]
        assert same[1]["note"] == HOSTILE[-1]
        assert same[0]["cluster"] == same[1]["cluster"] != same[2]["cluster"]

    def test_every_hostile_turn_survives_in_both(self, tmp_path):
        with new_labels(tmp_path / "labels.db", HOSTILE) as labels:
            for n in range(len(HOSTILE)):
                say(labels, "ann", n, second=n, note=HOSTILE[n])
            exported(labels, tmp_path / "t.csv", "csv")
            exported(labels, tmp_path / "t.parquet", "parquet")
        with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for found in (rows, parquet.read_table(tmp_path / "t.parquet").to_pylist()):
            assert [row["turn"] for row in found] == list(HOSTILE)
            assert [row["note"] for row in found] == list(HOSTILE)

    def test_one_rubric_alone_or_an_unknown_one(self, labels, tmp_path):
        assert exported(labels, tmp_path / "t.csv", "csv", version="v3").events == 4
        with pytest.raises(
            InputError, match="rubric v2 was never used to annotate, expected one of v3"
        ):
            exported(labels, tmp_path / "u.csv", "csv", version="v2")
        assert not (tmp_path / "u.csv").exists()

    def test_a_hugging_face_folder_is_whole(self, labels, tmp_path):
        exported(labels, tmp_path / "hf", "hf", blindness=lambda people: {"verdict": "fine"})
        found = {str(p.relative_to(tmp_path / "hf")) for p in (tmp_path / "hf").rglob("*.*")}
        assert found == {
            "README.md", "labels.jsonl", "blindness.json", "rubrics/v3.toml",
            "data/annotations.parquet", "data/items.parquet", "data/adjudications.parquet",
        }  # fmt: skip
        items = parquet.read_table(tmp_path / "hf" / "data" / "items.parquet").to_pylist()
        assert [item["turn"] for item in items] == list(HOSTILE)
        card = (tmp_path / "hf" / "README.md").read_text()
        assert "  data_files: data/annotations.parquet" in card.split("---")[1]
        assert "| v3 | ann | label | 1 |" in card


class TestFormat:
    """annotator/exchange/README.md, read as somebody who writes such a file reads it."""

    def test_the_example_has_a_line_of_each_kind_and_can_be_imported(self, example, tmp_path):
        (tmp_path / "example.jsonl").write_text("\n".join(example))
        counts = import_jsonl(tmp_path / "example.jsonl", tmp_path / "new" / "labels.db")
        assert counts.keys() == {table.record for table in EXPORTED}
        with open_labels(tmp_path / "new" / "labels.db") as made:
            said = [(a.annotator, a.category) for a in current_annotations(made, "v3")]
            assert said == [("made-up-1", GENUINE), ("made-up-2", None)]
            assert recorded_rubric(made, "v3") == RUBRIC

    def test_the_keys_are_those_that_an_import_takes(self, labels):
        rows = re.findall(r"^\| `(\w+)` \| ([^|\n]*) \| ?([^|\n]*)\|", FORMAT_TOLD, re.MULTILINE)
        told = {kind: tuple(_words(cell) for cell in cells) for kind, *cells in rows}
        assert told == {
            record: (keys.required, keys.optional)
            for record, keys in keys_by_record(labels).items()
        }

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ('"turn": "And', '"turm": "And', "line 4: item: no key turn and an unknown key turm"),
            (', "note": "made up", "flagged": 0', "", "no key note, flagged; expected event_id"),
            ('"kind": "label", "category": "genuine_followup"',
             '"kind": "label", "category": "genuine_folowup"',
             "rubric v3 has no category 'genuine_folowup'; .*mean genuine_followup"),
            ('"type": "event"', '"type": "events"', "type is 'events'.*did you mean event"),
            ("2026-01-31T09:30:00.000+00:00", "31.1.2026", "saved_at is '31.1.2026'; expected"),
            ("2026-01-31T09:30:00.000+00:00", "2026-01-31T09:30:00+01:00", "a time in UTC such"),
            ('"flagged": 0', '"flagged": 0, "confidence": "high"', "'high'; expected one of sure"),
            ('[{"role": "user", "content": "What is 2+2?"}]', '"2+2?"', "messages is 2.2.; expect"),
            ('"annotator": "made-up-1", "first', '"annotator": "a@b", "first', "'a@b' cannot be u"),
            ('"annotator": "made-up-1", "first', '"annotator": " x", "first', "no blanks around"),
            ('"version": "v3"', '"version": "v9"', "unknown rubric 'v9': the versions are v1"),
            ('"version": "v3"', '"version": "v2"', "rubric_version is 'v3'; .* before it have v2"),
            ('"version": "v3"', '"version": "v3", "hash": ""', "both hash and text, or neither"),
            ('"event": 2', '"event": 3', "holds 2 event, expected 3 event as its first line says"),
            ('"flagged": 0', '"flagged": "no"', "flagged is 'no'; expected a whole number"),
            ('"flagged": 0', '"flagged": true', "flagged is True; expected a whole number"),
            ('"note": "made up", "flagged": 0', '"note": 5, "flagged": 0', "note is 5; expected a"),
            ('"event_id": 1', f'"event_id": {10**30}', "event_id is 1.000e.30; expected 0 to"),
            ('"event_id": 1', '"event_id": -1', "event_id is -1.000e.00; expected 0 to"),
            ('"kind": "label"', '"kind": "lable"', "kind is 'lable'; expected label or skip"),
            ('"kind": "label", "category": "genuine_followup"', '"kind": "label"',
             "kind is 'label' and category None; expected a category with a label"),
            ('"event_id": 2, "nonce": "row-2"', '"event_id": 2, "nonce": "row-1"',
             "nonce 'row-1' is in the file twice"),
            ('"kind": "label"', '"kind": "label", "skip_reason": "x"',
             "kind is 'label' and skip_reason 'x'; expected a skip_reason with a skip"),
            ('"annotator": "made-up-2", "first', '"annotator": "made-up-1", "first',
             "annotator 'made-up-1' is in the file twice"),
            ('"nonce": "row-1", "record"', '"nonce": "x", "record"',
             "displays that is not in the file: nonce 'x'"),
        ],
    )  # fmt: skip
    def test_a_slip_is_said_in_one_line(self, example, tmp_path, old, new, message):
        (tmp_path / "bad.jsonl").write_text("\n".join(swapped(example, old, new)))
        done = command(tmp_path / "new", "import", str(tmp_path / "bad.jsonl"))
        assert done.exit_code == 1
        assert re.search(message, done.output)
        assert done.output.count("\n") == 1
        assert list(tmp_path.glob("new/*")) == []

    def test_a_rubric_with_another_text_than_it_says_is_refused(self, lines, tmp_path):
        (tmp_path / "bad.jsonl").write_text("\n".join(swapped(lines, "sha256:4", "sha256:5")))
        with pytest.raises(InputError, match=r"rubric: its text is that of rubric v3 \(4101b238\)"):
            import_jsonl(tmp_path / "bad.jsonl", tmp_path / "new" / "labels.db")

    def test_another_text_of_a_version_that_is_known_here_is_refused(self, lines, tmp_path):
        changed = [json.loads(line) for line in lines]
        (rubric,) = (line for line in changed if line["type"] == "rubric")
        rubric["text"] = rubric["text"].replace("user", "person")
        rubric["hash"] = parse_rubric(rubric["text"], source="text").hash
        (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, changed)))
        with pytest.raises(InputError, match=r"is not that of rubric v3 here \(4101b238\); import"):
            import_jsonl(tmp_path / "bad.jsonl", tmp_path / "new" / "labels.db")

    def test_the_help_names_the_document(self):
        assert "annotator/exchange/README.md" in CliRunner().invoke(
            annotate, ["import", "--help"]
        ).output.replace("\n  ", " ")


FORMAT_TOLD = (Path(annotator.exchange.__file__).parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def example():
    """The lines of the document's example."""
    return FORMAT_TOLD.partition("```jsonl\n")[2].partition("\n```")[0].split("\n")


def _words(cell):
    return tuple(filter(None, map(str.strip, cell.split(","))))


class TestPeople:
    def test_pseudonyms_are_in_place_of_every_name(self, labels, tmp_path):
        for format in FORMATS:
            exported(labels, tmp_path / format, format, who=Who.PSEUDONYMS)
        for path in tmp_path.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                assert not any(f'"{n}"'.encode() in content for n in ("zoe", "ann", "dee")), path
        lines = (tmp_path / "jsonl").read_text().splitlines()
        events = [r for r in map(json.loads, lines) if r["type"] == "event"]
        # Zoe came first.
        assert [event["annotator"][-2:] for event in events] == ["02", "01", "02", "02"]
        import_jsonl(tmp_path / "jsonl", tmp_path / "anew.db")


class TestCommands:
    def test_export_import_round_trip(self, study, labels, tmp_path):
        out = tmp_path / "out.jsonl"
        done = command(study, "export", str(out))
        assert done.exit_code == 0, done.output
        assert (
            "4 annotation events of 2 annotators under rubric v3, 3 of them standing" in done.output
        )
        assert "passwords" in done.output
        done = command(tmp_path / "other", "import", str(out))
        assert "event 4" in done.output
        with open_labels(tmp_path / "other" / "labels.db") as restored:
            assert study_rows(restored) == study_rows(labels)

    def test_what_a_format_has_no_place_for_is_counted(self, study, labels, tmp_path):
        out = tmp_path / "a.json"
        done = command(study, "export", "--format", "argilla", str(out))
        assert (
            "left out, as argilla has no place for them: confidences 2, flags 1, notes 1, skips 1"
            in done.output
        )

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["out.txt"], "does not say which format to write"),
            (["out.jsonl", "--rubric", "v3"], "leave --rubric out"),
            (["no/folder/out.csv"], "does not exist; make it"),
        ],
    )
    def test_refusals(self, study, tmp_path, arguments, message):
        name, *rest = arguments
        done = command(study, "export", str(tmp_path / name), *rest)
        assert done.exit_code == 1
        assert message in done.output

    def test_nothing_is_overwritten_and_a_failure_leaves_nothing(self, study, labels, tmp_path):
        (tmp_path / "t.csv").write_text("mine")
        assert "is not overwritten" in command(study, "export", str(tmp_path / "t.csv")).output
        assert (tmp_path / "t.csv").read_text() == "mine"

        def interrupted(people):
            raise KeyboardInterrupt

        before = sorted(tmp_path.iterdir())
        with pytest.raises(KeyboardInterrupt):
            exported(labels, tmp_path / "hf", "hf", blindness=interrupted)
        assert sorted(tmp_path.iterdir()) == before

    def test_the_command_offers_what_there_is(self, tmp_path):
        assert tuple(Format) == FORMATS
        assert tuple(Who) == WHO
        assert format_of(tmp_path / "x.CSV", None) is Format.CSV
        assert format_of(tmp_path / "x.csv", "parquet") is Format.PARQUET


def test_items_nobody_labelled_are_no_reason_to_fail(tmp_path):
    with new_labels(tmp_path / "labels.db") as labels:
        for format in ("jsonl", "csv", "parquet", "hf"):
            assert exported(labels, tmp_path / f"{format}-out", format).events == 0
        with pytest.raises(InputError, match="nobody has annotated anything yet"):
            exported(labels, tmp_path / "ls.json", "label-studio")
    assert ids(2) == ["000000000000", "000000000001"]


def test_under_pseudonyms_nobody_stands_for_themselves():
    people = People(Who.PSEUDONYMS, {"ann": "annotator-01"})
    assert people.called("ann") == "annotator-01"
    with pytest.raises(KeyError):
        people.called("zoe")  # who came while the numbers were given


def test_people_are_counted_in_the_transaction_that_what_they_said_is_read_in(
    labels, tmp_path, monkeypatch
):
    inside = []

    def watched(database, who):
        inside.append(database.conn.in_transaction)
        return export.people_of(database, who)

    monkeypatch.setattr(export, "people_of", export.people, raising=False)
    monkeypatch.setattr(export, "people", watched)
    exported(labels, tmp_path / "out.csv", "csv", who=Who.PSEUDONYMS)
    assert inside == [True]


def test_no_import_beside_the_log_of_another_labels_db(labels, tmp_path):
    exported(labels, tmp_path / "out.jsonl", "jsonl")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "labels.db-wal").write_bytes(b"left")
    done = command(tmp_path / "new", "import", str(tmp_path / "out.jsonl"))
    assert done.exit_code == 1
    assert "labels.db-wal is left of another labels.db" in done.output
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["labels.db-wal"]


def test_what_to_type_next_names_the_study(labels, tmp_path):
    exported(labels, tmp_path / "out.jsonl", "jsonl")
    done = command(tmp_path / "new", "import", str(tmp_path / "out.jsonl"))
    assert f"annotate user add NAME --role annotator --study {tmp_path / 'new'}" in done.output
    again = command(tmp_path / "new", "import", str(tmp_path / "out.jsonl"))
    assert f"annotate merge OTHER/labels.db --study {tmp_path / 'new'}" in again.output
