"""What the command cannot do is one line on stderr, and the right exit code."""

import pytest
from calibrate_command import failed, run

from generation.study import Study
from rubrics import load_rubric

A = load_rubric("v3").category_ids[0]


def test_no_study(tmp_path):
    assert "generate example" in failed(run(Study(tmp_path / "none")))
    assert not (tmp_path / "none").exists()


def test_an_empty_study(builder):
    assert "calibrate sample" in failed(run(builder))
    assert "no turns to sample" in failed(run(builder, "sample"))


def test_no_labels(builder):
    builder.turns(2)
    builder.sample()
    assert "label some: annotate --rubric v3" in failed(run(builder))


def test_labels_under_another_rubric_only(builder):
    builder.turns(2)
    builder.sample()
    builder.label("ann", dict.fromkeys(builder.items, A), rubric=load_rubric("v2"))
    assert "labels left out: 2 under v2" in failed(run(builder, "--rubric", "v3"))


def test_no_judge(builder):
    builder.turns(2)
    builder.sample()
    builder.label("ann", dict.fromkeys(builder.items, A))
    assert "run: judge --rubric v3" in failed(run(builder))


def test_unknown_rubric_judge_and_annotator(small_study):
    assert "the versions are v1, v2, v3" in failed(run(small_study, "--rubric", "v9"))
    assert "no judge fits 'x': " in failed(run(small_study, "--judge", "x")).replace(";", ":")
    assert "annotators are: ann" in failed(run(small_study, "--annotator", "x"))


def test_unknown_category(small_study):
    small_study.label("ann", {next(iter(small_study.items)): "nonsense"})
    assert "'nonsense'" in failed(run(small_study))


@pytest.mark.parametrize("store", ["pipeline", "labels"])
def test_a_study_from_a_newer_version(small_study, store):
    database = small_study.pipeline if store == "pipeline" else small_study.labels
    name = "generation" if store == "pipeline" else "annotator"
    database["_sqlite_migrations"].insert(
        {"migration_set": name, "name": "m999_future", "applied_at": ""}
    )
    assert "newer followupeval" in failed(run(small_study))


def test_a_file_that_is_no_database(small_study):
    small_study.study.labels.write_text("not a database, but long enough to be read as one")
    for extra in small_study.study.folder.glob("labels.db-*"):
        extra.unlink()
    assert "labels.db" in failed(run(small_study))


@pytest.mark.parametrize(
    "arguments",
    [("--min-kappa", "2"), ("--seed", "-1"), ("sample", "--n", "0"), ("--nonsense",)],
)
def test_usage(small_study, arguments):
    assert run(small_study, *arguments).exit_code == 2


def test_a_bound_that_is_no_number_is_a_usage_error(tmp_path):
    """`kappa < nan` is false, so that any agreement would pass."""
    result = run(Study(tmp_path), "--min-kappa", "nan")
    assert result.exit_code == 2
    assert "'nan' is not a finite number" in result.output
