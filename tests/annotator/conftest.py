import pytest

from annotator.accounts.refusal import RefusalLog
from annotator.labels import BlindItem, add_items, open_labels, record_rubric
from annotator.served_labels import ServedLabels
from generation.clock import now
from generation.item import Item, Message
from rubrics import load_rubric

ITEM_IDS = tuple(f"{number:012x}" for number in range(5))


@pytest.fixture
def rubric():
    return load_rubric("v3")


@pytest.fixture
def labels(tmp_path, rubric):
    """An open labels.db with five items."""
    database = open_labels(tmp_path / "labels.db", create=True)
    items = [
        BlindItem(item_id, Item((Message("user", f"question {n}"),), f"answer {n}", f"turn {n}"))
        for n, item_id in enumerate(ITEM_IDS)
    ]
    add_items(database, items, seed=7)
    record_rubric(database, rubric)
    yield database
    database.close()


@pytest.fixture
def refusals(tmp_path):
    """The log of what is refused, in the labels.db that another fixture has made."""
    log = RefusalLog(ServedLabels(tmp_path / "labels.db"))
    yield log
    log.close(at=now())
