"""Schema of labels.db: blind items, rubric texts, annotators, drafts, append-only events."""

from sqlite_utils import Database, Migrations

annotator_migrations = Migrations("annotator")


@annotator_migrations()
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


@annotator_migrations()
def m002_adjudications(db: Database) -> None:
    """What an adjudicator decided of an item that people label differently; append-only too.

    Apart from the events: a decision is made knowing other people's labels, an annotation is not.
    """
    statements = (
        """CREATE TABLE adjudications (
            adjudication_id INTEGER PRIMARY KEY AUTOINCREMENT,
            item_id TEXT NOT NULL REFERENCES items,
            rubric_version TEXT NOT NULL REFERENCES rubrics (version),
            category TEXT NOT NULL,
            reason TEXT NOT NULL,
            adjudicator TEXT NOT NULL,
            decided_at TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX adjudications_by_item ON adjudications (rubric_version, item_id)",
        """CREATE TRIGGER adjudications_never_replaced BEFORE INSERT ON adjudications
           WHEN EXISTS (
               SELECT 1 FROM adjudications WHERE adjudication_id = NEW.adjudication_id)
           BEGIN SELECT RAISE (ABORT, 'adjudications are append-only'); END""",
        """CREATE TRIGGER adjudications_never_change BEFORE UPDATE ON adjudications
           BEGIN SELECT RAISE (ABORT, 'adjudications are append-only'); END""",
        """CREATE TRIGGER adjudications_never_vanish BEFORE DELETE ON adjudications
           BEGIN SELECT RAISE (ABORT, 'adjudications are append-only'); END""",
        """CREATE VIEW current_adjudications AS
           SELECT adjudications.* FROM adjudications JOIN (
               SELECT max(adjudication_id) AS adjudication_id FROM adjudications
               GROUP BY item_id, rubric_version
           ) USING (adjudication_id)""",
    )
    for statement in statements:
        db.conn.execute(statement)


@annotator_migrations()
def m003_adjudication_requests(db: Database) -> None:
    """Items that the study's owner sends to the adjudicator, whether people differ or not.

    `after_adjudication` is the decision that stood then: a request is open until another one is
    made, whatever the clocks say. It holds no reason, since the owner knows the judge's verdict
    and an adjudicator must not.
    """
    statements = (
        """CREATE TABLE adjudication_requests (
            request_id INTEGER PRIMARY KEY AUTOINCREMENT,
            item_id TEXT NOT NULL REFERENCES items,
            rubric_version TEXT NOT NULL REFERENCES rubrics (version),
            after_adjudication INTEGER REFERENCES adjudications (adjudication_id),
            requested_at TEXT NOT NULL
        ) STRICT""",
        """CREATE INDEX adjudication_requests_by_item
           ON adjudication_requests (rubric_version, item_id)""",
        # For all that people said of one item.
        "CREATE INDEX events_of_item ON events (item_id, rubric_version, annotator)",
        """CREATE TRIGGER adjudication_requests_never_replaced
           BEFORE INSERT ON adjudication_requests
           WHEN EXISTS (SELECT 1 FROM adjudication_requests WHERE request_id = NEW.request_id)
           BEGIN SELECT RAISE (ABORT, 'requests to adjudicate are append-only'); END""",
        """CREATE TRIGGER adjudication_requests_never_change BEFORE UPDATE ON adjudication_requests
           BEGIN SELECT RAISE (ABORT, 'requests to adjudicate are append-only'); END""",
        """CREATE TRIGGER adjudication_requests_never_vanish BEFORE DELETE ON adjudication_requests
           BEGIN SELECT RAISE (ABORT, 'requests to adjudicate are append-only'); END""",
        """CREATE VIEW open_adjudication_requests AS
           SELECT item_id, rubric_version, min(request_id) AS request_id
           FROM adjudication_requests AS requests
           WHERE after_adjudication IS (
               SELECT max(adjudication_id) FROM adjudications
               WHERE adjudications.item_id = requests.item_id
               AND adjudications.rubric_version = requests.rubric_version)
           GROUP BY item_id, rubric_version""",
    )
    for statement in statements:
        db.conn.execute(statement)
