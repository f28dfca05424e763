"""The folder of a report: whole, or as it was."""

import json

import pytest

from judge.calibration.main_run.report_folder import MANIFEST, check_place, report_folder
from rubrics import InputError, bytes_fingerprint


def write(path, text: str) -> None:
    with report_folder(path, {"seed": 1}) as folder:
        (folder / "tables").mkdir()
        (folder / "tables" / "a.md").write_text(text)


def test_it_lists_every_file_with_its_hash(tmp_path):
    write(tmp_path / "report", "one")
    manifest = json.loads((tmp_path / "report" / MANIFEST).read_text())
    assert manifest["files"] == {"tables/a.md": bytes_fingerprint(b"one")}
    assert manifest["provenance"] == {"seed": 1}


def test_a_new_report_takes_the_place_of_the_old_one_and_leaves_nothing_else(tmp_path):
    write(tmp_path / "report", "one")
    write(tmp_path / "report", "two")
    assert (tmp_path / "report" / "tables" / "a.md").read_text() == "two"
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, InputError, MemoryError])
def test_an_interrupted_report_leaves_the_old_one_in_place(tmp_path, interrupt):
    write(tmp_path / "report", "one")

    def half() -> None:
        with report_folder(tmp_path / "report", {}) as folder:
            (folder / "half").write_text("half")
            raise interrupt

    with pytest.raises(interrupt):
        half()
    assert (tmp_path / "report" / "tables" / "a.md").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_where_the_new_one_cannot_take_its_place_the_old_one_is_put_back(tmp_path, monkeypatch):
    write(tmp_path / "report", "one")
    renamed = type(tmp_path).rename

    def refuse(self, target):
        if self.name == "new":
            raise OSError(28, "No space left on device")
        return renamed(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", refuse)
    with pytest.raises(InputError, match=r"cannot write the report to .*: No space left"):
        write(tmp_path / "report", "two")
    assert (tmp_path / "report" / "tables" / "a.md").read_text() == "one"


@pytest.mark.parametrize("make", ["folder", "file", "link", "foreign manifest"])
def test_what_is_no_report_is_never_replaced(tmp_path, make):
    path = tmp_path / "mine"
    if make == "file":
        path.write_text("x")
    elif make == "link":
        write(tmp_path / "report", "one")
        path.symlink_to(tmp_path / "report")
    else:
        path.mkdir()
        (path / (MANIFEST if make == "foreign manifest" else "a")).write_text('["kind"]')
    with pytest.raises(InputError, match="is no report, so it is not overwritten"):
        check_place(path)
    with pytest.raises(InputError, match="is no report"):
        write(path, "two")


def test_an_empty_folder_is_a_place_for_a_report(tmp_path):
    (tmp_path / "report").mkdir()
    write(tmp_path / "report", "one")
    assert (tmp_path / "report" / "tables" / "a.md").read_text() == "one"


@pytest.mark.parametrize("put", ["empty folder", "link to a folder"])
def test_nor_is_a_folder_or_a_link_that_somebody_put_there(tmp_path, put):
    write(tmp_path / "report", "one")
    theirs = tmp_path / "report" / "theirs"
    theirs.mkdir() if put == "empty folder" else theirs.symlink_to(tmp_path)
    with pytest.raises(InputError, match=r"holds theirs, which is not of the report"):
        check_place(tmp_path / "report")


def test_a_file_that_somebody_put_into_a_report_is_never_lost(tmp_path):
    write(tmp_path / "report", "one")
    (tmp_path / "report" / "tables" / "note.txt").write_text("by hand")
    with pytest.raises(InputError, match=r"holds tables/note.txt, which is not of the report"):
        check_place(tmp_path / "report")


def test_a_folder_that_is_not_there_is_said_before_anything_is_computed(tmp_path):
    with pytest.raises(InputError, match="does not exist; make it, then try again"):
        check_place(tmp_path / "none" / "report")


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write everywhere
    with pytest.raises(InputError, match="cannot be written; name another: --output"):
        check_place(tmp_path / "report")
