"""Training: a known right answer, feedback after each answer, rounds until the pass mark."""

import csv
import json
import sqlite3

import pytest
from annotated_labels import GENUINE, ids, new_labels
from click.testing import CliRunner

from annotator.annotation import annotation_history, current_annotations
from annotator.cli import annotate
from annotator.labels import BlindItem, add_items, blind_item
from annotator.quality.gold import add_gold
from annotator.training.round import rounds_of
from annotator.training.session import TrainingSession, required
from annotator.training.source import checked_pass_mark, chosen, read_items, rubric_examples
from annotator.training.training_set import (
    TrainingItem,
    put_training_set,
    training_off,
    training_set,
)
from generation.item import Item, Message
from rubrics import InputError, canonical_json, load_rubric

V2, V3 = load_rubric("v2"), load_rubric("v3")
WRONG = {label: V3.category_ids[k - 1] for k, label in enumerate(V3.category_ids)}


def known(turn, category=GENUINE):
    return TrainingItem(Item((Message("user", "q"),), "a", turn), category, f"why {turn}")


TEN = [known(f"turn {n}", V3.category_ids[n % 7]) for n in range(10)]
RIGHT = {item.training_id("v3"): item.category for item in TEN}


@pytest.fixture
def labels(tmp_path):
    database = new_labels(tmp_path / "labels.db")
    put_training_set(database, V3, TEN, "0.7")
    yield database
    database.close()


@pytest.fixture
def session(labels):
    return TrainingSession(labels, V3)


def respond(session, who="ann", *, right=True):
    screen = session.open(who)
    category = RIGHT[screen.training_id]
    return session.answer(
        who, screen.nonce, screen.training_id, category if right else WRONG[category]
    )


def whole_round(session, correct, who="ann"):
    """A round with so many right answers, the wrong ones first; gives its last reply."""
    return [respond(session, who, right=k >= len(TEN) - correct) for k in range(len(TEN))][-1]


class TestARound:
    def test_each_item_once_with_feedback_after_the_answer(self, session, labels):
        seen = []
        for position in range(1, 11):
            screen = session.open("ann")
            assert (screen.round, screen.position, screen.total, screen.needed) == (
                1, position, 10, 7,
            )  # fmt: skip
            seen.append(screen.training_id)
            reply = respond(session, right=position != 3)
            expected = RIGHT[screen.training_id]
            assert reply.feedback.correct == (position != 3)
            assert reply.feedback.expected == expected
            assert reply.feedback.why == f"why {screen.item.turn}"
            assert (reply.result is None) == (position < 10)
        assert sorted(seen) == sorted(RIGHT)
        assert (reply.result.correct, reply.result.passed, reply.screen) == (9, True, None)

    def test_nothing_before_the_answer_says_what_is_right(self, session):
        screen = session.open("ann")
        assert vars(screen).keys() == {
            "annotator", "rubric_version", "round", "position", "total", "needed", "training_id",
            "item", "nonce",
        }  # fmt: skip
        # Nor does an id: those of a set with other labels are the same.
        relabelled = [known(item.item.turn, WRONG[item.category]) for item in TEN]
        assert {item.training_id("v3") for item in relabelled} == RIGHT.keys()

    @pytest.mark.parametrize(("correct", "passed"), [(6, False), (7, True)])
    def test_seven_of_ten_pass_a_mark_of_70_percent(self, session, labels, correct, passed):
        assert required(labels, V3, "ann")
        result = whole_round(session, correct).result
        assert (result.correct, result.passed) == (correct, passed)
        assert required(labels, V3, "ann") is not passed
        assert required(labels, V3, "zoe")

    def test_after_a_failed_round_another_in_another_order(self, session, labels):
        screen = whole_round(session, 2).screen
        assert (screen.round, screen.position) == (2, 1)
        first, second = rounds_of(labels, "ann", "v3")
        assert first.training_ids != second.training_ids
        assert sorted(first.training_ids) == sorted(second.training_ids)
        assert whole_round(session, 10).result.passed
        session.open("zoe")
        assert rounds_of(labels, "zoe", "v3")[0].training_ids != first.training_ids

    def test_it_goes_on_where_it_was_left(self, session, labels):
        for _ in range(4):
            respond(session)
        assert TrainingSession(labels, V3).open("ann").position == 5
        assert session.open("zoe").position == 1


class TestAnAnswerThatIsNotTaken:
    def test_sent_again_it_is_answered_as_before_and_counted_once(self, session, labels):
        screen = session.open("ann")
        right = RIGHT[screen.training_id]
        first = session.answer("ann", screen.nonce, screen.training_id, WRONG[right])
        again = session.answer("ann", screen.nonce, screen.training_id, WRONG[right])
        assert again == first
        other = session.answer("ann", screen.nonce, screen.training_id, right)
        assert (other.message, other.feedback) == (
            "You had answered this; that answer counts.", first.feedback,
        )  # fmt: skip
        assert labels["training_answers"].count == 1

    def test_the_last_answer_of_a_round_sent_again_gives_the_score_again(self, session):
        for _ in range(9):
            respond(session)
        screen = session.open("ann")
        sent = ("ann", screen.nonce, screen.training_id, RIGHT[screen.training_id])
        first = session.answer(*sent)
        assert first.result.correct == 10
        assert session.answer(*sent) == first

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"nonce": "made up"}, "not the one to answer now"),
            ({"training_id": "another"}, "not the one to answer now"),
            ({"annotator": "zoe"}, "not the one to answer now"),
            ({"category": None}, "Choose a category first."),
            ({"category": "nonsense"}, "rubric v3 has no category 'nonsense'"),
        ],
    )
    def test_it_is_refused_and_tells_nothing(self, session, labels, change, message):
        screen = session.open("ann")
        sent = {
            "annotator": "ann", "nonce": screen.nonce, "training_id": screen.training_id,
            "category": RIGHT[screen.training_id],
        }  # fmt: skip
        reply = session.answer(**sent | change)
        assert (reply.refused, reply.feedback, reply.result) == (True, None, None)
        assert message in reply.message
        assert labels["training_answers"].count == 0

    def test_an_answer_to_another_item_under_a_used_nonce_is_refused(self, session, labels):
        screen = session.open("ann")
        respond(session)
        other = session.open("ann")
        reply = session.answer("ann", screen.nonce, other.training_id, GENUINE)
        assert (reply.refused, reply.screen) == (True, other)
        assert labels["training_answers"].count == 1

    def test_answers_cannot_be_changed(self, session, labels):
        respond(session)
        for statement in (
            "UPDATE training_answers SET correct = 1",
            "DELETE FROM training_answers",
            "UPDATE training_rounds SET needed = 0",
            "INSERT OR REPLACE INTO training_rounds SELECT * FROM training_rounds",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                labels.conn.execute(statement)


class TestTheSet:
    def test_training_is_nobodys_label(self, session, labels):
        whole_round(session, 10)
        assert current_annotations(labels, "v3") == []
        assert annotation_history(labels) == []
        assert [row["item_id"] for row in labels["items"].rows] == ids(5)

    def test_off_lets_people_label_and_keeps_what_was_answered(self, session, labels):
        respond(session)
        assert training_off(labels)
        assert not required(labels, V3, "ann")
        assert session.open("ann") is None
        assert "nothing to train on" in session.answer("ann", "n", "t", GENUINE).message
        assert labels["training_answers"].count == 1
        assert not training_off(labels)

    def test_another_set_begins_another_round_and_who_passed_has_passed(self, session, labels):
        whole_round(session, 8, "zoe")
        respond(session)
        put_training_set(labels, V3, TEN[:5], "0.9")
        screen = session.open("ann")
        assert (screen.round, screen.total, screen.needed) == (2, 5, 5)
        assert not required(labels, V3, "zoe")
        put_training_set(labels, V3, TEN, "0.7")  # items that were in use before
        assert training_set(labels, "v3").items.keys() == RIGHT.keys()

    def test_a_label_that_was_wrong_can_be_corrected(self, session, labels):
        put_training_set(labels, V3, [known("turn 0", "malformed")], "1")
        screen = session.open("ann")
        assert session.answer(
            "ann", screen.nonce, screen.training_id, "malformed"
        ).result.passed  # fmt: skip

    def test_each_rubric_version_has_its_own(self, session, labels):
        whole_round(session, 10)
        assert not required(labels, V2, "ann")  # it has no set
        put_training_set(labels, V2, [known("turn 0")], "1")
        assert required(labels, V2, "ann")
        assert TrainingSession(labels, V2).open("ann").round == 1
        assert not required(labels, V3, "ann")


class TestWhereItemsComeFrom:
    def test_a_rubrics_examples(self):
        items = rubric_examples(V3)
        assert len(items) == sum(len(category.examples) for category in V3.categories)
        example = V3.categories[0].examples[0]
        assert items[0] == TrainingItem(
            Item((Message("user", example.q),), example.a, example.u), GENUINE, example.why
        )

    def test_a_rubric_without_examples_needs_a_file(self):
        with pytest.raises(InputError, match=r"v2 has no examples.*training set FILE --rubric v2"):
            rubric_examples(V2)

    def test_some_are_drawn_from_every_category_in_turn(self):
        drawn = chosen(rubric_examples(V3), V3, 7, seed=7)
        assert [item.category for item in drawn] == list(V3.category_ids)
        assert drawn == chosen(rubric_examples(V3)[::-1], V3, 7, seed=7)
        assert drawn != chosen(rubric_examples(V3), V3, 7, seed=8)
        with pytest.raises(InputError, match="there are 10 items to train on, not 11"):
            chosen(TEN, V3, 11, seed=7)

    def test_a_csv_and_a_jsonl_file_alike(self, tmp_path):
        row = {"q": "q, with a comma", "a": "a\n", "u": "", "label": GENUINE, "why": "So it is."}
        lines, table = tmp_path / "t.jsonl", tmp_path / "t.csv"
        lines.write_text(json.dumps(row) + "\n")
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            writer.writerow(row)
        [item] = read_items(lines, V3)
        assert item.item == Item((Message("user", "q, with a comma"),), "a\n", "")
        assert (item.category, item.why) == (GENUINE, "So it is.")
        assert read_items(table, V3) == [item]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"label": "malformd"}, "row 2: label is 'malformd'.*did you mean malformed"),
            ({"label": None}, "row 2: label is None; expected one of genuine_followup"),
            ({"why": " "}, "row 2: why is ' '; expected a sentence"),
            ({"u": "turn 0"}, "item 2 is item 1 again"),
            ({"u": 3}, "t.jsonl:2: u is 3"),
        ],
    )
    def test_a_row_that_cannot_be_used_is_named(self, tmp_path, change, message):
        row = {"q": "q", "a": "a", "u": "turn 0", "label": GENUINE, "why": "because"}
        path = tmp_path / "t.jsonl"
        other = row | {"u": "turn 1", "why": "for another reason"} | change
        path.write_text("".join(canonical_json(each) + "\n" for each in (row, other)))
        with pytest.raises(InputError, match=message):
            read_items(path, V3)

    @pytest.mark.parametrize("text", ["0", "0.0", "1.01", "80", "1e-9", "nan", "", "-0.5", "0,8"])
    def test_a_pass_mark_is_a_share(self, text):
        with pytest.raises(InputError, match=r"expected a share above 0 and up to 1.*0.8"):
            checked_pass_mark(text)

    @pytest.mark.parametrize("text", ["1", "1.0", "0.8", ".8", " 0.123456789 "])
    def test_a_pass_mark_stays_as_it_is_typed(self, text):
        assert checked_pass_mark(text) == text.strip()


class TestTheCommands:
    @pytest.fixture
    def command(self, tmp_path):
        new_labels(tmp_path / "labels.db").close()
        return lambda *more: CliRunner().invoke(
            annotate, ["training", *more, "--study", str(tmp_path)]
        )

    def test_set_show_and_off(self, command, tmp_path):
        assert command("show").output.startswith("no training under rubric v3")
        made = command("set", "--pass-mark", "0.8", "--items", "8", "--rubric", "v3")
        assert made.output.startswith(
            "training under rubric v3: 7 of 8 items right in one round (pass mark 0.8)\npeople: 2\n"
            "  ann: has not begun\n  zoe: has not begun\n"
        )
        assert command("show").output == made.output
        assert command("off").output == "training is off\n"
        assert command("off").output == "training was off already\n"

    def test_show_counts_who_passed_in_which_round_and_the_errors_of_items(
        self, labels, session, tmp_path
    ):
        whole_round(session, 3)
        whole_round(session, 10)
        missed = session.open("zoe").training_id
        respond(session, "zoe", right=False)
        arguments = ["training", "show", "--study", str(tmp_path)]
        text = CliRunner().invoke(annotate, arguments).output
        assert "  ann: passed in round 2 (10 of 10 right)\n" in text
        assert "  zoe: not passed; round 1, 1 of 10 answered\n" in text
        record = json.loads(CliRunner().invoke(annotate, [*arguments, "--json"]).output)
        ann, zoe = record["annotators"]
        assert (ann["passed_in_round"], zoe["passed_in_round"]) == (2, None)
        assert [r["correct"] for r in ann["rounds"]] == [3, 10]
        assert (record["pass_mark"], record["needed"]) == (0.7, 7)
        wrong = {item["training_id"]: (item["wrong"], item["answers"]) for item in record["items"]}
        assert sum(count for count, _ in wrong.values()) == 8
        assert wrong[missed][0] >= 1
        assert wrong[missed][1] == 3
        counts = [item["wrong"] for item in record["items"]]
        assert counts == sorted(counts, reverse=True)

    def test_a_refused_set_leaves_the_one_before(self, command, tmp_path):
        command("set", "--pass-mark", "0.8", "--rubric", "v3")
        before = command("show", "--rubric", "v3").output
        for wrong in (["--items", "999"], ["--rubric", "v2"], [str(tmp_path / "none.csv")]):
            assert command("set", "--pass-mark", "0.5", *wrong).exit_code == 1
        assert command("show", "--rubric", "v3").output == before


class TestApartFromTheStudy:
    """Whoever was trained on an item knows its answer."""

    def test_an_item_of_the_study_cannot_be_trained_on(self, labels, tmp_path):
        before = training_set(labels, "v3").items
        (tmp_path / "set.csv").write_text(
            "q,a,u,label,why\nq,a,new,malformed,w\nq turn 3,a turn 3,turn 3,malformed,w\n"
        )
        items = read_items(tmp_path / "set.csv", V3)
        with pytest.raises(InputError, match=rf"set\.csv, row 2: has the text of item {ids(5)[3]}"):
            put_training_set(labels, V3, items[::-1], "1")
        assert training_set(labels, "v3").items == before

    def test_a_training_item_cannot_come_into_the_study(self, labels):
        used = TEN[0].training_id("v3")
        new = [
            BlindItem("a" * 12, Item((Message("user", "q"),), "a", "apart")),
            BlindItem("b" * 12, TEN[0].item),
        ]
        with pytest.raises(InputError, match=f"item {'b' * 12} is training item {used}"):
            add_items(labels, new, seed=7)
        assert labels["items"].count == 5
        put_training_set(labels, V3, TEN[1:], "0.7")
        add_items(labels, new, seed=7)
        assert labels["items"].count == 7

    def test_nor_one_that_somebody_has_answered_and_is_out_of_use(self, session, labels):
        answered = respond(session).feedback
        assert answered
        (row,) = labels["training_answers"].rows
        item = next(i for i in TEN if i.training_id("v3") == row["training_id"])
        put_training_set(labels, V3, [i for i in TEN if i is not item], "0.7")
        with pytest.raises(InputError, match="is training item"):
            add_items(labels, [BlindItem("b" * 12, item.item)], seed=7)

    def test_nor_be_gold(self, labels):
        """In a store where it is both already."""
        item = blind_item(labels, ids(1)[0]).item
        known_id = TrainingItem(item, GENUINE, "w").training_id("v3")
        labels["training_items"].insert(
            {k: v for k, v in labels["items"].get(ids(1)[0]).items() if k != "item_id"}
            | {"training_id": known_id, "rubric_version": "v3", "category": GENUINE, "why": "w"}
        )
        with pytest.raises(InputError, match=f"is training item {known_id}"):
            add_gold(labels, V3, ids(1)[0], GENUINE, reason="clear")
