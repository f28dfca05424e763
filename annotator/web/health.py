"""Whether labels.db can be written right now."""

import sqlite3
from pathlib import Path

PATIENCE = 2  # seconds for whoever writes at the moment


def is_writable(labels: Path) -> bool:
    """Take the write lock and give it back, on the file that lies there now."""
    try:
        connection = sqlite3.connect(
            f"{labels.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
        )
    except sqlite3.Error:
        return False
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return True
