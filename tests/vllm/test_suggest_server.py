"""A suggestion by a real vLLM server, whose model judges and revises.

The model is tiny, so that no better text is expected of it: the search must come to its end, say
what became of it, and give a text that can be rendered, which is the base if nothing could be used.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from small_server import NAME

from annotator.annotation import append_event
from annotator.labelling.display import put_display
from annotator.labels import blind_items, open_labels, record_rubric
from generation.clock import now
from generation.item import Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.causes.cause_store import note_cause
from judge.prompts.prompt import ITEM_MARK, render_prompt
from judge.prompts.prompt_template import PromptTemplate
from judge.prompts.template_store import TemplateStore
from judge.store import JudgmentStore, open_pipeline
from judge.verdict_runs import judgments_by_run
from rubrics import load_rubric

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

RUBRIC = "v2"
QUESTIONS = 20
TEMPLATE = PromptTemplate(
    "short",
    1,
    f"""Label the turn as one of:
{{% for category in rubric.categories %}}
- {{{{ category.id }}}}: {{{{ category.definition }}}}
{{% endfor %}}
Answer with a JSON object that has the keys rationale, label and sigma.
{ITEM_MARK}
{{{{ messages }}}}
{{{{ answer }}}}
{{{{ turn }}}}
""",
)


def command(verb: str, study: Study, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    module = {"judge": "judge.cli", "calibrate": "judge.calibration.cli"}[verb]
    done = subprocess.run(
        [
            *(sys.executable, "-c", f"from {module} import {verb}; {verb}()", *arguments),
            *("--study", str(study.folder)),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def study(tmp_path, base_url) -> Study:
    """Items on all of which a script differs from the model's verdict, each noted as its error."""
    study = Study(tmp_path / "study")
    pipeline_db = open_pipeline(study.pipeline, create=True)
    turns = []
    for i in range(QUESTIONS):
        question = Message("user", f"How many clips did she sell in week {i}?")
        answer = Answer(Conversation("test", str(i), (question,)), f"She sold {i + 7} clips.")
        turns.append(Turn(answer, f"Why were there {i + 7} of them?", "held-out"))
    TurnStore(pipeline_db).add_turns(Run("import", {"file": "test"}), turns)
    TemplateStore(pipeline_db).put(TEMPLATE)
    served = ("--model", NAME, "--base-url", base_url, "--max-tokens", "120")
    command("judge", study, *served, "--prompt", "short", "--rubric", RUBRIC)
    command("calibrate", study, "sample")

    rubric = load_rubric(RUBRIC)
    (judge,) = JudgmentStore(pipeline_db).judges(RUBRIC)
    said = judgments_by_run(pipeline_db, judge.judge_id)[0]
    labels_db = open_labels(study.labels)
    record_rubric(labels_db, rubric)
    labels_db["annotators"].insert({"annotator": "script", "first_seen_at": now()})
    for item_id, item in blind_items(labels_db).items():
        label = next(name for name in rubric.category_ids if name != said[item.hash].label)
        shown = put_display(
            labels_db,
            annotator="script",
            item_id=item_id,
            rubric_version=RUBRIC,
            last_event_id=None,
        )
        append_event(
            labels_db,
            nonce=shown.nonce,
            annotator="script",
            item_id=item_id,
            rubric_version=RUBRIC,
            category=label,
            skip_reason=None,
            confidence=None,
            note="",
            flagged=False,
            saved_at=now(),
        )
        stores = (pipeline_db, labels_db)
        note_cause(*stores, judge.judge_id, judge.judge, item_id, causes=["judge error"])
    command("calibrate", study, "split", "--rubric", RUBRIC)
    return study


def test_the_search_comes_to_its_end_with_a_text_that_can_be_rendered(study, base_url):
    options = ("--rubric", RUBRIC, "--base-url", base_url, "--calls", "40", "--max-tokens", "80")
    done = command("calibrate", study, "suggest", "--json", *options)
    print(done.stdout, done.stderr)
    found = json.loads(done.stdout)
    assert found["base"] == "short@1"
    assert render_prompt(load_rubric(RUBRIC), replace(TEMPLATE, text=found["text"]))
    assert 0 <= found["base_score"] <= found["proposed_score"] <= 1
    assert found["improved"] == (found["text"] != TEMPLATE.text)
    assert min(found["tagged"], found["validation"]) >= 2
    assert found["validation"] < found["calls"] <= 40
    assert found["tried"] or found["unusable"] or not found["improved"]
    assert "next: " in done.stderr
    assert open_pipeline(study.pipeline)["judges"].count == 1
