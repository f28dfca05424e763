"""The same rows through vLLM in this process, through a server of it and through Ray.

Each engine is started once, one after the other. What they say at temperature 0 can differ where
two tokens are as good as equally likely, since batches differ: the rate is measured and printed.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest
from test_judge_server import wait_until_ready

from generation.engines.engine import Completion, EngineDied, Failure, Request, Sampling
from rubrics import InputError

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

NAME = "smollm2"
CONTEXT = 1024
SEQUENCES = 8
END = 2  # <|im_end|>
QUESTIONS = 16
MIN_AGREEMENT = 0.8  # of the rows at temperature 0


@pytest.fixture(scope="module")
def rows(model_folder) -> list[Request]:
    """Every question at three draws; a stop string, a prompt too long, one that is none."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)

    def prompt(text: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(f"<|im_start|>user\n{text}", add_special_tokens=False))

    requests = []
    for number in range(QUESTIONS):
        asked = prompt(f"She sold {number + 3} clips in April and" * (1 + number % 3))
        for temperature, seed in ((0.0, None), (0.7, number), (0.7, number + 1000)):
            sampling = Sampling(temperature, 32, seed, (END,))
            requests.append(Request(f"{number} {temperature} {seed}", asked, sampling))
    stopping = Sampling(0.0, 64, None, (END,), (" the", " a"))
    requests.append(Request("stop string", prompt("She sold"), stopping))
    requests.append(Request("too long", (40,) * CONTEXT, stopping))
    requests.append(Request("no token", (10**7,), stopping))
    return requests


def once(pairs: Iterator[tuple[str, Completion | Failure]], rows: Sequence[Request]) -> dict:
    """The outcomes; every row must have come back exactly once."""
    found = list(pairs)
    assert sorted(row_id for row_id, _ in found) == sorted(row.row_id for row in rows)
    return dict(found)


@pytest.fixture(scope="module")
def offline(model_folder, rows):
    """Two equal calls of one engine, then one of an engine opened after it, and what it says."""
    from generation.engines.vllm_engine import VllmEngine

    arguments = {"max_num_seqs": SEQUENCES, "enable_prefix_caching": False}
    calls = []
    for count in (2, 1):
        engine = VllmEngine(model_folder, context_length=CONTEXT, arguments=arguments)
        calls += [once(engine.generate(iter(rows)), rows) for _ in range(count)]
        if count == 1:
            check_bounds_and_deaths(engine, rows)
        provenance = engine.provenance()
        engine.close()
    return calls, provenance


def check_bounds_and_deaths(engine, rows) -> None:
    """What needs an engine of its own, while there is one."""
    taken = []
    generating = engine.generate(taken.append(row) or row for row in rows)
    next(generating)
    assert len(taken) <= 2 * SEQUENCES + 2, "read further ahead than is kept in flight"
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
                *("--max-num-seqs", str(SEQUENCES), "--generation-config", "vllm"),
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
        engine = ServerEngine([url], model=NAME, context_length=10**6, in_flight=2 * SEQUENCES)
        assert engine.context_length == CONTEXT
        yield once(engine.generate(iter(rows)), rows), engine.provenance()
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(scope="module")
def on_ray(model_folder, rows, offline):
    """In blocks of a few rows, so that they stream through one engine."""
    from generation.engines import ray_engine

    arguments = {"max_num_seqs": SEQUENCES, "enable_prefix_caching": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray_engine, "BLOCK_BYTES", 2048)
        patch.setattr(ray_engine, "BATCH", 4)
        engine = ray_engine.RayEngine(model_folder, context_length=CONTEXT, arguments=arguments)
        try:
            return once(engine.generate(iter(rows)), rows), engine.provenance()
        finally:
            engine.close()


def agreement(first: dict, second: dict, temperature: str) -> float:
    """Of the rows at a temperature, how many have the same tokens."""
    names = [name for name in first if name.split()[1] == temperature]
    return sum(first[name] == second[name] for name in names) / len(names)


def test_equal_calls_give_equal_rows_also_from_an_engine_opened_after_another(offline):
    first, second, after = offline[0]
    assert first == second == after


def test_rows_end_by_a_stop_or_by_their_limit(offline):
    completions = [row for row in offline[0][0].values() if isinstance(row, Completion)]
    assert {row.finish_reason for row in completions} == {"stop", "length"}
    for row in completions:
        if row.finish_reason == "length":
            assert (len(row.token_ids), row.stop) == (32, None)
        elif isinstance(row.stop, int):
            assert row.stop == row.token_ids[-1] == END


@pytest.mark.parametrize("engine", ["served", "on_ray"])
def test_other_engines_say_the_same_as_the_offline_one(engine, offline, request):
    rows = request.getfixturevalue(engine)[0]
    rates = {at: agreement(offline[0][0], rows, at) for at in ("0.0", "0.7")}
    print(f"{engine}: rows like offline, by temperature: {rates}")
    assert rates["0.0"] >= MIN_AGREEMENT
    assert rows["stop string"] == offline[0][0]["stop string"]
    assert rows["stop string"].stop in (" the", " a")


@pytest.mark.parametrize("engine", ["offline", "served", "on_ray"])
def test_a_row_that_cannot_be_is_an_error_of_its_own(engine, request):
    found = request.getfixturevalue(engine)[0]
    rows = found[0] if engine == "offline" else found
    assert {rows[name].kind for name in ("too long", "no token")} == {"refused"}
    assert f"do not fit the context of {CONTEXT}" in rows["too long"].message
    assert "out of vocabulary" in rows["no token"].message


@pytest.mark.parametrize("engine", ["offline", "served", "on_ray"])
def test_provenance_says_what_ran(engine, request):
    provenance = request.getfixturevalue(engine)[1]
    assert provenance["versions"]["vllm"]
    if engine != "served":
        assert provenance["platform"] == "cpu"
        assert provenance["arguments"]["max_num_seqs"] == SEQUENCES
        assert provenance["versions"].keys() >= {"torch", "transformers", "cuda"}
    if engine == "offline":
        assert provenance["prefix_caching"] is False
        assert (provenance["dtype"], provenance["model_runner"]) == ("bfloat16", "V1")
        assert provenance["attention"] == ["CPU_ATTN"]
        assert provenance["environment"]["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"


def test_a_model_with_linear_attention_is_known_as_hybrid_before_it_is_loaded(tmp_path):
    from transformers import Qwen3_5Config

    from generation.engines.vllm_engine import model_traits

    config = Qwen3_5Config(architectures=["Qwen3_5ForConditionalGeneration"])
    config.save_pretrained(tmp_path)
    traits = model_traits(tmp_path, {})
    assert (traits.hybrid, traits.multimodal) == (True, True)


def test_a_wrong_folder_or_argument_is_one_line(model_folder, tmp_path):
    from generation.engines.vllm_engine import VllmEngine

    with pytest.raises(InputError, match="did you mean max_num_seqs"):
        VllmEngine(model_folder, context_length=64, arguments={"max_num_seq": 4})
    with pytest.raises(InputError, match="vLLM reads no model there"):
        VllmEngine(tmp_path, context_length=64)
    with pytest.raises(InputError, match="vLLM does not load it") as refused:
        VllmEngine(model_folder, context_length=64, arguments={"dtype": "float7"})
    assert "\n" not in str(refused.value)
