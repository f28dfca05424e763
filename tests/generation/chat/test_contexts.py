"""History, raw and naive: the prompt of every context, and what its notes say."""

from dataclasses import replace

import chat_templates as families
import pytest

from generation.chat.context import question_prompt, turn_prompt
from generation.item import Message
from generation.turn import Answer, Conversation
from rubrics import InputError, fingerprint

QUESTION = Conversation("gsm8k", "1", (Message("user", "2+2?"),))
THOUGHT = "<think>\nAdd.\n</think>\n\n4"

# family: its whole answer as sampled, then the three contexts from q on
CONTEXTS = {
    "QWEN25": (
        "4<|im_end|>",
        "2+2?<|im_end|>\n<|im_start|>assistant\n4<|im_end|>\n<|im_start|>user\n",
        "2+2?<|im_end|>\n<|im_start|>assistant\n4<|im_end|>\n<|im_start|>user\n",
        "2+2?<|im_end|>\n<|im_start|>assistant\n4<|im_end|>\n<|im_start|>user\n",
    ),
    "QWEN3": (
        f"{THOUGHT}<|im_end|>",
        "2+2?<|im_end|>\n<|im_start|>assistant\n4<|im_end|>\n<|im_start|>user\n",
        f"2+2?<|im_end|>\n<|im_start|>assistant\n{THOUGHT}<|im_end|>\n<|im_start|>user\n",
        "2+2?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n4<|im_end|>\n"
        "<|im_start|>user\n",
    ),
    "QWEN35": (
        "Add.\n</think>\n\n4<|im_end|>",
        "2+2?<|im_end|>\n<|im_start|>assistant\n4<|im_end|>\n<|im_start|>user\n",
        f"2+2?<|im_end|>\n<|im_start|>assistant\n{THOUGHT}<|im_end|>\n<|im_start|>user\n",
        "2+2?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n4<|im_end|>\n"
        "<|im_start|>user\n",
    ),
    "HARMONY": (
        "<|channel|>analysis<|message|>Add.<|end|><|start|>assistant<|channel|>final<|message|>4"
        "<|return|>",
        "2+2?<|end|><|start|>assistant<|channel|>final<|message|>4<|end|><|start|>user<|message|>",
        "2+2?<|end|><|start|>assistant<|channel|>analysis<|message|>Add.<|end|><|start|>assistant"
        "<|channel|>final<|message|>4<|end|><|start|>user<|message|>",
        "2+2?<|end|><|start|>assistant<|channel|>final<|message|>4<|return|><|start|>user"
        "<|message|>",
    ),
    "GLM45": (
        "\n<think>Add.</think>\n4<|user|>",
        "2+2?<|assistant|>\n<think></think>\n4<|user|>\n",
        "2+2?<|assistant|>\n<think>Add.</think>\n4<|user|>\n",
        "2+2?<|assistant|>\n<think></think>\n4<|user|>\n",
    ),
    "GLM47": (
        "Add.</think>4<|user|>",
        "2+2?<|assistant|></think>4<|user|>",
        "2+2?<|assistant|><think>Add.</think>4<|user|>",
        "2+2?<|assistant|></think>4<|user|>",
    ),
    "LLAMA3": ("4<|eot_id|>",) + 3 * (
        "2+2?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n4<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\n",
    ),
    "GEMMA": ("4<end_of_turn>",) + 3 * (
        "2+2?<end_of_turn>\n<start_of_turn>model\n4<end_of_turn>\n<start_of_turn>user\n",
    ),
    "MISTRAL": (" 4</s>",) + 3 * ("2+2? [/INST] 4</s>[INST]",),
    "DEEPSEEK": (
        "Add.\n</think>4<｜end▁of▁sentence｜>",
        "2+2?<｜Assistant｜>4<｜end▁of▁sentence｜><｜User｜>",
        "2+2?<｜Assistant｜><think>\nAdd.\n</think>4<｜end▁of▁sentence｜><｜User｜>",
        "2+2?<｜Assistant｜>4<｜end▁of▁sentence｜><｜User｜>",
    ),
    "PHI35": (
        "4<|end|>",
        "2+2?<|end|>\n<|assistant|>\n4<|end|>\n<|user|>\n",
        "2+2?<|end|>\n<|assistant|>\n4<|end|>\n<|user|>\n",
        "2+2?<|end|>\n<|assistant|>\n4<|end|>\n<|endoftext|><|user|>\n",
    ),
    "PHI4": ("4<|im_end|>",) + 3 * (
        "2+2?<|im_end|><|im_start|>assistant<|im_sep|>4<|im_end|><|im_start|>user<|im_sep|>",
    ),
    "GRANITE": ("4<|end_of_text|>",) + 3 * (
        "2+2?<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>4<|end_of_text|>\n"
        "<|start_of_role|>user<|end_of_role|>",
    ),
    "COMMAND_R": ("<|START_RESPONSE|>4<|END_RESPONSE|>",) + 3 * (
        "2+2?<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_RESPONSE|>4"
        "<|END_RESPONSE|><|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
    ),
    "GEMMA4": (
        "<|channel>thought\nAdd.\n<channel|>4<turn|>",
        "2+2?<turn|>\n<|turn>model\n4<turn|>\n<|turn>user\n",
        "2+2?<turn|>\n<|turn>model\n<|channel>thought\nAdd.\n<channel|>4<turn|>\n<|turn>user\n",
        "2+2?<turn|>\n<|turn>model\n4<turn|>\n<|turn>user\n",
    ),
}  # fmt: skip


def sampled(family, raw, **changes):
    """The answer '4' as the family's model samples it."""
    ids = tuple(family.encode(raw))
    model = family.model()
    prompt = question_prompt(model, QUESTION.messages)
    return replace(
        Answer(
            QUESTION, "4", "small", token_ids=ids, finish_reason="stop", stop_token_id=ids[-1],
            prompt_token_hash=fingerprint(list(prompt.token_ids)),
            thinking="Add." if "Add." in raw else None,
        ),
        **changes,
    )  # fmt: skip


def rendered(family, answer, context, **kwargs):
    prompt = turn_prompt(family.model(**kwargs), answer, context)
    return family.decode(prompt.token_ids, False), prompt.notes


@pytest.mark.parametrize("name", CONTEXTS)
def test_three_contexts_of_a_family(name):
    family = getattr(families, name)
    raw, *expected = CONTEXTS[name]
    for context, ending in zip(("history", "raw", "naive"), expected, strict=True):
        text, notes = rendered(family, sampled(family, raw), context)
        head, question, rest = text.partition("2+2?")
        assert question + rest == ending, context
        assert head == family.model().cut.checked.head.removesuffix(" ") + " " * head.endswith(" ")
        assert ("differs_from_history" in notes) == (
            context == "naive" and expected[0] != expected[2]
        )


def test_history_keeps_thinking_only_where_the_template_reads_and_keeps_it():
    answer = sampled(families.QWEN38, f"{THOUGHT}<|im_end|>")
    text, notes = rendered(families.QWEN38, answer, "history")
    assert f"{THOUGHT}<|im_end|>" in text
    assert notes == {"thinking_in_history": True}
    _, notes = rendered(families.QWEN3, sampled(families.QWEN3, f"{THOUGHT}<|im_end|>"), "history")
    assert notes == {}


def test_raw_context_says_that_it_shows_thinking():
    answer = sampled(families.QWEN3, f"{THOUGHT}<|im_end|>")
    assert rendered(families.QWEN3, answer, "raw")[1] == {"thinking_in_history": True}


def test_raw_context_of_an_answer_cut_by_its_limit_closes_it():
    answer = sampled(families.QWEN25, "4 and", finish_reason="length", stop_token_id=None)
    text, _ = rendered(families.QWEN25, answer, "raw")
    assert text.endswith("assistant\n4 and<|im_end|>\n<|im_start|>user\n")


def test_raw_context_takes_away_a_plain_text_end():
    source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>\n{% endfor %}"
    source += "{% if add_generation_prompt %}<assistant>{% endif %}"
    family = families.Family(source, ("<eos>",), ("<eos>",))
    assert family.model().cut.answer_stop_strings == ("</assistant>",)
    answer = sampled(family, "4</assistant>", stop_token_id=None)
    text, _ = rendered(family, answer, "raw")
    assert text == "<user>2+2?</user>\n<assistant>4</assistant>\n<user>"


def test_raw_context_needs_sampled_tokens_and_their_very_prompt():
    with pytest.raises(InputError, match="was not sampled here; use history or naive"):
        turn_prompt(families.QWEN25.model(), Answer(QUESTION, "4"), "raw")
    answer = sampled(families.GLM45, "4<|user|>")
    with pytest.raises(InputError, match="needs the same template, variables and date"):
        turn_prompt(families.GLM45.model(enable_thinking=False), answer, "raw")


def test_notes_name_altered_texts_and_a_stripped_space():
    question = Conversation("gsm8k", "1", (Message("user", "2+2? "),))
    _, notes = rendered(families.LLAMA3, Answer(question, " 4"), "history")
    assert notes == {"altered_by_template": {"question": "trimmed", "answer": "trimmed"}}
    for context in ("history", "naive"):
        assert rendered(families.MISTRAL, Answer(QUESTION, "4"), context)[1] == {
            "header_space_stripped": True
        }


def test_naive_context_stands_where_history_is_refused():
    """Mistral moves a system message into the last user turn; a finished answer has none."""
    messages = (Message("system", "Be brief."), *QUESTION.messages)
    answer = Answer(Conversation("gsm8k", "1", messages), "4")
    with pytest.raises(InputError, match="moves the system message"):
        rendered(families.MISTRAL, answer, "history")
    text, notes = rendered(families.MISTRAL, answer, "naive")
    assert text == "<s>[INST] 2+2? [/INST] 4</s>[INST]"
    assert "moves the system message" in notes.pop("history_refused")
    assert notes == {"altered_by_template": {"system": "dropped"}, "header_space_stripped": True}


@pytest.mark.parametrize("context", ["history", "naive"])
def test_blank_question_is_a_question(context):
    blank = Conversation("chat", "1", (Message("user", " \n"),))
    assert rendered(families.PHI4, Answer(blank, "4"), context)[0].startswith(
        "<|im_start|>user<|im_sep|> \n<|im_end|>"
    )


def test_control_tokens_of_a_file_never_reach_the_model():
    model = families.DEEPSEEK.model()
    foreign = Conversation("chat", "1", (Message("user", "say <｜Assistant｜>"),))
    with pytest.raises(InputError, match="'<｜Assistant｜>', which small reads as a control token"):
        question_prompt(model, foreign.messages)
    with pytest.raises(InputError, match="a user message holds '<｜Assistant｜>'"):
        turn_prompt(model, Answer(foreign, "4"), "history")
    with pytest.raises(InputError, match="the answer holds '<think>'"):
        turn_prompt(model, Answer(QUESTION, "<think>4"), "history")


def test_control_tokens_that_the_model_itself_spelled_are_noted():
    notes = turn_prompt(
        families.QWEN25.model(), Answer(QUESTION, "4<|im_start|>", "small"), "history"
    ).notes
    assert notes == {"control_tokens_in_answer": ["<|im_start|>"]}


@pytest.mark.parametrize(
    ("messages", "found"),
    [((), "nothing"), ((Message("user", "q"), Message("assistant", "a")), "a assistant message")],
)
def test_conversation_without_a_question_at_its_end_is_refused(messages, found):
    with pytest.raises(InputError, match=f"ends with {found}; expected a user's question"):
        question_prompt(families.QWEN25.model(), messages)


def test_no_turn_follows_an_empty_or_unusable_answer():
    model = families.QWEN25.model()
    with pytest.raises(InputError, match="it is empty"):
        turn_prompt(model, Answer(QUESTION, " \n"), "history")
    with pytest.raises(InputError, match="its thinking never ends"):
        turn_prompt(model, Answer(QUESTION, "4", unusable="its thinking never ends"), "history")
