"""A sample that is extended: what would have been drawn at once, or nothing."""

import pytest
from sqlite_utils import Database

from generation.migrations import generation_migrations
from judge.calibration.sampling.sample import draw_sample, sampled_items, stored_sample
from judge.calibration.sampling.strata import parse_features
from judge.migrations import judge_migrations
from judge.store import open_pipeline
from rubrics import InputError


@pytest.fixture
def anew(tmp_path, builder):
    """Another study of the same turns."""
    return type(builder)(type(builder.study)(tmp_path / "anew"))


def design(builder) -> list[tuple]:
    columns = "item_id, item_hash, stratum, multiplicity, inclusion_probability"
    return builder.pipeline.execute(
        f"SELECT {columns} FROM sample_items ORDER BY item_id"
    ).fetchall()


def test_an_extended_sample_is_the_one_that_would_have_been_drawn_at_once(builder, anew):
    for study in (builder, anew):
        study.turns(40)
    first = builder.sample(10, seed=3)
    before = builder.items
    extended = builder.sample(25)
    at_once = anew.sample(25, seed=3)
    assert (first.before, extended.before, extended.handed_over) == (0, 10, 15)
    assert not extended.known
    assert extended.sample == at_once.sample != first.sample
    assert design(builder) == design(anew)
    assert builder.items == anew.items
    assert before.items() <= builder.items.items()
    assert {row["inclusion_probability"] for row in builder.pipeline["sample_items"].rows} == {
        25 / 40
    }
    assert builder.pipeline["samples"].count == builder.pipeline["sample_strata"].count == 1
    assert extended.as_text() == ("sample extended from 10 items: 25 of 40 distinct items, seed 3")
    assert builder.sample().known


def test_a_stratified_sample_is_extended_within_its_strata(builder, anew):
    for study in (builder, anew):
        study.turns(30)
        study.pipeline.execute("UPDATE turns SET model = 'b'")
        study.turns(9, "Other {}?")
    by = parse_features("model")
    builder.sample(10, by=by)
    builder.sample(20)
    anew.sample(20, by=by)
    assert design(builder) == design(anew)
    drawn = {s.name: (s.drawn, s.population) for s in stored_sample(builder.pipeline).strata}
    assert drawn == {"model=b": (11, 30), "model=unknown": (9, 9)}


def test_items_that_came_since_forbid_it(builder):
    """They had no chance in the first draw, so all together would have unequal ones."""
    builder.turns(20)
    builder.sample(10)
    builder.turns(5, "Later {}?")
    before = design(builder)
    with pytest.raises(InputError, match="cannot be extended: 5 items came since it was drawn"):
        builder.sample(15)
    assert design(builder) == before
    assert builder.sample(10).known


def test_strata_that_changed_since_forbid_it(builder):
    """Judged after the draw, the sampled items are no longer of the stratum of the unjudged."""
    builder.turns(30)
    builder.sample(4)
    items = sorted(builder.items)
    builder.judge({i: builder.rubric.category_ids[0] for i in items})
    builder.pipeline.execute("DELETE FROM sample_items")
    builder.pipeline.execute("DELETE FROM sample_strata")
    builder.pipeline.execute("DELETE FROM samples")
    builder.sample(10, by=parse_features("label"))
    others = [i for i in sorted(builder.items) if i not in items][:3]
    builder.judge({i: builder.rubric.category_ids[1] for i in others})
    before = design(builder)
    with pytest.raises(InputError, match="its strata by label are not what they were"):
        builder.sample(20)
    assert design(builder) == before


@pytest.mark.parametrize("sampled_too", [False, True])
def test_strata_that_other_items_left_forbid_it(builder, sampled_too):
    """Even where all items are drawn: the chances of the first draw were of other strata."""
    builder.turns(12)
    builder.pipeline.execute("UPDATE turns SET model = iif(rowid % 2, 'a', 'b')")
    builder.sample(6, by=parse_features("model"))
    builder.pipeline.execute(
        """UPDATE turns SET model = 'b' WHERE item_hash = (
               SELECT min(item_hash) FROM turns
               WHERE model = 'a' AND item_hash NOT IN (SELECT item_hash FROM sample_items))"""
    )
    if sampled_too:  # then the strata are as large as they were
        builder.pipeline.execute(
            """UPDATE turns SET model = 'a' WHERE item_hash = (
                   SELECT min(item_hash) FROM sample_items WHERE stratum = 'model=b')"""
        )
    with pytest.raises(InputError, match="its strata by model are not what they were"):
        builder.sample(12)


def test_more_than_there_are_is_refused(builder):
    builder.turns(20)
    builder.sample(10)
    with pytest.raises(InputError, match="cannot draw 21 of 20 distinct items"):
        builder.sample(21)
    assert len(sampled_items(builder.pipeline)) == 10


@pytest.mark.parametrize("by", ["model", "model,label"])
def test_another_design_is_refused(builder, by):
    builder.turns(20)
    builder.sample(10)
    with pytest.raises(InputError, match="is drawn already and cannot be changed but by a larger"):
        builder.sample(15, by=parse_features(by))


def test_a_stratified_sample_stays_stratified_with_the_design_unsaid(builder):
    builder.turns(20)
    by = parse_features("dataset")
    builder.sample(10, by=by)
    for again in (builder.sample(), builder.sample(by=by), builder.sample(10)):
        assert again.known
        assert again.sample.strata_of == ("dataset",)
    with pytest.raises(InputError, match="a sample of 10 items stratified by dataset with seed"):
        builder.sample(by=parse_features("model"))


def test_a_sample_of_the_earlier_schema_stands_and_can_be_extended(builder, anew, tmp_path):
    """It had neither strata nor multiplicities, and no repeats."""
    for study in (builder, anew):
        study.turns(30)
    builder.sample(10)
    old = Database(str(tmp_path / "old.db"), strict=True)
    generation_migrations.apply(old)
    judge_migrations.apply(old, stop_before="m003_designs_and_splits")
    old.conn.execute("ATTACH ? AS new", [str(builder.study.pipeline)])
    for table in ("runs", "conversations", "answers", "turns", "run_turns"):
        old.conn.execute(f"INSERT INTO {table} SELECT * FROM new.{table}")
    old.conn.execute(
        """INSERT INTO samples
           SELECT sample_id, method, seed, drawn, population, drawn_at FROM new.samples"""
    )
    old.conn.execute(
        """INSERT INTO sample_items
           SELECT item_id, sample_id, item_hash, inclusion_probability FROM new.sample_items"""
    )
    old.conn.commit()
    old.close()
    with open_pipeline(tmp_path / "old.db") as migrated:
        first = draw_sample(migrated, builder.labels)
        assert (first.known, first.handed_over, first.sample.repeats) == (True, 0, 0)
        extended = draw_sample(migrated, builder.labels, n=25)
    assert extended.sample == anew.sample(25).sample
