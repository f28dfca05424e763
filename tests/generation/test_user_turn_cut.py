"""The sentinel cut on one real and several minimal chat templates."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.chat.chat_template import ChatTemplate
from generation.chat.user_turn_cut import UserTurnCut, derive_user_turn_cut
from generation.item import Message
from rubrics import InputError

QUESTION = [Message("user", "2+2?")]

LLAMA = (
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{{ m.content | trim }}<|eot_id|>{% endfor %}"
)
LLAMA_IDS = {"<s>": 1, "<|start_header_id|>": 6, "<|end_header_id|>": 7, "<|eot_id|>": 9}
INST = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }}[/INST]"
    "{% else %} {{ m.content }}{{ eos_token }}{% endif %}{% endfor %}"
)
INST_IDS = {"<s>": 1, "</s>": 2, "[INST]": 3, "[/INST]": 4}
GLM = "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{% endfor %}"
GLM_IDS = {"<|endoftext|>": 29, "<|user|>": 36, "<|assistant|>": 37}
PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>\n{% endfor %}"


def derive(source: str, ids: dict[str, int], eos: int = 2, **special_tokens: str) -> UserTurnCut:
    tokens = {"bos_token": "<s>", "eos_token": "</s>"} | special_tokens
    return derive_user_turn_cut(ChatTemplate(source, tokens), ids, {"tokenizer.eos": (eos,)})


def stop_tokens(cut: UserTurnCut) -> dict[str, tuple[str, ...]]:
    return {stop.token: stop.why for stop in cut.stops}


def test_smollm_context_is_the_history_and_its_user_header(smollm_template):
    ids = {"<|endoftext|>": 0, "<|im_start|>": 1, "<|im_end|>": 2}
    cut = derive_user_turn_cut(smollm_template, ids, {"generation_config.eos": (2,)})
    assert cut.cut(QUESTION, "4").prompt == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
        "<|im_end|>\n<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n4<|im_end|>\n"
        "<|im_start|>user\n"
    )
    assert stop_tokens(cut) == {
        "<|im_start|>": ("opens a role",),
        "<|im_end|>": ("generation_config.eos", "ends the user turn"),
    }


@given(st.text(), st.text())
def test_any_texts_stand_unchanged_before_the_header(question, answer):
    cut = derive("{% for m in messages %}<|a|>{{ m.content }}{% endfor %}", {"<|a|>": 5})
    made = cut.cut([Message("user", question)], answer)
    assert made.prompt == f"<|a|>{question}<|a|>{answer}<|a|>"
    assert made.altered == {}


def test_trimming_template_keeps_the_line_breaks_of_its_header():
    cut = derive(LLAMA, LLAMA_IDS, eos=9)
    made = cut.cut(QUESTION, "4 ")
    assert made.prompt.endswith("4<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n")
    assert made.altered == {"answer": "trimmed"}
    assert not made.header_space_stripped
    assert stop_tokens(cut) == {
        "<|start_header_id|>": ("opens a role",),
        "<|eot_id|>": ("tokenizer.eos", "ends the user turn"),
    }


def test_inst_turn_ends_with_a_token_that_ends_no_sequence():
    cut = derive(INST, INST_IDS)
    made = cut.cut(QUESTION, "4")
    assert made.prompt == "<s>[INST] 2+2?[/INST] 4</s>[INST]"
    assert made.header_space_stripped
    assert stop_tokens(cut) == {
        "</s>": ("tokenizer.eos",),
        "[INST]": ("opens a role",),
        "[/INST]": ("ends the user turn", "opens a role"),
    }


def test_answer_without_terminator_is_followed_by_the_role_token():
    cut = derive(GLM, GLM_IDS, eos=29)
    assert cut.cut(QUESTION, "4").prompt == "<|user|>\n2+2?<|assistant|>\n4<|user|>\n"
    assert cut.terminator == "<|assistant|>"
    assert set(stop_tokens(cut)) == {"<|endoftext|>", "<|user|>", "<|assistant|>"}


def test_plain_text_terminator_becomes_a_stop_string():
    cut = derive(PLAIN, {"</s>": 2})
    assert cut.stop_strings == ("</user>",)
    assert cut.cut(QUESTION, "4").prompt.endswith("</assistant>\n<user>")


def test_list_content_and_empty_tools_are_tried():
    parts = "{% for m in messages %}<|a|>{{ m.content[0]['text'] }}{% endfor %}"
    assert derive(parts, {"<|a|>": 5}).template.list_content
    tools = "{% for tool in tools %}{% endfor %}{% for m in messages %}<|a|>{{ m.content }}"
    assert derive(tools + "{% endfor %}", {"<|a|>": 5}).template.empty_tools


def test_generation_tag_and_loop_controls_render():
    source = (
        "{% for m in messages %}{% if m.role == 'tool' %}{% continue %}{% endif %}<|a|>"
        "{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"
    )
    assert derive(source, {"<|a|>": 5}).cut(QUESTION, "4").prompt == "<|a|>2+2?<|a|>4<|a|>"


def test_clock_of_a_template_stands_still():
    template = ChatTemplate("{{ strftime_now('%d %b %Y') }}", date=date(2026, 11, 29))
    assert template.render(QUESTION) == "29 Nov 2026"
    assert template.date_read == "2026-11-29"
    assert ChatTemplate("no clock").date_read is None


TWICE = GLM.replace("{{ m.content }}", "{{ m.content }} {{ m.content }}")
COUNTED = "{{ messages[-1].content | length }}" + GLM
QUESTIONS_ALONE = "{% for m in messages if m.role == 'user' %}<|user|>{{ m.content }}{% endfor %}"
REMINDED = GLM.replace(
    "{{ m.content }}", "{% if loop.last %}" + "Be brief. " * 9 + "{% endif %}{{ m.content }}"
)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (TWICE, "shows the user turn 2 times"),
        ("{% for m in messages[:-1] %}<|user|>{{ m.content }}{% endfor %}", "user turn 0 times"),
        (COUNTED, "another context for another user turn"),
        (QUESTIONS_ALONE, "the question and then the answer"),
        ("{{ bos_token }}" + LLAMA, "begin-of-sequence token '<s>' 2 times"),
        (REMINDED, "more than a header"),
        ("{% for m in messages %}{{ m.content }}{% endfor %}", "nothing between a user turn"),
        ("{{ raise_exception('no such role') }}", "no such role; give its own variables"),
        ("{% for m in messages %}", "not Jinja"),
    ],
)
def test_template_that_breaks_a_check_is_refused_with_the_reason(source, reason):
    with pytest.raises(InputError, match=reason):
        derive(source, GLM_IDS | LLAMA_IDS, eos=29)


def test_system_message_moved_into_the_user_turn_is_refused():
    source = (
        "{% for m in messages if m.role != 'system' %}<|a|>{% if loop.last and messages[0].role =="
        " 'system' %}{{ messages[0].content }} {% endif %}{{ m.content }}{% endfor %}"
    )
    cut = derive(source, {"<|a|>": 5})
    with pytest.raises(InputError, match="moves the system message"):
        cut.cut([Message("system", "Be brief."), *QUESTION], "4")
