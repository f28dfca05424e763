"""A plan into a study: model by model, each with one engine, never the same row twice."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from generation.chat.chat_model import ChatModel, load_chat_model
from generation.chat.context import turn_prompt
from generation.datasets.dataset import Dataset
from generation.engines.open_engine import SERVER, EngineChoice, open_engine
from generation.item import Message
from generation.plan.cells import Draw
from generation.plan.plan import HISTORY, ModelPlan, Plan
from generation.probe.maker import Maker, Watch
from generation.probe.model_folder import model_folder
from generation.probe.model_probe import ModelProbe
from generation.probe.row_store import open_rows
from generation.probe.sampling import answer_sampling, turn_sampling
from generation.probe.start import Shard, first_starts
from generation.probe.tally import ModelTally
from generation.probe.turn_stage import TurnStage
from generation.process_lock import generation_lock
from generation.study import Study
from generation.turn import Answer, Conversation, Run
from generation.version import tool_state

ALL = Shard(1, 1)


def run_model(
    study: Study,
    plan: Plan,
    model_plan: ModelPlan,
    datasets: Sequence[Dataset],
    choice: EngineChoice,
    *,
    shard: Shard = ALL,
    retry_errors: bool = False,
    watch: Watch,
    warn: Callable[[str], None],
) -> ModelTally:
    """Make what a study lacks of one model's rows of a plan.

    Raises InputError where the model, its template or the engine is not as expected, and
    EngineDied where the engine stops half-way: the same call goes on.
    """
    folder = model_folder(model_plan, weights=choice.kind != SERVER)
    model = load_chat_model(
        folder,
        name=model_plan.name,
        day=date.fromisoformat(plan.date),
        template_kwargs=model_plan.template_kwargs,
        template_file=Path(model_plan.template_file) if model_plan.template_file else None,
    )
    for warning in model.warnings:
        warn(f"{model.name}: {warning}")
    length = min(model_plan.context_length, model.context_length or model_plan.context_length)
    study.folder.mkdir(parents=True, exist_ok=True)
    with generation_lock(study):
        store = open_rows(study.pipeline)
        try:
            maker = Maker(
                store,
                Run("probe", run_provenance(plan, model_plan, model, datasets)),
                model.name,
                lambda: open_engine(
                    choice, folder, (model_plan.source, model_plan.name), length, model_plan.engine
                ),
                tool_state() | {"shard": asdict(shard)},
                watch,
            )
            probe = ModelProbe(maker, TurnStage(store, model, plan), shard.count > 1, retry_errors)
            return probe.probe(first_starts(plan, datasets, shard))
        finally:
            store.close()


def run_provenance(
    plan: Plan, model_plan: ModelPlan, model: ChatModel, datasets: Sequence[Dataset]
) -> dict[str, Any]:
    """What the rows of a run follow from; equal provenance is the same run, resumed.

    Nothing of the machine is in it: which engine made the rows is said by the sittings.
    """
    record = asdict(plan)
    for key in ("models", "datasets", "date"):  # told below, without paths; dates where they act
        del record[key]
    question = Conversation("example", "example", (Message("user", "2+2?"),))
    example = turn_prompt(model, Answer(question, "4"), HISTORY)
    draw = Draw(0.0)
    return {
        "name": f"{plan.name}/{model.name}",
        "plan": record,
        "limits": {dataset.name: dataset.limit for dataset in plan.datasets},
        "model": model.provenance() | {"revision_asked": model_plan.revision},
        "sampling": {
            "answer": asdict(answer_sampling(model, plan, draw, ""))
            | {name: getattr(plan.answers, name) for name in ("temperature", "top_p", "top_k")}
            | {"seed": "per row"},
            "turn": asdict(turn_sampling(model, plan, draw, ""))
            | dict.fromkeys(("temperature", "top_p", "top_k", "seed"), "per row"),
        },
        "rendered_example": model.decode(example.token_ids, False),
        "example_notes": example.notes,
        "datasets": [dataset.provenance() for dataset in datasets],
    }
