"""`annotate assign`, `annotate publish` and `annotate relabel`."""

import json

import click

from generation.command import study_option


@click.command()
@click.option("--labels-per-item", type=click.IntRange(min=1), help="People who label each item.")
@click.option("--everyone", is_flag=True, help="Everybody labels every item (the default).")
@click.option(
    "--lease-minutes",
    type=click.IntRange(min=1),
    help="How long an item waits for somebody whose page is gone.  [default: 15]",
)
@click.option(
    "--gold-every",
    type=click.IntRange(min=2),
    help="One item among this many is gold, on average.  [default: 20]",
)
@study_option
def assign(study, labels_per_item, everyone, lease_minutes, gold_every) -> None:
    """Set how many people label each item; without options show it. Works while serving."""
    from annotator.assignment.plan import changed_plan, put_plan, stored_plan
    from annotator.labels import open_labels
    from annotator.publishing.in_force import published_version
    from annotator.publishing.terminal import plan_text
    from annotator.quality.gold import gold_items
    from annotator.quality.repeats import repeated_items
    from rubrics import latest_version

    if labels_per_item and everyone:
        raise click.UsageError("give either --labels-per-item or --everyone")
    with open_labels(study.labels) as labels_db:
        before = stored_plan(labels_db)
        plan = changed_plan(
            before,
            labels_per_item=labels_per_item,
            everyone=everyone,
            lease_minutes=lease_minutes,
            gold_every=gold_every,
        )
        if plan != before:
            put_plan(labels_db, plan)
        version = published_version(labels_db) or latest_version()
        gold = len(gold_items(labels_db, version))
        repeats = len(repeated_items(labels_db))
        text = plan_text(plan, labels_db["items"].count, gold, repeats)
    click.echo(text)
    if gold_every and plan.labels_per_item is None:
        click.echo(
            "--gold-every has no effect while everybody labels every item: they get all gold "
            "anyway; it counts once items are shared out (--labels-per-item)",
            err=True,
        )


@click.command()
@click.argument("version")
@study_option
def publish(study, version) -> None:
    """Have people label under this rubric version from their next item on, while serving too."""
    from annotator.labels import open_labels
    from annotator.publishing.publication import publish as put_into_force
    from annotator.publishing.relabelling import old_labels
    from annotator.publishing.terminal import publication_text

    rubric = study.rubric(version)
    with open_labels(study.labels) as labels_db:
        published = put_into_force(labels_db, rubric)
        text = publication_text(published, old_labels(labels_db, rubric), study.option)
    click.echo(text)


@click.command()
@click.option(
    "--rubric", "version", help="Rubric version to label under.  [default: the published]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@study_option
def relabel(study, version, as_json) -> None:
    """List the labels of other rubric versions that are to be given again."""
    from annotator.labels import open_labels
    from annotator.publishing.in_force import rubric_of
    from annotator.publishing.relabelling import old_labels
    from annotator.publishing.terminal import relabelling_dict, relabelling_text

    with open_labels(study.labels) as labels_db:
        rubric = rubric_of(labels_db, study, version)
        old = old_labels(labels_db, rubric)
    text = relabelling_text(old, rubric)
    click.echo(json.dumps(relabelling_dict(old, rubric)) if as_json else text)
