"""The bundled example: real probe turns of a small model and real people's next turns."""

import json
from importlib import resources

from generation.store import TurnStore
from generation.turn import Added, Run, Turn
from generation.turn_record import turn_from_record
from rubrics import InputError

TURN_FILES = ("triples.jsonl", "held_out.jsonl")


def load_example() -> list[tuple[Run, list[Turn]]]:
    """The example's runs, each with its turns in the order of the files.

    Raises InputError when a bundled file is missing or was changed.
    """
    folder = resources.files("generation") / "example"
    try:
        provenance = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
        texts = {name: (folder / name).read_text(encoding="utf-8") for name in TURN_FILES}
    except FileNotFoundError as error:
        raise InputError(
            f"the bundled example is incomplete ({error.filename} is missing); "
            "install followupeval again"
        ) from error
    turns: dict[str, list[Turn]] = {name: [] for name in provenance}
    for name, text in texts.items():
        for number, line in enumerate(text.split("\n"), start=1):
            if line:
                record = json.loads(line)
                run = record.pop("run")
                turns[run].append(turn_from_record(record, f"{name}:{number}"))
    return [(Run("example", provenance[name]), rows) for name, rows in turns.items()]


def add_example(store: TurnStore) -> Added:
    """Add the example to a study; again adds nothing."""
    added = [store.add_turns(run, turns) for run, turns in load_example()]
    return Added(sum(part.new for part in added), sum(part.known for part in added))
