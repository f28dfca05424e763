"""Which of a study's items a run is over: all, or those that a prompt is tried on."""

import json
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.labels import blind_items, open_labels
from generation.study import Study
from judge.calibration.sampling.repeats import repeated_items
from judge.calibration.sampling.sample_store import sampled_items
from judge.calibration.splits.frozen_split import frozen_split, part_of
from judge.plural import counted
from rubrics import InputError, fingerprint


@dataclass(frozen=True)
class Scope:
    """The items of a run by hash, None being all of the study; `words` say which."""

    hashes: frozenset[str] | None = None
    words: str = ""

    @property
    def as_json(self) -> str | None:
        """For SQL: a list of hashes as one value, NULL for no restriction."""
        return None if self.hashes is None else json.dumps(sorted(self.hashes))

    def size(self, database: Database) -> int:
        """How many distinct items that is."""
        if self.hashes is not None:
            return len(self.hashes)
        return database.conn.execute("SELECT count(DISTINCT item_hash) FROM turns").fetchone()[0]


WHOLE_STUDY = Scope()


def dev_scope(study: Study, pipeline_db: Database, draw: int | None = None) -> Scope:
    """The labelled items of the dev half, or `draw` of them.

    The drawn ones are always the same, and of a larger draw a part. Raises InputError as long as
    no split is frozen, and where no item of dev is labelled.
    """
    frozen = frozen_split(pipeline_db)
    if frozen is None:
        raise InputError(
            f"no split is frozen, so there is no dev half; freeze it: calibrate split{study.option}"
        )
    sampled, repeats = sampled_items(pipeline_db), repeated_items(pipeline_db)
    with open_labels(study.labels) as labels_db:
        rows = labels_db.conn.execute(
            "SELECT DISTINCT item_id FROM current_events WHERE kind = 'label'"
        )
        labelled = {item_id for (item_id,) in rows}
        blind = blind_items(labels_db)
    hashes = sorted(
        {
            item.hash
            for item_id, item in blind.items()
            if item_id in labelled
            and item_id not in repeats
            and sampled.get(item_id) == item.hash
            and part_of(item, frozen) == "dev"
        },
        key=lambda item_hash: fingerprint({"draw": item_hash}),
    )
    if not hashes:
        raise InputError(f"no item of the dev half is labelled; label some: annotate{study.option}")
    words = f"the {counted(len(hashes), 'labelled item')} of the dev half"
    if draw is None or draw >= len(hashes):
        return Scope(frozenset(hashes), words)
    return Scope(frozenset(hashes[:draw]), f"{draw} of {words}, drawn by hash")
