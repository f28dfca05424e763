"""The `annotate` command."""

import json

import click

from annotator.accounts.cli import user
from annotator.blindness.cli import blindness
from annotator.exchange.cli import backup, export, import_, merge, restore
from annotator.publishing.cli import assign, publish, relabel
from annotator.quality.cli import gold, status
from annotator.training.cli import training
from generation.command import Verb, study_option


@click.group("annotate", cls=Verb, default="serve", default_if_no_args=True)
def annotate() -> None:
    """Label (q, a, u) blind in the browser: `annotate` alone serves the labelling page."""


@annotate.command()
@click.option(
    "--rubric",
    "version",
    help="Rubric version to publish and label under.  [default: the published, else the newest]",
)
@click.option("--annotator", help="Label as this person; without it the page asks for a name.")
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=7860,
    show_default=True,
    help="Port to listen on; on this machine alone the next free one is taken if it is not free.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on; any but this machine's own needs accounts (`annotate user add`).",
)
@click.option(
    "--public-url",
    metavar="URL",
    envvar="FOLLOWUPEVAL_PUBLIC_URL",
    show_envvar=True,
    help="Where people reach a reverse proxy that leads here, such as https://NAME/PATH.",
)
@click.option(
    "--proxy",
    "proxies",
    metavar="ADDRESS",
    multiple=True,
    help="Address or network of a proxy on another machine, to believe for whom it asks.",
)
@study_option
def serve(study, version, annotator, port, host, public_url, proxies) -> None:
    """Serve the labelling page on this machine, or with accounts every role's page (the main act).

    With accounts everybody logs in and gets the page of their role; annotator/HOSTING.md says how
    to serve many people.
    """
    from annotator.app import serve as serve_pages
    from annotator.web.web_site import site_from

    site = site_from(host, public_url, proxies)
    serve_pages(study, version, site, annotator=annotator, port=port)


@annotate.command()
@click.argument("item", required=False)
@click.argument("category", required=False)
@click.option("--reason", default="", help="Why, in a sentence; a decision needs one.")
@click.option("--adjudicator", metavar="NAME", help="Who decides.  [default: adjudicator]")
@click.option("--show", metavar="ITEM", help="Print the text of this item instead.")
@click.option(
    "--rubric",
    "version",
    help="Rubric version of the labels.  [default: the one that annotators label under]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@study_option
def adjudicate(study, item, category, reason, adjudicator, show, version, as_json) -> None:
    """List the items that people label differently or that are in doubt, or decide one.

    Labels are shown without names, and no judge's verdict is read. A later decision on an item
    supersedes an earlier one; none is ever deleted.
    """
    from annotator.adjudication import adjudication, terminal
    from annotator.adjudication.dispute import undecided
    from annotator.labels import open_labels
    from annotator.publishing.in_force import rubric_of

    if (item is None) != (category is None):
        raise click.UsageError("give both an ITEM and a CATEGORY, or neither to list the items")
    with open_labels(study.labels) as labels_db:
        rubric = rubric_of(labels_db, study, version)
        if show:
            text = terminal.item_text(adjudication.item_to_adjudicate(labels_db, show))
        elif item:
            decision = adjudication.adjudicate(
                labels_db, rubric, item, category, reason=reason, adjudicator=adjudicator
            )
            left = len(undecided(labels_db, rubric))
            text = terminal.decision_text(decision, left)
        else:
            found = undecided(labels_db, rubric)
            text = terminal.listing(found, rubric.version, study.option)
            if as_json:
                text = json.dumps(terminal.listing_dict(found, rubric.version), allow_nan=False)
    click.echo(text)


annotate.add_command(assign)
annotate.add_command(publish)
annotate.add_command(relabel)
annotate.add_command(gold)
annotate.add_command(status)
annotate.add_command(training)
annotate.add_command(user)
annotate.add_command(export)
annotate.add_command(import_)
annotate.add_command(merge)
annotate.add_command(backup)
annotate.add_command(restore)
annotate.add_command(blindness)
