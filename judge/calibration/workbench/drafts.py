"""What an owner has typed and not saved yet, kept so that nothing typed is lost."""

import json
from typing import Any

from sqlite_utils import Database

from generation.clock import now

DRAFT_LIMIT = 400_000  # characters of one draft; a rubric or a template has a tenth


def keep_draft(pipeline_db: Database, owner: str, kind: str, content: dict[str, Any]) -> None:
    pipeline_db["workbench_drafts"].upsert(
        {"owner": owner, "kind": kind, "content": json.dumps(content), "saved_at": now()},
        pk=("owner", "kind"),
    )


def kept_draft(pipeline_db: Database, owner: str, kind: str) -> dict[str, Any] | None:
    rows = pipeline_db["workbench_drafts"].rows_where("owner = ? AND kind = ?", [owner, kind])
    return next((json.loads(row["content"]) for row in rows), None)


def drop_draft(pipeline_db: Database, owner: str, kind: str) -> None:
    pipeline_db["workbench_drafts"].delete_where("owner = ? AND kind = ?", [owner, kind])
