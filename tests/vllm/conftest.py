"""The small real model, made at first use and shared by the tests on the real engine."""

import os
from pathlib import Path

import pytest
from small_model import DEFAULT_FOLDER, small_model


@pytest.fixture(scope="session")
def model_folder() -> Path:
    return small_model(Path(os.environ.get("SMALL_MODEL", DEFAULT_FOLDER)))
