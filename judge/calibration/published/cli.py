"""`calibrate dataset`: turns, verdicts and people's labels as a data set to publish."""

import json
from pathlib import Path

import click

from generation.command import study_option
from generation.study import Study

WHO = ("names", "pseudonyms")  # as annotator.exchange.who.Who, which imports the store


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--run", metavar="RUN", help="Only the turns of this run, or plan, by name.  [default: all]"
)
@click.option(
    "--rubric", "version", help="Only verdicts and labels under this version.  [default: all]"
)
@click.option(
    "--judge",
    metavar="MODEL|ID",
    help="Only this judge's verdicts: its model or the head of its id.  [default: all]",
)
@click.option(
    "--who",
    type=click.Choice(WHO),
    default="pseudonyms",
    show_default=True,
    help="What annotators are called; pseudonyms are numbers.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@study_option
def dataset(
    folder: Path,
    run: str | None,
    version: str | None,
    judge: str | None,
    who: str,
    as_json: bool,
    study: Study,
) -> None:
    """Write turns, verdicts and people's labels to the new FOLDER, with a filled data set card.

    It is read by Hugging Face's load_dataset, and holds every conversation as chat messages too.
    Turns of data sets that ask never to be published (GPQA, HealthBench) are not in it, nor what
    judges and people said of them.

    \b
      calibrate dataset published
      calibrate dataset published --run NAME --rubric v3
    """
    from rich.console import Console

    from annotator.exchange.who import Who
    from judge.calibration.main_run.selection import select_runs
    from judge.calibration.published.folder import publish
    from judge.calibration.published.published import Wanted
    from judge.calibration.published.terminal import published_text
    from judge.store import open_study

    if version is not None:
        study.rubric(version)  # an unknown one is told before anything is written
    with open_study(study) as pipeline_db, Console(stderr=True).status("writing the data set"):
        selection = select_runs(pipeline_db, run, study.option) if run else None
        done = publish(pipeline_db, study, Wanted(selection, version, judge, Who(who)), folder)
    if as_json:
        click.echo(json.dumps(done.as_dict(), indent=2))
    else:
        click.echo(published_text(done))
