"""The `judge` command: label stored turns with the lexical baseline or a judge model."""

import json
from pathlib import Path
from typing import Any

import click

from generation.command import Verb, study_option
from generation.study import Study


@click.group(cls=Verb, default="run", default_if_no_args=True)
def judge() -> None:
    """Label every stored turn that this judge has not labelled yet.

    Bare `judge` runs the lexical baseline under the latest rubric; it needs no network. A judge
    model is reached at any OpenAI-compatible server; its key is read from OPENAI_API_KEY.

    \b
      judge
      judge --model NAME --base-url http://localhost:8000/v1
      judge --prompt exports/FOLDER
    """


@judge.command()
@study_option
@click.option("--judge", "baseline", type=click.Choice(["lexical"]), help="The embedded baseline.")
@click.option("--model", metavar="NAME", help="The judge model, as its server names it.")
@click.option(
    "--base-url", metavar="URL", help="The server, ending in /v1  [env var: OPENAI_BASE_URL]"
)
@click.option("--rubric", metavar="VERSION", help="The rubric  [default: the latest]")
@click.option(
    "--prompt",
    "export",
    type=click.Path(path_type=Path, file_okay=False),
    help="An exported judge prompt's folder.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1024),
    help="Requests in flight  [default: 8]",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    help="Tokens of one verdict, reasoning included  [default: 1024]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def run(
    study: Study,
    baseline: str | None,
    model: str | None,
    base_url: str | None,
    rubric: str | None,
    export: Path | None,
    concurrency: int | None,
    max_tokens: int | None,
    as_json: bool,
) -> None:
    """Label every stored turn that this judge has not labelled yet (the default)."""
    of_a_model = {
        "--model": model,
        "--base-url": base_url,
        "--concurrency": concurrency,
        "--max-tokens": max_tokens,
    }
    given = ", ".join(name for name, value in of_a_model.items() if value is not None)
    if given and baseline:
        raise click.UsageError(f"--judge lexical takes no {given}")
    if given and model is None and export is None:
        raise click.UsageError(f"{given}: for which model? add --model NAME or --prompt FOLDER")
    if export and (baseline or rubric):
        raise click.UsageError(
            "--prompt brings its own judge and rubric: drop --judge and --rubric"
        )
    from judge.instrument import Server, choose_instrument, exported_instrument
    from judge.run import run_judge

    server = Server(model, base_url, concurrency, max_tokens)
    instrument = (
        exported_instrument(export, server) if export else choose_instrument(rubric, server)
    )
    for warning in instrument.warnings:
        click.echo(f"warning: {warning}", err=True)
    summary = run_judge(study, instrument)
    click.echo(json.dumps(summary.as_dict(), indent=2) if as_json else _report(summary))


def _report(summary: Any) -> str:
    known = f", {summary.judged_before} judged before" if summary.judged_before else ""
    width = max(map(len, summary.labels))
    items = "item" if summary.judged_now == 1 else "items"
    lines = [
        f"{summary.judged_now} {items} judged by {summary.model} under rubric "
        f"{summary.rubric_version}{known}",
        *_equal_turns(summary),
        *(f"  {label:<{width}}  {count:>6}" for label, count in summary.labels.items()),
        f"  {'invalid':<{width}}  {sum(summary.invalid.values()):>6}",
        *(f"    {reason}: {count}" for reason, count in summary.invalid.items()),
        f"next: {summary.next_command}",
    ]
    return "\n".join(lines)


def _equal_turns(summary: Any) -> list[str]:
    """Why there are fewer items than turns, where there are."""
    if summary.turns == summary.items:
        return []
    items = "1 distinct item" if summary.items == 1 else f"{summary.items} distinct items"
    return [f"  ({summary.turns} turns hold {items}; equal ones are judged once)"]
