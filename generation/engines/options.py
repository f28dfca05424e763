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
    @wraps(command)
    def with_engine(
        *arguments: Any, kind: str, base_urls: tuple[str, ...], in_flight: int, **values: Any
    ) -> Any:
        return command(*arguments, engine=EngineChoice(kind, base_urls, in_flight), **values)

    return with_engine
