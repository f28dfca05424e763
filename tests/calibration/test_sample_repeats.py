"""Silent repeats: a few items twice under ids that say nothing, and never counted as items."""

import re

import pytest
from calibrate_command import run

from annotator.annotation import current_annotations
from judge.calibration.sampling.repeats import (
    more_repeats,
    repeated_items,
    repeats_wanted,
    without_repeats,
)
from judge.calibration.sampling.sample import sampled_items
from judge.calibration.study_calibration import calibrate_study
from rubrics import InputError


def test_five_percent_are_repeated_from_a_hundred_items_on(builder):
    builder.turns(210)
    drawing = builder.sample(190)
    repeats = repeated_items(builder.pipeline)
    originals = sampled_items(builder.pipeline)
    assert len(repeats) == drawing.sample.repeats == drawing.new_repeats == 10
    assert drawing.handed_over == 200
    assert "; 10 of them twice, the second time under another id" in drawing.as_text()
    assert set(repeats.values()) <= originals.keys()
    assert not repeats.keys() & originals.keys()
    for repeat, original in repeats.items():
        assert builder.items[repeat] == builder.items[original]


def test_fewer_items_are_not_repeated_unless_asked_for(builder):
    builder.turns(99)
    assert builder.sample().handed_over == 99
    assert repeated_items(builder.pipeline) == {}
    added = builder.sample(repeats=0.1)
    assert (added.known, added.handed_over, added.new_repeats) == (True, 10, 10)
    assert added.as_text().endswith("newly repeated: 10")
    assert builder.sample().handed_over == 0


def test_a_share_of_nothing_repeats_nothing(builder):
    builder.turns(120)
    assert builder.sample(repeats=0).sample.repeats == 0
    assert builder.sample().sample.repeats == 0


def test_nothing_tells_a_repeat_from_an_item(builder):
    builder.turns(120)
    builder.sample(repeats=0.1)
    ids = [row[0] for row in builder.labels.execute("SELECT item_id FROM items ORDER BY rowid")]
    assert all(re.fullmatch("[0-9a-f]{12}", item_id) for item_id in ids)
    # Nor does the order of the rows: repeats are not the last.
    assert ids == sorted(ids)
    assert set(builder.labels["items"].columns_dict) == {"item_id", "messages", "answer", "turn"}


def test_repeats_are_chosen_by_chance_and_alike_everywhere():
    ids = [f"{i:03}" for i in range(200)]
    chosen = [more_repeats(ids, {}, 10, seed) for seed in range(300)]
    assert more_repeats(ids[::-1], {}, 10, 7) == chosen[7]
    times = [sum(i in of for of in chosen) for i in ids]
    assert max(times) < 15 + 4 * 3.8  # 300 draws of 1 in 20: four standard deviations
    assert sum(times) == 3000


def test_extending_keeps_the_repeats_and_their_share(builder):
    builder.turns(400)
    builder.sample(150, repeats=0.1)
    before = repeated_items(builder.pipeline)
    extended = builder.sample(300)
    assert extended.sample.repeats == 30
    assert before.items() <= repeated_items(builder.pipeline).items()


def test_extending_a_sample_without_repeats_adds_none(builder):
    builder.turns(300)
    builder.sample(150, repeats=0)
    assert builder.sample(300).sample.repeats == 0


def test_extending_a_small_sample_takes_the_default(builder):
    builder.turns(200)
    builder.sample(50)
    assert builder.sample(200).sample.repeats == 10


def test_repeats_are_never_taken_back(builder):
    builder.turns(100)
    builder.sample(repeats=0.1)
    with pytest.raises(InputError, match=r"10 of the items are in labels\.db twice already"):
        builder.sample(repeats=0.02)
    assert len(repeated_items(builder.pipeline)) == 10


def test_a_lost_repeat_is_mended(builder):
    builder.turns(100)
    builder.sample()
    repeat = next(iter(repeated_items(builder.pipeline)))
    builder.labels["items"].delete(repeat)
    mended = builder.sample()
    assert (mended.known, mended.handed_over) == (True, 1)
    assert "missing in labels.db and now put into it: 1" in mended.as_text()
    assert repeat in builder.items


def test_halves_round_up_whatever_the_binary_fraction():
    assert [repeats_wanted(n, None) for n in (109, 110, 190, 210)] == [5, 6, 10, 11]
    assert repeats_wanted(1000, 0.1) == 100


def test_a_calibration_counts_no_repeat_as_an_item(builder):
    a, b, *_ = builder.rubric.category_ids
    builder.turns(40)
    builder.sample(repeats=0.1)
    repeats = repeated_items(builder.pipeline)
    # People say otherwise of the repeats: it must not reach the comparison with the judge.
    builder.label("script", {i: b if i in repeats else a for i in builder.items})
    builder.judge({i: a for i in sampled_items(builder.pipeline)})
    blind, annotations = without_repeats(
        repeats, builder.items, current_annotations(builder.labels, "v3")
    )
    assert blind.keys() == {said.item_id for said in annotations}
    assert blind.keys() == sampled_items(builder.pipeline).keys()
    found = calibrate_study(builder.pipeline, builder.labels, builder.rubric)
    assert (found.n, found.pairing.items, found.pairing.exclusions) == (40, 40, ())
    assert {pair.reference for pair in found.pairing.pairs} == {a}


@pytest.mark.parametrize("share", ["0.11", "-0.1", "nan"])
def test_shares_out_of_range_are_refused(builder, share):
    builder.turns(5)
    result = run(builder, "sample", "--repeats", share)
    assert result.exit_code == 2
    assert not builder.study.labels.exists()
