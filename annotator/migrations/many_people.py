"""Accounts, leases, training, gold, discussion, merges: a study of many people."""

from sqlite_utils import Database


def m004_many_people(db: Database) -> None:
    """Accounts, leases, training, gold, discussion, and what a study of many people leaves behind.

    Triggers keep what people said as it was: events, decisions, notes, training answers, and what
    was refused. Other tables hold what is so now, and change: accounts, leases, settings, gold and
    training items in use. Attempts to log in are dropped once they are old. No trigger guards
    displays and activity.
    """
    statements = (
        # A person's login. No hash until an invitation is taken up; nobody is ever deleted.
        """CREATE TABLE accounts (
            name TEXT PRIMARY KEY REFERENCES annotators (annotator),
            role TEXT NOT NULL CHECK (role IN ('annotator', 'adjudicator', 'owner')),
            password_hash TEXT,
            created_at TEXT NOT NULL,
            disabled_at TEXT
        ) STRICT""",
        # Of secrets that are handed out only a digest is kept: the file itself lets nobody in.
        """CREATE TABLE invitations (
            token_hash TEXT PRIMARY KEY,
            name TEXT NOT NULL REFERENCES accounts,
            created_at TEXT NOT NULL,
            expires_at TEXT NOT NULL,
            used_at TEXT
        ) STRICT""",
        """CREATE TABLE logins (
            token_hash TEXT PRIMARY KEY,
            name TEXT NOT NULL REFERENCES accounts,
            created_at TEXT NOT NULL,
            expires_at TEXT NOT NULL,
            ended_at TEXT
        ) STRICT""",
        "CREATE INDEX logins_by_name ON logins (name)",
        """CREATE TABLE login_attempts (
            attempt_id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            address TEXT NOT NULL,
            succeeded INTEGER NOT NULL CHECK (succeeded IN (0, 1)),
            tried_at TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX login_attempts_by_name ON login_attempts (name, tried_at)",
        "CREATE INDEX login_attempts_by_address ON login_attempts (address, tried_at)",
        # What was asked for without the right to it.
        """CREATE TABLE refusals (
            refusal_id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT,
            what TEXT NOT NULL,
            why TEXT NOT NULL,
            refused_at TEXT NOT NULL
        ) STRICT""",
        # Who is at work on an item: nobody else takes the place until the lease runs out.
        """CREATE TABLE leases (
            rubric_version TEXT NOT NULL REFERENCES rubrics (version),
            item_id TEXT NOT NULL REFERENCES items,
            annotator TEXT NOT NULL REFERENCES annotators,
            expires_at TEXT NOT NULL,
            PRIMARY KEY (rubric_version, item_id, annotator)
        ) STRICT, WITHOUT ROWID""",
        # A label given after its lease had gone to somebody else: kept, and said so.
        "ALTER TABLE events ADD COLUMN late INTEGER NOT NULL DEFAULT 0 CHECK (late IN (0, 1))",
        # Milliseconds of work, as counted from the raw record of the display.
        "ALTER TABLE events ADD COLUMN active_ms INTEGER",
        """CREATE TABLE activity (
            nonce TEXT PRIMARY KEY REFERENCES displays,
            record TEXT NOT NULL CHECK (json_valid(record))
        ) STRICT""",
        # The one event that stands, by (annotator, item, rubric version): the latest in time. Of a
        # file that was carried away and merged back the order of arrival says nothing.
        """CREATE TABLE standing_events (
            annotator TEXT NOT NULL,
            rubric_version TEXT NOT NULL,
            item_id TEXT NOT NULL,
            event_id INTEGER NOT NULL UNIQUE REFERENCES events,
            PRIMARY KEY (annotator, rubric_version, item_id)
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX standing_events_of_item ON standing_events (item_id, rubric_version)",
        """INSERT INTO standing_events
           SELECT annotator, rubric_version, item_id, event_id FROM (
               SELECT *, row_number() OVER (
                   PARTITION BY annotator, rubric_version, item_id
                   ORDER BY saved_at DESC, event_id DESC) AS place FROM events)
           WHERE place = 1""",
        """CREATE TRIGGER latest_event_stands AFTER INSERT ON events BEGIN
           INSERT INTO standing_events
           VALUES (NEW.annotator, NEW.rubric_version, NEW.item_id, NEW.event_id)
           ON CONFLICT (annotator, rubric_version, item_id) DO UPDATE SET event_id = NEW.event_id
           WHERE NEW.saved_at >= (SELECT saved_at FROM events
                                  WHERE events.event_id = standing_events.event_id);
           END""",
        "DROP VIEW current_events",
        "CREATE VIEW current_events AS SELECT events.* FROM events JOIN standing_events "
        "USING (event_id)",
        # Items with a known label, to train on: never part of the study. Its owner may correct one
        # or take it out of use.
        """CREATE TABLE training_items (
            training_id TEXT PRIMARY KEY,
            rubric_version TEXT NOT NULL REFERENCES rubrics (version),
            messages TEXT NOT NULL CHECK (json_valid(messages)),
            answer TEXT NOT NULL,
            turn TEXT NOT NULL,
            category TEXT NOT NULL,
            why TEXT NOT NULL,
            retired_at TEXT
        ) STRICT""",
        # A round is passed with the items, in its order, and the right answers that it began with.
        """CREATE TABLE training_rounds (
            annotator TEXT NOT NULL REFERENCES annotators,
            rubric_version TEXT NOT NULL REFERENCES rubrics (version),
            round INTEGER NOT NULL CHECK (round >= 1),
            training_ids TEXT NOT NULL CHECK (json_valid(training_ids)),
            needed INTEGER NOT NULL,
            opened_at TEXT NOT NULL,
            PRIMARY KEY (annotator, rubric_version, round)
        ) STRICT""",
        """CREATE TABLE training_answers (
            answer_id INTEGER PRIMARY KEY AUTOINCREMENT,
            nonce TEXT NOT NULL UNIQUE,
            annotator TEXT NOT NULL,
            rubric_version TEXT NOT NULL,
            round INTEGER NOT NULL,
            training_id TEXT NOT NULL REFERENCES training_items,
            category TEXT NOT NULL,
            correct INTEGER NOT NULL CHECK (correct IN (0, 1)),
            answered_at TEXT NOT NULL,
            UNIQUE (annotator, rubric_version, round, training_id),
            FOREIGN KEY (annotator, rubric_version, round) REFERENCES training_rounds
        ) STRICT""",
        # Items of the study whose label is known, among the others and like them.
        """CREATE TABLE gold (
            gold_id INTEGER PRIMARY KEY AUTOINCREMENT,
            item_id TEXT NOT NULL REFERENCES items,
            rubric_version TEXT NOT NULL REFERENCES rubrics (version),
            category TEXT NOT NULL,
            reason TEXT NOT NULL,
            added_at TEXT NOT NULL,
            retired_at TEXT
        ) STRICT""",
        """CREATE UNIQUE INDEX gold_in_use ON gold (item_id, rubric_version)
           WHERE retired_at IS NULL""",
        # Of decisions too the latest in time stands, and a request is open as long as it does.
        "DROP VIEW open_adjudication_requests",
        "DROP VIEW current_adjudications",
        """CREATE VIEW current_adjudications AS
           SELECT * FROM adjudications WHERE adjudication_id = (
               SELECT adjudication_id FROM adjudications AS said
               WHERE said.item_id = adjudications.item_id
               AND said.rubric_version = adjudications.rubric_version
               ORDER BY decided_at DESC, adjudication_id DESC LIMIT 1)""",
        """CREATE VIEW open_adjudication_requests AS
           SELECT item_id, rubric_version, min(request_id) AS request_id
           FROM adjudication_requests AS requests
           WHERE after_adjudication IS (
               SELECT adjudication_id FROM current_adjudications AS said
               WHERE said.item_id = requests.item_id
               AND said.rubric_version = requests.rubric_version)
           GROUP BY item_id, rubric_version""",
        # What adjudicators say to each other of an item.
        """CREATE TABLE discussion_notes (
            note_id INTEGER PRIMARY KEY AUTOINCREMENT,
            item_id TEXT NOT NULL REFERENCES items,
            rubric_version TEXT NOT NULL REFERENCES rubrics (version),
            author TEXT NOT NULL,
            note TEXT NOT NULL,
            written_at TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX discussion_notes_of_item ON discussion_notes (item_id, rubric_version)",
        # For the blindness report: the fields that pages were ever sent, by act.
        """CREATE TABLE sent_fields (
            act TEXT NOT NULL,
            field TEXT NOT NULL,
            first_sent_at TEXT NOT NULL,
            PRIMARY KEY (act, field)
        ) STRICT, WITHOUT ROWID""",
        # Copies of this file that were labelled elsewhere and merged back.
        """CREATE TABLE merges (
            merge_id INTEGER PRIMARY KEY AUTOINCREMENT,
            source_hash TEXT NOT NULL,
            summary TEXT NOT NULL CHECK (json_valid(summary)),
            merged_at TEXT NOT NULL
        ) STRICT""",
        *_append_only("training_rounds", "annotator, rubric_version, round", "rounds of training"),
        *_append_only("training_answers", "answer_id", "training answers"),
        *_append_only("discussion_notes", "note_id", "discussion notes"),
        *_append_only("refusals", "refusal_id", "refusals"),
        *_append_only("merges", "merge_id", "merges"),
    )
    for statement in statements:
        db.conn.execute(statement)


def _append_only(table: str, key: str, what: str) -> tuple[str, ...]:
    """Triggers as the first migrations spell them out; REPLACE needs one of its own.

    `key` names the columns of the key, with commas between.
    """
    same = " AND ".join(f"{column} = NEW.{column}" for column in key.split(", "))
    refusal = f"BEGIN SELECT RAISE (ABORT, '{what} are append-only'); END"
    return (
        f"""CREATE TRIGGER {table}_never_replaced BEFORE INSERT ON {table}
            WHEN EXISTS (SELECT 1 FROM {table} WHERE {same}) {refusal}""",
        f"CREATE TRIGGER {table}_never_change BEFORE UPDATE ON {table} {refusal}",
        f"CREATE TRIGGER {table}_never_vanish BEFORE DELETE ON {table} {refusal}",
    )
