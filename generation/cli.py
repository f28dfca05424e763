"""`generate`: fill a study with (q, a, u) from the probe, from a file, or from the example."""

import json
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import click

from generation.command import Verb, study_option
from generation.study import Study

_file = click.Path(dir_okay=False, path_type=Path)
_folder = click.Path(file_okay=False, path_type=Path)


def _json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        command
    )


def _model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option("--model", type=_folder, required=True, metavar="FOLDER",
                     help="Folder of the model: config.json, tokenizer, safetensors."),
        click.option("--model-name", help="Its name in the study.  [default: the folder's name]"),
        click.option("--template-kwargs", metavar="JSON", default="{}",
                     help="Variables of the chat template, such as {\"enable_thinking\": false}."),
        click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]),
                     default=lambda: date.today().isoformat(), show_default="today",
                     help="The date that a chat template reads; recorded."),
        click.option("--context-length", type=click.IntRange(min=64), default=4096,
                     show_default=True, help="Tokens the engine reserves for one conversation."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.group(cls=Verb, default="run", default_if_no_args=True)
def generate() -> None:
    """Fill a study with user turns: probe a model, import a file, or load the example.

    Without a subcommand, probe: the model answers q with a, then goes on under the user role.
    """


@generate.command()
@_model_options
@click.option(
    "--data",
    "data",
    multiple=True,
    required=True,
    metavar="NAME:FILE",
    help="gsm8k:FILE, ifeval:FILE or mt_bench:FILE; may be repeated.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="Conversations of each data set, by seeded choice.  [default: all]",
)
@click.option(
    "--temperature",
    "temperatures",
    type=click.FloatRange(min=0),
    multiple=True,
    default=(0.0,),
    show_default=True,
    help="Of the user turn; may be repeated.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="User turns per answer at each temperature above 0.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of choice and sampling.")
@click.option(
    "--answer-temperature",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Of the answer.",
)
@click.option(
    "--max-answer-tokens",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    help="Where an answer is cut; it is marked then.",
)
@click.option(
    "--max-turn-tokens",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    help="Where a user turn is cut; it is marked then.",
)
@study_option
@_json_option
def run(
    model: Path,
    model_name: str | None,
    template_kwargs: str,
    day: datetime,
    context_length: int,
    data: tuple[str, ...],
    limit: int | None,
    study: Study,
    as_json: bool,
    **plan: Any,
) -> None:
    """Probe a model (the default act)."""
    from generation.dataset import read_named_dataset
    from generation.probe import Plan, Probe
    from generation.probe_run import run_probe
    from generation.store import open_turns
    from generation.vllm_engine import open_model

    sampling_plan = Plan(**plan)
    datasets = [read_named_dataset(text) for text in data]
    chat_model, engine = open_model(model, model_name, day.date(), template_kwargs, context_length)
    added = run_probe(
        open_turns(study.pipeline),
        Probe(chat_model, engine, sampling_plan),
        datasets,
        limit=limit,
        on_progress=lambda done, total: click.echo(
            f"conversations probed: {done} of {total}", err=True
        ),
    )
    _report(study, added.new, added.known, as_json)


@generate.command("import")
@click.argument("file", type=_file)
@study_option
@_json_option
def import_(file: Path, study: Study, as_json: bool) -> None:
    """Import (q, a, u) from FILE, CSV or JSONL.

    Columns q, a and u; q is text or a list of chat messages, in CSV written as JSON:
    [{"role": "system", "content": "…"}, {"role": "user", "content": "…"}]. Or a column messages
    whose last three are user, assistant, user. Content is text or a list of text parts. Columns
    setting, model, temperature, perturbation, sample_index, dataset and source_id say where a
    turn comes from; others are kept as they are.
    """
    from generation.importer import import_file
    from generation.store import open_turns

    added = import_file(file, lambda: open_turns(study.pipeline))
    _report(study, added.new, added.known, as_json)


@generate.command()
@study_option
@_json_option
def example(study: Study, as_json: bool) -> None:
    """Load the bundled example: turns of a small model and of people."""
    from generation.example_bundle import add_example
    from generation.store import open_turns

    added = add_example(open_turns(study.pipeline))
    _report(study, added.new, added.known, as_json)


@generate.command(hidden=True)
@_model_options
@click.option("--gsm8k", type=_file, required=True, help="GSM8K test questions, JSONL.")
@click.option("--mt-bench", type=_file, required=True, help="MT-bench questions, JSONL.")
@click.option("--ifeval", type=_file, required=True, help="IFEval prompts, JSONL.")
@click.option("--open-assistant", type=_file, required=True, help="OpenAssistant trees, JSONL.")
@click.option("--licences", type=_folder, required=True, help="Folder of their licence texts.")
@click.option("--to", "folder", type=_folder, required=True, help="Where the example goes.")
def bundle(
    model: Path,
    model_name: str | None,
    template_kwargs: str,
    day: datetime,
    context_length: int,
    folder: Path,
    **sources: Path,
) -> None:
    """Make the bundled example again (for the project's own use)."""
    from generation.example_build import ExampleSources, build_example
    from generation.version import tool_version
    from generation.vllm_engine import open_model

    chat_model, engine = open_model(model, model_name, day.date(), template_kwargs, context_length)
    counts = build_example(ExampleSources(**sources), chat_model, engine, tool_version(), folder)
    click.echo(json.dumps({"folder": str(folder), "turns": counts}))


def _report(study: Study, new: int, known: int, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"study": str(study.folder), "new": new, "known": known}))
        return
    turns, were = "turn" if new == 1 else "turns", "was" if known == 1 else "were"
    click.echo(f"{study.pipeline}: {new} {turns} added, {known} {were} there already")
    click.echo(f"next: calibrate sample{study.option}")
