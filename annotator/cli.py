"""The `annotate` command."""

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
    from annotator.app import serve as serve_page
    from rubrics import latest_version, load_rubric

    rubric = load_rubric(version or latest_version())
    serve_page(study.labels, rubric, annotator=annotator, port=port)
