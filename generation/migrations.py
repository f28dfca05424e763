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
