"""`calibrate report`: a judged main run as tables, figures, tested statements and a page."""

import json
from pathlib import Path

import click

from annotator.reference_rule import ReferenceRule
from generation.command import one_line, study_option
from generation.study import Study
from judge.calibration.options import (
    SEED,
    judge_option,
    reading_option,
    reference_option,
    rubric_option,
    runs_option,
)
from judge.reading import Reading


@click.command("report")
@click.option(
    "--run",
    "names",
    multiple=True,
    metavar="RUN",
    help="A run, or the plan of several, by name; twice: the second compared with the first.  "
    "[default: the newest]",
)
@click.option(
    "--plan",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The runs of this plan; what it has and the study has not is named.",
)
@rubric_option
@judge_option
@runs_option
@reading_option
@reference_option
@click.option(
    "--export",
    type=click.Path(file_okay=False, path_type=Path),
    help="The exported judge prompt that judged the run: its kappa, and its labels if there are "
    "no others.",
)
@click.option(
    "--models",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Families, sizes and checkpoints of models, as TOML.  [default: as their names tell]",
)
@click.option(
    "--against",
    type=click.Choice(["paper"]),
    help="Show the numbers of arXiv 2604.02315 beside, as reported.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write every table in every format, the figures and the statements to this folder.",
)
@click.option("--html", is_flag=True, help="With --output: a page to look at, to the single turn.")
@click.option("--seed", type=SEED, help="Seed of the resamples.  [default: a fixed one]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@study_option
def report_command(
    study: Study,
    names: tuple[str, ...],
    plan: Path | None,
    version: str | None,
    judge: str | None,
    runs: int | None,
    reading: Reading | None,
    rule: ReferenceRule,
    export: Path | None,
    models: Path | None,
    against: str | None,
    output: Path | None,
    html: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """The main run's results: tables, figures, tested statements, a page.

    \b
      calibrate report --run NAME
      calibrate report --plan paper.toml --against paper --output report --html
      calibrate report --run base --run sft

    A report that is in the folder of --output is replaced by the new one once that is whole.
    """
    if len(names) > 2 or (names and plan):
        raise click.UsageError("name one run, two to compare, or --plan with the runs of a plan.")
    if html and output is None:
        raise click.UsageError("--html writes a page beside the tables; name a folder: --output.")
    if html and len(names) == 2:
        raise click.UsageError("--html shows the turns of one run; name one, or leave it out.")
    if len(names) == 2 and (against or models):
        raise click.UsageError("--against and --models are for the report of one run.")
    if export and (judge or runs or reading):
        raise click.UsageError("--export says which judge, runs and reading; leave them out.")
    from judge.calibration.main_run.report_folder import check_place
    from judge.calibration.main_run.report_text import report_text
    from judge.calibration.main_run.study_report import Request, report_study
    from judge.store import open_study

    if output is not None:
        check_place(output)
    request = Request(
        names, plan, version, judge, runs, reading, rule, export, models, against, seed, html
    )
    # One snapshot: what a judge or a probe adds meanwhile is in no part of the report.
    with open_study(study) as pipeline_db, pipeline_db.atomic():
        found = report_study(pipeline_db, study, request)
        if output is not None:
            from judge.calibration.main_run.written_report import write_report

            write_report(output, found, pipeline_db, study, rule=rule, html=html)
            click.echo(f"report: {one_line(str(output))}", err=True)
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    else:
        click.echo(report_text(found), nl=False)
