"""The bundled example: complete, unchanged, attributed, and made by the rules it states."""

import json
from collections import Counter
from importlib import resources

import pytest

from generation import example_bundle
from generation.example_build import (
    ALSO_AT_ONE,
    CONVERSATIONS,
    HELD_OUT,
    LICENCES,
    MAX_HELD_OUT_CHARACTERS,
    TEMPERATURES,
    choose_held_out,
)
from generation.example_bundle import load_example
from generation.turn import Answer, Conversation, Turn
from generation.turn_record import record_from_turn, turn_from_record
from rubrics import InputError

FOLDER = resources.files("generation") / "example"


@pytest.fixture(scope="module")
def turns() -> list[Turn]:
    return [turn for _, rows in load_example() for turn in rows]


def test_counts_are_those_of_its_rules(turns):
    asked = sum(CONVERSATIONS.values())
    at_one = ALSO_AT_ONE * len(CONVERSATIONS)
    expected = dict.fromkeys(TEMPERATURES, asked) | {1.0: at_one, None: HELD_OUT}
    assert Counter(turn.temperature for turn in turns) == expected
    datasets = Counter(t.answer.conversation.dataset for t in turns if t.temperature == 0)
    assert datasets == CONVERSATIONS


def test_generated_turns_keep_all_that_a_reader_needs(turns):
    for turn in turns:
        if turn.setting == "held-out":
            assert (turn.model, turn.token_ids, turn.answer.model) == (None, None, None)
            continue
        assert turn.token_ids
        assert turn.prompt_token_hash
        assert turn.context_mode == "history"
        assert turn.finish_reason in {"stop", "length"}
        assert (turn.finish_reason == "stop") == turn.text_raw.endswith("<|im_end|>")
        assert (turn.seed is None) == (turn.temperature == 0)


def test_held_out_turns_are_short(turns):
    for turn in turns:
        if turn.setting == "held-out":
            texts = [*(m.content for m in turn.item.messages), turn.item.answer, turn.item.turn]
            assert sum(map(len, texts)) <= MAX_HELD_OUT_CHARACTERS


def test_choice_is_one_per_tree_and_follows_from_the_seed():
    def turn(tree, text):
        conversation = Conversation("open_assistant", text, (), {"tree": tree})
        return Turn(Answer(conversation, ""), text, "held-out")

    rows = [turn(tree, f"{tree}{n}") for tree in "abc" for n in range(4)]
    rows.append(turn("d", "x" * (MAX_HELD_OUT_CHARACTERS + 1)))
    chosen = choose_held_out(rows)
    assert sorted(t.answer.conversation.meta["tree"] for t in chosen) == ["a", "b", "c"]
    assert choose_held_out(reversed(rows)) == chosen


def test_changed_line_is_refused(turns):
    record = json.loads(json.dumps(record_from_turn(turns[0])))
    assert turn_from_record(record, "here") == turns[0]
    record["turn"]["text"] += "!"
    with pytest.raises(InputError, match="here: the turn does not match its turn_id"):
        turn_from_record(record, "here")


def test_incomplete_installation_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(example_bundle.resources, "files", lambda _: tmp_path)
    with pytest.raises(InputError, match=r"provenance\.json is missing\); install"):
        load_example()


def test_licences_and_sources_are_there():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in LICENCES:
        assert f"licences/{name}.LICENSE" in readme
        assert "License" in (FOLDER / "licences" / f"{name}.LICENSE").read_text(encoding="utf-8")


def test_provenance_names_no_path_of_a_machine():
    provenance = json.loads((FOLDER / "provenance.json").read_text(encoding="utf-8"))
    assert set(provenance) == {"sweep", "sweep_to_one", "held_out"}
    assert provenance["sweep"]["model"]["name"] == "SmolLM2-135M-Instruct"
    for name in ("provenance.json", "triples.jsonl", "held_out.jsonl"):
        text = (FOLDER / name).read_text(encoding="utf-8")
        assert "/root" not in text
        assert "canary" not in text.lower()
