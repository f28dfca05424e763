"""What the batch commands say, as plain text that cannot act on a terminal."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from generation.command import one_line
from generation.study import Study
from judge.batch.collect import Collected
from judge.batch.files import Read, Written
from judge.batch.status import BatchStatus
from judge.batch.store import SUBMITTING
from judge.batch.submit import Submission, Submitted
from judge.batch.tally import Tally
from judge.instrument import is_export
from judge.plural import counted
from judge.runs.run import Say
from judge.server.endpoint import Endpoint

P = ParamSpec("P")


def _one_line_each(lines: Callable[P, Iterator[str]]) -> Callable[P, Iterator[str]]:
    """Whatever names they quote, each is one line."""

    @wraps(lines)
    def shown(*args: P.args, **kwargs: P.kwargs) -> Iterator[str]:
        return map(one_line, lines(*args, **kwargs))

    return shown


def submitted_line(batch: Submitted) -> str:
    return (
        f"{one_line(batch.batch_id)}  {counted(batch.asked, 'request')}, {batch.bytes / 1e6:.1f} MB"
    )


@_one_line_each
def submission_lines(done: Submission, options: str) -> Iterator[str]:
    """What follows after the batches themselves."""
    if done.online:
        yield f"{counted(done.online, 'verdict')} of {done.model} had online, to agree with it"
    if done.batches:
        yield f"about {counted(done.prompt_tokens, 'prompt token')} submitted, by their size"
    if done.held:
        yield f"{counted(done.held, 'request')} to {done.model} in open batches at {done.server}"
        yield f"next: judge batch status --wait{options}"
    else:
        yield f"nothing is waiting for {done.model}"


@_one_line_each
def status_lines(statuses: Iterable[BatchStatus], options: str) -> Iterator[str]:
    statuses = list(statuses)
    for one in statuses:
        yield _status_line(one)
    if not statuses:
        yield "no open batch"
        yield f"next: judge batch submit --model NAME{options}"
    elif any(one.ended for one in statuses):
        yield f"next: judge batch collect{options}"
    elif any(one.running for one in statuses):
        yield f"next: judge batch status --wait{options}"


@_one_line_each
def collected_lines(done: Collected) -> Iterator[str]:
    yield (
        f"{done.batch.batch_id}  {done.batch.model}  {done.batch.status}: {done.tally.asked} asked"
    )
    yield from _tally_lines(done.tally)
    if done.tally.missing:
        yield f"  missing: {done.tally.missing} (asked for, and no line about it)"
    if done.errors:
        yield f"  the server says: {'; '.join(done.errors)}"
    yield f"  waiting again: {done.waiting}"


@_one_line_each
def after_collect(
    collected: list[Collected], left: list[BatchStatus], study: Study, options: str
) -> Iterator[str]:
    for one in left:
        yield _status_line(one)
    if not collected and not left:
        yield "no open batch"
    again = sorted({done.batch.model for done in collected if done.waiting})
    if again:
        yield "what is waiting again goes out with the options that it had, such as --prompt:"
        yield f"next: judge batch submit --model {shlex.quote(again[0])}{options}"
    elif any(one.running for one in left):
        yield f"next: judge batch status --wait{options}"
    elif collected:
        yield f"next: calibrate --rubric {collected[-1].rubric_version}{study.option}"


def forgotten_line(batch_id: str, waiting: int) -> str:
    return (
        f"{one_line(batch_id)} is given up: {counted(waiting, 'request')} waiting again; what it "
        "may yet bring is not collected"
    )


@_one_line_each
def written_lines(done: Written, path: Path, options: str) -> Iterator[str]:
    if not done.requests:
        yield f"nothing is waiting for {done.model}; no file was written"
        return
    yield f"{path}: {counted(done.requests, 'request')} to {done.model}"
    runner = "python -m vllm.entrypoints.openai.run_batch"  # or any other
    asked, model = shlex.quote(str(path)), shlex.quote(done.model)
    yield f"next: {runner} -i {asked} -o ANSWERS.jsonl --model {model}"
    yield f"then: judge batch read ANSWERS.jsonl{options}"


@_one_line_each
def read_lines(done: Read, path: Path, study: Study) -> Iterator[str]:
    yield f"{path}: answers of {done.model}"
    yield from _tally_lines(done.tally)
    yield f"  still waiting: {done.waiting}"
    if done.tally.recognised:
        yield f"next: calibrate --rubric {done.rubric_version}{study.option}"


def server_option(base_url: str | None) -> str:
    """What a command line needs to name the server again, without a password."""
    return f" --base-url {shlex.quote(Endpoint(base_url, None).shown_url)}" if base_url else ""


def model_options(options: dict[str, Any], done: Written) -> str:
    """The model options that ask for the same judge again, whatever is edited until then."""
    given = {name: value for name, value in options.items() if name != "base_url"}
    if given["prompt"] is not None and not is_export(given["prompt"]):
        given["prompt"] = done.prompt
    return "".join(
        f" --{name.replace('_', '-')} {shlex.quote(str(value))}"
        for name, value in given.items()
        if value is not None
    )


def changes_told(say: Say) -> Callable[[Iterable[BatchStatus]], None]:
    """Says how the batches stand whenever something has changed."""
    last: list[str] = []

    def told(statuses: Iterable[BatchStatus]) -> None:
        lines = [_status_line(one) for one in statuses]
        if lines != last:
            last[:] = lines
            for line in lines:
                say(line)

    return told


def _tally_lines(tally: Tally) -> Iterator[str]:
    yield f"  kept: {tally.kept}"
    if tally.invalid:
        yield f"  kept as invalid: {tally.invalid}"
    if tally.known:
        yield f"  judged before: {tally.known} (the first verdict stays)"
    for reason, count in tally.failed.items():
        yield f"  failed: {count} ({reason})"
    if tally.duplicates:
        differing = f", {tally.differing} of them with another answer" if tally.differing else ""
        yield f"  duplicate lines: {tally.duplicates}{differing} (the first verdict counts)"
    if tally.unknown:
        yield f"  lines with an unknown id: {tally.unknown} (not asked for here; not stored)"
    if tally.unreadable:
        yield f"  unreadable lines: {tally.unreadable}"


def _status_line(one: BatchStatus) -> str:
    batch, record = one.batch, one.record
    if one.foreign:
        what = f"of {batch.server}, left alone: give its --base-url"
    elif one.fault and batch.status == SUBMITTING:
        what = "cut off while submitting, and not settled yet"
    elif one.fault and record is None:
        what = "unknown to its server"
    elif record is None:
        what = f"{batch.status}, or cut off while it was: look again in a minute"
    else:
        total = batch.asked if record.total is None else record.total
        answered = [] if record.completed is None else [f"{record.completed} of {total} answered"]
        failed = [f"{record.failed} failed"] if record.failed else []
        lacking = ["not all of it in its files"] if one.fault else []
        what = ", ".join([record.status, *answered, *failed, *lacking])
    when = batch.submitted_at[:16].replace("T", " ")
    requests = counted(batch.asked, "request")
    return one_line(f"{batch.batch_id}  {batch.model}  {requests} of {when}  {what}")
