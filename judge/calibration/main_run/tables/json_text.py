"""A table as JSON: every number at full precision, every gap with its reason."""

import json

from judge.calibration.main_run.tables.table import Table


def as_json(table: Table) -> str:
    """Raises ValueError rather than write NaN."""
    return f"{json.dumps(table.as_dict(), ensure_ascii=False, indent=2, allow_nan=False)}\n"
