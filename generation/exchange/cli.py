"""`generate export`."""

import json
from pathlib import Path

import click

from generation.command import study_option
from generation.study import Study

FORMATS = ("jsonl", "parquet", "hf", "openai", "trl")  # as generation.exchange.exported.Format


@click.command("export")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "named",
    type=click.Choice(FORMATS),
    help="What to write.  [default: by the suffix of OUT]",
)
@click.option("--run", metavar="RUN", help="Only the turns of this run.  [default: all]")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@study_option
def export_command(
    out: Path, named: str | None, run: str | None, as_json: bool, study: Study
) -> None:
    """Write the user turns of a study to the new file or folder OUT.

    jsonl and parquet keep all that is known of a turn, and `generate import` makes equal turns of
    them; hf is a folder for Hugging Face's load_dataset. openai holds whole conversations as
    messages, trl prompts that end in the answer with the user turn as completion, both for
    training. Turns of data sets that ask never to be published (GPQA, HealthBench) are in none.

    \b
      generate export turns.jsonl
      generate export published --format hf
      generate export train.jsonl --format trl --run RUN
    """
    from rich.console import Console

    from generation.database import open_database
    from generation.exchange.export import export_turns, format_of
    from generation.exchange.terminal import exported_text
    from generation.migrations import generation_migrations
    from generation.runs.run_record import find_run
    from generation.store import TurnStore

    format = format_of(out, named)
    database = open_database(study.pipeline, (generation_migrations,))
    store = TurnStore(database)
    of_run = find_run(database, run, study.option).run_id if run else None
    with Console(stderr=True).status("exporting"):
        done = export_turns(store.turns(of_run), out, format, store.answer)
    click.echo(json.dumps(done.as_dict()) if as_json else exported_text(done))
