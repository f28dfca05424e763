"""Two tasks of an exported judge prompt: judging user turns, and judging the judge.

inspect eval judge/user_turns -T export=FOLDER -T turns=FOLDER --model NAME
inspect eval judge/judge_agreement -T export=FOLDER -T labels=FOLDER --model NAME
"""

from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.scorer import mean

from judge.exported import Export
from judge.inspect_task.agreement import agreement, agrees, one_verdict
from judge.inspect_task.pinned_judge import given_path, pinned_judge
from judge.inspect_task.refusal import told_in_a_line
from judge.inspect_task.samples import reference_samples, turn_samples
from judge.inspect_task.scorer import clustered_stderr, followupeval, outcomes
from rubrics import InputError


@task
def user_turns(export: str = "", turns: str = "") -> Task:
    """Turns that are there already, judged: `turns` is a published data set or a file of turns.

    Nothing is generated. The model evaluated is the judge, unless the role "grader" has another.
    """
    _check_given(export=export, turns=turns)
    pinned = pinned_judge(export)
    path = given_path(turns)
    with told_in_a_line():
        samples = turn_samples(path)
    return Task(
        dataset=MemoryDataset(samples, name=path.name),
        solver=[],  # the turns are there
        scorer=followupeval(export),
        metrics=[mean(), clustered_stderr(), outcomes()],
        metadata=_told(pinned),
    )


@task
def judge_agreement(export: str = "", labels: str = "") -> Task:
    """The model evaluated as the judge of items that people labelled, in the data set `labels`."""
    _check_given(export=export, labels=labels)
    pinned = pinned_judge(export)
    folder = given_path(labels)
    with told_in_a_line():
        found = reference_samples(pinned, folder)
    return Task(
        dataset=MemoryDataset(list(found.samples), name=folder.name),
        solver=one_verdict(export),
        scorer=agrees(export),
        metrics=[agreement(str(pinned.reading))],
        epochs=Epochs(pinned.runs),
        metadata=_told(pinned) | {"left_out_shown_in_the_prompt": found.shown},
    )


def _check_given(**options: str) -> None:
    """Inspect shows a traceback where an option without a default is missing or misspelt."""
    with told_in_a_line():
        for name, value in options.items():
            if value == "":
                raise InputError(f"the option {name} is missing; expected -T {name}=FOLDER")


def _told(export: Export) -> dict[str, Any]:
    return {
        "export": export.folder.name,
        "export_hash": export.export_hash,
        "rubric": export.rubric.version,
        "judge": export.judge.model,
        "judge_id": export.judge.judge_id,
        "reading": str(export.reading),
        "runs": export.runs,
    }
