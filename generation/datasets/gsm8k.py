"""GSM8K: grade-school word problems (arXiv 2110.14168)."""

import re

from generation.datasets.collected import Collected
from generation.datasets.known_source import KnownSource, Reading, rows_with, text_in
from generation.exchange.import_file import SourceFile
from generation.hub import HubFile
from generation.plan.plan import HELD_OUT, SELF_GENERATED

COLUMNS = ("question", "answer")
_PART = re.compile(r"-\d{5}-of-\d{5}$")  # a hub copy may stand in numbered parts


def read_gsm8k(file: SourceFile, name: str) -> Reading:
    """The rows have no id: theirs is the split, the last word of the file's name, and the line."""
    split = _PART.sub("", file.path.stem).rpartition("_")[2]
    collected = Collected(name)
    for row in rows_with(file, "gsm8k", COLUMNS):
        question = text_in(row, "the question", row.values["question"])
        reference = {"reference": row.values["answer"]}
        collected.question(f"{split}-{row.line}", question, reference)
    return Reading(collected.rows())


GSM8K = KnownSource(
    name="gsm8k",
    expects="JSONL or Parquet with question, answer",
    read=read_gsm8k,
    licence="MIT, openai/grade-school-math",
    file_names=("gsm8k_test.jsonl", "test.jsonl"),
    hub=HubFile("openai/gsm8k", "main/test-00000-of-00001.parquet"),
    expected={SELF_GENERATED: 1319, HELD_OUT: 0},
    remarks={SELF_GENERATED: "the test split has 1319 rows, the training split 7473"},
)
