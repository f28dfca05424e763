"""The rubric that people label under now: the published one, in the words that labels.db has."""

from sqlite_utils import Database

from annotator.labels import recorded_rubric
from annotator.settings import PUBLISHED_RUBRIC, setting
from generation.study import Study
from rubrics import Rubric


def published_version(database: Database) -> str | None:
    return setting(database, PUBLISHED_RUBRIC)


def rubric_in_force(database: Database, otherwise: Rubric) -> Rubric:
    """The published rubric, or where none is published the other one."""
    version = published_version(database)
    if version is None or version == otherwise.version:
        return otherwise
    return recorded_rubric(database, version) or otherwise


def rubric_of(database: Database, study: Study, version: str | None) -> Rubric:
    """The rubric that a command means: the one named, else the published, else the newest.

    Raises InputError for a named version that the study does not know.
    """
    return study.rubric(version) if version else rubric_in_force(database, study.rubric())
