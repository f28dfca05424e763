"""Makes the bundled example again from its sources; everything in it follows from a seed."""

import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from generation.chat.chat_model import load_chat_model
from generation.datasets.dataset import Dataset
from generation.datasets.open_assistant import open_assistant_turns
from generation.datasets.open_dataset import open_dataset
from generation.engines.engine import Engine
from generation.engines.open_engine import EngineChoice, open_engine
from generation.plan.cells import cells_of
from generation.plan.plan import SELF_GENERATED, DatasetPlan, ModelPlan, Plan, Sweep
from generation.probe.maker import Maker
from generation.probe.model_probe import ModelProbe
from generation.probe.row_store import open_rows
from generation.probe.run_plan import run_provenance
from generation.probe.start import Start
from generation.probe.turn_stage import TurnStage
from generation.turn import Conversation, Run, Turn
from generation.turn_record import record_from_turn
from generation.version import tool_version
from rubrics import InputError, canonical_json, file_fingerprint, fingerprint

SEED = 0
CONVERSATIONS = {"gsm8k": 20, "mt_bench": 14, "ifeval": 13}
ALSO_AT_ONE = 3  # conversations of each data set that are sampled at T = 1 too
TEMPERATURES = (0.0, 0.3, 0.7)
MAX_TURN_TOKENS = 128  # a turn that runs on is cut there: labelling must stay bearable
HELD_OUT = 50
MAX_HELD_OUT_CHARACTERS = 1000  # of q with its history, a and u together
LICENCES = ("grade-school-math", "FastChat", "instruction_following_eval", "Open-Assistant")


@dataclass(frozen=True)
class ExampleSources:
    """Local copies of what the example is made from."""

    gsm8k: Path
    mt_bench: Path
    ifeval: Path
    open_assistant: Path
    licences: Path


def build_example(
    sources: ExampleSources, model_folder: Path, model_name: str, folder: Path
) -> Counter[str]:
    """Write triples, held-out turns, provenance and licences; returns turns by run."""
    datasets = [
        open_dataset(DatasetPlan(name, name, str(getattr(sources, name))), None)
        for name in CONVERSATIONS
    ]
    chosen = [
        (place, conversation)
        for dataset in datasets
        for count in [CONVERSATIONS[dataset.name]]
        for place, conversation in enumerate(dataset.conversations(count, SEED))
    ]
    groups: dict[str, tuple[tuple[float, ...], list[Conversation]]] = {
        "sweep": (TEMPERATURES, [c for place, c in chosen if place >= ALSO_AT_ONE]),
        "sweep_to_one": ((*TEMPERATURES, 1.0), [c for place, c in chosen if place < ALSO_AT_ONE]),
    }
    provenance, rows = {}, []
    with TemporaryDirectory() as scratch:
        for name, (temperatures, conversations) in groups.items():
            plan = _plan(name, temperatures, model_name)
            run, turns = _probed(plan, model_folder, datasets, conversations, Path(scratch))
            rows += [(name, turn) for turn in turns]
            provenance[name] = run.provenance | {"choice": _choice(name)}
    held_out = choose_held_out(open_assistant_turns(sources.open_assistant))
    provenance["held_out"] = {
        "tool": f"followupeval {tool_version()}",
        "file": sources.open_assistant.name,
        "sha256": file_fingerprint(sources.open_assistant),
        "choice": {
            "seed": SEED,
            "turns": HELD_OUT,
            "max_characters": MAX_HELD_OUT_CHARACTERS,
            "per_tree": 1,
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    _write_lines(folder / "triples.jsonl", rows)
    _write_lines(folder / "held_out.jsonl", [("held_out", turn) for turn in held_out])
    text = canonical_json(provenance)
    (folder / "provenance.json").write_text(text + "\n", encoding="utf-8")
    _copy_licences(sources.licences, folder / "licences")
    return Counter([name for name, _ in rows] + ["held_out"] * len(held_out))


def _plan(name: str, temperatures: tuple[float, ...], model_name: str) -> Plan:
    return Plan(
        name,
        (ModelPlan(model_name, model_name),),
        tuple(DatasetPlan(dataset, dataset) for dataset in CONVERSATIONS),
        (Sweep(temperatures=temperatures),),
        date=date.today().isoformat(),
        max_turn_tokens=MAX_TURN_TOKENS,
        seed=SEED,
    )


def _probed(
    plan: Plan,
    model_folder: Path,
    datasets: list[Dataset],
    conversations: list[Conversation],
    scratch: Path,
) -> tuple[Run, list[Turn]]:
    (model_plan,) = plan.models
    model = load_chat_model(
        model_folder,
        name=model_plan.name,
        day=date.fromisoformat(plan.date),
        template_kwargs={},
    )
    store = open_rows(scratch / f"{plan.name}.db")
    run = Run("example", run_provenance(plan, model_plan, model, datasets))
    length = model_plan.context_length

    def engine() -> Engine:
        return open_engine(EngineChoice(), model_folder, (), length, {})

    maker = Maker(store, run, model.name, engine, {"tool": f"followupeval {tool_version()}"})
    probe = ModelProbe(maker, TurnStage(store, model, plan))
    cells = cells_of(plan, "", SELF_GENERATED)
    probe.probe(Start(conversation, None, SELF_GENERATED, cells) for conversation in conversations)
    return run, list(store.turns.turns(run.run_id))


def _choice(group: str) -> dict[str, Any]:
    places = f"from {ALSO_AT_ONE} on" if group == "sweep" else f"up to {ALSO_AT_ONE - 1}"
    return {"seed": SEED, "conversations": CONVERSATIONS, "places": places}


def choose_held_out(turns: Iterable[Turn]) -> list[Turn]:
    """A seeded choice of short held-out turns, one per tree."""
    ordered = sorted(turns, key=lambda turn: fingerprint([SEED, turn.turn_id]))
    chosen: dict[str, Turn] = {}
    for turn in ordered:
        texts = [message.content for message in turn.item.messages]
        length = sum(map(len, [*texts, turn.item.answer, turn.item.turn]))
        if length <= MAX_HELD_OUT_CHARACTERS:
            chosen.setdefault(turn.answer.conversation.meta["tree"], turn)
    return list(chosen.values())[:HELD_OUT]


def _write_lines(path: Path, rows: Iterable[tuple[str, Turn]]) -> None:
    lines = [canonical_json({"run": run} | record_from_turn(turn)) + "\n" for run, turn in rows]
    path.write_text("".join(lines), encoding="utf-8")


def _copy_licences(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for name in LICENCES:
        path = source / f"{name}.LICENSE"
        if not path.is_file():
            raise InputError(f"{path} does not exist; expected the licence text of {name}")
        shutil.copyfile(path, target / path.name)
