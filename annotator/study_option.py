"""Naming a study on the command line where only its open labels.db is at hand."""

from pathlib import Path

from sqlite_utils import Database

from generation.study import DEFAULT_FOLDER, Study


def option_of(database: Database) -> str:
    """As `Study.option`; empty for a database in memory, which is no study's."""
    path = next(row[2] for row in database.conn.execute("PRAGMA database_list"))
    if not path:
        return ""
    folder = Path(path).parent
    if folder == DEFAULT_FOLDER.resolve():
        return ""
    here = Path.cwd()
    return Study(folder.relative_to(here) if folder.is_relative_to(here) else folder).option
