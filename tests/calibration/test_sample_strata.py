"""Stratified samples: one stratum for each item, equal shares, chances kept."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.item import Message
from generation.store import TurnStore
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.report.wording import sample_text
from judge.calibration.sampling.allocation import allocate
from judge.calibration.sampling.sample import choose, sampled_items, stored_sample
from judge.calibration.sampling.strata import Feature, parse_features, strata
from judge.calibration.sampling.weights import design_weights
from rubrics import InputError

sizes = st.dictionaries(st.text(max_size=3), st.integers(1, 30), min_size=1, max_size=8)


@given(sizes, st.data())
def test_shares_are_equal_but_for_caps_and_one_item(sizes, data):
    n = data.draw(st.integers(0, sum(sizes.values())))
    given_ = allocate(sizes, n)
    assert sum(given_.values()) == n
    assert all(0 <= given_[name] <= sizes[name] for name in sizes)
    uncapped = [given_[name] for name in sizes if given_[name] < sizes[name]]
    if uncapped:
        assert max(given_.values()) - min(uncapped) <= 1
    if n >= len(sizes):
        assert min(given_.values()) >= 1


@given(sizes, st.data())
def test_one_item_more_takes_none_from_a_stratum(sizes, data):
    n = data.draw(st.integers(0, sum(sizes.values()) - 1))
    fewer, more = allocate(sizes, n), allocate(sizes, n + 1)
    assert all(fewer[name] <= more[name] for name in sizes)
    reordered = dict(sorted(sizes.items(), reverse=True))
    assert allocate(reordered, n) == fewer


def add(builder, *turns: tuple[str, str | None, str, float | None, str]) -> None:
    """Turns of (text, model, data set, temperature, perturbation), after one question."""
    made = []
    for text, model, dataset, temperature, perturbation in turns:
        answer = Answer(Conversation(dataset, "1", (Message("user", "2 + 2?"),)), "4")
        made.append(
            Turn(
                answer,
                text,
                "self-generated",
                model=model,
                temperature=temperature,
                perturbation=perturbation,
            )
        )
    TurnStore(builder.pipeline).add_turns(Run("probe", {"turns": turns}), made)


def by_text(builder, features: str) -> dict[str, str]:
    items = dict(TurnStore(builder.pipeline).items())
    found = strata(builder.pipeline, parse_features(features))
    assert found.keys() == items.keys()
    return {items[item_hash].turn: stratum for item_hash, stratum in found.items()}


def test_an_item_is_in_one_stratum_whatever_turns_read_like_it(builder):
    add(
        builder,
        ("Why?", "m2", "webshop", 0.7, "none"),
        ("Why?", "m1", "webshop", 0.0, "none"),
        ("Why?", "m1", "webshop", 0.7, "typos"),
        ("How?", None, "arc", None, "none"),
    )
    everything = "model,dataset,temperature,perturbation"
    assert by_text(builder, everything) == {
        "Why?": "model=m1+m2, dataset=webshop, temperature=0+0.7, perturbation=none+typos",
        "How?": "model=unknown, dataset=arc, temperature=unknown, perturbation=none",
    }
    builder.sample(2)
    rows = {row["multiplicity"] for row in builder.pipeline["sample_items"].rows}
    assert rows == {1, 3}


def test_labels_and_disagreements_of_the_newest_judge_make_strata(builder):
    a, b, *_ = builder.rubric.category_ids
    builder.turns(7)
    builder.sample()
    items = builder.items
    said = {i: items[i].turn for i in items}
    one, two, three, four, five, six, _unjudged = items
    builder.judge({one: b, two: b, six: b}, model="older")
    builder.judge_runs(
        {
            one: [a, b, b],
            two: [b, b, b],
            three: [None, None, None],
            four: [a, None, a],
            five: [a, a, a],
            six: [a, a, a],
        },
        model="newer",
    )
    labels = by_text(builder, "label")
    assert [labels[said[i]] for i in items] == [
        f"label={label}" for label in (b, b, "unreadable", a, a, a, "unjudged")
    ]
    differ = by_text(builder, "disagreement")
    assert [differ[said[i]] for i in items] == [
        f"disagreement={answer}" for answer in ("yes", "no", "no", "yes", "no", "yes", "unjudged")
    ]


@pytest.mark.parametrize("feature", ["label", "disagreement"])
def test_strata_of_judgments_need_a_judge(builder, feature):
    builder.turns(5)
    with pytest.raises(InputError, match="nothing is judged under rubric v3 yet; run: judge"):
        builder.sample(by=parse_features(feature))
    assert stored_sample(builder.pipeline) is None


@pytest.mark.parametrize("wrong", ["", "models", "model,,label", "model;label"])
def test_unknown_features_are_refused_with_those_there_are(wrong):
    with pytest.raises(InputError, match="expected some of model, dataset, temperature"):
        parse_features(wrong)


@pytest.fixture
def two_models(builder):
    """Thirty items of one model and six of another."""
    builder.turns(30)
    builder.pipeline.execute("UPDATE turns SET model = 'large'")
    builder.turns(6, "Other {}?")
    builder.pipeline.execute("UPDATE turns SET model = 'small' WHERE model IS NULL")
    return builder


def test_chances_are_kept_and_weights_undo_them(two_models):
    sample = two_models.sample(16, by=(Feature.MODEL,)).sample
    assert [(s.name, s.drawn, s.population) for s in sample.strata] == [
        ("model=large", 10, 30),
        ("model=small", 6, 6),
    ]
    rows = list(two_models.pipeline["sample_items"].rows)
    assert {(r["stratum"], r["inclusion_probability"]) for r in rows} == {
        ("model=large", 10 / 30),
        ("model=small", 1.0),
    }
    ids = [row["item_id"] for row in rows]
    weights = design_weights(two_models.pipeline).of(ids)
    assert weights.mean() == pytest.approx(1)
    large = np.array([row["stratum"] == "model=large" for row in rows])
    assert weights[large].sum() / weights.sum() == pytest.approx(30 / 36)
    assert sample.inclusion_probability is None


def test_a_simple_random_sample_has_no_weights(two_models):
    two_models.sample(16)
    design = design_weights(two_models.pipeline)
    assert design.of(list(sampled_items(two_models.pipeline))) is None
    assert design.equal


def test_a_stratified_sample_says_so(two_models):
    drawing = two_models.sample(16, by=(Feature.MODEL,))
    what = "stratified by model (2 strata, chances 0.333 to 1)"
    assert drawing.as_text() == (
        f"sample drawn at random: 16 of 36 distinct items, {what}, seed 20260402"
    )
    assert sample_text(drawing.sample) == f"16 of 36 distinct items, {what}, seed 20260402"
    assert asdict(stored_sample(two_models.pipeline)) == asdict(drawing.sample)


def test_a_stratum_with_a_single_item_drawn_is_a_caveat(two_models):
    drawing = two_models.sample(3, by=(Feature.MODEL,))
    assert drawing.sample.strata[1].drawn == 1
    said = "strata of several items with a single one drawn: 1; their spread is unknown"
    assert said in drawing.as_text()


def test_fewer_items_than_strata_are_refused(two_models):
    with pytest.raises(InputError, match=r"1 item cannot come from each of 2 strata; .*--n 2"):
        two_models.sample(1, by=(Feature.MODEL,))
    assert stored_sample(two_models.pipeline) is None


def test_every_item_of_a_stratum_is_equally_likely(two_models):
    """The simple random sample of the whole has the same items first, stratum by stratum."""
    two_models.sample(16, by=(Feature.MODEL,), seed=9)
    stratified = set(sampled_items(two_models.pipeline).values())
    frame = strata(two_models.pipeline, (Feature.MODEL,))
    large = [item_hash for item_hash, stratum in frame.items() if stratum == "model=large"]
    assert set(choose(large, 10, 9)) == stratified & set(large)
