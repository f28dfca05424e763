"""Whether labels.db is still the file that is served, and takes a write right now."""

import sqlite3
from pathlib import Path

from annotator.served_labels import file_identity

PATIENCE = 2  # seconds for whoever writes at the moment
# Bytes written and taken back: more than the cache below holds, so that they get to the disk.
PROBE = 65_536


class Health:
    """Of one labels.db, as it lay there when this was made."""

    def __init__(self, labels: Path) -> None:
        self._labels = labels
        self._file = file_identity(labels)

    def trouble(self) -> str | None:
        """Why nothing can be saved, in words that tell a stranger nothing; None if all is well."""
        if self._file is None or file_identity(self._labels) != self._file:
            return "labels.db was moved or replaced"
        return None if _takes_a_write(self._labels) else "labels.db cannot be written"


def _takes_a_write(labels: Path) -> bool:
    """Write some pages to the log of the file that lies there now, and take them back."""
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
        connection.execute("PRAGMA cache_size=1")
        connection.execute("PRAGMA cache_spill=1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "INSERT INTO settings (name, value) VALUES ('probe', hex(zeroblob(?)))", [PROBE // 2]
        )
        connection.execute("ROLLBACK")
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return True
