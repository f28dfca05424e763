"""The `judge batch` commands: verdicts by the Batch API, or by files for any other runner."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from generation.command import INPUT_WRONG, one_line, study_option
from generation.study import Study
from judge.options import base_url_option, config_from, model_options

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


@click.group()
def batch() -> None:
    """Have verdicts by batch: cheaper, within a day, and the same rows as online.

    \b
      judge batch submit --model NAME
      judge batch status --wait
      judge batch collect
    \b
    or by any other runner of such files:
      judge batch write REQUESTS.jsonl --model NAME
      python -m vllm.entrypoints.openai.run_batch -i REQUESTS.jsonl -o ANSWERS.jsonl --model NAME
      judge batch read ANSWERS.jsonl --model NAME
    """


@batch.command()
@study_option
@model_options
@json_option
def submit(study: Study, as_json: bool, **options: Any) -> None:
    """Start batches of all that this judge model has not been asked yet.

    One item is asked online first, to agree with the server on the parameters; its verdict is
    kept. Nothing that an open batch holds is asked again, online or by batch.
    """
    from judge.batch import report
    from judge.batch.submit import submit
    from judge.instrument import choose_instrument

    instrument = choose_instrument(config_from(options), study)
    told = _silent if as_json else lambda batch: click.echo(report.submitted_line(batch))
    done = submit(study, instrument, _say, told)
    again = report.server_option(options["base_url"]) + study.option
    _print(done.as_dict() if as_json else report.submission_lines(done, again))


@batch.command()
@study_option
@base_url_option
@click.option("--wait", is_flag=True, help="Look again and again until all have ended.")
@json_option
def status(study: Study, base_url: str | None, wait: bool, as_json: bool) -> int:
    """How every open batch stands."""
    from judge.batch import report
    from judge.batch.status import batch_status

    options = report.server_option(base_url) + study.option
    told = report.changes_told(_say) if wait and sys.stderr.isatty() else _silent
    statuses = batch_status(study, base_url, wait=wait, told=told)
    as_dicts = [one.as_dict() for one in statuses]
    _print(as_dicts if as_json else report.status_lines(statuses, options))
    return _faults(statuses)


@batch.command()
@study_option
@base_url_option
@json_option
def collect(study: Study, base_url: str | None, as_json: bool) -> int:
    """Store the verdicts of every batch that has ended, and say what became of each request.

    What brought no verdict is waiting again.
    """
    from judge.batch import report
    from judge.batch.collect import Collected, collect

    options = report.server_option(base_url) + study.option
    collected: list[Collected] = []
    left: list[Any] = []

    def told(done: Collected) -> None:
        collected.append(done)
        if not as_json:
            _print(report.collected_lines(done))

    try:
        left = collect(study, base_url, told)
    finally:  # what was collected is told, whatever happened then
        if as_json:
            both = {"collected": collected, "open": left}
            _print({name: [one.as_dict() for one in found] for name, found in both.items()})
    if not as_json:
        _print(report.after_collect(collected, left, study, options))
    return _faults(left, found_here=bool(collected))


@batch.command()
@click.argument("batch_id")
@study_option
def forget(batch_id: str, study: Study) -> None:
    """Give up an open batch that its server has lost; its requests are waiting again."""
    from judge.batch import report
    from judge.batch.collect import forget

    click.echo(report.forgotten_line(batch_id, forget(study, batch_id)))


@batch.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@study_option
@model_options
@json_option
def write(file: Path, study: Study, as_json: bool, **options: Any) -> None:
    """Write a request to FILE for all that this judge model has not been asked yet.

    It needs no server, and FILE must not be there yet.
    """
    from judge.batch import files, report
    from judge.batch.instrument import offline_instrument

    done = files.write(study, offline_instrument(config_from(options), study), file, _say)
    again = report.model_options(options, done) + study.option
    _print(done.as_dict() if as_json else report.written_lines(done, file, again))


@batch.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@study_option
@model_options
@json_option
def read(file: Path, study: Study, as_json: bool, **options: Any) -> int:
    """Store the answers in FILE, the output of a runner; give the options that `write` had."""
    from judge.batch import files, report
    from judge.batch.instrument import offline_instrument

    done = files.read(study, offline_instrument(config_from(options), study), file, _say)
    _print(done.as_dict() if as_json else report.read_lines(done, file, study))
    if done.tally.recognised:
        return 0
    click.echo(
        f"error: {one_line(str(file))} answers nothing that this judge was asked here; give the "
        "options and the study that it was written with, --prompt NAME@N if it was a template's",
        err=True,
    )
    return INPUT_WRONG


def _silent(_found: Any) -> None:
    """Nobody looks on."""


def _say(message: str) -> None:
    click.echo(one_line(message), err=True)


def _print(found: dict[str, Any] | list[Any] | Iterator[str]) -> None:
    """JSON of an object or list, or lines."""
    as_json = isinstance(found, dict | list)
    click.echo(json.dumps(found, indent=2) if as_json else "\n".join(found))


def _faults(statuses: Iterable[Any], found_here: bool = False) -> int:
    statuses = list(statuses)
    faults = [one.fault for one in statuses if one.fault]
    if statuses and not found_here and all(one.foreign for one in statuses):
        faults.append(
            f"no open batch is at this server; give --base-url {statuses[0].batch.server}"
        )
    for fault in faults:
        click.echo(f"error: {one_line(fault)}", err=True)
    return INPUT_WRONG if faults else 0
