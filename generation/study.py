"""A study is a folder with two stores: pipeline.db for the owner, labels.db for the annotators."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Study:
    """Where a study keeps its files. The labelling page opens `labels` alone."""

    folder: Path

    @property
    def pipeline(self) -> Path:
        return self.folder / "pipeline.db"

    @property
    def labels(self) -> Path:
        return self.folder / "labels.db"
