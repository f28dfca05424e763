"""`generate`: fill a study with (q, a, u) from the probe, from a file, or from the example."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from generation.command import Verb, study_option
from generation.engines.open_engine import EngineChoice
from generation.engines.options import engine_options
from generation.exchange.cli import export_command
from generation.plan.options import plan_options
from generation.plan.plan import Plan
from generation.runs.cli import merge, show
from generation.study import Study

_file = click.Path(dir_okay=False, path_type=Path)
_folder = click.Path(file_okay=False, path_type=Path)


def _json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        command
    )


@click.group(cls=Verb, default="run", default_if_no_args=True)
def generate() -> None:
    """Fill a study with user turns: probe a model, import a file, or load the example.

    Without a subcommand, probe: the model answers q with a, then goes on under the user role.
    """


@generate.command()
@plan_options
@engine_options
@click.option(
    "--data-dir",
    type=_folder,
    metavar="FOLDER",
    help="Where local files of the data sets are; a set that is not there is taken from the hub.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="MODEL",
    help="Of the plan's models this one alone, by name; may be repeated.",
)
@click.option(
    "--shard",
    default="1/1",
    show_default=True,
    metavar="I/N",
    help="Part I of N, for machines that share nothing; generate merge joins their studies.",
)
@click.option(
    "--retry-errors",
    is_flag=True,
    help="Try the rows again that failed, and to check answers that could not be.",
)
@study_option
@_json_option
def run(
    plan: Plan,
    engine: EngineChoice,
    data_dir: Path | None,
    only: tuple[str, ...],
    shard: str,
    retry_errors: bool,
    study: Study,
    as_json: bool,
) -> int:
    """Probe models by a plan (the default act).

    Answers, perturbed answers and turns are stored as they come; stop it anywhere and the same
    command goes on. A row that fails is kept as a failure and not tried again unless asked for.
    """
    from generation.probe.run_models import run_models, shard_from
    from generation.probe.summary import summary_json, summary_text

    done = run_models(
        study,
        plan,
        engine,
        data_dir=data_dir,
        only=only,
        shard=shard_from(shard),
        retry_errors=retry_errors,
        say=lambda line: click.echo(line, err=True),
    )
    click.echo(summary_json(study, done) if as_json else summary_text(study, done))
    return done.exit_code


@generate.command("plan")
@plan_options
@click.option("--show", is_flag=True, help="Print what it amounts to instead: rows and tokens.")
@click.option("--data-dir", type=_folder, metavar="FOLDER", help="Where local files are.")
@study_option
@_json_option
def plan_(plan: Plan, show: bool, data_dir: Path | None, study: Study, as_json: bool) -> None:
    """Print the plan that these options make, as TOML for --plan; nothing is generated.

    With --show, what it amounts to: answers and turns per model and data set, their tokens, and
    the time they take where this study has measured the model's speed.
    """
    from generation.plan.estimate import estimate_json, estimate_plan, estimate_text
    from generation.plan.plan_file import plan_text

    if not show:
        click.echo(json.dumps(asdict(plan)) if as_json else plan_text(plan), nl=as_json)
        return
    estimate = estimate_plan(plan, data_dir, study)
    click.echo(estimate_json(estimate) if as_json else estimate_text(estimate))


@generate.command("import")
@click.argument("file", type=_file)
@click.option("--name", help="Of the run, for calibrate report --run.  [default: import]")
@study_option
@_json_option
def import_(file: Path, name: str | None, study: Study, as_json: bool) -> None:
    """Import (q, a, u) from FILE: CSV, JSONL, or what `generate export` writes.

    Columns q, a and u; q is text or a list of chat messages, in CSV written as JSON:
    [{"role": "system", "content": "…"}, {"role": "user", "content": "…"}]. Or a column messages
    whose last three are user, assistant, user; or TRL's prompt and completion. Content is text or
    a list of text parts. Columns setting, model, temperature, perturbation, sample_index, dataset
    and source_id say where a turn comes from; others are kept as they are. Turns of our own
    .jsonl and .parquet come back as the very turns that they were.
    """
    from generation.exchange.importer import import_file
    from generation.store import open_turns

    added = import_file(file, lambda: open_turns(study.pipeline), name)
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
@click.option("--model", type=_folder, required=True, help="Folder of the model.")
@click.option("--model-name", required=True, help="Its name in the example.")
@click.option("--gsm8k", type=_file, required=True, help="GSM8K test questions, JSONL.")
@click.option("--mt-bench", type=_file, required=True, help="MT-bench questions, JSONL.")
@click.option("--ifeval", type=_file, required=True, help="IFEval prompts, JSONL.")
@click.option("--open-assistant", type=_file, required=True, help="OpenAssistant trees, JSONL.")
@click.option("--licences", type=_folder, required=True, help="Folder of their licence texts.")
@click.option("--to", "folder", type=_folder, required=True, help="Where the example goes.")
def bundle(model: Path, model_name: str, folder: Path, **sources: Path) -> None:
    """Make the bundled example again (for the project's own use)."""
    from generation.example_build import ExampleSources, build_example

    counts = build_example(ExampleSources(**sources), model, model_name, folder)
    click.echo(json.dumps({"folder": str(folder), "turns": counts}))


generate.add_command(export_command)
generate.add_command(show)
generate.add_command(merge)


def _report(study: Study, new: int, known: int, as_json: bool) -> None:
    from generation.probe.summary import added_text

    if as_json:
        click.echo(json.dumps({"study": str(study.folder), "new": new, "known": known}))
        return
    click.echo(added_text(study, new, known))
    click.echo(f"next: calibrate sample{study.option}")
