"""The owner's dashboard: its numbers, its views, and who may see them."""

import json
import sqlite3
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner
from hostile_texts import HOSTILE_TEXTS
from scripted_events import LABELS, RUBRIC, item_id, script_event, script_labels, scripted_study
from sklearn.metrics import cohen_kappa_score

from annotator.accounts.person import Person, Role, current_person
from annotator.accounts.refusal import RefusalLog
from annotator.cli import annotate
from annotator.dashboard.app import page
from annotator.dashboard.desk import NOT_THE_OWNER, DashboardDesk
from annotator.dashboard.figures import figures, resampled
from annotator.dashboard.fresh_figures import FreshFigures
from annotator.dashboard.reading import read_study, study_items
from annotator.dashboard.status import status_dict
from annotator.dashboard.wording import alpha_notes
from annotator.labels import BlindItem, add_items, record_rubric
from annotator.quality.gold import add_gold
from annotator.served_labels import ServedLabels
from annotator.settings import LABELS_PER_ITEM, PUBLISHED_RUBRIC, put_setting
from generation.item import Item, Message
from rubrics import load_rubric

VIEWS = ("overview", "disagreement", "items", "annotators")
# Krippendorff's nominal data of two coders, with his alpha of .692.
NOMINAL_B = ("112243335441", "212223335444")


@pytest.fixture
def study(tmp_path):
    database = scripted_study(tmp_path / "labels.db", 12)
    yield database
    database.close()


@pytest.fixture
def desk(study, refusals, tmp_path):
    desk = DashboardDesk(tmp_path / "labels.db", RUBRIC, refusals)
    yield desk
    desk.close()


@pytest.fixture
def owner():
    token = current_person.set(Person("olga", Role.OWNER))
    yield
    current_person.reset(token)


def found_in(study):
    return figures(read_study(study, RUBRIC, study_items(study)))


def view(desk, **place):
    """The HTML of a view that was granted, with all that takes resampling."""
    reply = desk.show_dashboard({**place, "at_once": True})
    while not reply["refused"] and "data-waiting" in reply["html"]:
        desk._fresh.get(place.get("rubric", ""), patience=30)
        reply = desk.show_dashboard(place)
    assert not reply["refused"], reply["message"]
    json.dumps(reply, allow_nan=False)
    return reply["html"]


class Reader(HTMLParser):
    """The texts of a page, its elements, and their attributes."""

    def __init__(self, html):
        super().__init__()
        self.texts, self.elements, self.attributes = [], set(), []
        self.feed(html)

    def handle_data(self, data):
        self.texts.append(data)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes += attrs


def words(html):
    """What is read of a page, blanks made single."""
    return " ".join(" ".join(Reader(html).texts).split())


def test_alpha_is_krippendorffs_published_one(study):
    for name, labels in zip(("script a", "script b"), NOMINAL_B, strict=True):
        script_labels(study, name, labels)
    assert resampled(found_in(study)).labels.value == pytest.approx(0.691964, abs=1e-6)


def test_two_people_agree_as_cohens_kappa_has_it(study):
    for name, labels in zip(("script a", "script b"), NOMINAL_B, strict=True):
        script_labels(study, name, labels)
    found = found_in(study)
    expected = cohen_kappa_score(*map(list, NOMINAL_B))
    (pair,) = found.pairs.pairs()
    assert (pair.items, pair.kappa) == (12, pytest.approx(expected))
    assert found.pairs.against_others("script b").kappa == pytest.approx(expected)
    assert found.pairs.mean_kappa() == pytest.approx(expected)


def test_an_item_counts_once_against_however_many_others(study):
    script_labels(study, "script a", "12")
    for name in "bcd":
        script_labels(study, f"script {name}", "1")
    script_labels(study, "script b", ".1")
    others = found_in(study).pairs.against_others("script a")
    assert (others.n, others.observed) == (2, 0.5)


def test_total_disagreement_is_below_chance_and_all_of_it_is_hard(study):
    script_labels(study, "script a", "1212")
    script_labels(study, "script b", "2121")
    found = found_in(study)
    assert resampled(found).labels.value == -0.75
    assert found.pairs.agreement == 0.0
    assert found.pairs.pooled[:2, :2].tolist() == [[0, 4], [4, 0]]
    assert [(item.disagreement, item.entropy) for item in found.hardest] == [(1.0, 1.0)] * 4


def test_the_matrix_counts_every_pair_both_ways_round(study):
    for name, labels in {"a": "11", "b": "12", "c": "23"}.items():
        script_labels(study, f"script {name}", labels)
    pairs = found_in(study).pairs
    assert pairs.pooled[:3, :3].tolist() == [[2, 3, 1], [3, 0, 1], [1, 1, 0]]
    assert pairs.of("script c")[:3, :3].tolist() == [[0, 0, 0], [2, 0, 0], [1, 1, 0]]


def test_items_are_hardest_by_disagreement_then_flags_then_skips(study):
    script_labels(study, "script a", "1111s")
    script_labels(study, "script b", "1121")
    script_event(study, "script b", item_id(4), LABELS[0], flagged=True)
    hard = found_in(study).hardest
    assert [item.item_id for item in hard][:2] == [item_id(2), item_id(4)]
    assert (hard[1].flags, hard[1].skips, hard[1].disagreement) == (1, 1, None)


def test_repeats_are_no_further_items_and_say_how_people_agree_with_themselves(study):
    texts = [Item((Message("user", f"question {n}"),), f"answer {n}", f"turn {n}") for n in (0, 1)]
    add_items(study, [BlindItem(f"again{n}", text) for n, text in enumerate(texts)], seed=7)
    script_labels(study, "script a", "12")
    script_event(study, "script a", "again0", LABELS[0])
    script_event(study, "script a", "again1", LABELS[1])
    found = found_in(study)
    assert found.coverage.repeats.by_labels == {1: 2}
    assert {item.item_id for item in found.hardest} == {item_id(0), item_id(1)}
    (oneself,) = resampled(found).oneself.annotators
    assert (oneself.kappa.items, oneself.kappa.value) == (2, 1.0)


# The degenerate states: each is named, and nothing is NaN.
DEGENERATE = {
    "nobody": ({}, "Unknown: no item has labels of two people", "There is no annotator yet"),
    "one category": (
        {"a": "1111", "b": "1111"}, "fewer than two labels in use", "one class: both used the same",
    ),
    "one with two items": (
        {"a": "12"}, "Unknown: no item has labels of two people",
        "nobody else labelled these items",
    ),
    "nobody on the same": (
        {"a": "12..", "b": "..12"}, "Unknown: no item has labels of two people",
        "nobody else labelled these items",
    ),
    "all skipped": (
        {"a": "1212", "b": "ssss"}, "Unknown: no item has labels of two people",
        "no label given",
    ),
    "a single shared item": (
        {"a": "1", "b": "2"}, "a single conversation", "labelled no gold item",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("owner")
@pytest.mark.parametrize("state", DEGENERATE)
def test_what_has_no_value_says_why(study, desk, state):
    given, overview, people = DEGENERATE[state]
    for name, labels in given.items():
        script_labels(study, f"script {name}", labels)
    assert overview in words(view(desk))
    assert people in words(view(desk, view="annotators"))
    found = found_in(study)
    said = json.dumps(status_dict(found, resampled(found)), allow_nan=False)
    shown = [words(view(desk, view=name)).lower() for name in VIEWS]
    assert not any("nan" in text.split() for text in [*shown, said.lower()])


@pytest.mark.usefixtures("owner")
def test_a_label_that_is_never_given_is_in_the_matrix_all_the_same(study, desk):
    script_labels(study, "script a", "1212")
    script_labels(study, "script b", "1221")
    text = words(view(desk, view="disagreement"))
    assert "Malformed never undefined never given" in text


def test_a_category_that_the_rubric_does_not_have_is_left_out_and_counted(study):
    script_labels(study, "script a", "11")
    script_event(study, "script b", item_id(0), "made_up")
    found = found_in(study)
    assert (found.coverage.unknown, found.coverage.study.labels) == (1, 2)
    assert list(found.labels) == ["script a"]


def test_perfect_agreement_is_doubted_and_rare_disagreement_explained(tmp_path):
    with scripted_study(tmp_path / "labels.db", 24) as study:
        script_labels(study, "script a", "12" * 12)
        script_labels(study, "script b", "12" * 12)
        found = found_in(study)
        assert "Everybody agrees on all of 24" in " ".join(
            alpha_notes(found, resampled(found).labels)
        )
        script_labels(study, "script c", "1" * 23 + "2")
        script_labels(study, "script d", "1" * 24)
        script_labels(study, "script a", "1" * 24)
        script_labels(study, "script b", "1" * 24)
        found = found_in(study)
        drawn = resampled(found)
        assert drawn.labels.value == 0.0
        assert found.pairs.agreement == pytest.approx(1 - 1 / 48)
        assert "that is how alpha is meant" in " ".join(alpha_notes(found, drawn.labels))


@pytest.mark.usefixtures("owner")
def test_the_overview_says_how_far_it_is_and_what_does_not_count(study, desk):
    put_setting(study, LABELS_PER_ITEM, "2")
    record_rubric(study, load_rubric("v2"))
    script_labels(study, "script a", "111s", late=True)
    script_event(study, "script a", item_id(9), "malformed", rubric_version="v2")
    study["refusals"].insert(
        {"name": "mallory", "what": "/dashboard", "why": "role", "refused_at": "2026-04-01"}
    )
    study["login_attempts"].insert(
        {"name": "olga", "address": "::1", "succeeded": 0, "tried_at": "2026-04-01"}
    )
    text = words(view(desk))
    for line in (
        "3 of 24 labels (12.5%)",
        "Missing 21 labels",
        "saved after their lease had gone to somebody else, counted: 3",
        "skips, which are no labels: 1",
        "labels under rubric v2, left out: 1",
        "without the right to them: 1, in the last 24 hours 0",
        "Failed logins: 1",
        "mallory",
    ):
        assert line in text
    assert "1 of 24 labels" in words(view(desk, rubric="v2"))


@pytest.mark.usefixtures("owner")
def test_a_cell_of_the_matrix_leads_to_its_items_and_these_to_who_said_what(study, desk):
    script_labels(study, "script a", "1121")
    script_labels(study, "script b", "2111", note="a note")
    link = f"first={LABELS[0]}&amp;second={LABELS[1]}"
    assert link in view(desk, view="disagreement")
    cell = {"view": "items", "first": LABELS[0], "second": LABELS[1]}
    listed = view(desk, **cell)
    assert all(item_id(n) in listed for n in (0, 2))
    assert not any(item_id(n) in listed for n in (1, 3))
    assert item_id(2) not in view(desk, **cell, annotator="script a")
    one = words(view(desk, **cell, item=item_id(0)))
    assert "1 of 2" in one
    assert "script a : Genuine follow-up" in one
    assert "script b : Repeats the user" in one
    assert "a note" in one


@pytest.mark.usefixtures("owner")
def test_annotators_have_their_gold_training_and_account(study, desk):
    add_gold(study, RUBRIC, item_id(0), LABELS[0], reason="clear")
    script_labels(study, "script a", "12", active_ms=8_000)
    script_labels(study, "script olga", "1")
    for name, role in (("script a", "annotator"), ("script olga", "owner")):
        study["accounts"].insert({"name": name, "role": role, "created_at": "2026-04-01"})
    study.conn.execute("UPDATE accounts SET disabled_at = '2026-04-09' WHERE name = 'script a'")
    text = words(view(desk, view="annotators"))
    assert "script a disabled 2026-04-09" in text
    assert "1 of 1 95% CI 0.21–1.00" in text
    assert "script olga now owner" in text
    assert " 8.0 " in text
    assert "none" in text  # no training


OUR_ELEMENTS = {
    "h1", "h2", "small", "span", "p", "form", "label", "select", "option", "dl", "div", "dt", "dd",
    "ul", "li", "table", "caption", "thead", "tbody", "tr", "th", "td", "a", "details", "summary",
    "bdi", "code", "button", "nav", "kbd", "article", "strong",
}  # fmt: skip


@pytest.mark.usefixtures("owner")
def test_hostile_texts_are_shown_as_text_wherever_they_stand(tmp_path):
    texts = list(HOSTILE_TEXTS.values())
    with scripted_study(tmp_path / "labels.db", texts) as study:
        for n, text in enumerate(texts):
            name = text or "empty"
            script_event(study, name, item_id(n), LABELS[0], note=text, flagged=True)
            script_event(study, "script b", item_id(n), LABELS[1])
            script_event(study, name, item_id(n - 1 if n else 5), skip_reason=name)
            study["gold"].insert(
                {
                    "item_id": item_id(n), "rubric_version": "v3", "category": LABELS[0],
                    "reason": text, "added_at": "2026-04-01",
                }
            )  # fmt: skip
            study["refusals"].insert({"name": name, "what": text, "why": text, "refused_at": "2"})
        refusals = RefusalLog(ServedLabels(tmp_path / "labels.db"))
        desk = DashboardDesk(tmp_path / "labels.db", RUBRIC, refusals)
        pages = [Reader(view(desk, view=each)) for each in VIEWS]
        items = [Reader(view(desk, view="items", item=item_id(n))) for n in range(len(texts))]
        desk.close()
    for page_ in [*pages, *items]:
        assert page_.elements <= OUR_ELEMENTS
        assert not any(name.startswith("on") for name, _ in page_.attributes)
        assert all(value.startswith("#") for name, value in page_.attributes if name == "href")
    for text, item in zip(texts, items, strict=True):
        assert "".join(item.texts).count(text) >= 3  # turn, note and reason, to the letter


@pytest.mark.parametrize(
    "person", [None, Person("ann", Role.ANNOTATOR), Person("ada", Role.ADJUDICATOR)]
)
def test_nobody_but_the_owner_sees_anything(study, desk, person):
    script_labels(study, "script a", "12")
    token = current_person.set(person)
    try:
        assert desk.show_dashboard({}) == {"refused": True, "message": NOT_THE_OWNER}
    finally:
        current_person.reset(token)
    kept = [(row["name"], row["what"], row["why"]) for row in study["refusals"].rows]
    assert kept == [(person and person.name, "dashboard: show_dashboard", NOT_THE_OWNER)]


@pytest.mark.usefixtures("owner")
@pytest.mark.parametrize(
    "data",
    [
        None, [], "x", 7, {"view": "judges"}, {"view": ["overview"]}, {"rubric": "v9"},
        {"view": "items", "item": "nothing"}, {"view": "items", "first": "x", "second": "y"},
        {"view": "disagreement", "annotator": "nobody"}, {"view": "items", "start": "-1"},
        {"view": "items", "start": "²"}, {"item": "x" * 401}, {"item": "\ud800"}, {"item": "a\0"},
    ],
)  # fmt: skip
def test_whatever_is_sent_is_answered_and_kept_for_the_owner(desk, study, data):
    reply = desk.show_dashboard(data)
    assert reply["refused"]
    json.dumps(reply)
    assert [row["name"] for row in study["refusals"].rows] == ["olga"]


def test_the_page_is_the_owners_and_holds_no_word_of_the_study(study, refusals, tmp_path):
    script_labels(study, "script a", "12")
    shown = page(tmp_path / "labels.db", RUBRIC, refusals)
    assert (shown.path, shown.role) == ("/dashboard", Role.OWNER)
    assert [act.__name__ for act in shown.acts] == ["show_dashboard"]
    assert not any("script a" in part for part in (shown.html, shown.style, shown.script))
    shown.close()


@pytest.mark.usefixtures("owner")
def test_labels_db_is_all_that_is_opened(study, desk, tmp_path, monkeypatch):
    (tmp_path / "pipeline.db").write_text("not to be read")
    opened = []
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda path, *a, **k: opened.append(path) or connect(path, *a, **k)
    )
    script_labels(study, "script a", "12")
    for name in VIEWS:
        view(desk, view=name)
    assert set(opened) == {tmp_path / "labels.db", ":memory:"}


def test_figures_are_computed_anew_when_something_was_saved_and_not_for_a_draft(study, tmp_path):
    script_labels(study, "script a", "1")
    fresh = FreshFigures(tmp_path / "labels.db", RUBRIC)
    first = fresh.get(at_once=True, patience=30)
    assert first.fresh
    study["drafts"].insert(
        {
            "annotator": "script a", "item_id": item_id(3), "rubric_version": "v3",
            "content": "{}", "saved_at": "2026-04-01",
        }
    )  # fmt: skip
    assert fresh.get(at_once=True).figures is first.figures
    script_labels(study, "script b", "2")
    again = fresh.get(at_once=True, patience=30)
    assert again.figures.pairs.agreement == 0.0
    assert again.resampled.labels.items == 1
    fresh.close()


def test_looking_holds_up_no_save(study, tmp_path):
    study.conn.execute("BEGIN IMMEDIATE")
    fresh = FreshFigures(tmp_path / "labels.db", RUBRIC)
    assert fresh.get(patience=30).figures.coverage.given == 0
    study.conn.execute("COMMIT")
    fresh.close()


@pytest.mark.usefixtures("owner")
def test_the_published_rubric_is_what_is_shown(study, desk):
    record_rubric(study, load_rubric("v2"))
    put_setting(study, PUBLISHED_RUBRIC, "v2")
    script_event(study, "script a", item_id(0), "malformed", rubric_version="v2")
    assert "rubric v2" in words(view(desk))
    assert "rubric v3" in words(view(desk, rubric="v3"))


def test_the_same_numbers_on_the_terminal(study, tmp_path):
    for name, labels in zip(("script a", "script \x1b[31m"), NOMINAL_B, strict=True):
        script_labels(study, name, labels)

    def run(*words):
        return CliRunner().invoke(annotate, ["status", *words, "--study", str(tmp_path)])

    text = run().output
    assert "coverage: 24 of 24 labels (100%)" in text
    assert "alpha (7 labels)  0.692, 95% CI" in text
    assert "\x1b" not in text
    found = json.loads(run("--json").output)
    assert found["agreement"]["alpha"]["labels"]["value"] == pytest.approx(0.691964, abs=1e-6)
    assert found["time_left"]["missing"] == 0
    assert [row["labels"] for row in found["annotators"]] == [12, 12]
    assert run("--rubric", "v9").exit_code == 1
