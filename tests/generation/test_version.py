"""The tool's git state: of the checkout it is tracked in, and nothing where there is none."""

import subprocess

import pytest

from generation import version
from generation.version import tool_state, tool_version


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file committed in a checkout, which stands for the installed package's."""
    path = tmp_path / "checkout" / "package" / "version.py"
    path.parent.mkdir(parents=True)
    path.write_text("one")
    monkeypatch.setattr(version, "__file__", str(path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    git(path, "init", "-q")
    git(path, "add", ".")
    git(path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
    return path


def git(path, *arguments):
    return subprocess.run(
        ["git", *arguments], cwd=path.parent, check=True, capture_output=True, text=True
    ).stdout.strip()


def state():
    found = tool_state()
    assert found.pop("tool") == f"followupeval {tool_version()}"
    return found


def test_a_checkout_has_a_commit_and_is_dirty_once_a_file_differs(file, monkeypatch):
    commit = git(file, "rev-parse", "HEAD")
    assert len(commit) == 40
    (file.parent / "study.db").touch()  # untracked: what a run makes is no change of the tool
    assert state() == {"commit": commit, "dirty": False}
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as in a hook
    assert state() == {"commit": commit, "dirty": False}
    file.write_text("two")
    assert state() == {"commit": commit, "dirty": True}


def test_a_package_that_is_installed_inside_of_another_checkout_has_no_state(file, monkeypatch):
    installed = file.parent / "site-packages" / "version.py"
    installed.parent.mkdir()
    installed.touch()
    monkeypatch.setattr(version, "__file__", str(installed))
    assert state() == {"commit": None, "dirty": None}


def test_no_git_and_no_checkout_are_no_error(file, tmp_path, monkeypatch):
    monkeypatch.setattr(version, "__file__", str(tmp_path / "version.py"))
    assert state() == {"commit": None, "dirty": None}
    monkeypatch.setattr(version, "__file__", str(file))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert state() == {"commit": None, "dirty": None}
