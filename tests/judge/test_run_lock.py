"""The lock of a judge's run: whose file it is, and that nothing else is touched."""

import fcntl
import os

import pytest

from judge.runs.run_lock import run_lock
from rubrics import InputError


def lock_file(study):
    (path,) = study.folder.glob(".judge-*.lock")
    return path


@pytest.fixture
def lock(study):
    """The lock's file, which a first run has left behind."""
    with run_lock(study, "m", "p"):
        pass
    return lock_file(study)


def test_it_is_held_once_and_let_go(study):
    with run_lock(study, "m", "p"):
        with pytest.raises(InputError, match="another run of m"), run_lock(study, "m", "p"):
            pass
        with run_lock(study, "m", "other"):
            pass
    with run_lock(study, "m", "p"):
        pass


def test_a_link_in_its_place_leaves_the_target_alone(study, lock, tmp_path):
    target = tmp_path / "thesis.txt"
    target.write_text("all of it")
    lock.unlink()
    lock.symlink_to(target)
    with pytest.raises(InputError, match="is a link"), run_lock(study, "m", "p"):
        pass
    assert target.read_text() == "all of it"


def test_what_the_file_holds_stays(study, lock):
    lock.write_text("a note")
    with run_lock(study, "m", "p"):
        assert lock.read_text() == "a note"


@pytest.mark.parametrize(("times", "held"), [(1, True), (2, False)])
def test_a_file_made_anew_while_it_is_locked_is_noticed(study, lock, monkeypatch, times, held):
    """Another process removed the file and locks one of the same name."""
    left = [times]

    def flock(descriptor, operation):
        if left[0]:
            left[0] -= 1
            lock.rename(lock.with_suffix(f".old{left[0]}"))  # kept, so that no inode is used again
            lock.touch()

    monkeypatch.setattr(fcntl, "flock", flock)
    if not held:
        with pytest.raises(InputError, match="another run of m"), run_lock(study, "m", "p"):
            pass
        return
    with run_lock(study, "m", "p"):
        opened = {os.stat(f"/proc/self/fd/{fd}").st_ino for fd in open_files()}
        assert lock.stat().st_ino in opened


def open_files() -> list[str]:
    return [fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
