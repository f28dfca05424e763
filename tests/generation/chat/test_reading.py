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
    ("QWEN3", "<think>a</think>\n<think>b</think>4.<|im_end|>", "4.", "a\n\nb"),
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
APRIEL = families.Family(
    families.PHI4.source.replace(
        "assistant<|im_sep|>{% endif", "assistant<|im_sep|>Here are my reasoning steps:\n{% endif"
    ),
    families.PHI4.tokens,
    families.PHI4.eos,
)


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


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("PHI4", "Here are my reasoning steps:\n2+2 is 4."),
        ("PHI4", "<think>Add.</think>4."),
        ("PHI4", "<|channel|>analysis<|message|>Add."),
        ("QWEN3", "Write your reasoning between <think> and </think>."),
        ("QWEN3", "The tag <think> opens it."),
        ("QWEN3", "The tag </think> closes it."),
        ("QWEN3", "[THINK]Add."),
        ("QWEN3", "<response>4.</response>"),
    ],
)
def test_marks_that_an_answer_speaks_of_are_its_words(name, answer):
    """Those of other families, and its own anywhere but where thinking begins."""
    family = getattr(families, name)
    reading = read_answer(family.model(), completion(family, f"{answer}<|im_end|>"))
    assert (reading.text, reading.thinking, reading.unusable) == (answer, None, None)


def test_marks_after_the_thinking_are_words_too():
    family = families.QWEN35
    words = "Write it between <think> and </think>."
    for raw in (f"Hm.</think>{words}", f"<think>Hm.</think>\n{words}"):
        reading = read_answer(family.model(), completion(family, f"{raw}<|im_end|>"))
        assert (reading.text, reading.thinking) == (words, "Hm.")


def test_words_are_marks_where_the_template_writes_them():
    made = completion(APRIEL, "Add.\n[BEGIN FINAL RESPONSE]\n4.<|im_end|>")
    reading = read_answer(APRIEL.model(), made)
    assert (reading.text, reading.thinking) == ("4.", "Add.")


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
    ("QWEN3", "\n<think>\nAdd", "its thinking never ends"),
    ("QWEN3", "<think>a</think><think>b", "its thinking never ends"),
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


@pytest.mark.parametrize(
    ("name", "question", "opening"),
    [
        ("QWEN35", " \n", "<|im_end|>\n<|im_start|>assistant\n<think>\n"),
        ("QWEN35", "think", "<|im_end|>\n<|im_start|>assistant\n<think>\n"),
        ("EDITING", "Two /no_think words", "<|im_end|><|im_start|>assistant<|im_sep|>"),
    ],
)
def test_opening_of_an_answer_is_found_whatever_the_question(name, question, opening, monkeypatch):
    """A blank one, a word of the template, one that the template edits."""
    source = families.PHI4.source.replace("m.content", "m.content.replace('/no_think', '')")
    editing = replace(families.PHI4, source=source)
    monkeypatch.setattr(families, "EDITING", editing, raising=False)
    messages = [Message("user", question)]
    assert question_prompt(getattr(families, name).model(), messages).opening == opening


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
        ("HARMONY", "Why?<|start|>", "stop", ("role header",)),
        ("HARMONY", "Why", "length", ("length",)),
        ("GLM45", "Why?<|assistant|>", "stop", ()),
        ("MISTRAL", "Why?[/INST]", "stop", ()),
        ("MISTRAL", "Why?[INST]", "stop", ("role header",)),
        ("QWEN3", "Why?<|im_end|>", "stop", ()),
        ("QWEN3", "<think>Hm.</think>Why?<|im_start|>", "stop", ("role header", "thinking")),
        ("HARMONY", "<|channel|>analysis<|message|>Hm", "length", ("length", "thinking")),
        ("QWEN3", "What does <think> do?<|im_end|>", "stop", ()),
        ("PHI4", "<think>Hm.</think>Why?<|im_end|>", "stop", ()),
    ],
)
def test_flags_of_a_user_turn(name, raw, reason, flags):
    family = getattr(families, name)
    reading = read_turn(family.model(), completion(family, raw, reason))
    assert reading.flags == flags
    assert reading.text_raw == raw
    assert reading.unusable is None
    assert not any(token in reading.text for token in family.tokens)


@pytest.mark.parametrize(
    ("name", "kwargs", "raw", "text"),
    [
        ("GLM45", {"enable_thinking": False}, "Why?/nothink<|assistant|>", "Why?"),
        ("GLM45", {"enable_thinking": False}, "Why /nothink, why?<|user|>", "Why /nothink, why?"),
        ("GLM45", {}, "Why?/nothink<|assistant|>", "Why?/nothink"),
        ("MISTRAL", {}, "Why? [/INST]", "Why?"),
    ],
)
def test_what_the_template_adds_to_a_user_turn_is_none_of_its_words(name, kwargs, raw, text):
    family = getattr(families, name)
    reading = read_turn(family.model(**kwargs), completion(family, raw))
    assert (reading.text, reading.text_raw) == (text, raw)


def test_words_of_a_user_turn_that_thinks_are_kept():
    family = families.QWEN3
    reading = read_turn(family.model(), completion(family, "<think>Hm.</think>Why?<|im_end|>"))
    assert reading.text == "<think>Hm.</think>Why?"
    assert reading.thinking is None
