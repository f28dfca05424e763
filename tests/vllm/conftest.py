"""The small real model, made at first use and shared by the tests on the real engine."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_model import DEFAULT_FOLDER, small_model
from small_server import small_server


@pytest.fixture(scope="session")
def model_folder() -> Path:
    return small_model(Path(os.environ.get("SMALL_MODEL", DEFAULT_FOLDER)))


@pytest.fixture(scope="session")
def base_url(model_folder, tmp_path_factory) -> Iterator[str]:
    """One server for all tests that ask one; started by the first of them."""
    with small_server(model_folder, tmp_path_factory.mktemp("server") / "log.txt") as url:
        yield url
