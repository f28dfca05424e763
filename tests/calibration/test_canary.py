"""Text of data sets that ask never to be published gets into no export, by whatever way."""

import json
from dataclasses import replace

import pytest
from calibrate_command import failed, run

from generation.canary import canary_items
from generation.item import Message
from generation.store import TurnStore
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.few_shot import choose_shots
from judge.prompts.prompt_template import PACKAGED

SECRET = "Which of these invented enzymes glows in the dark when it is left alone?"
SETTINGS = (("healthbench", {}), ("GPQA_Main", {}), ("named anew", {"canary": True}))


@pytest.fixture
def study(builder):
    """Forty plain items and nine that must not be published, all labelled and judged."""
    turns = []
    for number, (dataset, meta) in enumerate(SETTINGS * 3):
        messages = (Message("user", f"{SECRET} {number}"),)
        conversation = Conversation(dataset, str(number), messages, meta)
        turns.append(Turn(Answer(conversation, "The third."), f"SECRET {number}", "held-out"))
    TurnStore(builder.pipeline).add_turns(Run("import", {}), turns)
    builder.turns(40)
    builder.sample(49, repeats=0)
    builder.label("ann", dict.fromkeys(builder.items, builder.rubric.category_ids[0]))
    return builder


def judged(builder, text: str = ""):
    template = replace(PACKAGED, name="own", version=1, text=f"{text}\n\n{PACKAGED.text}")
    labels = dict.fromkeys(builder.items, builder.rubric.category_ids[0])
    builder.judge(labels, template=template if text else PACKAGED)


def exported(builder, tmp_path):
    return run(builder, "export", "--rubric", "v3", "--output", str(tmp_path / "out"))


def is_secret(item) -> bool:
    return item.turn.startswith("SECRET")


def test_the_rule_is_of_the_data_sets_name_and_of_what_a_conversation_says(study):
    assert canary_items(study.pipeline) == {i.hash for i in study.items.values() if is_secret(i)}


def test_the_same_messages_under_another_name_are_secret_too(study):
    twin = Conversation("mine", "1", (Message("user", f"{SECRET} 0"),))
    turn = Turn(Answer(twin, "Another answer."), "Why?", "held-out")
    TurnStore(study.pipeline).add_turns(Run("import", {"twin": True}), [turn])
    assert turn.item.hash in canary_items(study.pipeline)


def test_anchors_are_of_the_other_items_and_the_rest_is_counted(study, tmp_path):
    judged(study)
    result = exported(study, tmp_path)
    assert result.exit_code == 0, result.output
    assert result.stderr == (
        "9 compared items left out of the anchors, as their data sets ask never to be published "
        "(canary)\n"
    )
    (folder,) = (tmp_path / "out").iterdir()
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    assert not any("SECRET" in text or "enzymes" in text for text in texts.values())
    assert len(texts["anchors.jsonl"].splitlines()) == 40
    manifest = json.loads(texts["manifest.json"])
    assert manifest["left_out_canary"] == 9


def test_a_prompt_that_quotes_one_is_not_exported(study, tmp_path):
    judged(study, f"An example: {SECRET}")
    (line,) = failed(exported(study, tmp_path)).splitlines()
    assert "judge prompt own@1 × rubric v3 quotes healthbench 0, which its authors ask" in line
    assert "take it out: judge prompt edit own --note TEXT" in line
    assert not (tmp_path / "out").exists()


def test_an_earlier_message_and_one_that_nobody_labels_count_too(study, tmp_path):
    asked = "What should one do about a knee that has turned entirely blue overnight?"
    messages = (Message("user", asked), Message("assistant", "Rest."), Message("user", "Sure?"))
    turn = Turn(Answer(Conversation("healthbench", "late", messages), "Yes."), "Ok.", "held-out")
    TurnStore(study.pipeline).add_turns(Run("import", {"n": 1}), [turn])
    judged(study, f"An example: {asked}")
    assert "quotes healthbench late" in failed(exported(study, tmp_path))


def test_what_models_said_to_one_is_free(study, tmp_path):
    asked = Conversation("healthbench", "0", (Message("user", f"{SECRET} 0"),))
    grown = Conversation(
        "healthbench",
        "0",
        (
            *asked.messages,
            Message("assistant", "The third."),
            Message("user", "And what then is that one?"),
        ),
        root=asked.conversation_id,
    )
    turn = Turn(Answer(grown, "It is what it always was."), "Thank you.", "held-out")
    TurnStore(study.pipeline).add_turns(Run("import", {"n": 2}), [turn])
    judged(study, "And what then is that one? It is what it always was.")
    assert exported(study, tmp_path).exit_code == 0


def test_no_example_of_a_prompt_is_one_and_how_many_were_not_taken_is_said(study, caplog):
    shots = choose_shots(study.pipeline, study.labels, study.rubric, 12)
    assert not any(is_secret(shot.item) for shot in shots)
    (said,) = caplog.messages
    number = int(said.split()[0])
    assert 0 < number <= 9
    assert "of the development split not shown, as their data sets ask never to" in said
