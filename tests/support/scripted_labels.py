"""Labels by a script, for tests of what becomes of labels: nobody's judgement."""

import random
from collections.abc import Mapping
from pathlib import Path

from annotator.labelling.choice import Choice
from annotator.labelling.session import LabellingSession
from annotator.labels import open_labels, record_rubric
from judge.lexical.baseline import judge_lexically
from rubrics import Rubric


def label_by_script(labels: Path, rubric: Rubric, annotator: str, *, slips: float = 0.3) -> None:
    """Label every item as the baseline does, but for a seeded share of random labels."""
    chance = random.Random(annotator)
    with open_labels(labels) as database:
        record_rubric(database, rubric)
        session = LabellingSession(database, rubric)
        screen = session.open(annotator).screen
        while screen.shown:
            said = judge_lexically(screen.shown.item, rubric).label
            if chance.random() < slips:
                said = chance.choice(rubric.category_ids)
            choice = Choice(said, None, "labelled by a script")
            screen = session.save(screen.nonce, screen.shown.item_id, choice).screen


def labels_by_turn(labels: Path) -> Mapping[str, str]:
    """What the first annotator said of each turn's text."""
    with open_labels(labels) as database:
        rows = database.conn.execute(
            "SELECT turn, category FROM current_events JOIN items USING (item_id)"
            " WHERE kind = 'label' ORDER BY annotator DESC"
        )
        return dict(rows.fetchall())
