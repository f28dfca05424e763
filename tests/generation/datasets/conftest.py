"""Data files made in a test, and data sets opened from them."""

import json

import pytest

from generation.datasets.open_dataset import dataset_plan_from, open_dataset


@pytest.fixture
def write(tmp_path):
    """Writes rows as JSON lines, or as one JSON list where the name ends in .json."""

    def written(name, *rows):
        path = tmp_path / name
        whole = json.dumps(rows) if path.suffix == ".json" else None
        text = whole or "".join(json.dumps(row) + "\n" for row in rows)
        path.write_text(text, encoding="utf-8")
        return path

    return written


@pytest.fixture
def opened(write):
    """Opens a data set by its name from rows, as a file of the given name."""

    def dataset(source, *rows, name="set.jsonl"):
        return open_dataset(dataset_plan_from(f"{source}:{write(name, *rows)}"), None)

    return dataset


@pytest.fixture
def user():
    return lambda text: {"role": "user", "content": text}


@pytest.fixture
def assistant():
    return lambda text: {"role": "assistant", "content": text}
