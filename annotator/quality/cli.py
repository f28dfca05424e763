"""`annotate gold` and `annotate status`: what the owner knows of the annotators' work."""

import json

import click

from generation.command import study_option

RUBRIC_HELP = "Rubric version of the labels.  [default: the one that annotators label under]"


@click.group("gold")
def gold() -> None:
    """Items whose label is known, put before annotators like the others, to see how they do."""


@gold.command("add")
@click.argument("item")
@click.argument("category")
@click.option("--reason", default="", help="Why it is that label, in a sentence; it needs one.")
@click.option("--rubric", "version", help=RUBRIC_HELP)
@study_option
def add(study, item, category, reason, version) -> None:
    """Make ITEM gold: its label is CATEGORY."""
    from annotator.labels import open_labels
    from annotator.publishing.in_force import rubric_of
    from annotator.quality.gold import add_gold

    with open_labels(study.labels) as labels_db:
        rubric = rubric_of(labels_db, study, version)
        made = add_gold(labels_db, rubric, item, category, reason=reason)
    click.echo(f"{made.item_id} is gold under rubric {rubric.version}: {made.category}")


@gold.command("candidates")
@click.option(
    "--n", "count", type=click.IntRange(min=1), default=20, show_default=True, help="How many."
)
@click.option("--rubric", "version", help=RUBRIC_HELP)
@study_option
def list_candidates(study, count, version) -> None:
    """Items at random that could be made gold, with the start of their turns."""
    from annotator.labels import open_labels
    from annotator.publishing.in_force import rubric_of
    from annotator.quality.gold import candidates, candidates_text

    with open_labels(study.labels) as labels_db:
        rubric = rubric_of(labels_db, study, version)
        found = candidates(labels_db, rubric.version, count)
    click.echo(candidates_text(found, study.option))


@gold.command("list")
@click.option("--rubric", "version", help=RUBRIC_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON, the retired too.")
@study_option
def list_gold(study, version, as_json) -> None:
    """Gold items with their labels and why; not for annotators' eyes."""
    from annotator.labels import open_labels
    from annotator.publishing.in_force import rubric_of
    from annotator.quality.gold import gold_items, listing

    with open_labels(study.labels) as labels_db:
        rubric = rubric_of(labels_db, study, version)
        found = gold_items(labels_db, rubric.version, with_retired=as_json)
    if as_json:
        click.echo(json.dumps([each.as_dict() for each in found], allow_nan=False))
    else:
        click.echo(listing(found, rubric.version, study.option))


@gold.command("retire")
@click.argument("item")
@click.option("--rubric", "version", help=RUBRIC_HELP)
@study_option
def retire(study, item, version) -> None:
    """Take ITEM out of use as gold; what annotators said of it stays."""
    from annotator.labels import open_labels
    from annotator.publishing.in_force import rubric_of
    from annotator.quality.gold import retire_gold

    with open_labels(study.labels) as labels_db:
        rubric = rubric_of(labels_db, study, version)
        retire_gold(labels_db, item, rubric.version)
    click.echo(f"{item} is gold no more under rubric {rubric.version}")


@click.command("status")
@click.option("--rubric", "version", help=RUBRIC_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")
@study_option
def status(study, version, as_json) -> None:
    """How far the annotation is, how far people agree, and how each of them does.

    Reads labels.db alone: no judge is in it. The owner's page /dashboard shows the same.
    """
    from annotator.dashboard.status import status_dict, status_text, study_status

    found, drawn = study_status(study, version)
    if as_json:
        click.echo(json.dumps(status_dict(found, drawn), allow_nan=False, ensure_ascii=False))
    else:
        click.echo(status_text(found, drawn))
