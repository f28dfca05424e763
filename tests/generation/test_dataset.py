"""A data set as the probe sees it: seeded choices, and what a user of its numbers should hear."""

from generation.datasets.dataset import Dataset, Rows
from generation.item import Message
from generation.turn import Answer, Conversation


def dataset(count=0, answers=0, **more):
    asked = [Conversation("set", f"{n}", (Message("user", f"{n}?"),)) for n in range(20)]
    rows = Rows(tuple(asked[:count]), tuple(Answer(c, "Yes.") for c in asked[:answers]),
                more.pop("left_out", {}))  # fmt: skip
    return Dataset("set", "set.jsonl", "sha256:0", rows, "MIT", **more)


def test_a_choice_is_seeded_and_nested():
    chosen = dataset(20, 20).conversations
    assert chosen(9, seed=0)[:4] == chosen(4, seed=0)
    assert chosen(9, seed=0) != chosen(9, seed=1)
    assert len(chosen(None, seed=0)) == 20
    answered = dataset(20, 20).held_out
    assert answered(9, seed=0)[:4] == answered(4, seed=0)


def test_a_count_that_differs_is_said_with_what_is_known_of_it():
    found = dataset(2, 1, expected={"self-generated": 2, "held-out": 5},
                    remarks={"held-out": "how they were picked is not known"})  # fmt: skip
    assert found.surprises("self-generated") == []
    assert found.surprises("held-out") == [
        "set (set.jsonl) has 1 rows; expected 5 (how they were picked is not known)",
        "set: 1 rows have nothing for the held-out setting",
    ]


def test_rows_left_out_are_said_and_recorded():
    found = dataset(1, left_out={"an empty answer": 3})
    assert found.surprises("self-generated") == ["set: 3 rows left out: an empty answer"]
    assert found.provenance()["left_out"] == {"an empty answer": 3}
