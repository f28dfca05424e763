"""The frozen split: labels halved alike, shown queries in dev, never another once frozen."""

import json
from collections import Counter

import pytest
from calibrate_command import failed, run
from hash_halves import split_of
from hypothesis import given
from hypothesis import strategies as st

from generation.item import Item, Message
from generation.store import TurnStore
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.few_shot import choose_shots
from judge.calibration.leak import refuse_leak
from judge.calibration.sampling.repeats import repeated_items
from judge.calibration.splits.frozen_split import (
    assign,
    freeze_split,
    frozen_split,
    part_of,
    strata_of_queries,
)
from judge.calibration.splits.opening import openings, record_opening
from judge.calibration.splits.shown import shown_queries
from judge.calibration.splits.split import query_hash, split_by_hash
from judge.calibration.splits.study_split import split_study
from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import PACKAGED, PromptTemplate, Shot
from judge.prompts.template_store import TemplateStore
from rubrics import InputError, fingerprint, load_rubric

INTENT = "to test what is written here"
queries = st.integers(0, 60).map(lambda i: fingerprint({"q": i}))


def item(query: str, turn: str = "Why?") -> Item:
    return Item((Message("user", query),), "4", turn)


def halves(strata: dict[str, str], parts: dict[str, str]) -> dict[str, Counter]:
    found: dict[str, Counter] = {}
    for query, stratum in strata.items():
        found.setdefault(stratum, Counter())[parts[query]] += 1
    return found


@given(st.dictionaries(queries, st.sampled_from("abc")))
def test_every_stratum_is_halved(strata):
    parts = assign(strata)
    assert parts.keys() == strata.keys()
    for counts in halves(strata, parts).values():
        assert abs(counts["dev"] - counts["test"]) <= 1
    assert assign(dict(reversed(strata.items()))) == parts


@given(st.dictionaries(queries, st.sampled_from("abc")), st.sets(queries))
def test_what_a_judge_was_shown_is_in_dev_and_counts_towards_its_half(strata, shown):
    parts = assign(strata, shown)
    assert {parts[query] for query in shown & strata.keys()} <= {"dev"}
    for stratum, counts in halves(strata, parts).items():
        forced = sum(strata[query] == stratum for query in shown & strata.keys())
        assert counts["test"] <= counts["dev"] + 1
        assert counts["dev"] <= max(forced, counts["test"] + 1)


def test_the_odd_one_goes_either_way():
    """Else every small stratum would give the same half one query more."""
    alone = [assign({fingerprint({"q": i}): "a"}) for i in range(400)]
    parts = Counter(part for of in alone for part in of.values())
    assert abs(parts["dev"] - 200) < 4 * 10
    threes = [assign({fingerprint({"q": (i, j)}): "a" for j in range(3)}) for i in range(400)]
    larger = sum(list(of.values()).count("dev") == 2 for of in threes)
    assert abs(larger - 200) < 4 * 10


def test_the_halves_do_not_follow_the_hash_rule():
    strata = {fingerprint({"q": i}): "a" for i in range(1000)}
    parts = assign(strata)
    same = sum(parts[query] == split_by_hash(query) for query in strata)
    assert abs(same - 500) < 4 * 16


def test_a_query_is_in_the_stratum_of_its_rarest_label():
    common, rare = "common", "rare"
    items = [(item("one"), common), (item("ONE ", "How?"), rare), (item("two"), common)]
    assert strata_of_queries(items) == {
        query_hash(item("one")): rare,
        query_hash(item("two")): common,
    }
    # Of equally rare labels the first by name.
    tied = [(item("one"), "b"), (item("one", "How?"), "a")]
    assert set(strata_of_queries(tied).values()) == {"a"}


def add(builder, *items: Item) -> None:
    turns = [
        Turn(Answer(Conversation("test", "1", i.messages), i.answer), i.turn, "held-out")
        for i in items
    ]
    TurnStore(builder.pipeline).add_turns(Run("import", {"n": len(items)}), turns)


@pytest.fixture
def labelled(builder):
    """Thirty items of as many queries, labelled by a script in turn with three categories."""
    builder.turns(30)
    builder.sample()
    ids = builder.rubric.category_ids[:3]
    builder.label("script", {i: ids[n % 3] for n, i in enumerate(builder.items)})
    return builder


def frozen(builder, version: str | None = None):
    return split_study(builder.pipeline, builder.labels, version).frozen


def test_a_study_is_split_once_and_for_all(labelled):
    first = frozen(labelled)
    assert [(h.stratum, h.dev, h.test) for h in first.halves] == [
        (label, 5, 5) for label in sorted(labelled.rubric.category_ids[:3])
    ]
    assert first.split_hash == fingerprint(dict(sorted(first.parts.items())))
    assert (first.size("dev"), first.size("test")) == (15, 15)
    other = labelled.rubric.category_ids[4]
    labelled.label("script", dict.fromkeys(labelled.items, other))
    assert frozen(labelled) == first == frozen_split(labelled.pipeline)
    given_ = {"x": (item("new"), "a")}
    assert freeze_split(labelled.pipeline, given_, "v1", "another rule") == first


def test_the_same_labels_give_the_same_split_in_any_study(labelled, tmp_path):
    again = type(labelled)(type(labelled.study)(tmp_path / "again"))
    again.turns(30)
    again.sample(seed=77)
    by_turn = {
        labelled.items[row["item_id"]].turn: row["category"]
        for row in labelled.labels["events"].rows
    }
    again.label("somebody", {i: by_turn[of.turn] for i, of in again.items.items()})
    assert frozen(again).split_hash == frozen(labelled).split_hash


def test_one_way_of_asking_for_an_items_half(labelled):
    split = frozen(labelled)
    moved = [of for of in labelled.items.values() if part_of(of, split) != split_of(of)]
    assert moved
    for of in labelled.items.values():
        assert part_of(of, None) == split_of(of)
        assert part_of(of, split) == split.parts[query_hash(of)]
        assert split.holds(of)
        # Another item of the same query is in the same half.
        assert part_of(Item(of.messages, "other", "else"), split) == part_of(of, split)
    for i in range(20):
        late = item(f"asked later, {i}")
        assert part_of(late, split) == split_of(late)
        assert not split.holds(late)


def test_nothing_labelled_is_nothing_to_split(builder):
    builder.turns(5)
    builder.sample()
    with pytest.raises(InputError, match="no item has a reference label under rubric v3"):
        frozen(builder)
    assert frozen_split(builder.pipeline) is None


def test_shots_come_from_the_frozen_dev_half(labelled):
    split = frozen(labelled)
    shots = choose_shots(labelled.pipeline, labelled.labels, labelled.rubric, 15)
    assert {query_hash(shot.item) for shot in shots} == {
        query for query, part in split.parts.items() if part == "dev"
    }
    with pytest.raises(InputError, match="there are 15 items of the development split"):
        choose_shots(labelled.pipeline, labelled.labels, labelled.rubric, 16)


def long_item(n: int) -> Item:
    return item(f"In case {n} how many clips did friend {n} sell in April {n} and in May {n}?")


@pytest.fixture
def quotable(builder):
    """Twenty items of long queries, labelled by a script."""
    add(builder, *map(long_item, range(20)))
    builder.sample()
    builder.label("script", dict.fromkeys(builder.items, builder.rubric.category_ids[0]))
    return builder


def quoting(of: Item):
    text = f"{{% raw %}}{of.messages[-1].content}{{% endraw %}}\n\n{PACKAGED.text}"
    return PromptTemplate("strict", 1, text, note="n")


def test_no_prompt_may_quote_what_is_test_by_the_frozen_split(quotable):
    split = frozen(quotable)
    moved = {
        part_of(of, split): of
        for of in quotable.items.values()
        if part_of(of, split) != split_of(of)
    }
    assert moved.keys() == {"dev", "test"}
    rubric = load_rubric("v3")
    refuse_leak(quotable.pipeline, render_prompt(rubric, quoting(moved["dev"])))
    with pytest.raises(InputError, match="which is of the test split"):
        refuse_leak(quotable.pipeline, render_prompt(rubric, quoting(moved["test"])))


@pytest.mark.parametrize("how", ["template", "shot", "judge"])
def test_what_a_prompt_shows_is_forced_to_dev(quotable, how):
    a, *_ = quotable.rubric.category_ids
    shown = list(quotable.items.values())[:12]
    store = TemplateStore(quotable.pipeline)
    for n, of in enumerate(shown):
        if how == "template":
            store.put(PromptTemplate(f"t{n}", 1, quoting(of).text, note="n"))
        elif how == "shot":
            store.put(PromptTemplate(f"t{n}", 1, PACKAGED.text, (Shot(of, a, None, "v3"),), "n"))
        else:
            quotable.judge({}, template=quoting(of), model=f"m{n}")
    forced = {query_hash(of) for of in shown}
    assert shown_queries(quotable.pipeline) == forced
    split = frozen(quotable)
    assert {split.parts[query] for query in forced} == {"dev"}
    assert (split.size("dev"), split.size("test")) == (12, 8)


def test_a_short_item_shown_as_an_example_is_forced_too(labelled):
    of = next(iter(labelled.items.values()))
    a, *_ = labelled.rubric.category_ids
    template = PromptTemplate("t", 1, PACKAGED.text, (Shot(of, a, None, "v3"),), "n")
    TemplateStore(labelled.pipeline).put(template)
    assert shown_queries(labelled.pipeline) == {query_hash(of)}


def test_repeats_are_not_split_as_items_of_their_own(builder):
    a, b, *_ = builder.rubric.category_ids
    builder.turns(30)
    builder.sample(repeats=0.1)
    repeats = repeated_items(builder.pipeline)
    builder.label("script", {i: b if i in repeats else a for i in builder.items})
    found = split_study(builder.pipeline, builder.labels, None)
    assert (found.items, found.labelled) == (30, 30)
    assert {h.stratum for h in found.frozen.halves} == {a}


def test_openings_are_numbered_in_all_and_by_judge(labelled):
    split = frozen(labelled)
    one, other = (labelled.judge({}, model=model) for model in ("one", "other"))
    assert openings(labelled.pipeline) == ()
    made = [
        record_opening(labelled.pipeline, split, judge, "v3", INTENT) for judge in (one, other, one)
    ]
    assert [(o.number, o.of_this_judge, o.judge_id) for o in made] == [
        (1, 1, one),
        (2, 1, other),
        (3, 2, one),
    ]
    assert openings(labelled.pipeline) == tuple(made)
    assert {(o.split_hash, o.intent) for o in made} == {(split.split_hash, INTENT)}


@pytest.mark.parametrize("intent", ["", "two words", "x" * 600, "a b \x1b[31m"])
def test_an_opening_without_a_sentence_of_intent_is_refused(labelled, intent):
    judge = labelled.judge({})
    with pytest.raises(InputError, match=r"says too little|cannot be printed"):
        record_opening(labelled.pipeline, frozen(labelled), judge, "v3", intent)
    assert openings(labelled.pipeline) == ()


def test_the_command_freezes_and_shows(labelled):
    first = run(labelled, "split", "--rubric", "v3")
    assert first.exit_code == 0, first.output
    split = frozen_split(labelled.pipeline)
    text = " ".join(first.stdout.split())
    assert split.split_hash in text
    for label in labelled.rubric.category_ids[:3]:
        assert f"{label} 5 5" in text
    assert "all 15 15" in text
    assert "30 of 30 sampled items have a reference label under rubric v3 now" in text
    assert "the test half was opened never" in text
    assert "reports printed before the split was frozen covered all items" in text
    assert run(labelled, "split").stdout == first.stdout
    record_opening(labelled.pipeline, split, labelled.judge({}), "v3", INTENT)
    assert "opened once" in run(labelled, "split").stdout


def test_labels_after_the_freeze_are_counted(builder):
    builder.turns(30)
    builder.sample()
    a, *_ = builder.rubric.category_ids
    first, later = list(builder.items)[:20], list(builder.items)[20:27]
    builder.label("script", dict.fromkeys(first, a))
    frozen(builder)
    builder.label("script", dict.fromkeys(later, a))
    found = json.loads(run(builder, "split", "--json").stdout)
    assert found["queries"] == {"dev": 10, "test": 10}
    assert found["labels_now"] == {
        "rubric": "v3",
        "items": 30,
        "labelled": 27,
        "queries_labelled_after_the_freeze": 7,
    }
    assert found["test_openings"] == []
    assert found["split_hash"] == frozen_split(builder.pipeline).split_hash


def test_the_command_refuses_a_study_without_labels(builder):
    builder.turns(3)
    builder.sample()
    assert "label some: annotate --rubric v2" in failed(run(builder, "split", "--rubric", "v2"))
