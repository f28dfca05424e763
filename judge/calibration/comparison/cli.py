"""`calibrate compare`: judge prompts, rubrics or a table's raters against each other."""

import json
from pathlib import Path

import click

from generation.command import study_option
from generation.study import DEFAULT_SEED, Study
from judge.calibration.options import SEED, reading_option, runs_option
from judge.reading import Reading


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--rubric",
    "versions",
    multiple=True,
    metavar="VERSION",
    help="Twice: compare these rubrics' judges; once: the rubric of the prompts.",
)
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="NAME|ID",
    help="A judge prompt, twice or more; the first is the baseline.",
)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="MODEL|ID",
    help="Which judge, by model or head of its id: once for all, or once for each in order.",
)
@click.option(
    "--reference",
    metavar="RULE|RATER",
    help="How several people's labels become one; with FILE, whose labels the others are held to.",
)
@click.option("--annotator", help="Take this person's labels alone as the reference.")
@click.option("--a", "first", metavar="RATER", help="With FILE: the baseline.")
@click.option("--b", "others", multiple=True, metavar="RATER", help="With FILE: a challenger.")
@click.option("--categories", metavar="A,B,C", help="With FILE: all labels there are.")
@runs_option
@reading_option
@click.option("--items", is_flag=True, help="Print every item that was fixed or broken.")
@click.option("--seed", type=SEED, help="Seed of the resamples.  [default: a fixed one]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@study_option
def compare(
    study: Study,
    file: Path | None,
    versions: tuple[str, ...],
    prompts: tuple[str, ...],
    judges: tuple[str, ...],
    reference: str | None,
    annotator: str | None,
    first: str | None,
    others: tuple[str, ...],
    categories: str | None,
    runs: int | None,
    reading: Reading | None,
    items: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Which judge prompt agrees better with people, on the same items.

    \b
      calibrate compare --rubric v2 --rubric v3
      calibrate compare --prompt followupeval --prompt strict@2
      calibrate compare --judge model-a --judge model-b
      calibrate compare labels.csv --reference gold --a one --b other

    FILE is a label table as for `calibrate agreement`, or one with a column per rater.
    """
    seed = DEFAULT_SEED if seed is None else seed
    if file is not None:
        from judge.calibration.comparison.table_comparison import compare_file
        from judge.calibration.comparison.text import table_text
        from judge.calibration.label_table.normalise import given_categories

        if reference is None or first is None or not others:
            raise click.UsageError("FILE takes --reference RATER --a RATER --b RATER.")
        if versions or prompts or judges or annotator or runs or reading:
            raise click.UsageError(
                "--rubric, --prompt, --judge, --annotator, --runs and --reading are for a study; "
                "leave FILE out."
            )
        known = given_categories(categories) if categories is not None else None
        found = compare_file(file, reference, (first, *others), known, seed=seed)
        result, text = found.as_dict(), table_text(found, items=items)
    else:
        from judge.calibration.comparison.open_comparison import compare_opened
        from judge.calibration.comparison.text import study_text

        if first or others or categories:
            raise click.UsageError("--a, --b and --categories are for a FILE; name one.")
        found = compare_opened(
            study,
            versions,
            prompts,
            judges=judges,
            rule=reference,
            annotator=annotator,
            runs=runs,
            reading=reading,
            seed=seed,
        )
        result, text = found.as_dict(texts=items), study_text(found, items=items)
    click.echo(json.dumps(result, indent=2, allow_nan=False) if as_json else text, nl=as_json)
