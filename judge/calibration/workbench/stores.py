"""Both stores of a study, opened for one act of the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.labels import open_labels
from generation.study import Study
from judge.store import open_pipeline


@dataclass(frozen=True)
class Stores:
    pipeline: Database
    labels: Database


@contextmanager
def opened(study: Study) -> Iterator[Stores]:
    """The stores, closed at the end; raises InputError where one cannot be used."""
    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        yield Stores(pipeline_db, labels_db)
