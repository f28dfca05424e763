"""Decisions of adjudicators, and the items that the owner sends to them."""

from sqlite_utils import Database


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
