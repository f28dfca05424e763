"""How fast a study has seen each model go, and how long its rows were."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Speed:
    """Seconds of engine time per row, None for an act that has not been measured."""

    answer_seconds: float | None
    turn_seconds: float | None


def measured_speeds(pipeline: Path) -> dict[str, Speed]:
    """The speed of every model that a study has run, by the model's name; {} without a study."""
    if not pipeline.exists():
        return {}
    from generation.database import open_database
    from generation.migrations import generation_migrations

    database = open_database(pipeline, (generation_migrations,))
    rows = database.conn.execute(
        """SELECT json_extract(runs.provenance, '$.model.name'), act, sum(rows), sum(seconds)
           FROM run_sittings JOIN runs USING (run_id) GROUP BY 1, 2 HAVING sum(rows) > 0"""
    ).fetchall()
    database.close()
    per_row: dict[str, dict[str, float]] = {}
    for model, act, count, seconds in rows:
        per_row.setdefault(model, {})[act] = seconds / count
    return {model: Speed(acts.get("answer"), acts.get("turn")) for model, acts in per_row.items()}
