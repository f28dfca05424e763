"""Gold, repeats, pace, skips and coverage: known answers, and what has none."""

import pytest
from click.testing import CliRunner
from scripted_events import LABELS, RUBRIC, item_id, script_event, script_labels, scripted_study

from annotator.annotation import TAKEN_BACK, current_annotations
from annotator.cli import annotate
from annotator.labels import BlindItem, add_items, blind_item, item_ids
from annotator.quality.coverage import coverage
from annotator.quality.gold import Gold, add_gold, candidates, gold_items, retire_gold
from annotator.quality.gold_accuracy import gold_accuracy
from annotator.quality.pace import NOBODY_ACTIVE, pace, time_left
from annotator.quality.repeats import repeated_items
from annotator.quality.skips import skips
from generation.item import Item, Message
from rubrics import InputError

GENUINE, RESTATE = LABELS[:2]


@pytest.fixture
def study(tmp_path):
    database = scripted_study(tmp_path / "labels.db")
    yield database
    database.close()


def gold(*numbers, category=GENUINE):
    return [Gold(item_id(n), "v3", category, "clear", "2026-04-01") for n in numbers]


def standing(study):
    return current_annotations(study, "v3")


def test_accuracy_on_gold_has_wilsons_interval():
    given = {item_id(n): GENUINE if n < 8 else RESTATE for n in range(12)}
    found = gold_accuracy(given, gold(*range(10)))
    assert (found.correct, found.labelled, found.share) == (8, 10, 0.8)
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_who_labelled_no_gold_has_no_accuracy():
    found = gold_accuracy({item_id(5): GENUINE}, gold(1, 2))
    assert found.share is found.low is found.high is None
    assert found.undefined == "labelled no gold item"


def test_candidates_are_items_that_may_be_made_gold(study):
    add_gold(study, RUBRIC, item_id(3), GENUINE, reason="r")
    repeat = blind_item(study, item_id(1)).item
    add_items(study, [BlindItem("f" * 12, repeat)], seed=1)
    found = candidates(study, "v3", 5)
    assert len(found) == 5
    assert found == candidates(study, "v3", 5)
    everything = candidates(study, "v3", 10_000)
    assert set(everything) == set(item_ids(study)) - {item_id(3), "f" * 12}
    assert everything[item_id(1)] == repeat.turn


def test_gold_is_added_listed_and_retired(study):
    add_gold(study, RUBRIC, item_id(3), GENUINE, reason=" it asks on ")
    assert [(g.item_id, g.category, g.reason) for g in gold_items(study, "v3")] == [
        (item_id(3), GENUINE, "it asks on")
    ]
    retire_gold(study, item_id(3), "v3")
    assert gold_items(study, "v3") == []
    add_gold(study, RUBRIC, item_id(3), RESTATE, reason="read again")
    assert [g.category for g in gold_items(study, "v3", with_retired=True)] == [GENUINE, RESTATE]


@pytest.mark.parametrize(
    ("item", "category", "reason", "message"),
    [
        (item_id(1), "genuine_folowup", "why", "did you mean genuine_followup"),
        ("00000000000z", GENUINE, "why", "has no item '00000000000z'.*did you mean 00000"),
        (item_id(1), GENUINE, "  ", "the reason has 0 characters"),
        (item_id(1), GENUINE, "x" * 2_001, "2,001 characters, expected 1 to 2,000"),
        (item_id(0), GENUINE, "why", "is gold already, as malformed.*annotate gold retire"),
        ("f00", GENUINE, "why", f"silent repeat of {item_id(2)}"),
    ],
)
def test_what_cannot_be_gold_is_refused_with_what_to_do(study, item, category, reason, message):
    add_gold(study, RUBRIC, item_id(0), "malformed", reason="empty")
    twin = Item((Message("user", "question 2"),), "answer 2", "turn 2")
    add_items(study, [BlindItem("f00", twin)], seed=7)
    with pytest.raises(InputError, match=message):
        add_gold(study, RUBRIC, item, category, reason=reason)
    assert len(gold_items(study, "v3")) == 1


def test_what_is_no_gold_cannot_be_retired(study):
    with pytest.raises(InputError, match="annotate gold list --rubric v3"):
        retire_gold(study, item_id(1), "v3")


def test_gold_from_the_command_line(study, tmp_path):
    def run(*words):
        return CliRunner().invoke(annotate, [*words, "--study", str(tmp_path)]).output

    assert f"annotate gold add ITEM CATEGORY --reason TEXT --study {tmp_path}" in run(
        "gold", "list"
    )
    assert f"annotate gold list --rubric v3 --study {tmp_path}" in run("gold", "retire", "none")
    assert "is gold under rubric v3" in run(
        "gold", "add", item_id(1), GENUINE, "--reason", "\x1b[2J clear"
    )
    listed = run("gold", "list")
    assert f"{item_id(1)}  {GENUINE}  \\x1b[2J clear" in listed
    assert "is gold no more" in run("gold", "retire", item_id(1))
    assert '"retired_at": "2' in run("gold", "list", "--json")


def test_repeats_are_told_by_their_text_alone_and_the_first_there_is_the_original(study):
    twins = [("aaa", "turn 4"), ("bbb", "turn 4"), ("ccc", "turn 4 "), ("000", "turn 5")]
    for name, turn in twins:
        number = turn.split()[1]
        text = Item((Message("user", f"question {number}"),), f"answer {number}", turn)
        add_items(study, [BlindItem(name, text)], seed=7)
    found = repeated_items(study)
    assert found == {"aaa": item_id(4), "bbb": item_id(4), "000": item_id(5)}


def test_skip_rate_and_reasons(study):
    script_labels(study, "script a", "11s1")
    script_event(study, "script a", item_id(7), skip_reason="The text upsets me")
    found = skips(standing(study))
    assert (found.skipped, found.done, found.rate) == (2, 5, 0.4)
    assert found.reasons == {"I cannot judge the subject": 1, "The text upsets me": 1}
    assert skips([]).rate is None


def test_pace_is_of_active_time_and_of_days_with_labels(study):
    for n, (day, ms) in enumerate([(1, 10_000), (1, 20_000), (3, 60_000), (3, None)]):
        script_event(
            study, "script a", item_id(n), GENUINE,
            saved_at=f"2026-04-0{day}T10:00:00.000+00:00", active_ms=ms,
        )  # fmt: skip
    found = pace(standing(study))
    assert (found.labels, found.measured, found.days, found.per_day) == (4, 3, 2, 2.0)
    assert found.median_seconds == 20.0
    assert found.per_active_hour == pytest.approx(3 / (90 / 3600))
    assert pace(standing(study), spent_ms=180_000).per_active_hour == pytest.approx(60)


def test_pace_of_nobody_and_of_unmeasured_labels_is_undefined(study):
    assert pace([]).per_day is None
    script_labels(study, "script a", "11")
    found = pace(standing(study))
    assert found.per_active_hour is found.median_seconds is None


def test_time_left_is_what_is_missing_at_the_last_weeks_pace(study):
    for n in range(8):
        script_event(
            study, f"script {n % 2}", item_id(n), GENUINE,
            saved_at=f"2026-04-0{1 if n < 4 else 5}T12:00:00.000+00:00", active_ms=36_000,
        )  # fmt: skip
    so_far = standing(study)
    found = time_left(20, so_far, pace(so_far), at="2026-04-05T12:00:00.000+00:00")
    assert (found.recent, found.people, found.per_day, found.days) == (8, 2, 2.0, 10.0)
    assert found.active_hours == pytest.approx(20 / 100)
    # A week later the first four are no part of it.
    later = time_left(20, so_far, pace(so_far), at="2026-04-09T12:00:00.000+00:00")
    assert (later.recent, later.per_day, later.days) == (4, 1.0, 20.0)


def test_time_left_is_undefined_when_nobody_is_active_and_nought_when_all_is_there(study):
    script_labels(study, "script a", "11", saved_at="2026-04-01T12:00:00.000+00:00")
    so_far = standing(study)
    found = time_left(5, so_far, pace(so_far), at="2026-05-01T12:00:00.000+00:00")
    assert (found.days, found.undefined) == (None, NOBODY_ACTIVE)
    done = time_left(0, [], pace([]), at="2026-05-01T12:00:00.000+00:00")
    assert (done.days, done.undefined) == (0.0, None)


def covered(study, labels_per_item, *, people=("script a", "script b"), gold=(), repeats=()):
    return coverage(
        [item_id(n) for n in range(4)],
        standing(study),
        frozenset(LABELS),
        gold=frozenset(gold),
        repeats=frozenset(repeats),
        people=frozenset(people),
        labels_per_item=labels_per_item,
        other_versions={"v2": 3},
    )


def test_coverage_counts_labels_up_to_the_number_wanted(study):
    script_labels(study, "script a", "11s1")
    script_labels(study, "script b", "12s.", late=True)
    script_labels(study, "script c", "1")
    found = covered(study, 2)
    assert found.study.by_labels == {0: 1, 1: 1, 2: 1, 3: 1}
    assert (found.given, found.wanted, found.missing, found.complete) == (5, 8, 3, 2)
    assert (found.above, found.late, found.skips) == (1, 2, 2)
    assert found.other_versions == {"v2": 3}


def test_gold_and_repeats_are_counted_apart(study):
    script_labels(study, "script a", "1111")
    script_labels(study, "script b", "1...")
    found = covered(study, 1, gold=[item_id(0)], repeats=[item_id(3)])
    assert (found.study.items, found.gold.by_labels, found.repeats.by_labels) == (2, {2: 1}, {1: 1})
    assert (found.given, found.wanted, found.above) == (2, 2, 0)


def test_where_everybody_labels_everything_only_those_who_go_on_are_waited_for(study):
    script_labels(study, "script a", "1111")
    script_labels(study, "script gone", "11")
    found = covered(study, None, repeats=[item_id(3)])
    assert (found.given, found.wanted, found.missing) == (4, 8, 4)
    assert found.complete == 0


def test_without_annotators_coverage_is_undefined(study):
    found = covered(study, None, people=())
    assert found.share is None
    assert "no annotator yet" in found.undefined


def test_a_label_taken_back_is_neither_label_nor_skip(study):
    script_labels(study, "script a", "1")
    script_event(study, "script a", item_id(0), skip_reason=TAKEN_BACK)
    found = covered(study, 1)
    assert (found.given, found.skips, found.taken_back) == (0, 0, 1)
