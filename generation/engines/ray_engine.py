"""Ray Data LLM as the engine, on all machines of a Ray cluster: the only file that imports ray.

One data set runs through one processor for as long as `generate` goes on, so that each replica
loads the model once. Ray reads that data set from a queue into which this process puts requests as
results come back. Nothing of this package has to be installed on the workers but vLLM and Ray.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generation.engines.engine import Completion, EngineDied, Failure, Request
from generation.engines.outcome import REFUSED, one_line, outcome, too_long
from generation.engines.vllm_arguments import (
    ENVIRONMENT,
    engine_arguments,
    sampling_arguments,
    shown_arguments,
    vllm_environment,
)
from generation.engines.vllm_engine import model_traits, vllm_versions
from rubrics import InputError

if TYPE_CHECKING:
    from ray.data import Dataset

BATCH = 32  # rows that Ray gives to a replica at once
BLOCK_BYTES = 2**18  # a block goes to the workers as soon as it is larger than this
DECODED_AT_ONCE = 1024  # rows, by vLLM's default on the largest GPUs; smaller ones take fewer
SOME_CPU = {"num_cpus": 0.1}  # for what only passes rows on, or two cores would not be enough


class RayEngine:
    """`replicas` engines over a model folder that all machines see under the same path.

    Ray's own RAY_ADDRESS names the cluster; without one, this machine is it. Raises InputError
    when Ray or vLLM is not installed or does not know an argument.
    """

    def __init__(
        self,
        folder: Path,
        *,
        context_length: int,
        arguments: Mapping[str, Any] | None = None,
        replicas: int = 1,
    ) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # what runs here is nobody's business
        try:
            import ray
            import ray.data.llm
        except ImportError as error:
            raise InputError(
                f"Ray cannot be imported ({error}); install it beside vLLM: "
                "pip install 'followupeval[ray]'"
            ) from error
        arguments = arguments or {}
        traits = model_traits(folder, arguments)
        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.ERROR)
        self._started = not ray.is_initialized()
        ray.init(ignore_reinit_error=True, log_to_driver=False, logging_level=logging.ERROR)
        resources = ray.cluster_resources()
        self._devices = sorted(name for name in resources if name.startswith("accelerator_type:"))
        self._on_cpu = "GPU" not in resources
        self.context_length = context_length
        self._folder, self._replicas = folder, replicas
        self._arguments = engine_arguments(
            context_length, replace(traits, on_cpu=self._on_cpu), arguments
        )
        self._environment = {
            **ENVIRONMENT,
            **vllm_environment(),
            "VLLM_ENABLE_V1_MULTIPROCESSING": "1",  # Ray's workers drive vLLM no other way
        }
        self._per_replica = 2 * arguments.get("max_num_seqs", DECODED_AT_ONCE)

    def generate(self, requests: Iterable[Request]) -> Iterator[tuple[str, Completion | Failure]]:
        from ray.util.queue import Queue

        blocks, under_way, largest = _blocks(requests, self.context_length), {}, BATCH
        queue = Queue(actor_options={"num_cpus": 0})
        rows = self._rows(queue.get)
        open_end = True
        try:
            while True:
                # Ray may hold back a block and less than a batch until more comes.
                while open_end and len(under_way) < max(self._wanted, 4 * (largest + BATCH)):
                    block, refused = next(blocks, (None, []))
                    yield from refused
                    open_end = block is not None
                    queue.put(block and [_row(request) for request in block])
                    under_way |= {request.row_id: request for request in block or ()}
                    largest = max(largest, len(block or ()))
                row = _next(rows)
                if row is None:
                    break
                if request := under_way.pop(row["row_id"], None):  # None: a task that Ray redid
                    yield request.row_id, _outcome(request, row)
        finally:
            with suppress(Exception):  # whatever stands still must not keep us
                rows.close()
                queue.shutdown(force=True)
        if under_way:
            raise EngineDied(
                f"Ray lost {len(under_way)} rows; run the same command again to make them"
            )

    @property
    def _wanted(self) -> int:
        """Rows under way that keep every replica busy."""
        return self._replicas * self._per_replica

    def _rows(self, get: Callable[[], list[dict[str, Any]] | None]) -> Iterator[dict[str, Any]]:
        """Rows as they are done, in no order."""
        blocks = self._dataset(get).iter_batches(
            batch_size=None, batch_format="pyarrow", prefetch_batches=0
        )
        for block in blocks:
            yield from block.to_pylist()

    def _dataset(self, get: Callable[[], list[dict[str, Any]] | None]) -> "Dataset":
        import ray.data
        from ray.data.block import BlockMetadata
        from ray.data.llm import build_processor, vLLMEngineProcessorConfig

        def read():  # runs on a worker
            import pyarrow

            while (rows := get()) is not None:
                yield pyarrow.Table.from_pylist(rows)

        class Requests(ray.data.Datasource):
            def estimate_inmemory_data_size(self) -> None:
                return None

            def get_read_tasks(self, *_limits: Any, **_context: Any) -> list[Any]:
                unknown = BlockMetadata(
                    num_rows=None, size_bytes=None, input_files=None, exec_stats=None
                )
                return [ray.data.ReadTask(read, unknown)]

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.target_max_block_size = BLOCK_BYTES
        processor = build_processor(
            vLLMEngineProcessorConfig(
                model_source=str(self._folder),
                engine_kwargs=dict(self._arguments),
                concurrency=(self._replicas, self._replicas),
                batch_size=BATCH,
                max_concurrent_batches=max(2, self._per_replica // BATCH),
                log_engine_metrics=False,  # they need more of Ray than ray[data]
                chat_template_stage=False,
                tokenize_stage=False,
                detokenize_stage=False,
                should_continue_on_error=True,
                placement_group_config={"bundles": [{"CPU": 1}]} if self._on_cpu else None,
                runtime_env={"env_vars": self._environment},
            ),
            preprocess_map_kwargs=SOME_CPU,
            postprocess_map_kwargs=SOME_CPU,
        )
        # Ray would start an engine again for ever, also where a row kills it each time.
        # Changed in place: an assignment would have Ray work the rest out anew, and ask for GPUs.
        stage = processor.get_stage_by_name("vLLMEngineStage")
        stage.map_batches_kwargs.update(max_restarts=0, max_task_retries=0)
        return processor(ray.data.read_datasource(Requests(), override_num_blocks=1, **SOME_CPU))

    def provenance(self) -> dict[str, Any]:
        import ray

        return {
            "engine": "ray data llm",
            "arguments": shown_arguments(self._arguments),
            "environment": self._environment,
            "versions": {"ray": ray.__version__, **vllm_versions()},
            "platform": "cpu" if self._on_cpu else "gpu",
            "devices": [name.partition(":")[2] for name in self._devices],
            "replicas": self._replicas,
        }

    def close(self) -> None:
        """Leave the cluster, or end it where it was started here."""
        import ray

        if self._started:
            ray.shutdown()


def _blocks(
    requests: Iterable[Request], context_length: int
) -> Iterator[tuple[list[Request], list[tuple[str, Failure]]]]:
    """Requests by what makes one of Ray's blocks, with the rows refused on the way."""
    block, refused, size = [], [], 0
    for request in requests:
        if failure := too_long(request, context_length):
            refused.append((request.row_id, failure))
            continue
        block.append(request)
        size += 96 + len(request.row_id)  # of the sampling parameters and the offsets
        size += 8 * (len(request.prompt) + len(request.sampling.stop_token_ids))
        if size > BLOCK_BYTES:
            yield block, refused
            block, refused, size = [], [], 0
    if block or refused:
        yield block, refused


def _row(request: Request) -> dict[str, Any]:
    """As Ray's vLLM stage reads it. An integer beside a None would come out as a float."""
    sampling = sampling_arguments(request.sampling)
    seed = -1 if request.sampling.seed is None else request.sampling.seed  # vLLM's word for none
    found = {"seed": seed, "include_stop_str_in_output": True}  # it ends the text: see _ending
    return {
        "row_id": request.row_id,
        "tokenized_prompt": list(request.prompt),
        "sampling_params": sampling | found,
    }


def _next(rows: Iterator[dict[str, Any]]) -> dict[str, Any] | None:
    try:
        return next(rows, None)
    except Exception as error:
        last = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        raise EngineDied(
            f"Ray's job died: {one_line(last).partition('. ')[0]}; its workers' logs say more"
        ) from error


def _outcome(request: Request, row: Mapping[str, Any]) -> Completion | Failure:
    if fault := row.get("__inference_error__"):
        return Failure(REFUSED, f"vLLM: {one_line(fault)}")
    if tuple(row["prompt_token_ids"]) != request.prompt:
        raise EngineDied("Ray read another prompt than the one it was given; nothing counts")
    token_ids = row["generated_tokens"]
    return outcome(token_ids, *_ending(request, token_ids, row["generated_text"]))


def _ending(request: Request, token_ids: Sequence[int], text: str) -> tuple[str, int | str | None]:
    """The finish reason and the stop, which Ray leaves out, in the order in which vLLM looks."""
    sampling = request.sampling
    if token_ids and token_ids[-1] in sampling.stop_token_ids:
        return "stop", token_ids[-1]
    for stop in sampling.stop_strings:
        if text.endswith(stop):
            return "stop", stop
    return ("length" if len(token_ids) == sampling.max_tokens else "stop"), None
