"""The half of an item in a study whose split is not frozen."""

from generation.item import Item
from judge.calibration.splits.frozen_split import part_of
from judge.calibration.splits.split import Split


def split_of(item: Item) -> Split:
    return part_of(item, None)
