"""The workbench without a browser: what a page sends is taken as it should be, or refused."""

import json
import sqlite3

import pytest

from generation import database as storage
from generation.study import Study
from judge.calibration.splits.study_split import split_study
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.course import course
from judge.calibration.workbench.desk import WorkbenchDesk
from judge.calibration.workbench.drafts import drop_draft, keep_draft, kept_draft
from judge.calibration.workbench.field import number, text, texts
from judge.calibration.workbench.item_filter import NOT_NOTED, filtered
from judge.calibration.workbench.launch import find
from judge.calibration.workbench.place import VIEWS, Place, place_from
from judge.calibration.workbench.readout import ItemRow
from judge.calibration.workbench.run_form import RunForm, dev_run, run_form
from judge.calibration.workbench.suggest_form import suggest_form
from judge.prompts.prompt_template import PACKAGED
from rubrics import InputError, load_rubric

SECRETS = (
    "https://me:word@host/v1",
    "me:word@host/v1",
    "https://host/v1?api_key=word",
    "https://host/v1#word",
    "https://me:word",  # as it is typed
    "http://[",
)


@pytest.fixture
def desk(small_study, tmp_path):
    bench = Bench(small_study.study, tmp_path / "exports")
    yield WorkbenchDesk(bench)
    bench.results.close()


def act(desk: WorkbenchDesk, does: str, /, owner: str = "owner", **fields: object) -> dict:
    reply = desk.do_act({"act": does, "place": {"owner": owner}, "fields": fields})
    json.dumps(reply, ensure_ascii=False).encode()
    return reply


def refusal(reply: dict) -> str:
    assert reply["refused"], reply
    assert "\n" not in reply["message"]
    return reply["message"]


def shown(desk: WorkbenchDesk, view: str, **place: str) -> str:
    reply = desk.show_view({"view": view} | place)
    assert not reply["refused"], reply
    return reply["html"]


def rows(study: Study, table: str) -> int:
    connection = sqlite3.connect(study.pipeline)
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    connection.close()
    return count


# --- Fields, places, forms ---


@pytest.mark.parametrize("value", [3, [], {}, True, "x" * 11, "a\0", "\ud800"])
def test_a_field_is_a_short_text_that_a_store_can_keep(value):
    with pytest.raises(InputError, match="no usable memo"):
        text({"memo": value}, "memo", limit=10)


@pytest.mark.parametrize("value", ["a", {"a": 1}, [3], ["a\0"], ["x" * 401]])
def test_causes_are_a_list_of_short_texts(value):
    with pytest.raises(InputError):
        texts({"causes": value}, "causes")


@pytest.mark.parametrize("value", ["²", "1.5", "0", "9" * 400, "nan", "inf", "x"])
def test_a_whole_number_is_one_within_its_bounds(value):
    with pytest.raises(InputError, match="expected a whole number from 1 to 10"):
        number(value, "runs", int, 1, 10)


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e999", "2,5"])
def test_a_number_is_one_within_its_bounds(value):
    with pytest.raises(InputError, match="expected a number from 0 to 2"):
        number(value, "temperature", float, 0, 2)


@pytest.mark.parametrize(
    "data",
    [None, [], "overview", {"view": 3}, {"view": "x"}, {"rule": "x"}, {"owner": "<b>"}, {"x": "1"},
     {"item": "a\0"}, {"item": "\ud800"}, {"item": "x" * 401}, {"\ud800": ""}],
)  # fmt: skip
def test_what_is_no_place_is_refused(data):
    with pytest.raises(InputError) as refused:
        place_from(data)
    str(refused.value).encode()


def test_a_place_comes_back_from_its_link():
    from urllib.parse import parse_qsl

    place = Place("items", owner="Zoë", reference="a&b=c", outcome="#+ %", show="all")
    assert place_from(dict(parse_qsl(place.link()[1:]))) == place


@pytest.mark.parametrize("url", SECRETS)
def test_a_server_with_a_secret_in_its_address_is_in_no_form_of_ours(url):
    for form in (run_form, suggest_form):
        with pytest.raises(InputError, match="OPENAI_API_KEY") as refused:
            form({"base_url": url, "model": "m"})
        assert "word" not in str(refused.value).replace("password", "")


def test_a_secret_in_a_form_is_not_stored_even_as_a_draft(desk, small_study):
    for draft, url in (("run", SECRETS[0]), ("suggest", SECRETS[0]), ("run", SECRETS[4])):
        refusal(act(desk, "keep_form", draft=draft, base_url=url, model="m"))
    for name in ("start_run", "estimate", "start_suggestion"):
        refusal(act(desk, name, base_url=SECRETS[0], model="m"))
    assert rows(small_study.study, "workbench_drafts") == 0
    assert rows(small_study.study, "launches") == 0


def test_a_form_becomes_the_command_that_does_the_same(tmp_path):
    form = RunForm("m", "http://h/v1", "mine@2", "v3", runs="2", temperature="0.5", draw="10")
    command = dev_run(form).command(Study(tmp_path))
    assert command == (
        "judge", "--on", "dev", "--model", "m", "--base-url", "http://h/v1", "--rubric", "v3",
        "--prompt", "mine@2", "--runs", "2", "--temperature", "0.5", "--draw", "10",
        "--study", str(tmp_path),
    )  # fmt: skip
    lexical = dev_run(RunForm(base_url="http://h/v1", runs="2")).command(Study(tmp_path))
    assert lexical == ("judge", "--on", "dev", "--judge", "lexical", "--study", str(tmp_path))


# --- Rows and drawings ---


def row(item_id: str, reference: str, *outcomes: str, annotator: str = "ann") -> ItemRow:
    said = ((annotator, reference),)
    return ItemRow(item_id, item_id, reference, outcomes, outcomes, said, ("m", "d", "0", "none"))


ROWS = (row("1", "x", "x", "x"), row("2", "x", "y"), row("3", "y", "x", "y", annotator="ben"))


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        (Place(), "23"),
        (Place(show="all"), "123"),
        (Place(reference="x", outcome="x"), "1"),
        (Place(reference="y", outcome="y"), "3"),
        (Place(stability="unstable"), "3"),
        (Place(annotator="ben"), "3"),
        (Place(model="m", dataset="other"), ""),
        (Place(cause=NOT_NOTED), "23"),
        (Place(cause="judge error"), ""),
    ],
)
def test_a_place_filters_items(place, kept):
    assert "".join(each.item_id for each in filtered(ROWS, place, {})) == kept


def test_a_kappa_that_is_undefined_is_no_point_of_the_course():
    undefined = {"kappa": None, "interval": {"low": None, "high": None}}
    drawn = course([("a", undefined), ("b", None)], None)
    assert (drawn.line, drawn.ceiling) == ("", None)
    assert [(point.y, point.words) for point in drawn.points] == [(None, "no kappa")] * 2


# --- Drafts and notes ---


def test_drafts_are_by_owner_and_kind(small_study):
    database = small_study.pipeline
    keep_draft(database, "a", "prompt", {"text": "1"})
    keep_draft(database, "b", "prompt", {"text": "2"})
    keep_draft(database, "a", "prompt", {"text": "3"})
    drop_draft(database, "b", "prompt")
    assert kept_draft(database, "a", "prompt") == {"text": "3"}
    assert kept_draft(database, "b", "prompt") is None
    assert kept_draft(database, "a", "rubric") is None


def test_a_draft_cannot_take_the_place_of_another_kind_nor_lock_the_editor(desk):
    for kind in ("run", "suggest", "final", "note", "x"):
        refusal(act(desk, "start_from", kind=kind, base="followupeval"))
    act(desk, "keep_form", draft="prompt", base="gone@3", text="typed")
    assert "no prompt template gone" in shown(desk, "editor")
    assert "typed" in shown(desk, "editor")
    for view in VIEWS:
        shown(desk, view)


def test_a_note_of_somebody_else_is_told_of_and_replaced_by_saving_again(desk, small_study):
    item = next(iter(small_study.items))
    first = act(desk, "note_item", "first", item=item, memo="mine", causes=["judge error"])
    again = act(desk, "note_item", "second", item=item, memo="yours")
    assert "first noted item" in refusal(again)
    assert again["fields"] == first["fields"]
    assert not act(desk, "note_item", "second", item=item, memo="yours", **again["fields"])[
        "refused"
    ]


def test_numbers_that_no_row_has_are_refused(desk, small_study):
    item = next(iter(small_study.items))
    for seen in ("²", "-1", "9" * 20, "x"):
        refusal(act(desk, "note_item", item=item, memo="x", seen=seen))
    for name in ("stop_run", "resume_run", "take_suggestion"):
        for launch in ("²", "", "0", "9" * 20, "77", "1; --"):
            refusal(act(desk, name, launch=launch))
    with pytest.raises(InputError, match="no run 77"):
        find(small_study.study, small_study.pipeline, 77)
    assert rows(small_study.study, "cause_notes") == 0


# --- Little, none, or too much ---


def test_every_view_stands_without_labels_judges_or_a_split(builder, tmp_path):
    builder.turns(6)
    builder.sample(6, repeats=0)
    desk = WorkbenchDesk(Bench(builder.study, tmp_path))
    for view in VIEWS:
        shown(desk, view)
    assert "Nothing is judged yet" in shown(desk, "matrix")
    for name in ("estimate", "start_run", "start_suggestion", "export", "open_test", "note_item"):
        refusal(act(desk, name, intent="to see what it says"))
    assert rows(builder.study, "launches") == 0
    first = next(iter(builder.items))
    builder.label("ann", {first: "malformed"})
    builder.judge({first: "generic_reply"})
    for view in VIEWS:
        shown(desk, view)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("", "[", "the rubric"),
        ('key = "2"', 'key = "1"', "duplicate key 1"),
        ("sigma = 0", "sigma = 1", "sigma"),
        ('version = "v4"', 'version = "v3"', "never changes"),
        ('version = "v4"', 'version = "../x"', "cannot name a rubric"),
    ],
)
def test_a_rubric_that_does_not_validate_is_no_version_and_stays_typed(
    desk, small_study, old, new, problem
):
    whole = load_rubric("v3").text.replace('version = "v3"', 'version = "v4"')
    typed = whole.replace(old, new, 1) if old else new + whole
    assert problem in refusal(act(desk, "save_version", draft="rubric", base="v3", text=typed))
    assert "It cannot be saved like this" in shown(desk, "editor", kind="rubric")
    assert kept_draft(small_study.pipeline, "owner", "rubric")["text"] == typed
    assert not list(small_study.study.folder.rglob("*.toml"))


def test_a_rubric_of_six_categories_is_no_version(desk):
    whole = load_rubric("v3").text.replace('version = "v3"', 'version = "v4"')
    six = whole[: whole.rindex("[[categories]]")]
    assert "6 categories, expected 7" in refusal(
        act(desk, "save_version", draft="rubric", base="v3", text=six)
    )


def test_a_prompt_without_its_places_or_that_quotes_the_test_half_is_no_version(builder, tmp_path):
    said = [f"This is what the user said the {n}th time, word by word." for n in range(12)]
    builder.add(said)
    builder.sample(12, repeats=0)
    builder.label("ann", dict.fromkeys(builder.items, "malformed"))
    split_study(builder.pipeline, builder.labels, "v3")
    desk = WorkbenchDesk(Bench(builder.study, tmp_path))
    fields = {"draft": "prompt", "base": "followupeval", "name": "mine", "note": "n"}
    quoting = PACKAGED.text + " ".join(said)
    for typed, problem in (
        ("no places at all", "expected once"),
        (PACKAGED.text.replace("{{ turn }}", "").replace("{{turn}}", ""), "expected once"),
        (quoting, "of the test split"),
    ):
        assert problem in refusal(act(desk, "save_version", text=typed, **fields))
        assert problem in shown(desk, "editor")
        assert kept_draft(builder.pipeline, "owner", "prompt")["text"] == typed
    assert rows(builder.study, "prompt_templates") == 0


# --- Stores ---


def test_a_store_that_is_locked_newer_or_gone_is_said_and_comes_back(
    desk, small_study, monkeypatch, tmp_path
):
    monkeypatch.setattr(storage, "BUSY_TIMEOUT_MS", 20)
    study, item = small_study.study, next(iter(small_study.items))
    other = sqlite3.connect(study.pipeline, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    locked = refusal(act(desk, "note_item", item=item, memo="x"))
    assert "locked" in locked
    assert str(study.folder) in locked
    other.execute("ROLLBACK")
    assert not act(desk, "note_item", item=item, memo="x")["refused"]
    other.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
        " VALUES ('judge', 'm999', '')"
    )
    assert "newer followupeval" in refusal(desk.show_view({"view": "overview"}))
    other.execute("DELETE FROM _sqlite_migrations WHERE name = 'm999'")
    other.close()
    shown(desk, "overview")
    away = study.labels.rename(tmp_path / "away.db")
    for view in VIEWS:
        assert "labels.db does not exist" in refusal(desk.show_view({"view": view}))
    away.rename(study.labels)
    shown(desk, "items")
