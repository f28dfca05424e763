"""`calibrate split`: which queries prompts are written on, and which they are tested on."""

import json

import click

from generation.command import study_option
from generation.study import Study


@click.command()
@click.option(
    "--rubric",
    "version",
    help="Rubric version of the labels.  [default: the frozen split's, else the newest]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@study_option
def split(study: Study, version: str | None, as_json: bool) -> None:
    """Freeze the halves dev and test by the labels there are, or show the frozen ones.

    Prompts are written and compared on dev; test says once how good the chosen one is.
    """
    from annotator.labels import open_labels
    from judge.calibration.splits.study_split import split_study
    from judge.calibration.splits.terminal import split_text
    from judge.store import open_pipeline

    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        found = split_study(pipeline_db, labels_db, version)
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    else:
        click.echo(split_text(found), nl=False)
