"""`annotate blindness`."""

import json
from pathlib import Path

import click

from generation.command import study_option


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write the report to this new file instead.",
)
@study_option
def blindness(study, as_json, output) -> None:
    """Report whether annotators could know more of an item than its text.

    What the pages' process could read, what pages were sent, in which order everybody saw the
    items, and whether model, data set, verdict, gold or repeats can be told from text, order or
    id. For the owner: it reads pipeline.db if it is there, which no page does.
    """
    from annotator.blindness.report import blindness_report
    from annotator.blindness.terminal import report_text
    from annotator.exchange.who import People
    from annotator.labels import open_labels
    from generation.exchange.whole import made_whole

    with open_labels(study.labels) as database:
        report = blindness_report(database, study, People())
    text = (
        json.dumps(report.as_dict(), indent=2, allow_nan=False) if as_json else report_text(report)
    )
    if output is None:
        click.echo(text)
        return
    with made_whole(output) as new:
        new.write_text(text + "\n", encoding="utf-8")
    click.echo(f"{output}: {report.verdict}")
