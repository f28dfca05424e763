"""Data sets and models on the Hugging Face hub; the only file importing huggingface_hub."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rubrics import InputError

PROMPT_FILES = ["*.json", "*.jinja", "*.model", "*.txt"]  # of a model, all but its weights


@dataclass(frozen=True)
class HubFile:
    """One file of a data set repository, such as main/test.parquet of openai/gsm8k."""

    repo: str
    path: str

    @property
    def local(self) -> Path:
        """Where `hf download REPO --local-dir FOLDER/NAME` puts it, seen from FOLDER."""
        return Path(self.repo.rpartition("/")[2], self.path)

    def __str__(self) -> str:
        return f"{self.path} of {self.repo} on the hub"


@dataclass(frozen=True)
class Fetched:
    """A file of the hub's cache, with the commit that it is of."""

    path: Path
    commit: str | None


def hub_file(file: HubFile, revision: str | None = None) -> Fetched:
    """Fetch the file, or take it from the cache where the hub is out of reach.

    Raises InputError saying in one line why it could not be had.
    """
    with _refusals(str(file)):
        from huggingface_hub import hf_hub_download

        path = hf_hub_download(file.repo, file.path, repo_type="dataset", revision=revision)
    return Fetched(Path(path), _commit(Path(path)))


def hub_model(repo: str, revision: str | None, *, weights: bool) -> Path:
    """The folder of a model of the hub in its cache, fetched where it is not there yet.

    Without `weights` only what prompts are made of. Raises InputError as `hub_file` does.
    """
    with _refusals(f"the model {repo} on the hub"):
        from huggingface_hub import snapshot_download

        return Path(
            snapshot_download(
                repo, revision=revision, allow_patterns=None if weights else PROMPT_FILES
            )
        )


@contextmanager
def _refusals(what: str) -> Iterator[None]:
    try:
        from huggingface_hub.errors import (
            EntryNotFoundError,
            GatedRepoError,
            HFValidationError,
            HTTPError,
            LocalEntryNotFoundError,
            OfflineModeIsEnabled,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )
    except ImportError as error:
        raise InputError("huggingface_hub is not installed: pip install huggingface-hub") from error
    try:
        yield
    except GatedRepoError as error:
        raise InputError(
            f"{what}: its authors ask you to accept their terms on its page first; do so and run "
            "hf auth login"
        ) from error
    except (LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        raise InputError(f"{what}: out of reach, and not in the hub's cache here") from error
    except (
        RepositoryNotFoundError, RevisionNotFoundError, EntryNotFoundError, HFValidationError,
    ) as error:  # fmt: skip
        raise InputError(f"{what}: it is not there") from error
    except (HTTPError, OSError) as error:
        raise InputError(f"{what}: {(str(error) or repr(error)).splitlines()[0]}") from error


def _commit(path: Path) -> str | None:
    """The hub's cache keeps files as …/snapshots/COMMIT/PATH.

    >>> _commit(Path("datasets--openai--gsm8k/snapshots/740312a/main/test.parquet"))
    '740312a'
    """
    parts = path.parts
    if "snapshots" not in parts[:-1]:
        return None
    return parts[len(parts) - parts[::-1].index("snapshots")]
