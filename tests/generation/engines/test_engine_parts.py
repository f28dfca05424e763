"""What the engines over vLLM have in common, and what they make of a request; no vLLM here."""

import math

import pytest

from generation.engines.engine import Completion, Failure, Request, Sampling
from generation.engines.outcome import outcome, too_long
from generation.engines.ray_engine import BLOCK_BYTES, _blocks, _ending, _outcome, _row
from generation.engines.vllm_arguments import (
    ModelTraits,
    check_given,
    deciding_variables,
    engine_arguments,
    sampling_arguments,
    shown_arguments,
)
from rubrics import InputError

GPU = ModelTraits(on_cpu=False, hybrid=False, multimodal=False)
GREEDY = Sampling(0.0, 8, None, (2, 3))


def test_the_models_sampling_defaults_never_slip_in():
    arguments = engine_arguments(512, GPU, {"max_num_seqs": 8, "seed": 5})
    assert arguments["generation_config"] == "vllm"
    assert (arguments["max_model_len"], arguments["max_num_seqs"], arguments["seed"]) == (512, 8, 5)
    assert "enable_prefix_caching" not in arguments, "ordinary attention keeps vLLM's default"


def test_prefixes_of_hybrid_models_are_not_cached_unless_asked_for():
    hybrid = ModelTraits(on_cpu=False, hybrid=True, multimodal=True)
    assert engine_arguments(512, hybrid, {})["enable_prefix_caching"] is False
    assert engine_arguments(512, hybrid, {})["language_model_only"] is True
    asked = {"enable_prefix_caching": True, "language_model_only": False}
    assert engine_arguments(512, hybrid, asked).items() >= asked.items()


def test_without_a_gpu_every_prompt_is_read_in_one_step():
    on_cpu = ModelTraits(on_cpu=True, hybrid=False, multimodal=False)
    arguments = engine_arguments(9000, on_cpu, {})
    assert arguments["enable_chunked_prefill"] is False
    assert arguments["max_num_batched_tokens"] == 9000


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tensor_paralel_size", "did you mean tensor_parallel_size"),
        ("max_model_len", "it is the context length"),
        ("zzz", "see `vllm serve --help`"),
    ],
)
def test_an_argument_that_vllm_does_not_have_is_named(name, says):
    with pytest.raises(InputError, match=says):
        check_given([name], ["tensor_parallel_size", "max_model_len", "dtype"])


def test_neither_secrets_nor_places_are_stored():
    found = {"VLLM_API_KEY": "secret", "VLLM_CACHE_ROOT": "/somewhere", "VLLM_USE_AOT_COMPILE": "0"}
    assert deciding_variables(found) == {"VLLM_USE_AOT_COMPILE": "0"}
    assert shown_arguments({"hf_token": "secret", "dtype": "auto"}) == {"dtype": "auto"}


def test_text_is_made_only_where_a_stop_string_needs_it():
    assert sampling_arguments(GREEDY)["detokenize"] is False
    with_string = Sampling(0.0, 8, None, (2,), ("</user>",))
    assert sampling_arguments(with_string) == {
        **{"temperature": 0.0, "max_tokens": 8, "seed": None, "stop_token_ids": [2]},
        **{"stop": ["</user>"], "top_p": 1.0, "top_k": 0, "min_p": 0.0, "n": 1},
        **{"repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0},
        **{"detokenize": True, "skip_special_tokens": False},
        "spaces_between_special_tokens": False,
    }


def test_a_prompt_fits_if_its_completion_does():
    assert too_long(Request("a", (1,) * 8, GREEDY), 16) is None
    assert too_long(Request("a", (1,) * 9, GREEDY), 16).kind == "refused"


@pytest.mark.parametrize("reason", ["abort", "error", None])
def test_neither_stop_nor_length_is_no_completion(reason):
    assert outcome([5], reason, None).kind == "unfinished"


def request(number: int, length: int = 50, **sampling) -> Request:
    values = {"temperature": 0.7, "max_tokens": 4, "seed": number, "stop_token_ids": (2, 3)}
    return Request(f"row {number}", (7,) * length, Sampling(**values | sampling))


def test_rays_blocks_hold_every_row_once_and_are_just_larger_than_ray_waits_for():
    requests = [request(number, length=20 + number % 400) for number in range(2000)]
    blocks = [block for block, _ in _blocks(iter(requests), 4096)]
    assert [row for block in blocks for row in block] == requests
    pyarrow = pytest.importorskip("pyarrow")
    sizes = [pyarrow.Table.from_pylist([_row(row) for row in block]).nbytes for block in blocks]
    assert all(BLOCK_BYTES < size < 1.5 * BLOCK_BYTES for size in sizes[:-1])


def test_rows_that_do_not_fit_the_context_never_reach_ray():
    requests = [request(0), request(1, length=5000), request(2)]
    ((block, refused),) = _blocks(iter(requests), 4096)
    assert [row.row_id for row in block] == ["row 0", "row 2"]
    assert [(row_id, failure.kind) for row_id, failure in refused] == [("row 1", "refused")]


def test_a_row_without_a_seed_stays_one_among_rows_with_seeds():
    """An integer beside a None would come out of Ray as a float and kill vLLM."""
    pyarrow = pytest.importorskip("pyarrow")
    rows = [_row(request(1)), _row(request(2, temperature=0.0, seed=None))]
    sampling = [row["sampling_params"] for row in pyarrow.Table.from_pylist(rows).to_pylist()]
    assert [row["seed"] for row in sampling] == [1, -1]
    assert not any(value is None for row in sampling for value in row.values())
    assert math.copysign(1, sampling[1]["seed"]) == -1


@pytest.mark.parametrize(
    ("token_ids", "text", "ending"),
    [
        ([9, 3], "", ("stop", 3)),
        ([9, 9, 9, 2], "", ("stop", 2)),
        ([9, 9, 9, 9], "no end", ("length", None)),
        ([9, 9], "What?</user>", ("stop", "</user>")),
        ([9, 0], "", ("stop", None)),
    ],
)
def test_the_ending_that_ray_leaves_out_is_found_again(token_ids, text, ending):
    assert _ending(request(0, stop_strings=("</user>",)), token_ids, text) == ending


def test_rays_error_rows_are_failures_of_their_own():
    row = {"row_id": "row 0", "__inference_error__": "ValueError: no\nroom"}
    assert _outcome(request(0), row) == Failure("refused", "vLLM: ValueError: no room")
    done = {"prompt_token_ids": [7] * 50, "generated_tokens": [9, 2], "generated_text": ""}
    assert _outcome(request(0), done) == Completion((9, 2), "stop", 2)
