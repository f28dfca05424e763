"""A run: every item that this judge has not judged yet gets its judgment, kept as it arrives."""

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import Progress

from generation.database import readable_refusals
from generation.store import TurnStore
from generation.study import Study
from judge.instrument import Instrument
from judge.judgment import Judgment
from judge.store import JudgmentStore, open_pipeline
from rubrics import InputError


@dataclass(frozen=True)
class Summary:
    """What a judge says about a study's items. `labels` lists every category, zeros included.

    `turns` are all that the study holds; equal ones are one item.
    """

    judge_id: str
    model: str
    rubric_version: str
    turns: int
    items: int
    judged_now: int
    judged_before: int
    labels: dict[str, int]
    invalid: dict[str, int]
    next_command: str

    def as_dict(self) -> dict[str, Any]:
        return vars(self) | {"invalid_count": sum(self.invalid.values())}


def run_judge(study: Study, instrument: Instrument) -> Summary:
    """Judge what is not judged yet; a run that was stopped goes on where it stopped.

    Raises InputError for a study that is missing or has no turns, and when the judge's server
    refuses or the store cannot be written; the verdicts kept until then stay.
    """
    database = open_pipeline(study.pipeline)
    try:
        turns = TurnStore(database)
        items = dict(turns.items())
        if not items:
            raise InputError(f"{study.pipeline} holds no turns; add some first: generate example")
        store = JudgmentStore(database)
        judge_id = store.add_judge(instrument.judge, instrument.prompt)
        known = store.judgments(judge_id).keys() & items.keys()
        waiting = [(key, item) for key, item in items.items() if key not in known]
        with Progress(
            console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True
        ) as progress:
            task = progress.add_task("judging", total=len(items), completed=len(known))

            def keep(item_hash: str, judgment: Judgment) -> None:
                with readable_refusals(study.pipeline):
                    store.add_judgment(judge_id, item_hash, judgment)
                progress.advance(task)

            instrument.label(waiting, keep)
        turn_count = turns.count()
        judgments = [j for key, j in store.judgments(judge_id).items() if key in items]
    finally:
        database.close()
    return _summary(study, instrument, turn_count, len(items), len(known), judgments)


def _summary(
    study: Study,
    instrument: Instrument,
    turns: int,
    items: int,
    known: int,
    judgments: list[Judgment],
) -> Summary:
    labels = Counter(judgment.label for judgment in judgments)
    # A reason is `kind: detail`; the detail stays in the store.
    invalid = Counter(
        judgment.invalid_reason.partition(":")[0] for judgment in judgments if not judgment.valid
    )
    version = instrument.rubric.version
    return Summary(
        judge_id=instrument.judge.judge_id,
        model=instrument.judge.model,
        rubric_version=version,
        turns=turns,
        items=items,
        judged_now=len(judgments) - known,
        judged_before=known,
        labels={category: labels[category] for category in instrument.rubric.category_ids},
        invalid=dict(sorted(invalid.items())),
        next_command=f"calibrate --rubric {version}{study.option}",
    )
