"""All tables as one JSON document: every number at full precision, every gap with its reason."""

import json

from judge.calibration.main_run.tables.all_tables import Tables


def as_json(tables: Tables) -> str:
    """Keys in order of the alphabet; raises ValueError rather than write NaN."""
    told = json.dumps(
        tables.as_dict(), ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False
    )
    return f"{told}\n"
