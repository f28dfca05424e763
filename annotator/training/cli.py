"""The `annotate training` commands."""

import json
from pathlib import Path

import click

from generation.command import study_option

rubric_option = click.option(
    "--rubric",
    "version",
    help="Rubric version to train on.  [default: the one that annotators label under]",
)


@click.group()
def training() -> None:
    """Have people label items with a known label, with feedback, before they label the study."""


@training.command("set")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--pass-mark",
    required=True,
    metavar="SHARE",
    help="Share of a round that has to be right, above 0 and up to 1, such as 0.8.",
)
@click.option(
    "--items",
    "count",
    type=click.IntRange(min=1),
    help="Take so many, drawn from every category in turn.  [default: all]",
)
@rubric_option
@study_option
def set_items(study, file, pass_mark, count, version) -> None:
    """Train on the items of FILE, or without one on the rubric's own examples.

    FILE is CSV or JSONL with the columns q, a, u, label (a category id) and why, which is shown
    after the answer. It takes the place of the set before; who has passed has passed.
    """
    from annotator.labels import open_labels, study_seed
    from annotator.publishing.in_force import rubric_of
    from annotator.training.record import training_record
    from annotator.training.source import checked_pass_mark, chosen, read_items, rubric_examples
    from annotator.training.terminal import record_text
    from annotator.training.training_set import put_training_set

    pass_mark = checked_pass_mark(pass_mark)
    with open_labels(study.labels) as labels_db:
        rubric = rubric_of(labels_db, study, version)
        items = read_items(file, rubric) if file else rubric_examples(rubric)
        if count:
            items = chosen(items, rubric, count, seed=study_seed(labels_db))
        put_training_set(labels_db, rubric, items, pass_mark)
        record = training_record(labels_db, rubric.version)
    click.echo(record_text(record, study.option))


@training.command()
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
@rubric_option
@study_option
def show(study, version, as_json) -> None:
    """Who has passed and in which round, and which items people get wrong."""
    from annotator.labels import open_labels
    from annotator.publishing.in_force import rubric_of
    from annotator.training.record import training_record
    from annotator.training.terminal import record_dict, record_text

    with open_labels(study.labels) as labels_db:
        rubric = rubric_of(labels_db, study, version)
        record = training_record(labels_db, rubric.version)
    text = record_text(record, study.option)
    click.echo(json.dumps(record_dict(record), allow_nan=False) if as_json else text)


@training.command()
@study_option
def off(study) -> None:
    """Let people label without training; what they answered is kept."""
    from annotator.labels import open_labels
    from annotator.training.training_set import training_off

    with open_labels(study.labels) as labels_db:
        was_on = training_off(labels_db)
    click.echo("training is off" if was_on else "training was off already")
