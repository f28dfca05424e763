"""The files of a model folder: what they say, and the hashes that tell one model from another."""

import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from rubrics import InputError, file_fingerprint

# What decides token ids, ends and weights. The chat template has a hash of its own.
HASHED_FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "tokenizer.model",
    "vocab.json",
    "merges.txt",
)
WEIGHTS = ("*.safetensors", "*.bin")
_BLOB = re.compile("[0-9a-f]{64}")  # of large files: their sha256; small ones have a git hash
_COMMIT = re.compile("[0-9a-f]{40}")


def file_hashes(folder: Path) -> dict[str, str]:
    """The sha256 of each file that decides what the model says, by name."""
    paths = [folder / name for name in HASHED_FILES if (folder / name).is_file()]
    for pattern in WEIGHTS:
        paths += sorted(folder.glob(pattern))
    return {path.name: _file_hash(path) for path in paths}


def without_weights(hashes: Mapping[str, str]) -> dict[str, str]:
    """Those of the files that prompts are made of.

    >>> without_weights({"config.json": "sha256:1", "model.safetensors": "sha256:2"})
    {'config.json': 'sha256:1'}
    """
    return {
        name: digest
        for name, digest in hashes.items()
        if not any(PurePath(name).match(pattern) for pattern in WEIGHTS)
    }


def revision(folder: Path) -> str | None:
    """The commit of a snapshot of the hub, None for any other folder."""
    for place in (folder, folder.resolve()):
        if place.parent.name == "snapshots" and _COMMIT.fullmatch(place.name):
            return place.name
    return None


def json_file(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file, None where there is no such file."""
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a JSON object")
    return content


def _file_hash(path: Path) -> str:
    """In the cache of the hub a large file links to a blob that is named by its sha256 already.

    That name is taken: reading hundreds of gigabytes of weights would say the same.
    """
    if path.is_symlink():
        blob = path.readlink()
        if blob.parent.name == "blobs" and _BLOB.fullmatch(blob.name):
            return f"sha256:{blob.name}"
    return file_fingerprint(path)
