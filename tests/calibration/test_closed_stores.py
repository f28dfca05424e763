"""Every command closes the stores that it opens: a study can be moved or copied right after."""

import sqlite3

import pytest
from click.testing import CliRunner
from sqlite_utils import Database

from judge.calibration.cli import calibrate
from judge.prompts.cli import prompt


@pytest.fixture
def opened(monkeypatch) -> list[Database]:
    """All stores that are opened from now on, in order."""
    found: list[Database] = []
    make = Database.__init__

    def remember(self, *arguments, **options) -> None:
        make(self, *arguments, **options)
        if not options.get("memory"):
            found.append(self)

    monkeypatch.setattr(Database, "__init__", remember)
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("calibrate", "kappa"),
        ("calibrate", "kappa", "--judge", "nobody"),
        ("calibrate", "sample"),
        ("calibrate", "split"),
        ("calibrate", "judges"),
        ("calibrate", "export", "--output", "OUT"),
        ("prompt", "new", "strict", "--note", "x", "--shots", "1"),
        ("prompt", "new", "strict", "--note", "x", "--from", "nobody"),
        ("prompt", "edit", "mine", "--note", "x", "--shots", "1"),
        ("prompt", "list"),
        ("prompt", "show", "mine"),
        ("prompt", "diff", "mine", "followupeval"),
    ],
    ids=" ".join,
)
def test_no_store_stays_open(small_study, opened, tmp_path, arguments):
    verb, *rest = [str(tmp_path / "out") if word == "OUT" else word for word in arguments]
    option = ["--study", str(small_study.study.folder)]
    CliRunner().invoke(prompt, ["new", "mine", "--note", "x", *option])
    opened.clear()
    result = CliRunner().invoke({"calibrate": calibrate, "prompt": prompt}[verb], [*rest, *option])
    assert (result.exit_code == 0) is ("nobody" not in rest), result.output
    assert opened
    for database in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
            database.execute("SELECT 1")
