"""Names that came from elsewhere, on a terminal that would obey them."""

import pytest

from judge.config import JudgeConfig, checked, checked_model
from judge.judge import Judge
from judge.prompts.prompt import render_prompt
from judge.runs.run import Summary
from judge.runs.status import study_status
from judge.runs.status_text import status_text
from judge.runs.summary_text import summary_text
from judge.store import JudgmentStore, open_pipeline
from rubrics import InputError, load_rubric

EVIL = "m\x1b[2J\nnext: rm"


def test_a_summary_keeps_a_name_on_its_line():
    text = summary_text(
        Summary(
            "id", EVIL, EVIL, "p", "", 1, 1, 1, 1, 0, 0, {"malformed": 1}, {}, None, "calibrate"
        )
    )
    assert text.startswith(
        "1 item judged by m\\x1b[2J\\nnext: rm under rubric m\\x1b[2J\\nnext: rm\n"
    )
    assert "\x1b" not in text


def test_a_status_keeps_a_name_on_its_line(study):
    """As a study has it from before such names were refused."""
    database = open_pipeline(study.pipeline)
    prompt = render_prompt(load_rubric("v3"))
    JudgmentStore(database).add_judge(Judge(EVIL, {}, "v3", prompt.prompt_hash), prompt)
    text = status_text(study_status(database), study)
    database.close()
    assert "m\\x1b[2J\\nnext: rm" in text.replace("\n", "")
    assert not [line for line in text.splitlines() if line.startswith("next: rm")]


@pytest.mark.parametrize(
    "name", ["", "a\n", "\x1b]0;x\x07", "\u202egpt", "\ud800", "x" * 301, None]
)
def test_a_name_that_could_act_is_refused(name):
    with pytest.raises(InputError, match="1 to 300 printable characters") as refused:
        checked_model(name)
    assert str(refused.value).isprintable()
    if name is not None:
        with pytest.raises(InputError, match=r"f, judge 1: model = .*printable characters"):
            checked(JudgeConfig(model=name), "f, judge 1")


@pytest.mark.parametrize("name", ["org/model-1", "gpt 5 mini", "模型:7b", "🤖", "x" * 300])
def test_a_name_is_taken_as_it_is(name):
    assert checked_model(name) == name
    assert checked(JudgeConfig(model=name), "f") == JudgeConfig(model=name)
