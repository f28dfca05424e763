"""Causes of disagreements: noted without a trace among the labels, never lost, and counted."""

import json
import shutil
import sqlite3

import pytest
from calibrate_command import failed, run
from click.testing import CliRunner
from hostile_texts import HOSTILE_TEXTS

from annotator.adjudication.adjudication import adjudicate
from annotator.adjudication.dispute import undecided
from annotator.annotation import current_annotations
from annotator.cli import annotate
from annotator.verbatim import is_invisible
from generation.study import Study
from judge.calibration.causes.cause import CAUSES, MEMO_LIMIT, checked_causes
from judge.calibration.causes.cause_store import (
    NotedMeanwhile,
    current_note,
    current_notes,
    note_cause,
    own_causes,
)
from judge.store import JudgmentStore
from rubrics import InputError, load_rubric
from tests.calibration.conftest import StudyBuilder

V3 = load_rubric("v3")
A, B, C, *_ = V3.category_ids
SLIP, ERROR, GAP = "label slip", "judge error", "rubric gap"


class Owner:
    """Notes the items of a study under its one judge."""

    def __init__(self, builder) -> None:
        self.builder = builder
        (self.judge,) = JudgmentStore(builder.pipeline).judges("v3")
        self.ids = list(builder.items)

    def notes(self, item, *causes, seen=None, **choices):
        return note_cause(
            self.builder.pipeline, self.builder.labels, self.judge.judge_id, self.judge.judge,
            item, causes=causes, seen=seen, **choices,
        )  # fmt: skip

    def current(self, item):
        return current_note(self.builder.pipeline, self.judge.judge_id, item)

    @property
    def to_decide(self) -> list[str]:
        return [dispute.item_id for dispute in undecided(self.builder.labels, V3)]


# What people say of each item and what the judge does: the first four disagree.
PAIRS = ((A, B), (A, B), (B, C), (A, None), (A, A), (B, B), (C, C), (A, A), (B, B), (C, C))
WRONG = range(4)


@pytest.fixture(scope="module")
def judged_folder(tmp_path_factory):
    """A study of these pairs, of which every test has a copy."""
    study = Study(tmp_path_factory.mktemp("causes") / "study")
    StudyBuilder(study).from_pairs(PAIRS)
    return study.folder


@pytest.fixture
def owner(judged_folder, tmp_path):
    return Owner(StudyBuilder(Study(shutil.copytree(judged_folder, tmp_path / "study"))))


@pytest.fixture
def item(owner):
    """An item that people call A, and the judge B."""
    return owner.ids[0]


def test_a_note_takes_the_place_of_the_one_that_was_seen_and_both_are_kept(owner, item):
    first = owner.notes(item, "Two  Questions", ERROR, ERROR, memo=" It asks twice.\n")
    assert (first.causes, first.memo) == ((ERROR, "two questions"), "It asks twice.")
    assert (first.owner, first.after_note) == ("owner", None)
    second = owner.notes(item, GAP, owner=" dee ", seen=first.note_id)
    assert (second.causes, second.memo, second.owner) == ((GAP,), "", "dee")
    assert second.after_note == first.note_id
    assert owner.current(item) == second
    assert current_notes(owner.builder.pipeline, owner.judge.judge_id) == {item: second}
    assert owner.builder.pipeline["cause_notes"].count == 2
    assert own_causes(owner.builder.pipeline) == [ERROR, GAP, "two questions"]


def test_a_note_may_be_emptied_but_not_begin_empty(owner, item):
    with pytest.raises(InputError, match="is empty; name a cause or write a memo"):
        owner.notes(item, memo=" \n")
    noted = owner.notes(item, memo="Hm.")
    assert noted.causes == ()
    assert owner.notes(item, seen=noted.note_id).memo == ""


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE cause_notes SET memo = 'other'",
        "DELETE FROM cause_notes",
        "INSERT OR REPLACE INTO cause_notes SELECT * FROM cause_notes",
    ],
)
def test_notes_cannot_be_changed(owner, item, statement):
    before = owner.notes(item, ERROR, memo="Mine.")
    # As any other program opens it: then REPLACE fires no trigger of a deletion.
    owner.builder.pipeline.conn.execute("PRAGMA recursive_triggers=OFF")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        owner.builder.pipeline.conn.execute(statement)
    assert owner.current(item) == before


def test_of_two_owners_at_once_the_later_one_is_told_what_the_earlier_wrote(owner, item):
    seen = owner.notes(item, GAP).note_id
    earlier = owner.notes(item, ERROR, owner="ann", seen=seen)
    with pytest.raises(NotedMeanwhile, match=rf"ann noted item {item} .*\(judge error\)") as told:
        owner.notes(item, SLIP, owner="bo", seen=seen)
    assert told.value.note == earlier == owner.current(item)
    assert owner.to_decide == []
    assert owner.notes(item, GAP, owner="bo", seen=earlier.note_id).after_note == earlier.note_id


def test_a_first_note_does_not_take_the_place_of_one_that_was_not_seen(owner, item):
    owner.notes(item, memo="Hm.")
    with pytest.raises(NotedMeanwhile, match=r"\(no cause\)"):
        owner.notes(item, ERROR)


@pytest.mark.parametrize("cause", [*CAUSES, "ab", "x" * 40, "Höfliche Frage", "v2.1 - old"])
def test_a_short_name_can_be_a_cause(cause):
    assert checked_causes([f" {cause.upper()} "]) == (cause.lower(),)


def test_a_cause_is_the_same_however_its_accents_are_typed():
    assert checked_causes(["cafe\u0301", "caf\u00e9"]) == ("caf\u00e9",)


@pytest.mark.parametrize(
    "cause",
    [
        "",
        " ",
        "a",
        "x" * 41,
        "-a",
        "a-",
        "_a",
        "a,b",
        "[red]",
        "a/b",
        "a\0b",
        "\u200bab",
        "\u3164\u3164",
    ],
)
def test_what_is_no_short_name_is_refused_as_a_cause(cause):
    with pytest.raises(InputError, match="cannot be the name of a cause; expected 2 to 40"):
        checked_causes([ERROR, cause])


def test_the_longest_memo_is_kept_whole(owner, item):
    assert owner.notes(item, memo="x" * MEMO_LIMIT).memo == "x" * MEMO_LIMIT


@pytest.mark.parametrize(
    ("cause", "choices", "message"),
    [
        ("a,b", {}, "cannot be the name of a cause"),
        *(
            (ERROR, {"memo": memo}, r"the memo has [\d,]+ characters, expected")
            for memo in ("x" * (MEMO_LIMIT + 1), "a\0b", "a\ud800b")
        ),
        *(
            (ERROR, {"owner": name}, "the annotator name .* cannot be used")
            for name in ("", "  ", "x" * 41, "a\x1b[31m", "a\nb")
        ),
    ],
)
def test_of_a_note_that_cannot_be_stored_nothing_is(owner, item, cause, choices, message):
    with pytest.raises(InputError, match=message):
        owner.notes(item, SLIP, cause, **choices)
    assert owner.current(item) is None
    assert owner.to_decide == []


def test_an_item_that_the_sample_has_not_is_refused(owner):
    with pytest.raises(InputError, match=r"no item 'zzz'; see its items: calibrate --disagree"):
        owner.notes("zzz", ERROR)


def test_a_label_slip_goes_to_the_adjudicator_once_and_changes_no_label(owner, item):
    before = current_annotations(owner.builder.labels, "v3")
    first = owner.notes(item, SLIP)
    assert owner.to_decide == [item]
    second = owner.notes(item, SLIP, ERROR, memo="Surely.", seen=first.note_id)
    third = owner.notes(item, ERROR, seen=second.note_id)
    owner.notes(item, SLIP, seen=third.note_id)
    assert owner.to_decide == [item]
    assert owner.builder.labels["adjudication_requests"].count == 1
    assert current_annotations(owner.builder.labels, "v3") == before
    assert owner.builder.labels["adjudications"].count == 0


def test_after_the_decision_only_a_label_slip_named_anew_goes_there_again(owner, item):
    first = owner.notes(item, SLIP)
    adjudicate(owner.builder.labels, V3, item, B, reason="It asks.")
    assert owner.to_decide == []
    second = owner.notes(item, SLIP, memo="Decided now.", seen=first.note_id)
    assert owner.to_decide == []
    third = owner.notes(item, ERROR, seen=second.note_id)
    owner.notes(item, SLIP, seen=third.note_id)
    assert owner.to_decide == [item]


def test_a_label_slip_of_an_item_that_nobody_labelled_stores_neither_note_nor_request(builder):
    builder.turns(3)
    builder.sample(repeats=0)
    first, second, third = builder.items
    builder.label("ann", {first: A, second: "skip: too long"})
    builder.judge(dict.fromkeys((first, second, third), A))
    owner = Owner(builder)
    for unlabelled in (second, third):
        with pytest.raises(InputError, match=f"nobody has labelled item '{unlabelled}'"):
            owner.notes(unlabelled, SLIP)
        assert owner.current(unlabelled) is None
    assert owner.to_decide == []


def cell(reference, outcome, disagreements, noted, causes) -> dict:
    return {
        **{"reference": reference, "outcome": outcome},
        **{"disagreements": disagreements, "noted": noted, "causes": causes},
    }


class TestTally:
    def counted(self, owner, *options: str) -> dict:
        result = run(owner.builder, "cause", "--json", *options)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def test_an_item_with_two_causes_counts_under_both_in_its_cell(self, owner):
        owner.notes(owner.ids[0], ERROR, "two questions")
        owner.notes(owner.ids[1], ERROR)
        owner.notes(owner.ids[2], memo="A memo alone is no cause.")
        found = self.counted(owner)
        assert (found["disagreements"], found["noted"]) == (4, 2)
        assert (found["settled"], found["apart"]) == (0, 0)
        assert list(found["causes"].items()) == [(ERROR, 2), ("two questions", 1)]
        assert found["cells"] == sorted(
            [
                cell(A, B, 2, 2, {ERROR: 2, "two questions": 1}),
                cell(B, C, 1, 0, {}),
                cell(A, "invalid", 1, 0, {}),
            ],
            key=lambda of: (of["reference"], of["outcome"]),
        )
        assert {note["item_id"] for note in found["notes"]} == set(owner.ids[:3])

    def test_a_replaced_note_counts_no_more(self, owner, item):
        first = owner.notes(item, ERROR, GAP)
        owner.notes(item, GAP, seen=first.note_id)
        assert self.counted(owner)["causes"] == {GAP: 1}

    def test_a_note_on_what_is_no_disagreement_any_more_is_settled(self, owner, item):
        owner.notes(item, SLIP)
        owner.notes(owner.ids[4], memo="Just a memo.")
        adjudicate(owner.builder.labels, V3, item, B, reason="It restates.")
        assert self.counted(owner)["settled"] == 0
        found = self.counted(owner, "--reference", "adjudicated")
        assert (found["disagreements"], found["noted"], found["settled"]) == (3, 0, 1)

    def test_where_runs_differ_the_cell_says_so(self, builder):
        builder.turns(6)
        builder.sample(repeats=0)
        ids = list(builder.items)
        builder.label("ann", dict.fromkeys(ids, A))
        runs = {i: (A, A) for i in ids}
        builder.judge_runs(runs | {ids[0]: (A, B)})
        owner = Owner(builder)
        owner.notes(ids[0], "truly ambiguous")
        found = self.counted(owner)
        assert found["cells"] == [cell(A, "runs differ", 1, 1, {"truly ambiguous": 1})]

    def test_a_note_on_an_item_of_the_other_half_is_not_called_settled(self, owner):
        for k in WRONG:
            owner.notes(owner.ids[k], ERROR)
        assert self.counted(owner)["noted"] == 4
        assert run(owner.builder, "split").exit_code == 0
        found = self.counted(owner)
        assert 0 < found["noted"] == found["disagreements"] < 4
        assert (found["settled"], found["apart"]) == (0, 4 - found["noted"])
        assert f"verdict): {found['apart']}\n" in run(owner.builder, "cause").stdout

    def test_notes_of_another_judge_are_not_counted(self, owner, item):
        owner.notes(item, ERROR)
        owner.builder.judge(dict.fromkeys(owner.ids, A), model="judge-b")
        assert self.counted(owner)["noted"] == 0
        assert self.counted(owner, "--judge", "judge-a")["noted"] == 1


class TestCommand:
    def test_it_notes_an_item_and_says_where_the_slip_is_decided(self, owner, item):
        done = run(owner.builder, "cause", item, "--cause", SLIP, "--cause", "two questions")
        option = owner.builder.study.option
        assert (done.exit_code, done.stdout) == (
            0,
            f"item {item}: label slip, two questions\npeople's label stays until it is decided: "
            f"annotate adjudicate --rubric v3{option}\n",
        )
        assert owner.to_decide == [item]

    def test_a_slip_that_is_decided_and_not_sent_again_is_not_said_to_wait(self, owner, item):
        run(owner.builder, "cause", item, "--cause", SLIP)
        adjudicate(owner.builder.labels, V3, item, B, reason="It restates.")
        done = run(owner.builder, "cause", item, "--cause", SLIP, "--memo", "As I said.")
        assert "it was decided since 'label slip' was first noted; to send it" in done.stdout
        assert "until it is decided" not in done.stdout

    def test_json_of_a_note_is_the_note(self, owner, item):
        options = ("--cause", GAP, "--memo", " Näh. ", "--owner", "dee", "--json")
        said = json.loads(run(owner.builder, "cause", item, *options).stdout)
        assert said == owner.current(item).as_dict()
        assert (said["causes"], said["memo"], said["owner"]) == ([GAP], "Näh.", "dee")
        again = json.loads(run(owner.builder, "cause", item, "--memo", "Hm.", "--json").stdout)
        assert (again["causes"], again["after_note"]) == ([], said["note_id"])

    def test_the_text_counts_by_cell_and_in_all(self, owner):
        run(owner.builder, "cause", owner.ids[0], "--cause", ERROR, "--cause", GAP)
        run(owner.builder, "cause", owner.ids[1], "--cause", ERROR)
        lines = run(owner.builder, "cause").stdout.splitlines()
        assert lines[0].startswith("causes of 4 disagreements of judge-a (")
        assert " with people under rubric v3: 2 noted" in lines[0]
        rows = [" ".join(line.split()) for line in lines]
        assert f"{A} {B} 2 judge error 2, rubric gap 1" in rows
        assert f"{A} invalid 1 none noted" in rows
        assert "all 4 judge error 2, rubric gap 1" in rows

    def test_before_any_note_it_says_how_to_write_one_in_one_piece(self, owner):
        option = owner.builder.study.option
        first, last = run(owner.builder, "cause").stdout.splitlines()
        assert first.endswith("0 noted")
        assert last == f"next: calibrate cause ITEM --cause 'judge error' --memo TEXT{option}"

    def test_many_causes_of_ones_own_are_shown_whole(self, owner):
        causes = [f"the reason number {k} of all my reasons" for k in range(12)]
        run(owner.builder, "cause", owner.ids[0], *(f"--cause={cause}" for cause in causes))
        text = run(owner.builder, "cause").stdout
        assert "…" not in text
        assert max(map(len, text.splitlines()[:-1])) <= 100
        words = text.split()
        assert words.count("number") == 2 * len(causes)  # in the cell and in all
        assert {A, B, C} <= set(words)

    def test_a_note_can_be_emptied_but_not_by_naming_the_item_alone(self, owner, item):
        run(owner.builder, "cause", item, "--cause", GAP)
        result = run(owner.builder, "cause", item)
        assert (result.exit_code, owner.current(item).causes) == (2, (GAP,))
        emptied = run(owner.builder, "cause", item, "--memo", "")
        assert emptied.stdout == f"item {item}: the note is emptied\n"
        assert owner.current(item).causes == ()

    @pytest.mark.parametrize(
        "options", [["--cause", GAP], ["--memo", "x"], ["--memo", ""], ["--owner", "dee"]]
    )
    def test_what_is_of_an_item_without_one_is_a_usage_error(self, owner, options):
        result = run(owner.builder, "cause", *options)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "are of one ITEM" in result.stderr

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["zzz", "--cause", GAP], "the study's sample has no item 'zzz'"),
            (["ITEM", "--cause", "x"], "'x' cannot be the name of a cause"),
            (["ITEM", "--cause", GAP, "--owner", ""], "name '' cannot be used"),
            (["ITEM", "--cause", GAP, "--rubric", "v9"], "unknown rubric 'v9'"),
            (["ITEM", "--cause", GAP, "--rubric", "v2"], "nothing is judged under rubric v2 yet"),
            (["ITEM", "--cause", GAP, "--judge", "nobody"], "no judge fits 'nobody'"),
        ],
    )
    def test_what_cannot_be_noted_is_refused_in_one_line(self, owner, item, options, message):
        options = [item if option == "ITEM" else option for option in options]
        assert message in failed(run(owner.builder, "cause", *options))
        assert owner.builder.pipeline["cause_notes"].count == 0


def test_no_memo_or_cause_can_act_on_the_terminal(owner, item):
    shown = []
    for text in HOSTILE_TEXTS.values():
        memo = text.strip()[:MEMO_LIMIT]
        options = ("--memo", memo, "--cause", GAP)
        done = run(owner.builder, "cause", item, *options, "--json").stdout
        assert json.loads(done)["memo"] == memo
        shown += [done, run(owner.builder, "cause", item, *options).stdout]
        named = run(owner.builder, "cause", item, "--cause", text)
        shown += [named.stdout]
        assert named.stderr.count("\n") <= 1
        assert named.stderr.removesuffix("\n").isprintable()
    shown += [run(owner.builder, "cause", *options).stdout for options in ((), ("--json",))]
    assert not {c for c in "".join(shown) if is_invisible(c) and c != "\n"}


def test_no_name_of_a_model_can_act_on_the_terminal(owner):
    owner.builder.judge(dict.fromkeys(owner.ids, A), model="m\x1b[2J\nnext: rm")
    text = run(owner.builder, "cause").stdout
    assert "m<U+001B>[2J" in text
    assert "\x1b" not in text


def test_a_slip_on_which_everybody_agrees_is_decided_and_then_counts(owner, item):
    """From the owner's doubt to a calibration that rests on the decision, command by command."""
    folder = owner.builder.study.folder
    run(owner.builder, "cause", item, "--cause", SLIP)
    listed = CliRunner().invoke(annotate, ["adjudicate", "--study", str(folder)]).output
    assert f"{item}  {A} ×1" in listed.splitlines()
    assert SLIP not in listed
    words = [item, B, "--reason", "It restates.", "--study", str(folder)]
    decided = CliRunner().invoke(annotate, ["adjudicate", *words])
    assert decided.output == f"{item} is {B} by adjudication; still undecided: 0\n"
    references = {}
    for rule in ("majority", "adjudicated"):
        found = run(owner.builder, "kappa", "--json", "--reference", rule).stdout
        pairs = {pair["item_id"]: pair for pair in json.loads(found)["pairs"]}
        references[rule] = pairs[item]["reference"]
    assert references == {"majority": A, "adjudicated": B}
