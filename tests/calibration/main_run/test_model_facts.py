"""What names and a file tell of models."""

import pytest

from judge.calibration.main_run.model_facts import (
    SFT,
    ModelFacts,
    facts_from_name,
    facts_of,
    models_file,
)
from rubrics import InputError


@pytest.mark.parametrize(
    ("name", "family", "parameters"),
    [
        ("Qwen3.5-0.8B", "Qwen3.5", 0.8e9),
        ("Qwen/Qwen3.5-35B-A3B", "Qwen3.5", 35e9),
        ("Qwen3.5-397B-A17B", "Qwen3.5", 397e9),
        ("openai/gpt-oss-120b", "gpt-oss", 120e9),
        ("zai-org/GLM-4.7", "GLM-4.7", None),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", "SmolLM2-Instruct", 135e6),
        ("Qwen2.5-7B-Instruct-1M", "Qwen2.5-Instruct-1M", 7e9),  # 1M is its context
        ("Mixtral-8x7B", "Mixtral-8x7B", None),  # less than 56e9, as experts share layers
        ("models/Qwen3.5-2B/", "Qwen3.5", 2e9),
        ("7B", "7B", 7e9),
        ("nothing-0B", "nothing-0B", None),  # no size of any model
        ("long-" + "9" * 400 + "B", "long-" + "9" * 400 + "B", None),
        ("x-٣B", "x-٣B", None),
        ("", "", None),
    ],
)
def test_a_name_tells_family_and_size(name, family, parameters):
    assert facts_from_name(name) == ModelFacts(name, family, parameters)


def test_models_are_in_order_of_family_size_and_name():
    names = ["gpt-oss-120b", "Qwen3.5-27B", "GLM-4.7", "gpt-oss-20b", "Qwen3.5-9B", "x/gpt-oss-20b"]
    assert list(facts_of(names, {})) == [
        "GLM-4.7",
        "gpt-oss-20b",
        "x/gpt-oss-20b",
        "gpt-oss-120b",
        "Qwen3.5-9B",
        "Qwen3.5-27B",
    ]


def test_what_is_told_goes_before_the_name():
    told = {"GLM-4.7": ModelFacts("GLM-4.7", "GLM", 358e9)}
    assert facts_of(["GLM-4.7"], told)["GLM-4.7"] == told["GLM-4.7"]


def test_a_file_tells_what_it_says_and_the_name_the_rest(tmp_path):
    file = tmp_path / "models.toml"
    file.write_text(
        """
        [[models]]
        name = "GLM-4.7"
        parameters = 358e9
        [[models]]
        name = "run-7/sft-Qwen3.5-2B"
        family = "Qwen3.5"
        checkpoint_of = "Qwen3.5-2B"
        stage = "SFT"
        """
    )
    assert models_file(file) == {
        "GLM-4.7": ModelFacts("GLM-4.7", "GLM-4.7", 358e9),
        "run-7/sft-Qwen3.5-2B": ModelFacts(
            "run-7/sft-Qwen3.5-2B", "Qwen3.5", 2e9, "Qwen3.5-2B", SFT
        ),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"no \[\[models\]\]"),
        ("models = []", r"no \[\[models\]\]"),
        ("models = [3]", "a model without a name"),
        ("[[models]]\nfamily = 'a'", "a model without a name"),
        ("[[models]]\nname = ''", "a model without a name"),
        ("[[models]]\nname = 'a'\nsize = 3", "unknown key 'size'"),
        ("[[models]]\nname = 'a'\n[other]", "unknown key 'other'"),
        ("[[models]]\nname = 'a'\n[[models]]\nname = 'a'", "named twice"),
        ("[[models]]\nname = 'a'\nstage = 'RLHF'\ncheckpoint_of = 'b'", "one of base, SFT, RL"),
        ("[[models]]\nname = 'a'\nstage = 'RL'", "go together"),
        ("[[models]]\nname = 'a'\ncheckpoint_of = 'b'", "go together"),
        ("[[models]]\nname = 'a'\nfamily = 3", "are names, as text"),
        ("[[models]]\nname = 'a'\nparameters = 'many'", "expected their number, as 8e9"),
        ("[[models]]\nname = 'a'\nparameters = true", "expected their number, as 8e9"),
        ("[[models]]\nname = 'a'\nparameters = 0", "expected their number, as 8e9"),
        ("[[models]]\nname = 'a'\nparameters = nan", "expected their number, as 8e9"),
        ("[[models]]\nname = 'a'\nparameters = inf", "expected their number, as 8e9"),
        ("[[models]", "is no TOML"),
    ],
)
def test_a_file_that_says_something_else_is_refused_in_one_line(tmp_path, text, said):
    file = tmp_path / "models.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=said) as refused:
        models_file(file)
    assert "\n" not in str(refused.value)
    assert str(file) in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.toml"):
        models_file(tmp_path / "none.toml")
