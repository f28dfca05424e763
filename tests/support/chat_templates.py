"""Minimal chat templates of model families, written from what their formats look like.

Each shows what its family is known for and nothing else. Characters are the tokens of its models.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from generation.chat.chat_model import ChatModel
from generation.chat.chat_template import ChatTemplate
from generation.chat.user_turn_cut import derive_user_turn_cut

FIRST_CHARACTER = 1000
DAY = date(2026, 11, 29)

EACH = "{% for m in messages %}"
IF_ASKED = "{% if add_generation_prompt %}"
THINKING_OFF = "enable_thinking is defined and not enable_thinking"


@dataclass(frozen=True)
class Family:
    """A template with its control tokens; `unflagged` ones are not special to the tokenizer."""

    source: str
    tokens: tuple[str, ...]
    eos: tuple[str, ...]
    unflagged: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)  # bos_token, eos_token

    @property
    def ids(self) -> dict[str, int]:
        return {token: number for number, token in enumerate((*self.tokens, *self.unflagged))}

    def encode(self, text: str) -> list[int]:
        longest = sorted(self.ids, key=len, reverse=True)
        pieces = re.findall("|".join(map(re.escape, longest)) + "|.", text, re.DOTALL)
        return [self.ids.get(piece, ord(piece[0]) + FIRST_CHARACTER) for piece in pieces]

    def decode(self, token_ids: Sequence[int], skip_special_tokens: bool) -> str:
        names = {number: token for token, number in self.ids.items()}
        return "".join(
            ("" if skip_special_tokens and names[number] in self.tokens else names[number])
            if number in names
            else chr(number - FIRST_CHARACTER)
            for number in token_ids
        )

    def model(self, name: str = "small", **kwargs: Any) -> ChatModel:
        template = ChatTemplate(self.source, self.names, DAY, kwargs)
        ends = {"generation_config.eos": [self.ids[token] for token in self.eos]}
        cut = derive_user_turn_cut(template, self.ids, ends)
        return ChatModel(
            name=name,
            cut=cut,
            encode=self.encode,
            decode=self.decode,
            answer_stops=tuple(stop.token_id for stop in cut.answer_stops),
            special_tokens=frozenset(self.ids),
            generation_config=None,
            context_length=4096,
            file_hashes={},
        )


def _chatml(assistant: str = "{{ m.content }}", head: str = "", asked: str = "") -> str:
    return (
        f"{head}{EACH}<|im_start|>{{{{ m.role }}}}\n"
        f"{{% if m.role == 'assistant' %}}{assistant}{{% else %}}{{{{ m.content }}}}{{% endif %}}"
        f"<|im_end|>\n{{% endfor %}}{IF_ASKED}<|im_start|>assistant\n{asked}{{% endif %}}"
    )


CHATML_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
QWEN25 = Family(
    _chatml(
        head="{% if messages[0].role != 'system' %}<|im_start|>system\nYou are Qwen.<|im_end|>\n"
        "{% endif %}"
    ),
    CHATML_TOKENS,
    ("<|im_end|>", "<|endoftext|>"),
)
LAST_USER = (
    "{% set ns = namespace(last=0) %}{% for m in messages if m.role == 'user' %}"
    "{% set ns.last = messages.index(m) %}{% endfor %}"
)
QWEN3 = Family(  # the last answer is written as one that goes on: with a block of thinking
    _chatml(
        "{% if loop.index0 > ns.last %}<think>\n{{ m.reasoning_content or '' }}\n</think>\n\n"
        "{% endif %}{{ (m.content.split('</think>') | last) | trim }}",
        LAST_USER,
    ),
    CHATML_TOKENS,
    ("<|im_end|>", "<|endoftext|>"),
    ("<think>", "</think>"),
)
QWEN35 = Family(  # its generation prompt opens the thinking, or closes it at once
    _chatml(
        "{% if loop.index0 > ns.last %}<think>\n{{ m.reasoning_content or '' }}\n</think>\n\n"
        "{% endif %}{{ m.content | trim }}",
        LAST_USER,
        f"<think>\n{{% if {THINKING_OFF} %}}\n</think>\n\n{{% endif %}}",
    ),
    CHATML_TOKENS,
    ("<|im_end|>", "<|endoftext|>"),
    ("<think>", "</think>"),
)
QWEN38 = Family(  # past thinking stays
    _chatml("<think>\n{{ m.reasoning_content or '' }}\n</think>\n\n{{ m.content }}"),
    CHATML_TOKENS,
    ("<|im_end|>",),
    ("<think>", "</think>"),
)
HARMONY = Family(
    "<|start|>system<|message|>Today is {{ strftime_now('%Y-%m-%d') }}. Reasoning: "
    "{{ reasoning_effort | default('medium') }}<|end|>"
    + EACH
    + "{% if m.role == 'assistant' %}{% if '<|channel|>' in m.content %}"
    "{{ raise_exception('channel tags in the content') }}{% endif %}"
    "{% if loop.last and m.thinking %}<|start|>assistant<|channel|>analysis<|message|>"
    "{{ m.thinking }}<|end|>{% endif %}<|start|>assistant<|channel|>final<|message|>"
    "{{ m.content }}{% if loop.last %}<|return|>{% else %}<|end|>{% endif %}{% else %}"
    "<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}"
    + IF_ASKED
    + "<|start|>assistant{% endif %}",
    ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>", "<|call|>"),
    ("<|return|>", "<|call|>"),
)
GLM_TOKENS = ("<|endoftext|>", "[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>",
              "<|observation|>")  # fmt: skip
GLM_EOS = ("<|endoftext|>", "<|user|>", "<|observation|>")
GLM45 = Family(
    "[gMASK]<sop>" + EACH + "<|{{ 'observation' if m.role == 'tool' else m.role }}|>\n"
    "{% if m.role == 'assistant' %}<think></think>\n{{ m.content.strip() }}"
    f"{{% else %}}{{{{ m.content }}}}{{% if m.role == 'user' and {THINKING_OFF} %}}/nothink"
    "{% endif %}{% endif %}{% endfor %}"
    + IF_ASKED
    + f"<|assistant|>{{% if {THINKING_OFF} %}}\n<think></think>{{% endif %}}{{% endif %}}",
    GLM_TOKENS,
    GLM_EOS,
    ("<think>", "</think>"),
)
GLM47 = Family(
    "[gMASK]<sop>" + EACH + "<|{{ 'observation' if m.role == 'tool' else m.role }}|>"
    "{% if m.role == 'assistant' %}</think>{% endif %}{{ m.content.strip() }}{% endfor %}"
    + IF_ASKED
    + f"<|assistant|>{{% if {THINKING_OFF} %}}</think>{{% else %}}<think>{{% endif %}}"
    "{% endif %}",
    GLM_TOKENS,
    GLM_EOS,
    ("<think>", "</think>"),
)
LLAMA3 = Family(
    "{{ bos_token }}<|start_header_id|>system<|end_header_id|>\n\nToday Date: "
    "{{ date_string | default(strftime_now('%d %b %Y')) }}\n\n<|eot_id|>"
    + EACH
    + "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content | trim }}<|eot_id|>"
    "{% endfor %}" + IF_ASKED + "<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}",
    ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    ("<|eot_id|>",),
    names={"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"},
)
GEMMA = Family(
    "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}"
    "{% endif %}"
    + EACH
    + "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content | trim }}"
    "<end_of_turn>\n{% endfor %}" + IF_ASKED + "<start_of_turn>model\n{% endif %}",
    ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"),
    ("<eos>", "<end_of_turn>"),
    names={"bos_token": "<bos>", "eos_token": "<eos>"},
)
MISTRAL = Family(  # the header ends in a space, and a system message goes before the last turn
    "{{ bos_token }}{% for m in messages if m.role != 'system' %}{% if m.role == 'user' %}[INST] "
    "{% if loop.last and messages[0].role == 'system' %}{{ messages[0].content }}\n\n{% endif %}"
    "{{ m.content }} [/INST]{% else %} {{ m.content }}{{ eos_token }}{% endif %}{% endfor %}",
    ("<s>", "</s>", "[INST]", "[/INST]"),
    ("</s>",),
    names={"bos_token": "<s>", "eos_token": "</s>"},
)
DEEPSEEK = Family(
    "{{ bos_token }}"
    + EACH
    + "{% if m.role == 'user' %}<｜User｜>{{ m.content }}{% elif m.role == 'assistant' %}"
    "<｜Assistant｜>{{ m.content.split('</think>') | last }}<｜end▁of▁sentence｜>{% else %}"
    "{{ m.content }}{% endif %}{% endfor %}" + IF_ASKED + "<｜Assistant｜><think>\n{% endif %}",
    ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"),
    ("<｜end▁of▁sentence｜>",),
    ("<｜User｜>", "<｜Assistant｜>", "<think>", "</think>"),
    {"bos_token": "<｜begin▁of▁sentence｜>", "eos_token": "<｜end▁of▁sentence｜>"},
)
PHI35 = Family(  # drops a system message, and ends what nothing follows with the end of the text
    "{% for m in messages if m.role != 'system' %}<|{{ m.role }}|>\n{{ m.content }}<|end|>\n"
    "{% endfor %}" + IF_ASKED + "<|assistant|>\n{% else %}{{ eos_token }}{% endif %}",
    ("<|endoftext|>", "<|user|>", "<|assistant|>", "<|end|>"),
    ("<|endoftext|>", "<|end|>"),
    names={"eos_token": "<|endoftext|>"},
)
PHI4 = Family(
    EACH + "<|im_start|>{{ m.role }}<|im_sep|>{{ m.content }}<|im_end|>{% endfor %}"
    + IF_ASKED + "<|im_start|>assistant<|im_sep|>{% endif %}",
    ("<|endoftext|>", "<|im_start|>", "<|im_sep|>", "<|im_end|>"),
    ("<|im_end|>",),
)  # fmt: skip
GRANITE = Family(
    EACH + "<|start_of_role|>{{ m.role }}<|end_of_role|>{{ m.content }}<|end_of_text|>\n"
    "{% endfor %}" + IF_ASKED + "<|start_of_role|>assistant<|end_of_role|>{% if thinking %}"
    "{# answers as <think>…</think><response>…</response> #}{% endif %}{% endif %}",
    ("<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>"),
    ("<|end_of_text|>",),
)
COMMAND_R = Family(
    "{{ bos_token }}"
    + EACH
    + "<|START_OF_TURN_TOKEN|>{% if m.role == 'assistant' %}<|CHATBOT_TOKEN|><|START_RESPONSE|>"
    "{{ m.content }}<|END_RESPONSE|>{% else %}<|{{ m.role | upper }}_TOKEN|>{{ m.content }}"
    "{% endif %}<|END_OF_TURN_TOKEN|>{% endfor %}"
    + IF_ASKED
    + "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{% endif %}",
    ("<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|USER_TOKEN|>",
     "<|CHATBOT_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>",
     "<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|END_OF_TURN_TOKEN|>",),
    names={"bos_token": "<BOS_TOKEN>", "eos_token": "<|END_OF_TURN_TOKEN|>"},
)  # fmt: skip
GEMMA4 = Family(
    "{{ bos_token }}" + EACH + "<|turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{% if m.get('reasoning_content') and loop.last %}<|channel>thought\n{{ m.reasoning_content }}"
    "\n<channel|>{% endif %}{{ m.content | trim }}<turn|>\n{% endfor %}"
    + IF_ASKED
    + f"<|turn>model\n{{% if {THINKING_OFF} %}}<|channel>thought\n<channel|>{{% endif %}}"
    "{% endif %}",
    ("<bos>", "<|turn>", "<turn|>", "<|channel>", "<channel|>"),
    ("<turn|>",),
    names={"bos_token": "<bos>", "eos_token": "<turn|>"},
)
MAGISTRAL = Family(
    MISTRAL.source, (*MISTRAL.tokens, "[THINK]", "[/THINK]"), MISTRAL.eos, names=MISTRAL.names
)
SEED = Family(
    EACH + "<seed:bos>{{ m.role }}\n{{ m.content }}<seed:eos>{% endfor %}"
    + IF_ASKED + "<seed:bos>assistant\n{% endif %}",
    ("<seed:bos>", "<seed:eos>", "<seed:think>", "</seed:think>"),
    ("<seed:eos>",),
)  # fmt: skip
MUSE = Family(  # messages name their receiver: the model itself, or the user
    EACH + "{% if m.reasoning_content %}<|start|>assistant to=self<|message|>"
    "{{ m.reasoning_content }}<|eom|>{% endif %}<|start|>{{ m.role }}"
    "{{ ' to=user' if m.role == 'assistant' else '' }}<|message|>{{ m.content }}<|eot|>"
    "{% endfor %}" + IF_ASKED + "<|start|>assistant{% endif %}",
    ("<|start|>", "<|message|>", "<|eom|>", "<|eot|>"),
    ("<|eot|>",),
)  # fmt: skip
