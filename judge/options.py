"""What the commands that ask a judge model share: its options, and the config in them."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import click

from generation.command import FiniteRange
from judge.config import (
    EFFORTS,
    MAX_CONCURRENCY,
    MAX_REQUESTS_PER_MINUTE,
    MAX_RUNS,
    MAX_TEMPERATURE,
    MAX_TOKENS,
    MAX_TOKENS_PER_MINUTE,
    JudgeConfig,
)

base_url_option = click.option(
    "--base-url", metavar="URL", help="The server, ending in /v1  [env var: OPENAI_BASE_URL]"
)


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What makes a judge, as one `config`; each option is an entry of a judges.toml too."""
    options = (
        click.option("--model", metavar="NAME", help="The judge model, as its server names it."),
        base_url_option,
        click.option("--rubric", metavar="VERSION", help="The rubric  [default: the latest]"),
        click.option(
            "--prompt",
            metavar="FOLDER|NAME",
            help="An exported judge prompt's folder, or a prompt template of this study.",
        ),
        click.option(
            "--temperature",
            type=FiniteRange(0, MAX_TEMPERATURE),
            help="Of the judge  [default: 0, where the model takes one]",
        ),
        click.option(
            "--reasoning-effort", type=click.Choice(EFFORTS), help="For reasoning models."
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(1, MAX_TOKENS),
            help="Tokens of one verdict, reasoning included  [default: 1024]",
        ),
        click.option(
            "--runs",
            type=click.IntRange(1, MAX_RUNS),
            help="How often each item is judged, each time with another seed  [default: 1]",
        ),
    )
    return with_options(options, command)


def pace_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option(
            "--concurrency",
            type=click.IntRange(1, MAX_CONCURRENCY),
            help="Requests in flight  [default: 8]",
        ),
        click.option(
            "--requests-per-minute",
            type=click.IntRange(1, MAX_REQUESTS_PER_MINUTE),
            help="At most so many.",
        ),
        click.option(
            "--tokens-per-minute",
            type=click.IntRange(1, MAX_TOKENS_PER_MINUTE),
            help="At most so many, by an estimate: a token is 4 bytes, an answer --max-tokens.",
        ),
    )
    return with_options(options, command)


def with_options(options: tuple[Any, ...], command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with these options, in the order in which --help is to list them."""
    for option in reversed(options):
        command = option(command)
    return command


def one_config(options: dict[str, Any], *, baseline: bool, file: bool) -> JudgeConfig:
    """The config of a run, which a baseline or a file of judges leaves empty.

    Raises UsageError where two of them are asked for.
    """
    given = sorted(f"--{name.replace('_', '-')}" for name, v in options.items() if v is not None)
    if file and (given or baseline):
        names = ", ".join(["--judge"] * baseline + given)
        raise click.UsageError(f"{names}: put it into the [[judge]] tables of --judge-config")
    of_a_model = [name for name in given if name != "--rubric"]
    if baseline and of_a_model:
        raise click.UsageError(f"--judge lexical takes no {', '.join(of_a_model)}")
    return config_from(options)


def config_from(options: dict[str, Any]) -> JudgeConfig:
    """The config in a command's options; usage errors are told by the option's name."""
    named = {
        field.name: options[field.name] for field in fields(JudgeConfig) if field.name in options
    }
    config = JudgeConfig(**named)
    if config.model is None and config.prompt is None and config.of_a_model:
        names = ", ".join(sorted(f"--{name.replace('_', '-')}" for name in config.of_a_model))
        raise click.UsageError(f"{names}: for which model? add --model NAME or --prompt FOLDER")
    return config
