"""What the process that serves pages could read: the one store, and code that knows no other."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sqlite_utils import Database

PACKAGE = Path(__file__).parents[1]  # annotator/
# Only commands import these; they may read what pages may not.
_COMMANDS = ("blindness", "exchange")
_OPENS = {"open", "read_text", "read_bytes", "connect", "open_labels", "open_database"}


@dataclass(frozen=True)
class Reach:
    """`tables` are those of labels.db with their columns; the rest is read off the source code.

    `modules` counts the files that a page can run. `judge` are those of them that import the
    judge, `pipeline` those that name the owner's store, `commands` those that import what only a
    command may: all are to be empty. `opening` are those that open any file.
    """

    tables: dict[str, list[str]]
    modules: int
    judge: list[str]
    pipeline: list[str]
    commands: list[str]
    opening: list[str]

    def as_dict(self) -> dict[str, Any]:
        return vars(self)

    @property
    def findings(self) -> list[str]:
        what = {
            "imports the judge": self.judge,
            "names pipeline.db, the owner's store": self.pipeline,
            "imports code that reads more than pages may": self.commands,
        }
        return [f"{path}, which a page can run, {how}" for how, of in what.items() for path in of]


def reach(database: Database, package: Path = PACKAGE) -> Reach:
    """What the pages of `package` could read."""
    trees = _sources(package)
    return Reach(
        tables={
            table.name: [column.name for column in table.columns]
            for table in sorted(database.tables, key=lambda table: table.name)
        },
        modules=len(trees),
        judge=[p for p, tree in trees.items() if any(m[0] == "judge" for m in _imports(tree))],
        pipeline=[path for path, tree in trees.items() if _names_pipeline(tree)],
        commands=[
            path
            for path, tree in trees.items()
            if any(_is_command_module(module) for module in _imports(tree))
        ],
        opening=[path for path, tree in trees.items() if _opens(tree)],
    )


@cache
def _sources(package: Path) -> dict[str, ast.Module]:
    return {
        path.relative_to(package).as_posix(): ast.parse(path.read_bytes())
        for path in sorted(package.rglob("*.py"))
        if not _is_command(path.relative_to(package))
    }


def _is_command(path: Path) -> bool:
    if path.with_suffix("").parts[:2] == ("blindness", "sent"):
        return False
    return path.name in ("cli.py", "terminal.py") or path.parts[0] in _COMMANDS


def _is_command_module(module: tuple[str, ...]) -> bool:
    *folders, name = module[1:] or ("",)
    return module[0] == PACKAGE.name and _is_command(Path(*folders, f"{name}.py"))


def _imports(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module = tuple(node.module.split("."))
            yield module
            yield from ((*module, alias.name) for alias in node.names)


def _names_pipeline(tree: ast.AST) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "pipeline")
        or (isinstance(node, ast.Constant) and node.value == "pipeline.db")
        for node in ast.walk(tree)
    )


def _opens(tree: ast.AST) -> bool:
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(getattr(f, "attr", getattr(f, "id", None)) in _OPENS for f in called)
