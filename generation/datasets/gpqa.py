"""GPQA main and diamond: four-option questions (arXiv 2311.12022), asked in words of our own."""

from functools import partial

from generation.datasets.collected import Collected
from generation.datasets.known_source import KnownSource, Reading, id_in, rows_with, text_in
from generation.exchange.import_file import SourceFile
from generation.hub import HubFile
from generation.plan.plan import HELD_OUT, SELF_GENERATED
from rubrics import fingerprint

OPTIONS = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
COLUMNS = ("Record ID", "Question", *OPTIONS)
LETTERS = "ABCD"
OPTION_SEED = 0
REQUEST = (
    'Think it through step by step. Then end your reply with the line "Answer: X", where X is the '
    "letter of the option that you choose."
)


def read_gpqa(file: SourceFile, name: str, source: str) -> Reading:
    """The questions with their options in a seeded order, and the letter of the right one."""
    collected = Collected(name)
    for row in rows_with(file, source, COLUMNS):
        record = id_in(row, "Record ID")
        question = text_in(row, "Question", row.values["Question"]).strip()
        order = option_order(record)
        lines = [
            f"({letter}) {text_in(row, column, row.values[column]).strip()}"
            for letter, column in zip(LETTERS, order, strict=True)
        ]
        letter = LETTERS[order.index(OPTIONS[0])]
        text = "\n\n".join([question, "\n".join(lines), REQUEST])
        collected.question(record, text, {"reference_letter": letter})
    return Reading(collected.rows(), {"option_seed": OPTION_SEED, "request": REQUEST})


def option_order(record_id: str, seed: int = OPTION_SEED) -> list[str]:
    """The columns of the options in the order in which a record shows them.

    >>> sorted(option_order("rec1")) == sorted(OPTIONS), option_order("rec1") == OPTIONS
    (True, False)
    """
    return sorted(OPTIONS, key=lambda column: fingerprint([seed, record_id, column]))


def _gpqa(name: str, file_name: str, count: int) -> KnownSource:
    return KnownSource(
        name=name,
        expects=f"CSV with {', '.join(COLUMNS)}",
        read=partial(read_gpqa, source=name),
        licence="CC-BY-4.0, Idavidrein/gpqa; its authors ask that no example is shown online",
        file_names=(file_name,),
        hub=HubFile("Idavidrein/gpqa", file_name),
        expected={SELF_GENERATED: count, HELD_OUT: 0},
        remarks={SELF_GENERATED: "main has 448 rows, diamond 198, extended 546"},
        canary=True,
    )


GPQA_MAIN = _gpqa("gpqa_main", "gpqa_main.csv", 448)
GPQA_DIAMOND = _gpqa("gpqa_diamond", "gpqa_diamond.csv", 198)
