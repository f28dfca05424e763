"""Every item ends in one pair or under one reason, and the reasons add up."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from annotator.reference import References
from generation.item import Item, Message
from judge.calibration.pairing import Exclusion, pair_items
from judge.judgment import Judgment, invalid_judgment
from judge.reading import Reading, Verdicts, read

A, B = "genuine_followup", "malformed"


def item(name: str) -> Item:
    return Item((Message("user", name),), "a", "u")


def references(labels=(), ties=(), skips=()) -> References:
    annotations = {name: () for name in labels}
    return References("rule", dict(labels), frozenset(ties), dict(skips), annotations)


def judged(label: str) -> Verdicts:
    return read([Judgment(label, 0, "", "")], Reading.SINGLE)


BLIND = {name: item(name) for name in ("1", "2", "3")}
SAMPLED = {name: found.hash for name, found in BLIND.items()}


def test_pairs_meet_by_the_hash_of_the_text():
    found = pair_items(
        SAMPLED, BLIND, references({"1": A, "2": B, "3": A}),
        {item("3").hash: judged(A), item("1").hash: judged(B), item("2").hash: judged(B)},
    )  # fmt: skip
    assert [(p.item_id, p.reference, p.outcome) for p in found.pairs] == [
        ("1", A, B), ("2", B, B), ("3", A, A),
    ]  # fmt: skip
    assert [p.agrees for p in found.pairs] == [False, True, True]
    assert found.exclusions == ()


def test_an_unreadable_verdict_is_paired_as_an_outcome_of_its_own():
    unreadable = read([invalid_judgment("no label found", raw="?")], Reading.SINGLE)
    verdicts = {item("1").hash: unreadable}
    found = pair_items({"1": SAMPLED["1"]}, {"1": BLIND["1"]}, references({"1": A}), verdicts)
    assert [(p.outcome, p.agrees) for p in found.pairs] == [("invalid", False)]


def test_every_reason_is_counted():
    names = [str(k) for k in range(10)]
    blind = {name: item(name) for name in names}
    sampled = {name: found.hash for name, found in blind.items()}
    del sampled["0"]  # handed over from another study
    sampled["only drawn"] = item("only drawn").hash
    blind["1"] = replace(blind["1"], answer="tampered")
    found = pair_items(
        sampled,
        blind,
        references({"0": A, "1": A, "7": A, "8": A, "9": B}, ties=["2"], skips={"3": "too long"}),
        {item(name).hash: judged(A) for name in "012345689"},
        labelled_elsewhere={"4", "8"},
    )
    assert {(e.reason, e.count) for e in found.exclusions} == {
        ("item not in this pipeline", 1),
        ("drawn but not in labels.db (mend it: calibrate sample)", 1),
        ("text differs from what was sampled", 1),
        ("annotators tie", 1),
        ("skipped: too long", 1),
        ("labelled under another rubric version only", 1),
        ("not labelled yet", 2),
        ("labelled but not judged", 1),
    }
    assert [pair.item_id for pair in found.pairs] == ["8", "9"]
    assert found.items == 11


def test_what_the_judge_was_shown_is_no_test_of_it_whatever_people_say():
    names = [str(k) for k in range(6)]
    blind = {name: item(name) for name in names}
    sampled = {name: found.hash for name, found in blind.items()}
    blind["5"] = replace(blind["5"], answer="tampered")
    found = pair_items(
        sampled, blind, references({"0": A, "1": A, "5": A}, ties=["2"], skips={"3": "why"}),
        {item(name).hash: judged(A) for name in "025"},
        shown={found.hash for name, found in blind.items() if name != "0"} | {sampled["5"]},
    )  # fmt: skip
    assert [pair.item_id for pair in found.pairs] == ["0"]
    assert found.exclusions == (
        Exclusion("shown to the judge as an example", 4),
        Exclusion("text differs from what was sampled", 1),
    )


def test_reasons_are_in_order_of_their_number():
    found = pair_items(SAMPLED, BLIND, references(ties=["1"]), {})
    assert found.exclusions == (
        Exclusion("not labelled yet", 2),
        Exclusion("annotators tie", 1),
    )


ids = st.sets(st.sampled_from("abcdefgh"))


@given(
    sampled=ids, blind=ids, labels=ids, ties=ids, skips=ids, verdicts=ids, elsewhere=ids, shown=ids
)
def test_sums_always_add_up(sampled, blind, labels, ties, skips, verdicts, elsewhere, shown):
    found = pair_items(
        {name: item(name).hash for name in sampled},
        {name: item(name) for name in blind},
        references({n: A for n in labels - ties}, ties, {n: "why" for n in skips - labels - ties}),
        {item(name).hash: judged(A) for name in verdicts},
        elsewhere,
        shown={item(name).hash for name in shown},
    )
    assert found.items == len(sampled | blind)
    assert {pair.item_id for pair in found.pairs} <= (sampled & blind & labels & verdicts) - shown
