"""CoVal, collective alignment: value-sensitive prompts with four recorded responses each."""

from typing import Any

from generation.datasets.chat_message import ChatMessage, LeftOut, chat_messages
from generation.datasets.collected import Collected
from generation.datasets.known_source import KnownSource, Reading, id_in, rows_with
from generation.exchange.import_file import Row, SourceFile
from generation.hub import HubFile
from generation.plan.plan import HELD_OUT, SELF_GENERATED
from rubrics import InputError, fingerprint

COLUMNS = ("prompt_id", "prompt", "responses")
RESPONSE_SEED = 0


def read_coval(file: SourceFile, name: str) -> Reading:
    """Every prompt as a question, and one of its responses, by a seed, as a held-out answer."""
    collected = Collected(name)
    for row in rows_with(file, "coval", COLUMNS):
        prompt_id = id_in(row, "prompt_id")
        try:
            messages = _messages(row, "prompt", row.values["prompt"])
        except LeftOut as why:
            collected.leave_out(str(why))
            continue
        collected.asked(prompt_id, messages, {})
        chosen = _chosen(row, prompt_id)
        try:
            response = _messages(row, "responses", chosen)
        except LeftOut as why:
            collected.leave_out(f"a response with {why}")
            continue
        response_index = {"response_index": chosen.get("response_index")}
        collected.answered(prompt_id, [*messages, *response], response_index)
    return Reading(collected.rows(), {"response_seed": RESPONSE_SEED})


def _messages(row: Row, column: str, holder: Any) -> tuple[ChatMessage, ...]:
    found = holder.get("messages") if isinstance(holder, dict) else None
    return chat_messages(f"{row.where}: {column}.messages", found)


def _chosen(row: Row, prompt_id: str) -> dict[str, Any]:
    responses = row.values["responses"]
    if not isinstance(responses, list) or not all(isinstance(one, dict) for one in responses):
        raise InputError(f"{row.where}: responses is {responses!r:.60}; expected a list of objects")
    if not responses:
        raise InputError(f"{row.where}: no responses; expected one at least")
    return min(
        responses,
        key=lambda one: fingerprint([RESPONSE_SEED, prompt_id, one.get("response_index")]),
    )


COVAL = KnownSource(
    name="coval",
    expects="JSONL with prompt_id, prompt.messages, responses (comparisons.jsonl)",
    read=read_coval,
    licence="CC-BY-4.0, openai/coval",
    file_names=("comparisons.jsonl", "coval_comparisons.jsonl"),
    hub=HubFile("openai/coval", "comparisons.jsonl"),
    expected={SELF_GENERATED: 1078, HELD_OUT: 1078},  # arXiv 2604.02315 used 100, not saying which
)
