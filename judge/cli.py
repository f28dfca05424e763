"""The `judge` command: label stored turns with the lexical baseline or a judge model."""

import json
from pathlib import Path
from typing import Any

import click

from generation.command import FiniteRange, Verb, one_line, study_option
from generation.study import Study
from judge.batch.cli import batch
from judge.options import model_options, one_config, pace_options
from judge.prompts.cli import prompt

DRIFTED = 3  # the agreement that was calibrated no longer holds
FILE = click.Path(path_type=Path, dir_okay=False)


@click.group(cls=Verb, default="run", default_if_no_args=True)
def judge() -> None:
    """Label every stored turn that this judge has not labelled yet.

    Bare `judge` runs the lexical baseline under the latest rubric; it needs no network. A judge
    model is reached at any OpenAI-compatible server; its key is read from OPENAI_API_KEY.

    \b
      judge
      judge --model NAME --base-url http://localhost:8000/v1
      judge --prompt exports/FOLDER
      judge --judge-config judges.toml
      judge status
    """


@judge.command()
@study_option
@click.option("--judge", "baseline", type=click.Choice(["lexical"]), help="The embedded baseline.")
@model_options
@pace_options
@click.option(
    "--judge-config", type=FILE, metavar="FILE", help="Several judges: a TOML file of [[judge]]."
)
@click.option(
    "--max-cost",
    type=FiniteRange(0, min_open=True),
    help="Dollars; stop before more is spent.",
)
@click.option("--prices", type=FILE, metavar="FILE", help="What tokens cost: a TOML file by model.")
@click.option(
    "--on",
    "part",
    type=click.Choice(["dev"]),
    help="Judge only the labelled items of the dev half.  [default: all items]",
)
@click.option(
    "--draw",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --on dev: only N of them, always the same ones.",
)
@click.option("--estimate", is_flag=True, help="Say what the run would take, and ask nothing.")
@click.option(
    "--anchors",
    is_flag=True,
    help="First re-judge the export's anchor items; stop if the judge has drifted.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def run(
    study: Study,
    baseline: str | None,
    judge_config: Path | None,
    max_cost: float | None,
    prices: Path | None,
    part: str | None,
    draw: int | None,
    estimate: bool,
    anchors: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Label every stored turn that this judge has not labelled yet (the default)."""
    config = one_config(options, baseline=baseline is not None, file=judge_config is not None)
    if max_cost is not None and prices is None:
        raise click.UsageError("--max-cost: what does a token cost? add --prices FILE")

    if draw is not None and part is None:
        raise click.UsageError("--draw: of which items? add --on dev")
    if estimate and (judge_config is not None or anchors):
        raise click.UsageError("--estimate is of one judge: drop --judge-config and --anchors")

    from judge.instrument import Budget, choose_instrument
    from judge.judges_file import read_judges
    from judge.runs.anchor_check import Drifted
    from judge.runs.estimate import estimate_run, estimate_text
    from judge.runs.run import run_judges
    from judge.runs.scope import WHOLE_STUDY, dev_scope
    from judge.runs.summary_text import summary_text
    from judge.store import open_study

    configs = read_judges(judge_config) if judge_config else (config,)
    budget = Budget(prices, max_cost)
    scope = WHOLE_STUDY
    if part:
        with open_study(study) as database:
            scope = dev_scope(study, database, draw)
    if estimate:
        found = estimate_run(study, choose_instrument(config, study, budget), scope, budget)
        click.echo(json.dumps(found.as_dict(), indent=2) if as_json else estimate_text(found))
        return 0
    summaries = []
    try:
        for summary in run_judges(
            study, configs, budget=budget, anchors=anchors, say=_say, scope=scope
        ):
            summaries.append(summary.as_dict())
            if not as_json:
                click.echo(summary_text(summary))
    except Drifted as drifted:
        _say(f"error: {drifted}")
        return DRIFTED
    finally:  # what is done is told, whatever became of the rest
        if as_json and summaries:
            click.echo(json.dumps(summaries if judge_config else summaries[0], indent=2))
    return 0


@judge.command()
@study_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def status(study: Study, as_json: bool) -> None:
    """What became of every turn under each judge: labelled, invalid, in a batch, waiting."""
    from judge.runs.status import study_status
    from judge.runs.status_text import status_text
    from judge.store import open_study

    with open_study(study) as database:
        found = study_status(database)
    click.echo(
        json.dumps(found.as_dict(), indent=2) if as_json else status_text(found, study), nl=as_json
    )


judge.add_command(prompt)
judge.add_command(batch)


def _say(message: str) -> None:
    click.echo(one_line(message), err=True)
