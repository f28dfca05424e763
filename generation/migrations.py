"""Schema of pipeline.db, the generation part: conversations, answers, turns and their runs."""

from sqlite_utils import Database, Migrations

generation_migrations = Migrations("generation")


@generation_migrations()
def m001_probe(db: Database) -> None:
    """Conversation → answer → turn, as the probe makes them.

    A turn keeps its ids and raw text because role tokens vanish from the readable text; the
    judged text is indexed by item_hash because equal turns (at T = 0 most are copies) are
    labelled and judged once. `turns.run_id` is the run that a turn was first seen in, run_turns
    every run that gave it: another run may well say the same (T = 0 under another seed), and is
    resumed by what it gave. Every foreign key has its index.
    """
    db.conn.execute(
        """CREATE TABLE runs (
            run_id TEXT PRIMARY KEY,
            kind TEXT NOT NULL CHECK (kind IN ('probe', 'import', 'example')),
            provenance TEXT NOT NULL CHECK (json_valid(provenance)),
            started_at TEXT NOT NULL
        ) STRICT"""
    )
    db.conn.execute(
        """CREATE TABLE conversations (
            conversation_id TEXT PRIMARY KEY,
            dataset TEXT NOT NULL,
            source_id TEXT NOT NULL,
            messages TEXT NOT NULL CHECK (json_valid(messages)),
            meta TEXT NOT NULL CHECK (json_valid(meta))
        ) STRICT"""
    )
    db.conn.execute(
        """CREATE TABLE answers (
            answer_id TEXT PRIMARY KEY,
            conversation_id TEXT NOT NULL REFERENCES conversations,
            run_id TEXT NOT NULL REFERENCES runs,
            model TEXT,
            temperature REAL,
            seed INTEGER,
            text TEXT NOT NULL,
            text_raw TEXT,
            token_ids TEXT CHECK (token_ids IS NULL OR json_valid(token_ids)),
            finish_reason TEXT,
            stop_token_id INTEGER
        ) STRICT"""
    )
    db.conn.execute(
        """CREATE TABLE turns (
            turn_id TEXT PRIMARY KEY,
            answer_id TEXT NOT NULL REFERENCES answers,
            run_id TEXT NOT NULL REFERENCES runs,
            setting TEXT NOT NULL CHECK (setting IN ('self-generated', 'held-out')),
            model TEXT,
            temperature REAL,
            sample_index INTEGER NOT NULL,
            perturbation TEXT NOT NULL,
            context_mode TEXT,
            seed INTEGER,
            text TEXT NOT NULL,
            text_raw TEXT,
            token_ids TEXT CHECK (token_ids IS NULL OR json_valid(token_ids)),
            prompt_token_hash TEXT,
            finish_reason TEXT,
            stop_token_id INTEGER,
            item_hash TEXT NOT NULL,
            meta TEXT NOT NULL CHECK (json_valid(meta))
        ) STRICT"""
    )
    db.conn.execute(
        """CREATE TABLE run_turns (
            run_id TEXT NOT NULL REFERENCES runs,
            turn_id TEXT NOT NULL REFERENCES turns,
            PRIMARY KEY (run_id, turn_id)
        ) STRICT, WITHOUT ROWID"""
    )
    for name, column in (
        ("answers_by_conversation", "answers (conversation_id)"),
        ("answers_by_run", "answers (run_id)"),
        ("turns_by_answer", "turns (answer_id)"),
        ("turns_by_run", "turns (run_id)"),
        ("turns_by_item", "turns (item_hash)"),
        ("run_turns_by_turn", "run_turns (turn_id)"),
    ):
        db.conn.execute(f"CREATE INDEX {name} ON {column}")


@generation_migrations()
def m002_plans(db: Database) -> None:
    """Rows of a plan: generated once, found again by their row_id, or kept as a failure.

    `row_id` is known before the text is; what a plan has and neither table holds is still to be
    generated. Failures are rows of their own, since nobody judges or labels them; a row that was
    tried again has several. A perturbed answer names the one it was made of. `condition` is what
    rates are counted by besides the older columns. Scores of answers stand apart, for another
    scorer may come later. A sitting is one stretch of an engine's work on a
    run: another engine, or version, may go on with it.
    """
    for table, columns in (
        ("conversations", ("root TEXT REFERENCES conversations",)),
        (
            "answers",
            (
                "row_id TEXT",
                "top_p REAL",
                "top_k INTEGER",
                "prompt_token_hash TEXT",
                "thinking TEXT",
                "unusable TEXT",
                "perturbation TEXT NOT NULL DEFAULT 'none'",
                "parent_id TEXT REFERENCES answers",
            ),
        ),
        (
            "turns",
            (
                "row_id TEXT",
                "top_p REAL",
                "top_k INTEGER",
                "number INTEGER NOT NULL DEFAULT 1",
                "follows TEXT REFERENCES turns",
                "flags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(flags))",
                "condition TEXT NOT NULL DEFAULT ''",
            ),
        ),
    ):
        for column in columns:
            db.conn.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    db.conn.execute(
        """CREATE TABLE failures (
            failure_id INTEGER PRIMARY KEY,
            row_id TEXT NOT NULL,
            act TEXT NOT NULL CHECK (act IN ('answer', 'turn')),
            run_id TEXT NOT NULL REFERENCES runs,
            conversation_id TEXT NOT NULL REFERENCES conversations,
            kind TEXT NOT NULL,
            message TEXT NOT NULL,
            at TEXT NOT NULL
        ) STRICT"""
    )
    db.conn.execute(
        """CREATE TABLE answer_scores (
            answer_id TEXT NOT NULL REFERENCES answers,
            scorer TEXT NOT NULL,
            outcome TEXT NOT NULL CHECK (outcome IN ('right', 'wrong', 'not checkable')),
            detail TEXT NOT NULL CHECK (json_valid(detail)),
            PRIMARY KEY (answer_id, scorer)
        ) STRICT, WITHOUT ROWID"""
    )
    db.conn.execute(
        """CREATE TABLE run_sittings (
            sitting_id INTEGER PRIMARY KEY,
            run_id TEXT NOT NULL REFERENCES runs,
            act TEXT NOT NULL CHECK (act IN ('answer', 'turn')),
            engine TEXT NOT NULL CHECK (json_valid(engine)),
            started_at TEXT NOT NULL,
            rows INTEGER NOT NULL DEFAULT 0,
            output_tokens INTEGER NOT NULL DEFAULT 0,
            seconds REAL NOT NULL DEFAULT 0
        ) STRICT"""
    )
    for kind, name, column in (
        ("UNIQUE INDEX", "answers_by_row", "answers (row_id)"),
        ("UNIQUE INDEX", "turns_by_row", "turns (row_id)"),
        ("INDEX", "conversations_by_root", "conversations (root)"),
        ("INDEX", "answers_by_parent", "answers (parent_id)"),
        ("INDEX", "turns_by_follows", "turns (follows)"),
        ("INDEX", "failures_by_row", "failures (row_id)"),
        ("INDEX", "failures_by_run", "failures (run_id)"),
        ("INDEX", "failures_by_conversation", "failures (conversation_id)"),
        ("INDEX", "run_sittings_by_run", "run_sittings (run_id)"),
    ):
        db.conn.execute(f"CREATE {kind} {name} ON {column}")
