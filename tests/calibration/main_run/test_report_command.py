"""`calibrate report` as typed: what it prints, what it writes, what it refuses."""

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from annotator.labels import open_labels
from generation.study import Study
from judge.calibration.cli import calibrate
from judge.calibration.export import export_calibration
from judge.calibration.main_run import study_report
from judge.calibration.study_calibration import calibrate_study
from judge.store import open_pipeline
from rubrics import load_rubric
from tests.support.calibrate_command import failed, run
from tests.support.main_run_study import MadeRun, make_main_run

MADE = MadeRun(datasets={"gsm8k": 5}, temperatures=(0.0, 1.0), samples=2, labelled=40)
PLAN = """
name = "made"
date = "2026-11-30"
[[models]]
source = "Made-1B"
[[models]]
source = "Made-70B"
[[datasets]]
source = "gsm8k"
[[sweeps]]
temperatures = [0.0, 1.0]
samples = 2
"""
MODELS = """
[[models]]
name = "Made-1B"
checkpoint_of = "Made"
stage = "base"
[[models]]
name = "Made-8B"
checkpoint_of = "Made"
stage = "SFT"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Study:
    return make_main_run(tmp_path_factory.mktemp("made") / "study", MADE)


@pytest.fixture(scope="module")
def written(study, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "report"
    done = run(study, "report", "--run", "made", "--output", str(folder), "--html")
    assert done.exit_code == 0, done.output
    assert done.stderr == f"report: {folder}\n"
    return folder


@pytest.fixture
def file(tmp_path):
    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def told(study: Study, *options: str) -> dict:
    done = run(study, "report", *options, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def rows(found: dict, name: str) -> list[dict]:
    return next(table["rows"] for table in found["tables"] if table["name"] == name)


def test_it_prints_tables_statements_and_the_command_that_builds_it_again(study):
    done = run(study, "report", "--run", "made")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("main run made: 50 turns of 2 models\n")
    for part in ("Task accuracy", "latent or absent: ", "perturbation: ", "seed 20260402"):
        assert part in done.stdout
    again = shlex.split(done.stdout.partition("again: ")[2])
    judge = again.pop(again.index("--judge") + 1)
    assert again == [
        *("calibrate", "report", "--run", "made", "--rubric", "v3", "--judge", "--runs", "1"),
        *("--study", str(study.folder), "--output", "FOLDER"),
    ]
    assert told(study, "--judge", judge)["provenance"]["judge"]["model"] == "made-up-judge"
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_the_newest_run_is_reported_with_its_plan_where_none_is_named(study):
    found = told(study)
    assert found["title"] == "made"
    assert found["provenance"]["command"].startswith("calibrate report --run made --rubric v3")


def test_every_table_is_written_in_every_format_and_the_manifest_lists_all(written):
    found = content(written)
    names = {table["name"] for table in json.loads(found["report.json"])["tables"]}
    assert {"accuracy", "temperature", "perturbation", "labels"} <= names
    for name in names:
        for ending in ("txt", "md", "tex", "csv", "json"):
            assert found[f"tables/{name}.{ending}"]
    for ending in ("png", "svg", "pdf"):
        assert [name for name in found if name.startswith("figures/") and name.endswith(ending)]
    assert {"index.html", "report.md", "turns/00000.js"} <= found.keys()
    assert json.loads(found["manifest.json"])["files"].keys() == found.keys() - {"manifest.json"}


def test_what_is_written_is_what_is_printed_as_json(study, written):
    found = json.loads((written / "report.json").read_text())
    assert found.pop("absent_figures") == ["judges: no other judge is compared"]
    printed = told(study, "--run", "made")
    for of in (found, printed):
        del of["provenance"]["command"]
    assert found == printed


def test_the_command_that_it_names_builds_it_again_byte_for_byte(written, tmp_path):
    command = json.loads((written / "report.json").read_text())["provenance"]["command"]
    verb, *words, place = shlex.split(command)
    assert (verb, place) == ("calibrate", "FOLDER")
    done = CliRunner().invoke(calibrate, [*words, str(tmp_path / "again")])
    assert done.exit_code == 0, done.output
    assert content(tmp_path / "again") == content(written)


def test_what_is_written_to_the_study_meanwhile_is_in_no_part_of_the_report(
    written, tmp_path, monkeypatch
):
    study = make_main_run(tmp_path / "study", MADE)
    computed = study_report.report_study

    def then_judged_anew(*asked):
        found = computed(*asked)
        with open_pipeline(study.pipeline) as other:
            other.conn.execute("UPDATE judgments SET rationale = 'Changed.'")
            other.conn.commit()
        return found

    monkeypatch.setattr(study_report, "report_study", then_judged_anew)
    done = run(study, "report", "--run", "made", "--html", "--output", str(tmp_path / "r"))
    assert done.exit_code == 0, done.output
    turns = "turns/00000.js"
    assert (tmp_path / "r" / turns).read_bytes() == (written / turns).read_bytes()
    assert "Changed." not in (tmp_path / "r" / turns).read_text()


def test_a_plan_names_what_was_not_run(study, file):
    found = told(study, "--plan", file("made.toml", PLAN))
    gone = [row for row in rows(found, "temperature") if row["model"] == "Made-70B"]
    assert [row["judged"]["gap"] for row in gone] == ["not run", "not run"]
    assert found["provenance"]["remarks"][0].startswith("Made-70B has no run")


def test_checkpoints_are_a_table_once_their_stages_are_told(study, file):
    assert any("--models FILE" in of for of in told(study)["absent"])
    found = told(study, "--models", file("models.toml", MODELS))
    assert [row["stage"] for row in rows(found, "checkpoints")] == ["base", "SFT"]


def test_a_model_of_the_file_that_is_not_in_the_run_is_told(study, file):
    path = file("models.toml", MODELS.replace("Made-8B", "Made-8b"))
    found = told(study, "--models", path)
    assert found["provenance"]["remarks"] == [f"{path}: no model here is Made-8b"]


def test_the_paper_s_numbers_stand_beside_and_are_called_reported(study):
    done = run(study, "report", "--against", "paper")
    assert "by arXiv 2604.02315, not measured here" in " ".join(done.stdout.split())


def test_two_runs_are_compared(study, tmp_path):
    both = ("--run", "made/Made-1B", "--run", "made/Made-8B")
    found = told(study, *both)
    assert found["title"] == "made/Made-8B against made/Made-1B"
    assert [row["conversations"] for row in rows(found, "differences")] == [5] * 4
    assert run(study, "report", *both, "--output", str(tmp_path / "two")).exit_code == 0
    assert (tmp_path / "two" / "tables" / "differences.csv").read_text().count("\n") == 1 + 4
    assert {path.name for path in (tmp_path / "two" / "figures").iterdir()} == {
        f"differences.{ending}" for ending in ("png", "svg", "pdf")
    }
    said = {of["kind"]: of["wording"] for of in found["statements"]}
    assert list(said) == ["between runs"]
    written = (tmp_path / "two" / "report.md").read_text()
    assert "## between runs" in written
    assert "figures/differences.png" in written


def test_an_export_gives_its_kappa_and_is_named_with_its_hash(study, tmp_path):
    folder = exported(study, tmp_path)
    found = told(study, "--export", str(folder))
    assert found["provenance"]["export"]["folder"] == folder.name
    assert found["provenance"]["kappa"]["source"] == f"export {folder.name}"


def test_an_export_whose_hashes_do_not_fit_is_refused(study, tmp_path):
    folder = exported(study, tmp_path)
    with (folder / "prompt.md").open("a") as file:
        file.write("and more")
    assert "prompt.md was changed" in failed(run(study, "report", "--export", str(folder)))


def exported(study: Study, folder: Path) -> Path:
    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        calibration = calibrate_study(pipeline_db, labels_db, load_rubric("v3"))
        return export_calibration(pipeline_db, calibration, folder / "exports").folder


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--run", "a", "--run", "b", "--run", "c"), "name one run, two to compare"),
        (("--run", "a", "--plan", "b.toml"), "name one run, two to compare"),
        (("--html",), "name a folder: --output"),
        (("--run", "a", "--run", "b", "--html", "--output", "x"), "the turns of one run"),
        (("--export", "x", "--judge", "y"), "--export says which judge"),
    ],
)
def test_options_that_do_not_go_together_are_a_usage_error(study, options, words):
    done = run(study, "report", *options)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())


def test_an_unknown_run_is_refused_in_one_line(study):
    assert "the runs are" in failed(run(study, "report", "--run", "nothing"))


@pytest.mark.parametrize("other", ["made/Made-1B", "made"])
def test_a_run_is_not_compared_with_itself_however_it_is_named(study, other):
    said = failed(run(study, "report", "--run", "made/Made-1B", "--run", other))
    assert "in common; name two runs that have none" in said


def test_a_folder_that_is_no_report_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("…")
    nowhere = Study(tmp_path / "no study")
    refusal = failed(run(nowhere, "report", "--output", str(tmp_path / "mine")))
    assert "is no report, so it is not overwritten" in refusal


def test_a_study_without_verdicts_is_refused_in_one_line(tmp_path):
    study = make_main_run(tmp_path / "study", MadeRun(datasets={"a": 1}, judged=0, labelled=0))
    assert "nothing is judged under rubric v3 yet" in failed(run(study, "report"))
