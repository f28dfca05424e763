"""`calibrate agreement` and `calibrate table`: agreement on labels of any origin."""

import json
from pathlib import Path
from typing import Any

import click

from generation.study import DEFAULT_SEED
from judge.calibration.options import SEED

_seed = click.option("--seed", type=SEED, help="Seed of the resamples.  [default: a fixed one]")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--categories", metavar="A,B,C", help="All labels there are, used or not.")
@click.option("--rubric", "version", help="Take the categories of this rubric version.")
@click.option("--question", help="Which question's answers to read, of an export that has several.")
@_seed
@_json
def agreement(
    file: Path,
    categories: str | None,
    version: str | None,
    question: str | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Agreement of all raters in FILE, of any annotation project.

    FILE is a long table with the columns item, rater, label and, if you have them, kind (human or
    judge), cluster and weight, as CSV, TSV, JSONL, JSON or Parquet; or an export of Label Studio
    (JSON), Argilla (records as JSON), Prodigy (JSONL) or Potato (annotation_output).

    \b
      calibrate agreement labels.csv --categories yes,no
      calibrate agreement export.json --question sentiment --json
    """
    from judge.calibration.label_table.normalise import given_categories
    from judge.calibration.label_table.report import report_file
    from judge.calibration.label_table.terminal import report_text
    from rubrics import load_rubric

    if categories is not None and version is not None:
        raise click.UsageError("--categories and --rubric both name the categories; give one.")
    known = None
    if categories is not None:
        known = given_categories(categories)
    elif version is not None:
        known = load_rubric(version).category_ids
    report = report_file(file, known, question, seed=DEFAULT_SEED if seed is None else seed)
    _print(report, report_text, as_json)


@click.command()
@click.argument("counts")
@_seed
@_json
def table(counts: str, seed: int | None, as_json: bool) -> None:
    """Agreement of two raters from their table of COUNTS, as JSON.

    Rows are the first rater's labels, the reference; columns the second's, in the same order. One
    more column counts what only the second, a judge, can say.

    \b
      calibrate table '[[20,5],[10,15]]'
    """
    from judge.calibration.label_table.bare_table import parse_table
    from judge.calibration.label_table.report import report_counts
    from judge.calibration.label_table.terminal import bare_text

    report = report_counts(parse_table(counts), seed=DEFAULT_SEED if seed is None else seed)
    _print(report, bare_text, as_json)


def _print(report: Any, as_text: Any, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2, allow_nan=False))
    else:
        click.echo(as_text(report), nl=False)
