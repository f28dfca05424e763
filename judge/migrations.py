"""Schema of pipeline.db, the judge part: judge prompts, judges, judgments, samples, exports."""

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
