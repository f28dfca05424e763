"""The status of a study as plain text."""

from collections.abc import Iterator

from generation.command import one_line
from generation.study import Study
from judge.plain_text import cells, new_table, rendered, wrapped
from judge.plural import counted
from judge.runs.status import JudgeStatus, Status
from rubrics import short


def status_text(status: Status, study: Study) -> str:
    """One line per judge and run, counted in turns; each line adds up to all turns."""
    head = f"{counted(status.turns, 'turn')}, {counted(status.items, 'distinct item')}"
    if not status.judges:
        return f"{head}, judged by nobody yet\nnext: judge{study.option}\n"
    table = new_table("judge", "rubric", "prompt", "run", "labelled", "invalid", "batch", "waiting")
    for column in table.columns[3:]:
        column.justify = "right"
    for judge in status.judges:
        name = _name(judge)
        for run in judge.runs:
            counts = (
                run.outcomes.labels.total(),
                run.outcomes.invalid.total(),
                run.in_batch,
                run.waiting,
            )
            first = (name, one_line(judge.judge.rubric_version), one_line(judge.template))
            table.add_row(*cells(*first, str(run.run), *(f"{count:,}" for count in counts)))
    notes = [line for judge in status.judges for line in _notes(judge)]
    return f"{head}\n\n{rendered(table)}{wrapped(notes)}{_next(status, study)}\n"


def _notes(judge: JudgeStatus) -> Iterator[str]:
    name = _name(judge)
    tokens = judge.tokens
    if tokens.prompt or tokens.completion:
        unknown = f", unknown for {counted(tokens.unknown, 'verdict')}" if tokens.unknown else ""
        yield (
            f"{name}: {tokens.prompt:,} prompt tokens, {tokens.cached:,} of them cached, "
            f"{tokens.completion:,} completion tokens{unknown}"
        )
    for run in judge.runs:
        for reason, count in sorted(run.outcomes.invalid.items()):
            yield f"{name}, run {run.run}, invalid: {reason}: {count:,}"


def _name(judge: JudgeStatus) -> str:
    return f"{one_line(judge.judge.model)} ({short(judge.judge_id)})"


def _next(status: Status, study: Study) -> str:
    if status.open_batches:
        return f"next: judge batch status --wait{study.option}"
    if any(run.waiting for judge in status.judges for run in judge.runs):
        return "next: run the judge whose verdicts are waiting again, as before; it goes on"
    return f"next: calibrate judges{study.option}"
