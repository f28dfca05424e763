"""Every family: the header, what ends a user turn and an answer and why, the named traps."""

import chat_templates as families
import pytest

from generation.chat.chat_template import ChatTemplate
from generation.item import Message
from rubrics import InputError

EOS, TURN, ANSWER, ROLE = (
    "generation_config.eos", "ends the user turn", "ends the answer", "opens a role",
)  # fmt: skip
CHATML = ("<|im_end|>\n<|im_start|>user\n", "<|im_start|>user\n",
          {"<|endoftext|>": (EOS,), "<|im_start|>": (ROLE,), "<|im_end|>": (EOS, TURN)},
          {"<|endoftext|>", "<|im_end|>"})  # fmt: skip
GLM_STOPS = {
    "<|endoftext|>": (EOS,), "<|user|>": (EOS, ROLE), "<|assistant|>": (TURN, ROLE),
    "<|observation|>": (EOS, ROLE), "<|system|>": (ROLE,),
}  # fmt: skip
GLM_ENDS = {"<|endoftext|>", "<|user|>", "<|observation|>"}

# family: what stands between a and u, the header alone, what ends u and why, what ends a
EXPECTED = {
    "QWEN25": CHATML,
    "QWEN3": CHATML,
    "QWEN35": CHATML,
    "HARMONY": (
        "<|end|><|start|>user<|message|>",
        "<|start|>user<|message|>",
        {"<|return|>": (EOS,), "<|call|>": (EOS,), "<|end|>": (TURN,), "<|start|>": (ROLE,)},
        {"<|return|>", "<|call|>"},
    ),
    "GLM45": ("<|user|>\n", "<|user|>\n", GLM_STOPS, GLM_ENDS),
    "GLM47": ("<|user|>", "<|user|>", GLM_STOPS, GLM_ENDS),
    "LLAMA3": (
        "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
        "<|start_header_id|>user<|end_header_id|>\n\n",
        {"<|eot_id|>": (EOS, TURN), "<|start_header_id|>": (ROLE,)},
        {"<|eot_id|>"},
    ),
    "GEMMA": (
        "<end_of_turn>\n<start_of_turn>user\n",
        "<start_of_turn>user\n",
        {"<eos>": (EOS,), "<end_of_turn>": (EOS, TURN), "<start_of_turn>": (ROLE,)},
        {"<eos>", "<end_of_turn>"},
    ),
    "MISTRAL": (
        "</s>[INST] ",
        "[INST] ",
        {"</s>": (EOS,), "[/INST]": (TURN, ROLE), "[INST]": (ROLE,)},
        {"</s>"},
    ),
    "DEEPSEEK": (
        "<｜end▁of▁sentence｜><｜User｜>",
        "<｜User｜>",
        {"<｜end▁of▁sentence｜>": (EOS,), "<｜Assistant｜>": (TURN, ROLE), "<｜User｜>": (ROLE,)},
        {"<｜end▁of▁sentence｜>"},
    ),
    "PHI35": (
        "<|end|>\n<|user|>\n",
        "<|user|>\n",
        {"<|endoftext|>": (EOS,), "<|end|>": (EOS, TURN), "<|assistant|>": (ROLE,),
         "<|user|>": (ROLE,)},
        {"<|endoftext|>", "<|end|>"},
    ),
    "PHI4": (
        "<|im_end|><|im_start|>user<|im_sep|>",
        "<|im_start|>user<|im_sep|>",
        {"<|im_end|>": (EOS, TURN), "<|im_start|>": (ROLE,)},
        {"<|im_end|>"},
    ),
    "GRANITE": (
        "<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>",
        "<|start_of_role|>user<|end_of_role|>",
        {"<|end_of_text|>": (EOS, TURN), "<|start_of_role|>": (ROLE,)},
        {"<|end_of_text|>"},
    ),
    "COMMAND_R": (
        "<|END_RESPONSE|><|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
        "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
        {"<|END_OF_TURN_TOKEN|>": (EOS, TURN), "<|START_OF_TURN_TOKEN|>": (ROLE,),
         "<|SYSTEM_TOKEN|>": (ROLE,)},
        {"<|END_OF_TURN_TOKEN|>", "<|END_RESPONSE|>"},
    ),
    "GEMMA4": (
        "<turn|>\n<|turn>user\n",
        "<|turn>user\n",
        {"<turn|>": (EOS, TURN), "<|turn>": (ROLE,)},
        {"<turn|>"},
    ),
    "SEED": (
        "<seed:eos><seed:bos>user\n",
        "<seed:bos>user\n",
        {"<seed:eos>": (EOS, TURN), "<seed:bos>": (ROLE,)},
        {"<seed:eos>"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_header_and_stops_of_a_family(name):
    header, opening, stops, answer_stops = EXPECTED[name]
    cut = getattr(families, name).model().cut
    assert (cut.header, cut.derived.opening) == (header, opening)
    assert {stop.token: stop.why for stop in cut.stops} == stops
    (terminator,) = [token for token, why in stops.items() if TURN in why]
    assert cut.terminator == terminator
    assert {stop.token for stop in cut.answer_stops} == answer_stops
    assert (cut.stop_strings, cut.answer_stop_strings) == ((), ())


@pytest.mark.parametrize("name", sorted(set(EXPECTED) - {"HARMONY", "GLM45", "GLM47"}))
def test_checkpoint_that_names_no_end_of_its_own_turns_still_stops(name):
    """A Qwen3.5 folder without generation_config knows <|endoftext|> alone."""
    family = getattr(families, name)
    bare = families.Family(family.source, ("<other>", *family.tokens), ("<other>",),
                           family.unflagged, family.names)  # fmt: skip
    cut, usual = bare.model().cut, family.model().cut
    assert (cut.terminator, cut.derived.opening) == (usual.terminator, usual.derived.opening)
    assert cut.terminator in {stop.token for stop in cut.stops}
    (end,) = [stop.token for stop in cut.answer_stops if ANSWER in stop.why]
    assert usual.header.lstrip().startswith(end)


def test_end_of_a_turn_that_stands_inside_thinking_stops_no_answer():
    """gpt-oss closes its analysis with the very token that ends a user turn."""
    model = families.HARMONY.model()
    assert families.HARMONY.ids["<|end|>"] not in model.answer_stops


def test_default_system_prompt_is_recorded():
    assert "You are Qwen." in families.QWEN25.model().provenance()["template"]["head"]
    assert families.PHI4.model().cut.checked.head == "<|im_start|>user<|im_sep|>"


@pytest.mark.parametrize(
    ("name", "system"),
    [("QWEN25", "kept"), ("MISTRAL", "moved"), ("PHI35", "dropped"), ("GEMMA", "refused")],
)
def test_fate_of_a_system_message_is_known(name, system):
    assert getattr(families, name).model().cut.checked.system == system


def test_moved_system_message_is_refused_and_a_dropped_one_noted():
    messages = [Message("system", "Be brief."), Message("user", "2+2?")]
    with pytest.raises(InputError, match="moves the system message into the last user turn"):
        families.MISTRAL.model().cut.cut(messages, "4")
    with pytest.raises(InputError, match="no system role"):
        families.GEMMA.model().cut.cut(messages, "4")
    assert families.PHI35.model().cut.cut(messages, "4").altered == {"system": "dropped"}
    assert families.QWEN25.model().cut.cut(messages, "4").altered == {}


@pytest.mark.parametrize(
    ("name", "trims"), [("LLAMA3", ("question", "answer")), ("GLM45", ("answer",)), ("PHI4", ())]
)
def test_whose_texts_are_trimmed_is_known(name, trims):
    assert getattr(families, name).model().cut.checked.trims == trims


def test_date_is_frozen_and_recorded_where_it_matters():
    for name in ("HARMONY", "LLAMA3"):
        model = getattr(families, name).model()
        assert model.provenance()["template"]["date"] == "2026-11-29"
    assert "2026-11-29" in families.HARMONY.model().cut.checked.head
    given = families.LLAMA3.model(date_string="26 Jul 2024").cut.checked.head
    assert "26 Jul 2024" in given
    assert "29 Nov 2026" not in given
    assert families.QWEN3.model().provenance()["template"]["date"] is None


def test_nothink_behind_a_user_turn_neither_opens_nor_ends_it():
    """GLM-4.5 appends it to past questions, which is its own doing, and behind u."""
    cut = families.GLM45.model(enable_thinking=False).cut
    assert cut.terminator == "<|assistant|>"
    made = cut.cut([Message("user", "2+2?")], "4")
    assert made.prompt == (
        "[gMASK]<sop><|user|>\n2+2?/nothink<|assistant|>\n<think></think>\n4<|user|>\n"
    )


def test_text_that_the_template_edits_is_named():
    """Nemotron deletes its switches from what a user says."""
    source = families.PHI4.source.replace("m.content", "m.content.replace('/no_think', '')")
    family = families.Family(source, families.PHI4.tokens, families.PHI4.eos)
    made = family.model().cut.cut([Message("user", "2+2? /no_think")], "4 /no_think")
    assert made.altered == {"question": "changed", "answer": "changed"}


def test_header_that_depends_on_the_conversation_is_refused():
    source = families.PHI4.source.replace(
        "<|im_sep|>{{", "<|im_sep|>{% if messages[0].content == 'odd' %}!{% endif %}{{"
    )
    family = families.Family(source, families.PHI4.tokens, families.PHI4.eos)
    with pytest.raises(InputError, match="expected it to end in the header"):
        family.model().cut.cut([Message("user", "odd")], "4")


def test_end_of_sequence_that_only_closes_answers_opens_no_role():
    """Vicuna ends a with </s> and names the roles in words."""
    source = (
        "{% for m in messages %}{% if m.role == 'user' %}USER: {{ m.content }} {% else %}"
        "ASSISTANT: {{ m.content }}</s>{% endif %}{% endfor %}"
    )
    cut = families.Family(source, ("<s>", "</s>"), ("</s>",)).model().cut
    assert {stop.token: stop.why for stop in cut.stops} == {"</s>": (EOS,)}
    assert cut.stop_strings == ("ASSISTANT:",)
    assert cut.derived.opening == "USER: "
    assert cut.naive([Message("user", "2+2?")], "4").prompt == "USER: 2+2? ASSISTANT: 4</s>USER:"


ROLE_WORDS = (  # Laguna: roles in plain text, though a thinking mark is a token
    "{% for m in messages %}<{{ m.role }}>{{ '</think>' if m.role == 'assistant' }}{{ m.content }}"
    "</{{ m.role }}>\n{% endfor %}"
)
ENDS_BY_ROLE = (  # Apertus: each role begins and ends with tokens of its own
    "{% for m in messages %}<|{{ m.role }}_start|>{{ m.content }}"
    "<|{{ m.role }}_end|>{% endfor %}{% if add_generation_prompt %}<|assistant_start|>{% endif %}"
)
ALWAYS_OPENS = (  # Command R7B: an assistant's turn is opened whether it is asked for or not
    "<|sot|>system: <|eot|>{% for m in messages %}<|sot|><|{{ m.role }}|>"
    "{{ '<|start|>' if m.role == 'assistant' }}{{ m.content }}"
    "{{ '<|end|>' if m.role == 'assistant' }}<|eot|>{% endfor %}<|sot|><|assistant|>"
)
ROLE_AFTER_TOKEN = (  # a finished answer ends in a token that begins like the usual one
    "{% for m in messages %}{{ m.role }}: {{ m.content }}"
    "{% if loop.last and m.role == 'assistant' %}<|eos|>{% else %}<|eot|>{% endif %}{% endfor %}"
)
UNUSUAL = {
    "role words": (ROLE_WORDS, ("<x>", "</think>"), "</user>", "<user>", set()),
    "ends by role": (
        ENDS_BY_ROLE,
        ("<x>", "<|user_start|>", "<|user_end|>", "<|assistant_start|>", "<|assistant_end|>"),
        "<|user_end|>",
        "<|user_start|>",
        {"<|user_start|>", "<|assistant_start|>"},
    ),
    "always opens": (
        ALWAYS_OPENS,
        ("<x>", "<|sot|>", "<|eot|>", "<|user|>", "<|assistant|>", "<|start|>", "<|end|>"),
        "<|eot|>",
        "<|sot|><|user|>",
        {"<|sot|>"},
    ),
    "role after token": (
        ROLE_AFTER_TOKEN, ("<x>", "<|eos|>", "<|eot|>"), "<|eot|>", "user: ", set()
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_template_has_its_turn_opened_and_ended_in_the_right_place(name):
    source, tokens, terminator, opening, openers = UNUSUAL[name]
    cut = families.Family(source, tokens, ("<x>",)).model().cut
    assert (cut.terminator, cut.derived.opening) == (terminator, opening)
    assert {stop.token for stop in cut.stops if ROLE in stop.why} == openers


def test_names_that_a_template_only_sets_for_itself_are_not_offered():
    source = "{% for m in messages %}{% if m %}{% set text = m.content %}{% endif %}{{ text }}"
    template = ChatTemplate(source + "{{ style }}{% endfor %}")
    assert template.variables_read == {"style"}
