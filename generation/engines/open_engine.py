"""The engine that a command names, over a model's folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.engines.engine import Engine
from rubrics import InputError

VLLM, SERVER, RAY = "vllm", "server", "ray"
ENGINES = (VLLM, SERVER, RAY)


@dataclass(frozen=True)
class EngineChoice:
    """Which engine; `base_urls` and `in_flight` (requests at once) are a server's.

    `replicas` are Ray's: so many engines, each on accelerators of its own, anywhere in the cluster.
    """

    kind: str = VLLM
    base_urls: tuple[str, ...] = ()
    in_flight: int = 512  # twice what a vLLM server decodes at once by default
    replicas: int = 1

    def __post_init__(self) -> None:
        if self.kind == SERVER and not self.base_urls:
            raise InputError("--engine server needs --base-url, such as http://localhost:8000/v1")
        if self.kind != SERVER and self.base_urls:
            raise InputError(f"--base-url is for --engine server, not for {self.kind}")
        if self.kind != RAY and self.replicas != 1:
            raise InputError(f"--replicas is for --engine ray, not for {self.kind}")


def open_engine(
    choice: EngineChoice,
    folder: Path,
    served_names: tuple[str, ...],
    context_length: int,
    arguments: Mapping[str, Any],
) -> Engine:
    """Load or reach the engine; `served_names` are what a server may call the model.

    Raises InputError where its package is missing or a server is not as expected.
    """
    if choice.kind == SERVER:
        from generation.engines.server_engine import ServerEngine, served_name

        return ServerEngine(
            choice.base_urls,
            model=served_name(choice.base_urls[0], served_names),
            context_length=context_length,
            in_flight=choice.in_flight,
        )
    if choice.kind == RAY:
        from generation.engines.ray_engine import RayEngine

        return RayEngine(
            folder,
            context_length=context_length,
            arguments=arguments,
            replicas=choice.replicas,
        )
    from generation.engines.vllm_engine import VllmEngine

    return VllmEngine(folder, context_length=context_length, arguments=arguments)
