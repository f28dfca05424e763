"""A study is a folder with two stores: pipeline.db for the owner, labels.db for the annotators."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from rubrics import Rubric, latest_version, load_rubric

DEFAULT_FOLDER = Path("study")
DEFAULT_SEED = 20260402  # of the sample, the work lists and the resamples


@dataclass(frozen=True)
class Study:
    """Where a study keeps its files. The labelling page opens `labels` alone."""

    folder: Path

    @property
    def option(self) -> str:
        """What a command line needs to name this study again, with a blank before it."""
        return "" if self.folder == DEFAULT_FOLDER else f" --study {shlex.quote(str(self.folder))}"

    @property
    def pipeline(self) -> Path:
        return self.folder / "pipeline.db"

    @property
    def labels(self) -> Path:
        return self.folder / "labels.db"

    @property
    def rubrics(self) -> Path:
        """Where the rubrics are that this study wrote for itself."""
        return self.folder / "rubrics"

    def rubric(self, version: str | None = None) -> Rubric:
        """A rubric of this study's own or a packaged one; by default the newest packaged.

        A rubric of one's own has to be named: writing one must not move anybody to it. Raises
        InputError for an unknown version and for a file that is no rubric.
        """
        return load_rubric(version or latest_version(), self.rubrics)
