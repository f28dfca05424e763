"""What a completion is read as: answer, thinking, ends, flags."""

from dataclasses import replace

import chat_templates as families
import pytest
from byte_model import write_folder

from generation.chat.chat_model import load_chat_model
from generation.chat.context import question_prompt
from generation.chat.reading import read_answer, read_turn
from generation.chat.thinking import MARKS, answer_marks_stripped, parts_of
from generation.engines.engine import Completion
from generation.item import Message

# family, the completion with what ended it, its visible answer, its thinking
ANSWERS = [
    ("QWEN25", "4.<|im_end|>", "4.", None),
    ("QWEN3", "<think>\nAdd.\n</think>\n\n4.<|im_end|>", "4.", "Add."),
    ("QWEN3", "4.<|im_end|>", "4.", None),
    ("QWEN35", "Add.\n</think>\n\n4.<|im_end|>", "4.", "Add."),
    ("QWEN35", "<think>Add.\n</think>\n\n4.<|im_end|>", "4.", "Add."),
    ("QWEN3", "<think>a</think>b<think>c</think>4.<|im_end|>", "4.", "a</think>b<think>c"),
    ("DEEPSEEK", "Add.\n</think>\n\n4.<｜end▁of▁sentence｜>", "4.", "Add."),
    ("GLM47", "Add.</think>4.<|user|>", "4.", "Add."),
    (
        "HARMONY",
        "<|channel|>analysis<|message|>Add.<|end|><|start|>assistant<|channel|>final<|message|>4."
        "<|return|>",
        "4.",
        "Add.",
    ),
    ("HARMONY", "<|channel|>final<|message|>4.<|return|>", "4.", None),
    (
        "MUSE",
        " to=self<|message|>Add.<|eom|><|start|>assistant to=user<|message|>4.<|eot|>",
        "4.",
        "Add.",
    ),
    ("MAGISTRAL", "[THINK]Add.[/THINK]4.</s>", "4.", "Add."),
    (
        "COMMAND_R",
        "<|START_THINKING|>Add.<|END_THINKING|><|START_RESPONSE|>4.<|END_RESPONSE|>",
        "4.",
        "Add.",
    ),
    ("COMMAND_R", "<|START_RESPONSE|>4.<|END_RESPONSE|>", "4.", None),
    ("SEED", "<seed:think>Add.</seed:think>4.<seed:eos>", "4.", "Add."),
    ("GEMMA4", "<|channel>thought\nAdd.<channel|>4.<turn|>", "4.", "Add."),
    ("GRANITE", "<think>Add.</think>\n<response>4.</response><|end_of_text|>", "4.", "Add."),
    ("PHI4", "  4. <|im_end|>", "  4. ", None),
]


def completion(family, text, reason="stop", stop=None):
    ids = tuple(family.encode(text))
    return Completion(ids, reason, stop or (ids[-1] if reason == "stop" else None))


@pytest.mark.parametrize(("name", "raw", "text", "thinking"), ANSWERS)
def test_thinking_is_taken_out_of_an_answer(name, raw, text, thinking):
    family = getattr(families, name)
    reading = read_answer(family.model(), completion(family, raw))
    assert (reading.text, reading.thinking, reading.unusable) == (text, thinking, None)
    assert reading.text_raw == raw
    assert reading.stop_token_id == family.encode(raw)[-1]


@pytest.mark.parametrize("marks", MARKS, ids=lambda marks: marks.opens)
def test_every_known_pair_of_marks_is_taken_out(marks):
    raw = f"{marks.opens}\nAdd.{marks.closes}{marks.answer_opens}4.{marks.answer_closes}"
    parts = parts_of(raw, MARKS, None)
    (thinking,) = parts.thinking
    assert raw[thinking.start : thinking.end] == "\nAdd."
    assert answer_marks_stripped(raw[parts.answer.start :], MARKS) == "4."


def test_text_around_a_split_is_whole_where_characters_are_several_tokens(tmp_path):
    """Thinking and answer in bytes as tokens, and a closing mark that is none of one token."""
    family = replace(families.QWEN3, unflagged=())
    write_folder(tmp_path, family)
    model = load_chat_model(tmp_path, name="m", day=families.DAY, template_kwargs={})
    ids = tuple(model.encode("<think>Prüfe 🙂 …</think>\n\nÄrger 🙂 über 4<|im_end|>"))
    reading = read_answer(model, Completion(ids, "stop", ids[-1]))
    assert (reading.text, reading.thinking) == ("Ärger 🙂 über 4", "Prüfe 🙂 …")


UNUSABLE = [
    ("QWEN3", "<think>\nAdd", "its thinking never ends"),
    ("QWEN3", "Well. <think>\nAdd", "its thinking never ends"),
    ("QWEN3", "<think>a</think>b<think>c", "its thinking never ends"),
    ("QWEN35", "Add", "its thinking never ends"),
    ("HARMONY", "<|channel|>analysis<|message|>Add", "its thinking never ends"),
    ("HARMONY", "<|channel|>analysis<|message|>Add<|end|>", "it never reaches its final channel"),
    ("HARMONY", "Hello", "it never reaches its final channel"),
    ("COMMAND_R", "<|START_THINKING|>Add", "its thinking never ends"),
    ("QWEN3", "<think>\nAdd\n</think>\n\n", "it says nothing"),
    ("PHI4", " \n", "it says nothing"),
]


@pytest.mark.parametrize(("name", "raw", "reason"), UNUSABLE)
def test_answer_that_no_turn_can_follow_says_why(name, raw, reason):
    family = getattr(families, name)
    reading = read_answer(family.model(), completion(family, raw, "length"))
    assert reading.unusable == reason
    assert not reading.text.strip()


def test_answer_cut_by_its_limit_after_its_thinking_is_usable():
    family = families.QWEN35
    reading = read_answer(family.model(), completion(family, "Add.</think>4 an", "length"))
    assert (reading.text, reading.unusable, reading.stop_token_id) == ("4 an", None, None)


def test_model_with_thinking_off_is_not_taken_to_think():
    family = families.QWEN35
    model = family.model(enable_thinking=False)
    assert read_answer(model, completion(family, "4.<|im_end|>")).unusable is None


def test_prompt_of_the_row_decides_whether_thinking_is_open():
    """For some families a word in the question switches it."""
    source = families.PHI4.source.replace(
        "<|im_start|>assistant<|im_sep|>",
        "<|im_start|>assistant<|im_sep|>"
        "{% if '/think' in messages[-1].content %}<think>{% endif %}",
    )
    family = families.Family(source, families.PHI4.tokens, families.PHI4.eos, ("<think>",))
    model, made = family.model(), completion(family, "4.<|im_end|>")
    plain = question_prompt(model, [Message("user", "2+2?")])
    thinking = question_prompt(model, [Message("user", "2+2? /think")])
    assert read_answer(model, made, plain).text == "4."
    assert read_answer(model, made, thinking).unusable == "its thinking never ends"


def test_stop_string_stands_in_the_raw_text_alone():
    family = families.PHI4
    made = completion(family, "4.</assistant>", stop="</assistant>")
    reading = read_answer(family.model(), made)
    assert (reading.text, reading.text_raw) == ("4.", "4.</assistant>")
    assert reading.stop_token_id is None
    assert read_turn(family.model(), made).text == "4."


@pytest.mark.parametrize(
    ("name", "raw", "reason", "flags"),
    [
        ("HARMONY", "Why?<|end|>", "stop", ()),
        ("HARMONY", "Why?<|return|>", "stop", ()),
        ("HARMONY", "Why?<|start|>", "stop", ("assistant header",)),
        ("HARMONY", "Why", "length", ("length",)),
        ("GLM45", "Why?<|assistant|>", "stop", ()),
        ("MISTRAL", "Why?[/INST]", "stop", ()),
        ("MISTRAL", "Why?[INST]", "stop", ("assistant header",)),
        ("QWEN3", "Why?<|im_end|>", "stop", ()),
        ("QWEN3", "<think>Hm.</think>Why?<|im_start|>", "stop", ("assistant header", "thinking")),
        ("HARMONY", "<|channel|>analysis<|message|>Hm", "length", ("length", "thinking")),
    ],
)
def test_flags_of_a_user_turn(name, raw, reason, flags):
    family = getattr(families, name)
    reading = read_turn(family.model(), completion(family, raw, reason))
    assert reading.flags == flags
    assert reading.text_raw == raw
    assert reading.unusable is None
    assert not any(token in reading.text for token in family.tokens)


def test_words_of_a_user_turn_that_thinks_are_kept():
    family = families.QWEN3
    reading = read_turn(family.model(), completion(family, "<think>Hm.</think>Why?<|im_end|>"))
    assert reading.text == "<think>Hm.</think>Why?"
    assert reading.thinking is None
