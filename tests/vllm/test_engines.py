"""The same rows through vLLM in this process, through a server of it and through Ray.

Each engine is started once, one after the other. They decode one row at a time, so that no row's
numbers depend on its neighbours and all must say the same. In batches the last bits differ, and
with them a word where two are nearly as likely: how often is measured and printed.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from small_server import wait_until_ready

from generation.engines.engine import Completion, EngineDied, Failure, Request, Sampling
from rubrics import InputError

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

NAME = "smollm2"
CONTEXT = 1024
ALONE, TOGETHER = 1, 8  # rows that are decoded at once
END = 2  # <|im_end|>
QUESTIONS = 6
TOKENS = 16  # of a completion
MIN_AGREEMENT = 0.5  # of the rows at temperature 0, alone and in batches


@pytest.fixture(scope="module")
def rows(model_folder) -> list[Request]:
    """Every question at two temperatures; a stop string, a prompt too long, one that is none."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)

    def prompt(text: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(f"<|im_start|>user\n{text}", add_special_tokens=False))

    requests = []
    for number in range(QUESTIONS):
        asked = prompt(f"She sold {number + 3} clips in April and" * (1 + number % 3))
        for temperature, seed in ((0.0, None), (0.7, number)):
            sampling = Sampling(temperature, TOKENS, seed, (END,))
            requests.append(Request(f"{number} {temperature} {seed}", asked, sampling))
    stopping = Sampling(0.0, 24, None, (END,), (" the", " a"))
    requests.append(Request("stop string", prompt("She sold"), stopping))
    requests.append(Request("too long", (40,) * CONTEXT, stopping))
    requests.append(Request("no token", (10**7,), stopping))
    return requests


def once(pairs: Iterator[tuple[str, Completion | Failure]], rows: Sequence[Request]) -> dict:
    """The outcomes; every row must have come back exactly once."""
    found = list(pairs)
    assert sorted(row_id for row_id, _ in found) == sorted(row.row_id for row in rows)
    return dict(found)


@dataclass(frozen=True)
class Ran:
    """What an engine said of every row, and of itself."""

    rows: dict[str, Completion | Failure]
    provenance: dict[str, Any]


@pytest.fixture(scope="module")
def offline(model_folder, rows) -> dict[int, list[Ran]]:
    """One call of an engine, two of another, which is opened after the first was closed."""
    from generation.engines.vllm_engine import VllmEngine

    calls = {}
    for at_once, count in ((ALONE, 1), (TOGETHER, 2)):
        arguments = {"max_num_seqs": at_once, "enable_prefix_caching": False}
        engine = VllmEngine(model_folder, context_length=CONTEXT, arguments=arguments)
        calls[at_once] = [
            Ran(once(engine.generate(iter(rows)), rows), engine.provenance()) for _ in range(count)
        ]
        if at_once == TOGETHER:
            check_bounds_and_deaths(engine, rows)
        engine.close()
    return calls


def check_bounds_and_deaths(engine, rows) -> None:
    """What needs an engine of its own, while there is one."""
    taken = []
    generating = engine.generate(taken.append(row) or row for row in rows)
    next(generating)
    assert len(taken) <= 2 * TOGETHER, "read further ahead than is kept in flight"
    generating.close()
    vllm = engine._llm.llm_engine
    assert vllm.get_num_unfinished_requests() == 0, "rows went on after the call was left"

    def die():
        raise RuntimeError("out of\nmemory")

    vllm.step, step = die, vllm.step
    with pytest.raises(EngineDied, match=r"^vLLM died: out of memory; its log says more$"):
        list(engine.generate(iter(rows)))
    vllm.step = step


@pytest.fixture(scope="module")
def served(model_folder, rows, offline, tmp_path_factory):
    from generation.engines.server_engine import ServerEngine

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with log.open("w") as output:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
                *("--model", str(model_folder), "--served-model-name", NAME),
                *("--host", "127.0.0.1", "--port", str(port), "--dtype", "bfloat16"),
                *("--max-model-len", str(CONTEXT), "--enforce-eager"),
                *("--max-num-seqs", str(ALONE), "--generation-config", "vllm"),
                *("--no-enable-chunked-prefill", "--max-num-batched-tokens", "4096"),
                "--no-enable-prefix-caching",
            ],
            # As the offline engine may have set it in this process; a server needs its own.
            env={
                **os.environ,
                **{"VLLM_CPU_KVCACHE_SPACE": "2", "HF_HUB_OFFLINE": "1"},
                "VLLM_ENABLE_V1_MULTIPROCESSING": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_ready(server, f"http://127.0.0.1:{port}/health", log)
        url = f"http://127.0.0.1:{port}/v1"
        with pytest.raises(InputError, match=f"no model named other; it serves: {NAME}"):
            ServerEngine([url], model="other", context_length=CONTEXT)
        engine = ServerEngine([url], model=NAME, context_length=10**6, in_flight=TOGETHER)
        assert engine.context_length == CONTEXT
        yield Ran(once(engine.generate(iter(rows)), rows), engine.provenance())
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(scope="module")
def on_ray(model_folder, rows, offline):
    """In blocks of a few rows, so that they stream through one engine."""
    from generation.engines import ray_engine

    arguments = {"max_num_seqs": ALONE, "enable_prefix_caching": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray_engine, "BLOCK_BYTES", 2048)
        patch.setattr(ray_engine, "BATCH", 4)
        engine = ray_engine.RayEngine(model_folder, context_length=CONTEXT, arguments=arguments)
        try:
            return Ran(once(engine.generate(iter(rows)), rows), engine.provenance())
        finally:
            engine.close()


def agreement(first: Ran, second: Ran, temperature: str) -> float:
    """Of the rows at a temperature, how many have the same tokens."""
    names = [name for name in first.rows if name.split()[1] == temperature]
    return sum(first.rows[name] == second.rows[name] for name in names) / len(names)


def test_equal_calls_give_equal_rows(offline):
    first, second = offline[TOGETHER]
    assert first == second


def test_rows_in_batches_agree_with_rows_alone_as_often_as_is_printed(offline):
    alone, together = offline[ALONE][0], offline[TOGETHER][0]
    rates = {at: agreement(alone, together, at) for at in ("0.0", "0.7")}
    print(f"rows in batches of {TOGETHER} like rows alone, by temperature: {rates}")
    assert rates["0.0"] >= MIN_AGREEMENT


def test_rows_end_by_a_stop_or_by_their_limit(offline):
    rows = offline[ALONE][0].rows
    completions = [row for row in rows.values() if isinstance(row, Completion)]
    assert {row.finish_reason for row in completions} == {"stop", "length"}
    for row in completions:
        if row.finish_reason == "length":
            assert (len(row.token_ids), row.stop) == (TOKENS, None)
        elif isinstance(row.stop, int):
            assert row.stop == row.token_ids[-1] == END
    assert rows["stop string"].stop in (" the", " a")


@pytest.mark.parametrize("engine", ["served", "on_ray"])
def test_other_engines_say_the_same_as_the_offline_one(engine, offline, request):
    expected, found = offline[ALONE][0].rows, request.getfixturevalue(engine).rows
    completed = {name for name, row in expected.items() if isinstance(row, Completion)}
    assert {name for name in completed if found[name] != expected[name]} == set()


@pytest.mark.parametrize("engine", ["offline", "served", "on_ray"])
def test_a_row_that_cannot_be_is_an_error_of_its_own(engine, request):
    ran = request.getfixturevalue(engine)
    rows = (ran[ALONE][0] if engine == "offline" else ran).rows
    assert {rows[name].kind for name in ("too long", "no token")} == {"refused"}
    assert f"do not fit the context of {CONTEXT}" in rows["too long"].message
    assert "out of vocabulary" in rows["no token"].message


def test_provenance_says_what_ran(offline, served, on_ray):
    assert {ran.provenance["versions"]["vllm"] for ran in (offline[ALONE][0], on_ray)} == set(
        served.provenance["versions"]["vllm"]
    )
    for ran in (offline[ALONE][0], on_ray):
        assert ran.provenance["platform"] == "cpu"
        assert ran.provenance["arguments"]["max_num_seqs"] == ALONE
        assert ran.provenance["versions"].keys() >= {"torch", "transformers", "cuda"}
    found = offline[ALONE][0].provenance
    assert found["prefix_caching"] is False
    assert (found["dtype"], found["model_runner"]) == ("bfloat16", "V1")
    assert found["attention"] == ["CPU_ATTN"]
    assert found["environment"]["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
    of_another_load = offline[TOGETHER][0].provenance
    different = {key for key in found if found[key] != of_another_load[key]}
    assert different == {"arguments", "max_num_seqs"}, "equal machines, equal provenance"


def test_a_model_with_linear_attention_is_known_as_hybrid_before_it_is_loaded(tmp_path):
    from transformers import Qwen3NextConfig

    from generation.engines.vllm_engine import model_traits

    Qwen3NextConfig(architectures=["Qwen3NextForCausalLM"]).save_pretrained(tmp_path)
    traits = model_traits(tmp_path, {})
    assert (traits.hybrid, traits.multimodal) == (True, False)


def test_a_wrong_folder_or_argument_is_one_line(model_folder, tmp_path):
    from generation.engines.vllm_engine import VllmEngine

    with pytest.raises(InputError, match="did you mean max_num_seqs"):
        VllmEngine(model_folder, context_length=64, arguments={"max_num_seq": 4})
    with pytest.raises(InputError, match="vLLM reads no model there"):
        VllmEngine(tmp_path, context_length=64)
    with pytest.raises(InputError, match="vLLM does not load it") as refused:
        VllmEngine(model_folder, context_length=64, arguments={"dtype": "float7"})
    assert "\n" not in str(refused.value)
