"""Schema of pipeline.db, the judge part: prompts, judges, judgments, batches, samples, exports."""

from sqlite_utils import Database, Migrations

judge_migrations = Migrations("judge")


@judge_migrations()
def m001_judgments(db: Database) -> None:
    """A judge is an instrument: rubric × prompt × model × parameters. It judges an item once.

    An unreadable verdict is stored with its reason and raw text and never as a label. The link
    from a blind item's opaque id back to its item is kept here, out of the web page's reach.
    """
    statements = (
        """CREATE TABLE judge_prompts (
            prompt_hash TEXT PRIMARY KEY,
            template TEXT NOT NULL,
            rubric_version TEXT NOT NULL,
            rubric_hash TEXT NOT NULL,
            rubric_text TEXT NOT NULL,
            text TEXT NOT NULL,
            first_used_at TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE judges (
            judge_id TEXT PRIMARY KEY,
            model TEXT NOT NULL,
            parameters TEXT NOT NULL CHECK (json_valid(parameters)),
            rubric_version TEXT NOT NULL,
            prompt_hash TEXT NOT NULL REFERENCES judge_prompts,
            first_used_at TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE judgments (
            judgment_id INTEGER PRIMARY KEY,
            judge_id TEXT NOT NULL REFERENCES judges,
            item_hash TEXT NOT NULL,
            run_index INTEGER NOT NULL,
            label TEXT,
            sigma INTEGER CHECK (sigma IN (0, 1)),
            rationale TEXT,
            invalid_reason TEXT,
            raw TEXT NOT NULL,
            judged_at TEXT NOT NULL,
            UNIQUE (judge_id, item_hash, run_index),
            CHECK ((label IS NULL) = (invalid_reason IS NOT NULL)),
            CHECK ((label IS NULL) = (sigma IS NULL))
        ) STRICT""",
        """CREATE TABLE samples (
            sample_id TEXT PRIMARY KEY,
            method TEXT NOT NULL CHECK (method IN ('simple random')),
            seed INTEGER NOT NULL,
            drawn INTEGER NOT NULL,
            population INTEGER NOT NULL,
            drawn_at TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE sample_items (
            item_id TEXT PRIMARY KEY,
            sample_id TEXT NOT NULL REFERENCES samples,
            item_hash TEXT NOT NULL UNIQUE,
            inclusion_probability REAL NOT NULL
                CHECK (inclusion_probability > 0 AND inclusion_probability <= 1)
        ) STRICT""",
        """CREATE TABLE exports (
            export_hash TEXT PRIMARY KEY,
            folder TEXT NOT NULL,
            judge_id TEXT NOT NULL REFERENCES judges,
            calibration TEXT NOT NULL CHECK (json_valid(calibration)),
            exported_at TEXT NOT NULL
        ) STRICT""",
    )
    for statement in statements:
        db.conn.execute(statement)


@judge_migrations()
def m002_accounts(db: Database) -> None:
    """What a verdict cost, what a server takes, who holds an ask, and versions of a template.

    Tokens are NULL where the server did not say. `agreed_parameters` remembers what a server took
    of what was wanted, so that a run that goes on is the same judge and asks for nothing again;
    another server may take more or less under the same model name.
    An ask that is in an open batch is paid for already, hence its row until it is collected.
    """
    statements = (
        "ALTER TABLE judgments ADD COLUMN prompt_tokens INTEGER",
        "ALTER TABLE judgments ADD COLUMN cached_tokens INTEGER",
        "ALTER TABLE judgments ADD COLUMN completion_tokens INTEGER",
        """ALTER TABLE judgments ADD COLUMN label_probabilities TEXT
            CHECK (label_probabilities IS NULL OR json_valid(label_probabilities))""",
        """CREATE TABLE agreed_parameters (
            model TEXT NOT NULL,
            wanted TEXT NOT NULL CHECK (json_valid(wanted)),
            agreed TEXT NOT NULL CHECK (json_valid(agreed)),
            logprobs INTEGER NOT NULL CHECK (logprobs IN (0, 1)),
            server TEXT NOT NULL,
            agreed_at TEXT NOT NULL,
            PRIMARY KEY (model, wanted, server)
        ) STRICT""",
        """CREATE TABLE prompt_templates (
            name TEXT NOT NULL,
            version INTEGER NOT NULL CHECK (version >= 1),
            text TEXT NOT NULL,
            shots TEXT NOT NULL CHECK (json_valid(shots)),
            note TEXT NOT NULL,
            parent TEXT NOT NULL,
            written_at TEXT NOT NULL,
            PRIMARY KEY (name, version)
        ) STRICT""",
        """CREATE TABLE batches (
            batch_id TEXT PRIMARY KEY,
            judge_id TEXT NOT NULL REFERENCES judges,
            server TEXT NOT NULL,
            status TEXT NOT NULL,
            submitted_at TEXT NOT NULL,
            closed_at TEXT
        ) STRICT""",
        """CREATE TABLE batch_asks (
            custom_id TEXT NOT NULL,
            batch_id TEXT NOT NULL REFERENCES batches,
            judge_id TEXT NOT NULL REFERENCES judges,
            item_hash TEXT NOT NULL,
            run_index INTEGER NOT NULL,
            PRIMARY KEY (custom_id, batch_id)
        ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE anchor_checks (
            check_id INTEGER PRIMARY KEY,
            export_hash TEXT NOT NULL,
            model TEXT NOT NULL,
            parameters TEXT NOT NULL CHECK (json_valid(parameters)),
            anchors INTEGER NOT NULL,
            changed INTEGER NOT NULL,
            drifted INTEGER NOT NULL CHECK (drifted IN (0, 1)),
            checked_at TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX batch_asks_by_ask ON batch_asks (judge_id, item_hash, run_index)",
        "CREATE INDEX batch_asks_by_batch ON batch_asks (batch_id)",
        "CREATE INDEX batches_by_judge ON batches (judge_id)",
    )
    for statement in statements:
        db.conn.execute(statement)
