"""The blindness report: it finds what tells annotators something, and nothing else."""

import json
import random
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from annotated_labels import at, ids, new_labels, say
from click.testing import CliRunner
from labelled_study import PLAIN, by_item, judge, sampled_study

from annotator.accounts.person import Person, Role, current_person
from annotator.accounts.refusal import RefusalLog
from annotator.adjudication.desk import AdjudicationDesk
from annotator.blindness.fields import UNKNOWN, kind_of
from annotator.blindness.inference import associations, occurrences
from annotator.blindness.orders import absolute_spearman, compare_orders, shown_orders, spearman
from annotator.blindness.reach import reach
from annotator.blindness.report import blindness_report
from annotator.blindness.sent import SentFields, field_paths
from annotator.cli import annotate
from annotator.dashboard.desk import DashboardDesk
from annotator.exchange.who import People, Who
from annotator.labelling.choice import SKIP_REASONS
from annotator.labelling.desk import Desk
from annotator.labels import blind_items, item_ids, open_labels, record_rubric
from annotator.served_labels import ServedLabels
from generation.database import open_database
from generation.study import Study
from rubrics import load_rubric

VIEW = {
    "refused": False,
    "screen": {"item_id": "x", "parts": [{"html": "q"}, {"html": "a"}], "choice": {"note": ""}},
}


def show(labels, annotator, items):
    """Display rows alone: an order in which somebody was shown the items."""
    labels["annotators"].insert({"annotator": annotator, "first_seen_at": ""}, ignore=True)
    labels["displays"].insert_all(
        {"nonce": f"{annotator} {n}", "annotator": annotator, "item_id": item_id,
         "rubric_version": "v3", "shown_at": at(n)}
        for n, item_id in enumerate(items)
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A judged study that two people saw in random orders."""
    study = sampled_study(tmp_path_factory.mktemp("made") / "study", PLAIN)
    judge(study)
    with open_labels(study.labels) as labels:
        record_rubric(labels, load_rubric("v3"))
        for who in ("ann", "zoe"):
            order = sorted(item_ids(labels))
            random.Random(who).shuffle(order)
            show(labels, who, order)
        SentFields(labels).note("label: open_screen", VIEW)
    return study


def copied(study, folder):
    folder.mkdir()
    for path in (study.labels, study.pipeline):
        with sqlite3.connect(path) as source, sqlite3.connect(folder / path.name) as target:
            source.backup(target)
    return Study(folder)


def report_of(study):
    with open_labels(study.labels) as labels:
        return blindness_report(labels, study, People())


class TestSentFields:
    def test_paths_and_never_contents_are_noted_once(self, tmp_path):
        with new_labels(tmp_path / "labels.db") as labels:
            sent = SentFields(labels)
            sent.note("save_label", VIEW)
            sent.note("save_label", VIEW)
            sent.note("save_label", VIEW | {"judge": None, "extra": []})
            rows = {(row["act"], row["field"]) for row in labels["sent_fields"].rows}
            assert rows == {
                ("save_label", field)
                for field in ("refused", "screen.item_id", "screen.parts[].html",
                              "screen.choice.note", "judge")
            }  # fmt: skip
            SentFields(labels).note("save_label", VIEW)
            assert labels["sent_fields"].count == 5

    def test_a_known_reply_asks_nothing_of_the_store(self, tmp_path):
        with new_labels(tmp_path / "labels.db") as labels:
            sent = SentFields(labels)
            sent.note("open", VIEW)
            statements = []
            labels.conn.set_trace_callback(statements.append)
            sent.note("open", VIEW)
            assert statements == []

    def test_a_field_of_a_later_entry_of_a_list_is_seen(self):
        assert "parts[].gold" in field_paths({"parts": [{"html": ""}, {"html": "", "gold": 1}]})

    def test_ids_as_keys_do_not_fill_the_table(self):
        assert field_paths({"by": {"0a1b": 1, "ffff0": 2}}) == {"by.*"}

    def test_a_store_that_cannot_be_written_costs_no_reply_and_is_tried_again(self, tmp_path):
        with new_labels(tmp_path / "labels.db") as labels:
            sent = SentFields(labels)
            labels.conn.execute("PRAGMA query_only = ON")
            sent.note("open", {"message": ""})
            labels.conn.execute("PRAGMA query_only = OFF")
            sent.note("open", {"message": ""})
            assert labels["sent_fields"].count == 1


class TestReach:
    def test_the_pages_of_this_package_reach_labels_db_alone(self, tmp_path):
        with new_labels(tmp_path / "labels.db") as labels:
            found = reach(labels)
        assert found.findings == []
        assert found.tables["items"] == ["item_id", "messages", "answer", "turn"]
        assert found.modules > 50

    def test_code_that_reaches_further_is_found(self, tmp_path):
        package = tmp_path / "package"
        (package / "labelling").mkdir(parents=True)
        (package / "blindness").mkdir()
        sources = {
            "labelling/a.py": "def f():\n    from judge.store import JudgmentStore\n",
            "labelling/b.py": "def f(study):\n    return study.pipeline\n",
            "labelling/c.py": "from annotator.blindness import hidden\n",
            "labelling/d.py": "from annotator.blindness.sent import SentFields\n",
            "blindness/e.py": "x = 'pipeline.db'\n",
        }
        for name, text in sources.items():
            (package / name).write_text(text)
        with new_labels(tmp_path / "labels.db") as labels:
            found = reach(labels, package)
        assert (found.judge, found.pipeline, found.commands) == (
            ["labelling/a.py"], ["labelling/b.py"], ["labelling/c.py"],
        )  # fmt: skip
        assert len(found.findings) == 3


class TestOrders:
    def test_order_is_that_of_the_first_display(self, tmp_path):
        with new_labels(tmp_path / "labels.db") as labels:
            order = [sorted(item_ids(labels))[n] for n in (2, 0, 1, 2)]
            show(labels, "ann", order)
            assert shown_orders(labels) == {("ann", "v3"): order[:3]}

    def test_equal_orders_are_found_and_random_ones_are_not(self):
        items = [str(n) for n in range(60)]
        chance = random.Random(1)
        orders = {(who, "v3"): chance.sample(items, 60) for who in "abcdef"}
        assert not compare_orders(orders).alike
        orders["g", "v3"] = orders["a", "v3"]
        found = compare_orders(orders)
        assert found.alike
        assert found.same == (("a", "g"),)

    def test_orders_under_different_rubrics_are_not_compared(self):
        orders = {("a", "v2"): list("abcdefgh"), ("b", "v3"): list("abcdefgh")}
        assert (compare_orders(orders).pairs, compare_orders(orders).alike) == (0, False)

    def test_spearman_is_the_correlation_of_ranks_of_the_common_items(self):
        one, other = list("abcdefghij"), list("cabxjihdgfe")
        rho, n = spearman(one, other)
        common = [item for item in other if item in one]
        ranks = [common.index(item) for item in one]
        assert n == 10
        assert rho == pytest.approx(np.corrcoef(range(10), ranks)[0, 1])

    def test_chance_tends_to_the_normal_one(self):
        exact, square = absolute_spearman(7)
        assert exact == pytest.approx((2 / (3.14159 * 6)) ** 0.5, rel=0.05)
        assert square == pytest.approx(1 / 6)


class TestInference:
    items = tuple(f"{n:03d}" for n in range(80))

    def test_an_order_that_goes_with_a_field_is_found_and_another_is_not(self):
        fields = {
            "model": {item: "a" if int(item) < 40 else "b" for item in self.items},
            "data set": {item: random.Random(item).choice("xyz") for item in self.items},
            "setting": dict.fromkeys(self.items, "same"),
        }
        shuffled = random.Random(3).sample(self.items, 80)
        orders = {("ann", "v3"): sorted(shuffled, key=lambda i: int(i) + 30 * (int(i) % 3))}
        found = {
            (a.field, a.place): a.adjusted
            for a in associations(fields, orders, {"the item's id": shuffled}, seed=1)
        }
        assert found["model", "the order shown"] < 0.05
        assert found["model", "the item's id"] > 0.05
        assert found["data set", "the order shown"] > 0.05
        assert not any(field == "setting" for field, _ in found)

    def test_gold_at_every_tenth_place_is_found(self):
        gold = {item: "yes" if int(item) % 10 == 5 else "no" for item in self.items}
        found = associations({"gold": gold}, {("ann", "v3"): list(self.items)}, {}, seed=1)
        spaced = next(a for a in found if a.place == "the distances in the order")
        assert spaced.adjusted < 0.05

    def test_the_same_seed_gives_the_same_numbers(self):
        gold = {item: "yes" if int(item) % 7 == 0 else "no" for item in self.items}
        arguments = ({"gold": gold}, {("ann", "v3"): list(self.items)}, {})
        assert associations(*arguments, seed=5) == associations(*arguments, seed=5)

    def test_a_model_that_names_itself_is_found_as_a_word_of_any_case(self):
        model = {item: "org/Gpt-9" if int(item) < 40 else "none" for item in self.items}
        texts = {i: "I am GPT-9." if int(i) < 20 else "nonesuch gpt-90 none" for i in self.items}
        (found,) = occurrences(texts, {"model": model})
        assert (found.value, found.own, found.own_items, found.others) == ("org/Gpt-9", 20, 40, 0)
        assert found.p < 0.001

    def test_a_word_that_is_everywhere_tells_nothing(self):
        data = {item: "test" if int(item) < 40 else "other-set" for item in self.items}
        (found,) = occurrences(dict.fromkeys(self.items, "a test"), {"data set": data})
        assert found.p == 1.0


class TestReport:
    def test_a_study_with_random_orders_has_no_finding(self, made):
        report = report_of(made)
        assert report.findings == []
        assert report.verdict == "blind: nothing was found that tells more of an item than its text"
        assert (
            {a.field for a in report.associations}
            == {
                f
                for f in {a.field for a in report.associations}
                if f.startswith("verdict of judge-a")
            }
            != set()
        )
        assert len(report.not_examined) == 1  # the style of a text

    def test_an_order_by_verdict_is_found(self, made, tmp_path):
        study = copied(made, tmp_path / "by verdict")
        with open_labels(study.labels) as labels:
            verdicts = {item_id: by_item(item) for item_id, item in blind_items(labels).items()}
            for who in ("tom", "tim"):
                show(labels, who, sorted(verdicts, key=verdicts.get))
        findings = "\n".join(report_of(study).findings)
        assert "verdict of judge-a" in findings
        assert "goes with the order shown" in findings
        assert "more alike than chance" in findings

    def test_a_field_that_nobody_knows_is_loud(self, made, tmp_path):
        study = copied(made, tmp_path / "field")
        with open_labels(study.labels) as labels:
            SentFields(labels).note("label: open_screen", {"screen": {"judge_label": "x"}})
        (finding,) = report_of(study).findings
        assert "screen.judge_label (in reply to label: open_screen)" in finding
        assert report_of(study).verdict.startswith("NOT SHOWN TO BE BLIND: 1 finding,")

    def test_ids_that_tell_are_found(self, made, tmp_path):
        study = copied(made, tmp_path / "ids")
        with open_labels(study.labels) as labels, sqlite3.connect(study.pipeline) as pipeline:
            item_id, item_hash = pipeline.execute(
                "SELECT item_id, item_hash FROM sample_items"
            ).fetchone()
            telling = item_hash.removeprefix("sha256:")[:12]
            labels.conn.execute("PRAGMA foreign_keys = OFF")
            labels.conn.execute(
                "UPDATE items SET item_id = ? WHERE item_id = ?", [telling, item_id]
            )
            pipeline.execute(
                "UPDATE sample_items SET item_id = ? WHERE item_id = ?", [telling, item_id]
            )
        findings = report_of(study).findings
        assert f"the id of item {telling} is part of an identifier of the owner's" in findings

    def test_without_pipeline_db_it_says_what_was_not_examined(self, made, tmp_path):
        study = copied(made, tmp_path / "alone")
        study.pipeline.unlink()
        report = report_of(study)
        assert any("verdicts were not examined" in what for what in report.not_examined)
        assert report.verdict.endswith("of what was examined")

    def test_a_pipeline_db_of_another_kind_is_said_and_no_failure(self, made, tmp_path):
        study = copied(made, tmp_path / "other")
        study.pipeline.unlink()
        open_database(study.pipeline, (), create=True).close()
        assert any("cannot be read" in what for what in report_of(study).not_examined)

    def test_the_command_writes_the_same_bytes_each_time_and_exits_0(self, made, tmp_path):
        def run(*arguments):
            return CliRunner().invoke(
                annotate, ["blindness", *arguments, "--study", str(made.folder)]
            )

        done = run()
        assert done.exit_code == 0, done.output
        assert done.output.startswith("blind: nothing was found")
        assert "screen.parts[].html" in done.output
        assert "items: item_id, messages, answer, turn" in done.output
        assert json.loads(run("--json").output) == json.loads(run("--json").output)
        written = run("--json", "--output", str(tmp_path / "b.json"))
        assert json.loads((tmp_path / "b.json").read_text())["verdict"] in written.output
        assert run("--output", str(tmp_path / "b.json")).exit_code == 1

    def test_names_are_replaced_where_the_export_replaces_them(self, made):
        with open_labels(made.labels) as labels:
            people = replace(
                People(), who=Who.PSEUDONYMS, renamed={"ann": "annotator-01", "zoe": "annotator-02"}
            )
            report = json.dumps(blindness_report(labels, made, people).as_dict())
        assert "annotator-02" in report
        assert '"zoe"' not in report


def test_every_field_that_the_labelling_page_is_sent_has_a_kind(tmp_path):
    """A new field in a reply is put into words in `fields`, or every report names it unknown."""
    rubric = load_rubric("v3")
    with new_labels(tmp_path / "labels.db"):
        store, log = (ServedLabels(tmp_path / "labels.db") for _ in range(2))
        desk = Desk(store, rubric, RefusalLog(log), annotator="ann")
        replies = [desk.open_screen({})]

        def shown():
            return next(r["screen"] for r in reversed(replies) if r.get("screen"))

        def form(**more):
            return {"nonce": shown()["nonce"], "item_id": shown()["item_id"]} | more

        choice = {"category": "malformed", "note": "n"}
        replies.append(desk.keep_draft(form(choice=choice)))
        replies.append(desk.rendered_view(form()))
        replies.append(desk.save_label(form(choice=choice)))
        replies.append(desk.recent_labels({}))
        replies.append(desk.go_back(form()))
        replies.append(desk.take_back({}))
        replies.append(desk.skip_item(form(reason=SKIP_REASONS[0])))
        replies.append(desk.rubric_view({}))
        replies.append(desk.open_screen({"annotator": 3}))
    assert all(isinstance(reply, dict) for reply in replies)
    fields = set().union(*map(field_paths, replies))
    assert {"screen.parts[].html", "parts[].html", "recent[].html", "rubric.guidelines"} <= fields
    assert {field for field in fields if kind_of("label: act", field) == UNKNOWN} == set()


def unknown_fields(path, page, acts, person):
    """Fields without a kind in the replies that a page's desk notes as its acts are asked for."""
    before = current_person.set(person)
    try:
        for act, data in acts:
            assert not act(data)["refused"]
    finally:
        current_person.reset(before)
    with open_labels(path) as labels:
        rows = list(labels["sent_fields"].rows)
    assert {row["act"].split(":")[0] for row in rows} == {page}
    return {row["field"] for row in rows if kind_of(row["act"], row["field"]) == UNKNOWN}


def test_so_has_every_field_of_the_adjudicators_page_and_the_dashboard(tmp_path):
    path, rubric = tmp_path / "labels.db", load_rubric("v3")
    with new_labels(path) as labels:
        say(labels, "ann", 0, "malformed", second=1, note="n")
        say(labels, "zoe", 0, "generic_reply", second=2)
    item = {"item_id": ids(1)[0], "rubric_version": "v3"}
    refusals = RefusalLog(ServedLabels(path))
    desk = AdjudicationDesk(path, rubric, refusals)
    acts = [
        (desk.show_dispute, {}),
        (desk.add_note, item | {"note": "hm"}),
        (desk.rendered_view, item),
        (desk.rubric_view, {}),
        (desk.decide, item | {"category": "malformed", "reason": "r"}),
        (desk.show_dispute, item | {"decided": True}),
    ]
    assert unknown_fields(path, "adjudicate", acts, Person("dee", Role.ADJUDICATOR)) == set()
    desk.close()
    with open_labels(path) as labels:
        labels["sent_fields"].delete_where()
    dashboard = DashboardDesk(path, rubric, refusals)
    acts = [(dashboard.show_dashboard, {"view": "overview"})]
    assert unknown_fields(path, "dashboard", acts, Person("olga", Role.OWNER)) == set()
    dashboard.close()


@pytest.mark.parametrize(
    "field", ["screen.model", "screen.parts[].gold", "judge", "screen.dataset", "items.*", "gold"]
)
def test_what_tells_of_an_item_has_no_kind(field):
    assert kind_of("label: act", field) == UNKNOWN
