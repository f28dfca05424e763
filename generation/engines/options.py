"""The options that choose an engine."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from generation.engines.open_engine import ENGINES, EngineChoice


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of an engine and hand the command the `engine` that they choose."""

    @click.option(
        "--engine",
        "kind",
        type=click.Choice(ENGINES),
        default=ENGINES[0],
        show_default=True,
        help="vLLM in this process, vLLM servers, or Ray over several machines.",
    )
    @click.option(
        "--base-url",
        "base_urls",
        multiple=True,
        metavar="URL",
        help="Of a vLLM server, such as http://localhost:8000/v1; may be repeated.",
    )
    @click.option(
        "--in-flight",
        type=click.IntRange(min=1),
        default=EngineChoice.in_flight,
        show_default=True,
        help="Requests at once to all servers together.",
    )
    @click.option(
        "--replicas",
        type=click.IntRange(min=1),
        default=EngineChoice.replicas,
        show_default=True,
        help="Engines that Ray starts, each on accelerators of its own.",
    )
    @wraps(command)
    def with_engine(
        *arguments: Any,
        kind: str,
        base_urls: tuple[str, ...],
        in_flight: int,
        replicas: int,
        **values: Any,
    ) -> Any:
        choice = EngineChoice(kind, base_urls, in_flight, replicas)
        return command(*arguments, engine=choice, **values)

    return with_engine
