"""HealthBench: health chats that end in a user's message (arXiv 2505.08775)."""

from generation.datasets.chat_message import LeftOut, chat_messages
from generation.datasets.collected import Collected
from generation.datasets.known_source import KnownSource, Reading, id_in, rows_with
from generation.exchange.import_file import SourceFile
from generation.hub import HubFile
from generation.plan.plan import HELD_OUT, SELF_GENERATED

COLUMNS = ("prompt", "prompt_id")
FILE = "2025-05-07-06-14-12_oss_eval.jsonl"


def read_healthbench(file: SourceFile, name: str) -> Reading:
    """Every prompt as a question; of one with an answer in it, that answer as a held-out one."""
    collected = Collected(name)
    for row in rows_with(file, "healthbench", COLUMNS):
        try:
            messages = chat_messages(f"{row.where}: prompt", row.values["prompt"])
        except LeftOut as why:
            collected.leave_out(str(why))
            continue
        tags = {"tags": row.values.get("example_tags") or []}
        collected.chat(id_in(row, "prompt_id"), messages, tags)
    return Reading(collected.rows())


HEALTHBENCH = KnownSource(
    name="healthbench",
    expects="JSONL with prompt, prompt_id, the prompt a list of chat messages",
    read=read_healthbench,
    licence="MIT, openai/healthbench; its canary asks that no example is published",
    file_names=(FILE,),
    hub=HubFile("openai/healthbench", FILE),
    expected={SELF_GENERATED: 5000, HELD_OUT: 1470},
    remarks={
        SELF_GENERATED: "the hard file has 1000 rows, the consensus file 3671",
        HELD_OUT: (
            "1470 were in arXiv 2604.02315, which does not say how they were picked; here it is "
            "every prompt with an assistant's answer before its last message"
        ),
    },
    canary=True,
)
