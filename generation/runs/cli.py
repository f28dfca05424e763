"""`generate show` and `generate merge`."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from generation.command import study_option
from generation.study import Study


@click.command()
@click.argument("run", required=False)
@study_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def show(run: str | None, study: Study, as_json: bool) -> None:
    """Say what RUN gave and everything that its rows rest on; without RUN, list the runs.

    RUN is a run's name or the first digits of its id. Of answers: their accuracy; of turns:
    flags, and how many a perturbation changed at T = 0; then failures, engines with their speed,
    model, chat template, stops, sampling, data sets.
    """
    from generation.runs.run_report import report_json, report_run, report_text, runs_text

    if run is None:
        click.echo(runs_text(study, as_json=as_json))
        return
    report = report_run(study, run)
    click.echo(report_json(report) if as_json else report_text(report))


@click.command()
@click.argument("other", type=click.Path(path_type=Path))
@study_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def merge(other: Path, study: Study, as_json: bool) -> None:
    """Bring the rows that another study generated into this one.

    OTHER is a study's folder or its pipeline.db, such as another --shard of the same plan.
    Judgments and samples stay where they are.
    """
    from generation.exchange.merge import merge_study

    merged = merge_study(study, other)
    if as_json:
        click.echo(json.dumps(asdict(merged)))
        return
    click.echo(
        f"{study.pipeline}: {merged.turns:,} turns and {merged.answers:,} answers added, "
        f"{merged.known:,} turns were there already"
    )
    if merged.conflicts:
        click.echo(
            f"{merged.conflicts:,} rows were made on both sides and say different things: ours "
            f"stand; {merged.orphans:,} turns that rest on theirs were left out"
        )
    click.echo(f"next: calibrate sample{study.option}")
