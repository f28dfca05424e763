"""The `judge prompt` commands: versions of the judge prompt's template."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from generation.command import study_option
from generation.study import Study
from judge.options import with_options


@click.group("prompt")
def prompt() -> None:
    """Versions of the judge prompt: a template in Markdown, with labelled items as examples.

    A version never changes; an edit makes the next one.

    \b
      judge prompt new strict --note "asks for evidence" --file strict.md
      judge prompt edit strict --note "six examples" --shots 6
      judge prompt diff followupeval strict
    """


def change_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        study_option,
        click.option("--note", required=True, metavar="TEXT", help="What changes, and why."),
        click.option(
            "--file",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Take the text from this file  [default: open it in $EDITOR on a terminal]",
        ),
        click.option(
            "--shots",
            type=click.IntRange(0, 1000),
            metavar="N",
            help="Show N labelled items of the development split  [default: as before]",
        ),
        click.option(
            "--rubric",
            metavar="VERSION",
            help="Rubric that the shots are labelled under  [default: the latest]",
        ),
    )
    return with_options(options, command)


@prompt.command()
@click.argument("name")
@click.option(
    "--from", "base", metavar="NAME[@N]", help="Start from this one  [default: the packaged one]"
)
@change_options
def new(
    study: Study,
    name: str,
    base: str | None,
    note: str,
    file: Path | None,
    shots: int | None,
    rubric: str | None,
) -> None:
    """Write a new template, NAME@1."""
    from judge.calibration.authoring import Change, new_template, starting_point
    from judge.prompts.template_editor import new_text
    from judge.prompts.template_text import written_text

    start = starting_point(study, name, base)
    base = base if file else start.label  # a file alone comes from no other template
    with new_text(file, start) as text:
        written = new_template(study, name, Change(note, text, shots, rubric), base)
    click.echo(written_text(written, study))


@prompt.command()
@click.argument("reference", metavar="NAME[@N]")
@change_options
def edit(
    study: Study,
    reference: str,
    note: str,
    file: Path | None,
    shots: int | None,
    rubric: str | None,
) -> None:
    """Write the next version of NAME, from its newest one or from NAME@N."""
    from judge.calibration.authoring import Change, edit_template, editing_point
    from judge.prompts.template_editor import new_text
    from judge.prompts.template_text import written_text

    start = editing_point(study, reference)
    with new_text(file, start) as text:
        written = edit_template(study, reference, Change(note, text, shots, rubric))
    click.echo(written_text(written, study))


@prompt.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@study_option
def list_templates(study: Study, as_json: bool) -> None:
    """Every version: its hash, how many judges read it, when it was written and what changed."""
    from judge.prompts.template_store import TemplateStore
    from judge.prompts.template_text import templates_text
    from judge.store import open_pipeline

    with open_pipeline(study.pipeline) as database:
        stored = TemplateStore(database).templates()
    if as_json:
        click.echo(json.dumps([entry.as_dict() for entry in stored], indent=2))
    else:
        click.echo(templates_text(stored, study))


@prompt.command()
@click.argument("reference", metavar="NAME[@N]")
@click.option("--rubric", metavar="VERSION", help="Under this rubric  [default: the latest]")
@click.option("--source", is_flag=True, help="Print the template's own text, to edit it in a file.")
@study_option
def show(study: Study, reference: str, rubric: str | None, source: bool) -> None:
    """Print the judge prompt that a template makes; the size and what is next go to stderr."""
    from judge.prompts.prompt import render_prompt
    from judge.prompts.template_store import read_template
    from judge.prompts.template_text import next_text

    template = read_template(study, reference)
    under = template.rubric(study, rubric)
    text = template.text if source else render_prompt(under, template).text
    print_text(text)
    what = "" if source else f" × rubric {under.version}"
    click.echo(f"{template.label}{what}: {len(text):,} characters", err=True)
    click.echo(next_text(template, study), err=True)


@prompt.command()
@click.argument("old", metavar="NAME[@N]")
@click.argument("new", metavar="NAME[@N]")
@click.option("--rubric", metavar="VERSION", help="Compare the prompts under this rubric instead.")
@study_option
def diff(study: Study, old: str, new: str, rubric: str | None) -> None:
    """What differs from one template to another, as a unified diff."""
    from judge.prompts.template_diff import diff_templates
    from judge.prompts.template_store import read_template
    from judge.prompts.template_text import next_text

    before, after = read_template(study, old), read_template(study, new)
    found = diff_templates(before, after, study.rubric(rubric) if rubric else None)
    if found:
        print_text(f"{found}\n")
    else:
        click.echo(f"{before.label} and {after.label} do not differ", err=True)
    click.echo(next_text(after, study), err=True)


def print_text(text: str) -> None:
    """Exactly as it is to a file or pipe; on a terminal, nothing in it can act."""
    if sys.stdout.isatty():
        from judge.plain_text import visible

        text = visible(text)
    click.echo(text, nl=False)
