"""The version of this installation and its git state, as provenance records them."""

import os
import subprocess
from importlib.metadata import version
from pathlib import Path

LONGEST_SECONDS = 10.0  # that git may take


def tool_version() -> str:
    return version("followupeval")


def tool_state() -> dict[str, str | bool | None]:
    """The version; where this runs from a git checkout its commit, and whether tracked files differ
    from it.

    Both are None where there is no checkout or no git.
    """
    return {"tool": f"followupeval {tool_version()}", **_git_state(Path(__file__).resolve())}


def _git_state(file: Path) -> dict[str, str | bool | None]:
    """Of the checkout that `file` is tracked in: one in a checkout of something else has none."""
    tracked = _git(file.parent, "ls-files", "--error-unmatch", file.name)
    commit = tracked and _git(file.parent, "rev-parse", "HEAD")
    changes = commit and _git(file.parent, "status", "--porcelain", "--untracked-files=no")
    if changes is None:
        return {"commit": None, "dirty": None}
    return {"commit": commit, "dirty": bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says of a folder; None where it cannot."""
    # A hook's GIT_DIR would name another repository; and nothing may be written to this one.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env=own | {"GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            check=True,
            text=True,
            timeout=LONGEST_SECONDS,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
