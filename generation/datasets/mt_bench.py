"""MT-Bench: the first of two questions each (arXiv 2306.05685)."""

from generation.datasets.collected import Collected
from generation.datasets.known_source import KnownSource, Reading, id_in, rows_with, text_in
from generation.exchange.import_file import SourceFile
from generation.plan.plan import HELD_OUT, SELF_GENERATED

COLUMNS = ("question_id", "category", "turns")


def read_mt_bench(file: SourceFile, name: str) -> Reading:
    """The first turn of a row is its question."""
    collected = Collected(name)
    for row in rows_with(file, "mt_bench", COLUMNS):
        turns = row.values["turns"]
        first = turns[0] if isinstance(turns, list) and turns else None
        question = text_in(row, "the question", first)
        category = {"category": row.values["category"]}
        collected.question(id_in(row, "question_id"), question, category)
    return Reading(collected.rows())


MT_BENCH = KnownSource(
    name="mt_bench",
    expects="JSONL with question_id, category, turns",
    read=read_mt_bench,
    licence="Apache-2.0, lm-sys/FastChat",
    file_names=("mt_bench_question.jsonl", "question.jsonl"),
    expected={SELF_GENERATED: 80, HELD_OUT: 0},
)
