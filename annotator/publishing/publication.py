"""Publishing a rubric version: from the next item on everybody labels under it.

Who has an item open finishes it under the version that it was shown under.
"""

from dataclasses import dataclass

from sqlite_utils import Database

from annotator.labels import record_rubric, recorded_rubric
from annotator.publishing.in_force import published_version
from annotator.settings import PASS_MARK, PUBLISHED_RUBRIC, put_setting, setting
from annotator.training.training_set import is_training_on
from rubrics import InputError, Rubric, check_heirs


@dataclass(frozen=True)
class Publication:
    """What is labelled under from now on, and what was before; None where nothing was published.

    `untrained`: people train in this study, and this version has no training set. `gold_left` is
    how many gold items the version before has, where this one has none.
    """

    version: str
    before: str | None
    untrained: bool
    gold_left: int


def publish(database: Database, rubric: Rubric) -> Publication:
    """Put a rubric version into force for all annotators.

    Raises InputError when the version was used before with another text, when one of its keys
    means another category in a version that people have labelled under (fingers remember keys),
    and when it maps a category that the earlier version does not have.
    """
    used = database.conn.execute("SELECT DISTINCT rubric_version FROM events").fetchall()
    before = published_version(database)
    for version in sorted({version for (version,) in used} | ({before} if before else set())):
        earlier = recorded_rubric(database, version)
        if earlier is not None and version != rubric.version:
            _check_keys(earlier, rubric)
            check_heirs(rubric, earlier)
    record_rubric(database, rubric)  # not before it was checked: its version would be used up
    put_setting(database, PUBLISHED_RUBRIC, rubric.version)
    trains = setting(database, PASS_MARK) is not None
    untrained = trains and not is_training_on(database, rubric.version)
    gold_left = 0 if _gold(database, rubric.version) or not before else _gold(database, before)
    return Publication(rubric.version, before, untrained, gold_left)


def _gold(database: Database, version: str) -> int:
    return database["gold"].count_where("rubric_version = ? AND retired_at IS NULL", [version])


def _check_keys(earlier: Rubric, rubric: Rubric) -> None:
    meant = {category.key: category.id for category in earlier.categories}
    for category in rubric.categories:
        if (old := meant.get(category.key, category.id)) != category.id:
            raise InputError(
                f"rubric {rubric.version} puts {category.id} on key {category.key}, which people "
                f"know as {old} from {earlier.version}; give {category.id} a key that no category "
                "has had, or the id that its key has had"
            )
