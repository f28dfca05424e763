"""What `annotate export` writes is read by `calibrate agreement` as any project's labels are."""

import pytest
from annotated_labels import GENUINE, MALFORMED, NEW_TASK, ids, new_labels, say

from annotator.exchange.argilla import user_id
from annotator.exchange.export import Format, export_labels
from annotator.exchange.who import Who
from judge.calibration.label_table.normalise import label_table
from judge.calibration.label_table.read import read_ratings

FIRST, SECOND = ids(2)
SAID = {
    (FIRST, "ann"): MALFORMED,
    (FIRST, "zoe"): NEW_TASK,
    (SECOND, "ann"): GENUINE,
    (SECOND, "zoe"): NEW_TASK,
}


@pytest.fixture
def labels(tmp_path):
    """Two people, one correction, one label that a skip took away."""
    with new_labels(tmp_path / "labels.db") as database:
        say(database, "ann", 0, GENUINE, second=1, note="a note")
        say(database, "zoe", 0, NEW_TASK, second=2)
        say(database, "ann", 0, MALFORMED, second=3)
        say(database, "ann", 1, GENUINE, second=4)
        say(database, "zoe", 1, NEW_TASK, second=5)
        say(database, "ann", 2, GENUINE, second=6)
        say(database, "ann", 2, None, second=7)
        yield database


def read(labels, path, format, **options):
    export_labels(labels, path, Format(format), **options)
    return label_table(read_ratings(path), path.name)


def said(table):
    return {(rating.item, rating.rater): rating.label for rating in table.ratings}


@pytest.mark.parametrize(
    ("name", "format"), [("t.csv", "csv"), ("t.parquet", "parquet"), ("t.json", "label-studio")]
)
def test_it_has_the_labels_that_stand_and_no_other(labels, tmp_path, name, format):
    table = read(labels, tmp_path / name, format)
    assert said(table) == SAID
    assert table.repeats == ()  # a correction is no repeat


def test_a_skip_is_seen_as_one_in_label_studio(labels, tmp_path):
    table = read(labels, tmp_path / "t.json", "label-studio")
    assert {e.reason: e.count for e in table.excluded} == {"skipped by the annotator": 1}


def test_tables_name_the_conversation(labels, tmp_path):
    table = read(labels, tmp_path / "t.csv", "csv")
    assert table.clustered
    assert len(set(table.clusters.values())) == 2


def test_argilla_has_a_uuid_in_place_of_each_name(labels, tmp_path):
    expected = {(item, user_id(who)): label for (item, who), label in SAID.items()}
    assert said(read(labels, tmp_path / "t.json", "argilla")) == expected


def test_pseudonyms_change_no_label(labels, tmp_path):
    table = read(labels, tmp_path / "t.csv", "csv", who=Who.PSEUDONYMS)
    renamed = {"zoe": "annotator-01", "ann": "annotator-02"}
    assert said(table) == {(item, renamed[who]): label for (item, who), label in SAID.items()}
