"""The sample: drawn once, at random, blind, and whole again after a crash."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from annotator.labels import open_labels
from generation.store import TurnStore
from judge.calibration.sampling.sample import choose, opaque_id, sampled_items, stored_sample
from rubrics import InputError


def test_draws_distinct_items_with_their_inclusion_probability(builder):
    builder.turns(30)
    drawing = builder.sample(12)
    assert (drawing.known, drawing.handed_over) == (False, 12)
    assert (drawing.sample.drawn, drawing.sample.population) == (12, 30)
    rows = list(builder.pipeline["sample_items"].rows)
    assert {row["inclusion_probability"] for row in rows} == {0.4}
    assert len({row["item_hash"] for row in rows}) == 12


def test_equal_turns_are_one_item(builder):
    builder.turns(5)
    builder.pipeline.execute("DELETE FROM run_turns")
    builder.pipeline.execute("UPDATE turns SET turn_id = turn_id || 'x'")
    builder.turns(5)
    assert builder.pipeline["turns"].count == 10
    assert builder.sample().sample.population == 5


def test_default_size_is_200_or_all(builder):
    builder.turns(201)
    assert builder.sample().sample.drawn == 200


def test_labels_db_holds_text_and_ids_that_say_nothing(builder):
    builder.turns(8)
    builder.sample(5)
    hashes = dict(TurnStore(builder.pipeline).items())
    back = sampled_items(builder.pipeline)
    for item_id, item in builder.items.items():
        assert re.fullmatch("[0-9a-f]{12}", item_id)
        assert hashes[back[item_id]] == item
        assert item_id not in back[item_id]
    assert set(builder.labels["items"].columns_dict) == {"item_id", "messages", "answer", "turn"}


def test_the_same_seed_draws_the_same_items_anywhere(builder):
    builder.turns(40)
    hashes = [item_hash for item_hash, _ in TurnStore(builder.pipeline).items()]
    drawn = builder.sample(10, seed=5)
    expected = choose(hashes[::-1], 10, 5)
    assert sorted(sampled_items(builder.pipeline).values()) == expected
    assert set(builder.items) == {opaque_id(5, item_hash) for item_hash in expected}
    assert drawn.sample.sample_id == stored_sample(builder.pipeline).sample_id


def test_known_draw():
    """Pinned: a change here would make a published sample impossible to draw again."""
    assert choose(list("abcdefgh"), 3, 20260402) == ["e", "f", "g"]
    assert opaque_id(20260402, "sha256:00") == "25e5d6844d6b"


def test_every_item_and_every_pair_is_equally_likely():
    singles, pairs = Counter(), Counter()
    for seed in range(4000):
        chosen = choose(list("abcde"), 2, seed)
        singles.update(chosen)
        pairs[tuple(chosen)] += 1
    # Standard deviations of the counts: 31 of 1600, 19 of 400.
    assert all(abs(count - 1600) < 4 * 31 for count in singles.values())
    assert len(pairs) == 10
    assert all(abs(count - 400) < 4 * 19 for count in pairs.values())


def test_drawing_again_changes_nothing(builder):
    builder.turns(20)
    first = builder.sample(10, seed=3)
    before = (builder.items, sampled_items(builder.pipeline))
    builder.turns(30, "More {}?")
    for again in (builder.sample(), builder.sample(10), builder.sample(10, seed=3)):
        assert (again.known, again.handed_over) == (True, 0)
        assert again.sample == replace(first.sample, added=30)
    assert (builder.items, sampled_items(builder.pipeline)) == before


def test_items_added_after_the_draw_are_counted(builder):
    builder.turns(12)
    assert builder.sample().sample.caveat is None
    assert builder.sample().as_text().endswith("12 of 12 distinct items, seed 20260402")
    builder.turns(50, "More {}?")
    said = "50 items added since had no chance of being drawn"
    assert builder.sample().as_text().endswith(f"12 of 12 distinct items, seed 20260402; {said}")
    assert stored_sample(builder.pipeline).added == 50
    assert stored_sample(builder.pipeline).inclusion_probability == 1


@pytest.mark.parametrize(("n", "seed"), [(9, None), (10, 4), (None, 4), (11, 4)])
def test_another_sample_is_refused(builder, n, seed):
    builder.turns(20)
    builder.sample(10, seed=3)
    with pytest.raises(InputError, match="a sample of 10 items with seed 3 is drawn already"):
        builder.sample(n, seed)
    assert len(builder.items) == 10


def test_a_crash_between_the_stores_is_mended(builder, monkeypatch):
    builder.turns(20)

    def crash(*_arguments, **_options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("judge.calibration.sampling.sample.add_items", crash)
        with pytest.raises(KeyboardInterrupt):
            builder.sample(10)
    assert len(sampled_items(builder.pipeline)) == 10
    assert builder.items == {}
    mended = builder.sample()
    assert (mended.known, mended.handed_over) == (True, 10)
    assert builder.items.keys() == sampled_items(builder.pipeline).keys()


def test_nothing_half_drawn_stays_when_the_draw_fails(builder, monkeypatch):
    builder.turns(20)
    monkeypatch.setattr("judge.calibration.sampling.sample.opaque_id", lambda _seed, _hash: "same")
    with pytest.raises(Exception, match="UNIQUE"):
        builder.sample(10)
    assert stored_sample(builder.pipeline) is None


def test_a_study_without_turns_is_refused(builder):
    with pytest.raises(InputError, match="no turns to sample"):
        builder.sample()


def test_more_than_there_are_is_refused(builder):
    builder.turns(5)
    with pytest.raises(InputError, match="cannot draw 6 of 5 distinct items"):
        builder.sample(6)
    assert stored_sample(builder.pipeline) is None
    assert open_labels(builder.study.labels)["items"].count == 0
