"""How vLLM is set up and asked, by the offline engine and by Ray's workers alike."""

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from generation.engines.engine import Sampling
from rubrics import InputError

CPU_BATCHED_TOKENS = 4096  # vLLM's own default on a machine without a GPU
# Results go to stdout, so vLLM's log must not. The cache is in GiB and read without a GPU alone.
ENVIRONMENT = {
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_CPU_KVCACHE_SPACE": "2",
}
OURS = {
    "model": "the model's folder",
    "max_model_len": "the context length",
    "generation_config": "always 'vllm', so that no sampling default of the model slips in",
}
_SECRET = ("hf_token",)
_NOT_RECORDED = {"KEY", "TOKEN", "PATH", "ROOT", "DIR", "HOST", "PORT", "LOGGING", "IDENT"}


@dataclass(frozen=True)
class ModelTraits:
    """What the setup depends on. `hybrid`: some layers keep a state in place of keys and values."""

    on_cpu: bool
    hybrid: bool
    multimodal: bool


def engine_arguments(
    context_length: int, traits: ModelTraits, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments of vLLM besides the model: what the rows need, overridden by what was given."""
    arguments = {"seed": 0}  # of what has no seed; every sampled row has one of its own
    if traits.hybrid:
        # Such prefixes are kept in blocks of thousands of tokens, which short prompts never fill,
        # and tokens were seen to differ with the cache on (vLLM PR 26807).
        arguments["enable_prefix_caching"] = False
    if traits.multimodal:
        arguments["language_model_only"] = True
    if traits.on_cpu:
        # A seeded row whose prompt is split over steps kills vLLM's CPU worker ("CPU Generator
        # does not use offset"), so every prompt is read in one step.
        arguments |= {
            "dtype": "bfloat16",
            "enforce_eager": True,
            "enable_chunked_prefill": False,
            "max_num_batched_tokens": max(CPU_BATCHED_TOKENS, context_length),
        }
    return arguments | {
        **given,
        "max_model_len": context_length,
        "generation_config": "vllm",
        "disable_log_stats": True,
    }


def check_given(given: Iterable[str], known: Iterable[str]) -> None:
    """Raises InputError for an argument that vLLM does not have, or that is not the user's."""
    known = sorted(known)
    for name in given:
        if name in OURS:
            raise InputError(f"vLLM argument {name}: it is not set here; it is {OURS[name]}")
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}?" if close else "see `vllm serve --help`"
            raise InputError(f"vLLM has no argument {name}; {hint}")


def shown_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """As stored: without secrets."""
    return {name: value for name, value in arguments.items() if name not in _SECRET}


@cache
def vllm_environment() -> dict[str, str]:
    """As first found: vLLM adds variables of its own once it loads a model, some of them random."""
    return deciding_variables(os.environ)


def deciding_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """vLLM's own that are set, but for places and secrets.

    >>> deciding_variables({"VLLM_BATCH_INVARIANT": "1", "VLLM_API_KEY": "k", "HOME": "/root"})
    {'VLLM_BATCH_INVARIANT': '1'}
    """
    return {
        name: value
        for name, value in sorted(environment.items())
        if name.startswith("VLLM_") and not _NOT_RECORDED & set(name.split("_"))
    }


def sampling_arguments(sampling: Sampling) -> dict[str, Any]:
    """Arguments of vLLM's SamplingParams: every one that decides a token, said.

    Text is made only where a stop string has to be found in it.
    """
    arguments = asdict(sampling)
    stops = list(arguments.pop("stop_strings"))
    return arguments | {
        "n": 1,
        "stop_token_ids": list(sampling.stop_token_ids),
        "stop": stops,
        "detokenize": bool(stops),
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
    }
