"""The names of the rules for reference labels, light enough for a command line to import."""

from enum import StrEnum


class ReferenceRule(StrEnum):
    """How several annotators' labels of an item become its reference label.

    `majority`: the most frequent one; a tie gives none. `adjudicated`: the adjudicator's decision;
    an item without one takes the label that everybody gave it, and one that people label
    differently has none until somebody decides. `dawid-skene`: the most probable one when
    everybody's error rates are estimated too.
    """

    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"
    DAWID_SKENE = "dawid-skene"
