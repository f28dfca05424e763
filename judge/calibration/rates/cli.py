"""`calibrate rates`: how often turns are genuine follow-ups, corrected for the judge's errors."""

import json

import click

from annotator.reference_rule import ReferenceRule
from generation.command import study_option
from generation.study import Study
from judge.calibration.options import (
    judge_option,
    reading_option,
    reference_option,
    rubric_option,
    runs_option,
)
from judge.reading import Reading


@click.command()
@rubric_option
@judge_option
@runs_option
@reading_option
@reference_option
@click.option("--annotator", help="Take this person's labels alone as the reference.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@study_option
def rates(
    study: Study,
    version: str | None,
    judge: str | None,
    runs: int | None,
    reading: Reading | None,
    rule: ReferenceRule,
    annotator: str | None,
    as_json: bool,
) -> None:
    """Rates of genuine follow-ups of the main run, corrected for the judge's errors.

    \b
      calibrate rates
      calibrate rates --rubric v3 --json
    """
    from annotator.labels import open_labels
    from judge.calibration.rates.study_rates import study_rates
    from judge.calibration.rates.terminal import report
    from judge.store import open_pipeline

    rubric = study.rubric(version)
    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        found = study_rates(
            pipeline_db,
            labels_db,
            rubric,
            judge=judge,
            rule=rule,
            annotator=annotator,
            reading=reading,
            runs=runs,
        )
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    else:
        click.echo(report(found), nl=False)
