"""The `annotate` command."""

import json

import click

from generation.command import Verb, study_option


@click.group("annotate", cls=Verb, default="serve", default_if_no_args=True)
def annotate() -> None:
    """Label (q, a, u) blind in the browser: `annotate` alone serves the labelling page."""


@annotate.command()
@click.option("--rubric", "version", help="Rubric version to label under.  [default: the newest]")
@click.option("--annotator", help="Label as this person; without it the page asks for a name.")
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=7860,
    show_default=True,
    help="Port on this machine; the next free one is taken if it is not free.",
)
@study_option
def serve(study, version, annotator, port) -> None:
    """Serve the labelling page on this machine (the main act)."""
    from annotator.labelling.app import serve as serve_page

    serve_page(study.labels, study.rubric(version), annotator=annotator, port=port)


@annotate.command()
@click.argument("item", required=False)
@click.argument("category", required=False)
@click.option("--reason", default="", help="Why, in a sentence; a decision needs one.")
@click.option("--adjudicator", metavar="NAME", help="Who decides.  [default: adjudicator]")
@click.option("--show", metavar="ITEM", help="Print the text of this item instead.")
@click.option("--rubric", "version", help="Rubric version of the labels.  [default: the newest]")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@study_option
def adjudicate(study, item, category, reason, adjudicator, show, version, as_json) -> None:
    """List the items that people label differently or that are in doubt, or decide one.

    Labels are shown without names, and no judge's verdict is read. A later decision on an item
    supersedes an earlier one; none is ever deleted.
    """
    from annotator.adjudication import adjudication, terminal
    from annotator.labels import open_labels

    if (item is None) != (category is None):
        raise click.UsageError("give both an ITEM and a CATEGORY, or neither to list the items")
    rubric = study.rubric(version)
    with open_labels(study.labels) as labels_db:
        if show:
            text = terminal.item_text(adjudication.item_to_adjudicate(labels_db, show))
        elif item:
            decision = adjudication.adjudicate(
                labels_db, rubric, item, category, reason=reason, adjudicator=adjudicator
            )
            left = len(adjudication.undecided(labels_db, rubric))
            text = terminal.decision_text(decision, left)
        else:
            found = adjudication.undecided(labels_db, rubric)
            text = terminal.listing(found, rubric.version, study.option)
            if as_json:
                text = json.dumps(terminal.listing_dict(found, rubric.version), allow_nan=False)
    click.echo(text)
