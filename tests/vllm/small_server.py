"""A vLLM server of the small model on a free port of this machine, for the tests that need one."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NAME = "smollm2"
CONTEXT_TOKENS = 8192  # all that SmolLM2 has
READY_SECONDS = 300


@contextmanager
def small_server(model_folder: Path, log: Path) -> Iterator[str]:
    """The base URL of a server that is up, and stopped at the end; it writes to `log`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with log.open("w") as output:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
                *("--model", str(model_folder), "--served-model-name", NAME),
                *("--host", "127.0.0.1", "--port", str(port), "--dtype", "bfloat16"),
                *("--max-model-len", str(CONTEXT_TOKENS), "--enforce-eager"),
                *("--max-num-seqs", "8", "--generation-config", "vllm"),
                # Seeds and chunked prefill do not go together in vLLM's CPU build.
                *("--no-enable-chunked-prefill", "--max-num-batched-tokens", str(CONTEXT_TOKENS)),
            ],
            env={**os.environ, "VLLM_CPU_KVCACHE_SPACE": "2", "HF_HUB_OFFLINE": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_ready(server, f"http://127.0.0.1:{port}/health", log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(60)


def wait_until_ready(server: subprocess.Popen, health: str, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            pytest.fail(f"the server ended with {server.returncode}:\n{log.read_text()[-3000:]}")
        try:
            urllib.request.urlopen(health, timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
        else:
            return
    pytest.fail(f"not ready within {READY_SECONDS} s:\n{log.read_text()[-3000:]}")
