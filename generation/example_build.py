"""Makes the bundled example again from its sources; everything in it follows from a seed."""

import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.chat_model import ChatModel
from generation.dataset import read_dataset, read_open_assistant
from generation.engine import Engine
from generation.probe import Plan, Probe
from generation.turn import Conversation, Turn
from generation.turn_record import record_from_turn
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
    sources: ExampleSources, model: ChatModel, engine: Engine, version: str, folder: Path
) -> Counter[str]:
    """Write triples, held-out turns, provenance and licences; returns turns by run."""
    datasets = [read_dataset(name, getattr(sources, name)) for name in CONVERSATIONS]
    chosen = [
        (place, conversation)
        for dataset in datasets
        for place, conversation in enumerate(dataset.sample(CONVERSATIONS[dataset.name], SEED))
    ]
    groups: dict[str, tuple[tuple[float, ...], list[Conversation]]] = {
        "sweep": (TEMPERATURES, [c for place, c in chosen if place >= ALSO_AT_ONE]),
        "sweep_to_one": ((*TEMPERATURES, 1.0), [c for place, c in chosen if place < ALSO_AT_ONE]),
    }
    provenance, rows = {}, []
    for name, (temperatures, conversations) in groups.items():
        plan = Plan(temperatures, seed=SEED, max_turn_tokens=MAX_TURN_TOKENS)
        probe = Probe(model, engine, plan)
        rows += [(name, turn) for turn in probe.turns(conversations)]
        described = [dataset.provenance() for dataset in datasets]
        provenance[name] = probe.provenance(described, version) | {"choice": _choice(name)}
    held_out = choose_held_out(read_open_assistant(sources.open_assistant))
    provenance["held_out"] = {
        "tool": f"followupeval {version}",
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
