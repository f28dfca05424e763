"""What a new rubric leaves to be labelled again, by annotator and item."""

from collections import Counter
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.annotation import current_annotations
from annotator.assignment.plan import stored_plan
from rubrics import Rubric


@dataclass(frozen=True)
class OldLabel:
    """A label that stands under an earlier version and has no successor under this one yet.

    `heir` is what the rubric declares it to mean now; None if it says nothing: label it again.
    """

    annotator: str
    item_id: str
    rubric_version: str
    category: str
    heir: str | None


def old_labels(database: Database, rubric: Rubric) -> list[OldLabel]:
    """Labels under other versions whose item the same person has not labelled under this one.

    Where items are shared out, an item that has all its labels needs none again, from whomever.
    By annotator and item; of several earlier versions the label saved last.
    """
    new = current_annotations(database, rubric.version)
    done = {(said.annotator, said.item_id) for said in new}
    wanted = stored_plan(database).labels_per_item
    labels = Counter(said.item_id for said in new if said.category is not None)
    full = {item_id for item_id, count in labels.items() if wanted and count >= wanted}
    versions = database.conn.execute(
        "SELECT DISTINCT rubric_version FROM events WHERE rubric_version != ?", [rubric.version]
    ).fetchall()
    earlier = [
        said
        for (version,) in versions
        for said in current_annotations(database, version)
        if said.category is not None
        and (said.annotator, said.item_id) not in done
        and said.item_id not in full
    ]
    latest = {
        (said.annotator, said.item_id): said
        for said in sorted(earlier, key=lambda said: (said.saved_at, said.event_id))
    }
    return [
        OldLabel(
            said.annotator,
            said.item_id,
            said.rubric_version,
            said.category,
            rubric.heir(said.rubric_version, said.category),
        )
        for _, said in sorted(latest.items())
    ]
