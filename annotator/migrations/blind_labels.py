"""The first schema: blind items, rubric texts, annotators, drafts, append-only events."""

from sqlite_utils import Database


def m001_blind_labels(db: Database) -> None:
    """Items hold q, a, u and an opaque id, nothing else: what is not here cannot leak.

    Annotation events are never changed or deleted, so that a label once acknowledged can always
    be shown to have existed; a view folds them to the current one.
    """
    statements = (
        """CREATE TABLE settings (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE items (
            item_id TEXT PRIMARY KEY,
            messages TEXT NOT NULL CHECK (json_valid(messages)),
            answer TEXT NOT NULL,
            turn TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE rubrics (
            version TEXT PRIMARY KEY,
            hash TEXT NOT NULL,
            text TEXT NOT NULL,
            first_used_at TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE annotators (
            annotator TEXT PRIMARY KEY,
            first_seen_at TEXT NOT NULL
        ) STRICT""",
        # What was put before whom, and after which event: a save is checked against it.
        """CREATE TABLE displays (
            nonce TEXT PRIMARY KEY,
            annotator TEXT NOT NULL REFERENCES annotators,
            item_id TEXT NOT NULL REFERENCES items,
            rubric_version TEXT NOT NULL REFERENCES rubrics (version),
            last_event_id INTEGER REFERENCES events (event_id),
            shown_at TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX displays_by_annotator ON displays (annotator, rubric_version)",
        """CREATE TABLE drafts (
            annotator TEXT NOT NULL REFERENCES annotators,
            item_id TEXT NOT NULL REFERENCES items,
            rubric_version TEXT NOT NULL REFERENCES rubrics (version),
            content TEXT NOT NULL CHECK (json_valid(content)),
            saved_at TEXT NOT NULL,
            PRIMARY KEY (annotator, item_id, rubric_version)
        ) STRICT""",
        # One event per nonce: sending the same save twice stores it once.
        """CREATE TABLE events (
            event_id INTEGER PRIMARY KEY AUTOINCREMENT,
            nonce TEXT NOT NULL UNIQUE REFERENCES displays,
            annotator TEXT NOT NULL REFERENCES annotators,
            item_id TEXT NOT NULL REFERENCES items,
            rubric_version TEXT NOT NULL REFERENCES rubrics (version),
            kind TEXT NOT NULL CHECK (kind IN ('label', 'skip')),
            category TEXT,
            skip_reason TEXT,
            confidence TEXT,
            note TEXT NOT NULL,
            flagged INTEGER NOT NULL CHECK (flagged IN (0, 1)),
            saved_at TEXT NOT NULL,
            CHECK ((kind = 'label') = (category IS NOT NULL)),
            CHECK ((kind = 'skip') = (skip_reason IS NOT NULL))
        ) STRICT""",
        "CREATE INDEX events_by_item ON events (annotator, rubric_version, item_id)",
        # REPLACE fires delete triggers only where recursive_triggers happens to be on.
        """CREATE TRIGGER events_never_replaced BEFORE INSERT ON events
           WHEN EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id OR nonce = NEW.nonce)
           BEGIN SELECT RAISE (ABORT, 'annotation events are append-only'); END""",
        """CREATE TRIGGER events_never_change BEFORE UPDATE ON events
           BEGIN SELECT RAISE (ABORT, 'annotation events are append-only'); END""",
        """CREATE TRIGGER events_never_vanish BEFORE DELETE ON events
           BEGIN SELECT RAISE (ABORT, 'annotation events are append-only'); END""",
        """CREATE VIEW current_events AS
           SELECT events.* FROM events JOIN (
               SELECT max(event_id) AS event_id FROM events
               GROUP BY annotator, item_id, rubric_version
           ) USING (event_id)""",
    )
    for statement in statements:
        db.conn.execute(statement)
