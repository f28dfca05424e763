"""The hub's glue, with the client's download in our hands: there is no network in a test."""

import huggingface_hub
import pytest
from huggingface_hub import errors

from generation.datasets.open_dataset import dataset_plan_from, open_dataset
from generation.hub import HubFile, hub_file
from rubrics import InputError

FILE = HubFile("openai/gsm8k", "main/test.jsonl")


def refusing(monkeypatch, error):
    def download(*_, **__):
        raise error

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)


def http_error(kind):
    """An error of the client without the HTTP response that it is made from."""
    error = kind.__new__(kind)
    Exception.__init__(error, "HTTP 4xx\nRequest ID: 1")
    return error


def test_a_file_comes_with_the_commit_that_it_is_of(monkeypatch, tmp_path):
    asked = []

    def download(repo, path, **options):
        asked.append((repo, path, options))
        return str(tmp_path / "datasets--openai--gsm8k" / "snapshots" / "740312a" / path)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    fetched = hub_file(FILE, revision="v1")
    assert fetched.commit == "740312a"
    assert fetched.path.name == "test.jsonl"
    assert asked == [(FILE.repo, FILE.path, {"repo_type": "dataset", "revision": "v1"})]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (errors.LocalEntryNotFoundError("offline"), "out of reach, and not in the hub's cache"),
        (errors.OfflineModeIsEnabled("offline"), "out of reach"),
        (http_error(errors.GatedRepoError), "accept their terms on its page first; .*hf auth"),
        (http_error(errors.RepositoryNotFoundError), "it is not there"),
        (http_error(errors.RevisionNotFoundError), "it is not there"),
        (http_error(errors.RemoteEntryNotFoundError), "it is not there"),
        (http_error(errors.HfHubHTTPError), "HTTP 4xx$"),
        (PermissionError(13, "Permission denied"), "Permission denied"),
    ],
)
def test_what_the_hub_refuses_is_one_line_that_says_what_to_type(monkeypatch, error, reason):
    refusing(monkeypatch, error)
    with pytest.raises(InputError, match=rf"{FILE.path} of {FILE.repo} on the hub: .*{reason}"):
        hub_file(FILE)
    with pytest.raises(InputError) as refusal:
        open_dataset(dataset_plan_from("gpqa_main"), None)
    line = str(refusal.value)
    assert "--data gpqa_main:FILE, or --data-dir FOLDER with gpqa_main.csv" in line
    assert "\n" not in line


def test_a_set_from_the_hub_keeps_its_commit(monkeypatch, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    def download(repo, path, **_):
        place = tmp_path / "snapshots" / "740312a" / path
        place.parent.mkdir(parents=True)
        rows = [{"question": "2+2?", "answer": "#### 4"}, {"question": "3+3?", "answer": "#### 6"}]
        pyarrow.parquet.write_table(pa.Table.from_pylist(rows), place)
        return str(place)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    dataset = open_dataset(dataset_plan_from("gsm8k"), None)
    assert dataset.revision == dataset.provenance()["revision"] == "740312a"
    assert [c.source_id for c in dataset.rows.conversations] == ["test-1", "test-2"]
