"""Schema of pipeline.db, the judge part: judges, judgments, batches, samples, splits, exports."""

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


@judge_migrations()
def m003_designs_and_splits(db: Database) -> None:
    """Samples by strata with silent repeats, and the frozen split with every opening of its test.

    SQLite cannot widen a CHECK, so the two sample tables are built anew, children first out. A
    stratum's size at the drawing is kept, since the study may grow afterwards. `multiplicity` is
    how many turns of the study read alike, again at the drawing. A repeat is an item under a
    second opaque id, which people label without knowing.
    """
    statements = (
        """CREATE TABLE designs (
            sample_id TEXT PRIMARY KEY,
            method TEXT NOT NULL CHECK (method IN ('simple random', 'stratified')),
            strata_of TEXT NOT NULL CHECK (json_valid(strata_of)),
            seed INTEGER NOT NULL,
            drawn INTEGER NOT NULL,
            population INTEGER NOT NULL,
            drawn_at TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE design_items (
            item_id TEXT PRIMARY KEY,
            sample_id TEXT NOT NULL REFERENCES designs,
            item_hash TEXT NOT NULL UNIQUE,
            stratum TEXT NOT NULL,
            multiplicity INTEGER NOT NULL CHECK (multiplicity >= 1),
            inclusion_probability REAL NOT NULL
                CHECK (inclusion_probability > 0 AND inclusion_probability <= 1)
        ) STRICT""",
        """INSERT INTO designs
           SELECT sample_id, method, '[]', seed, drawn, population, drawn_at FROM samples""",
        """INSERT INTO design_items
           SELECT item_id, sample_id, item_hash, '',
                  max(1, (SELECT count(*) FROM turns WHERE turns.item_hash = old.item_hash)),
                  inclusion_probability
           FROM sample_items AS old""",
        "DROP TABLE sample_items",
        "DROP TABLE samples",
        "ALTER TABLE designs RENAME TO samples",
        "ALTER TABLE design_items RENAME TO sample_items",
        """CREATE TABLE sample_strata (
            sample_id TEXT NOT NULL REFERENCES samples,
            stratum TEXT NOT NULL,
            drawn INTEGER NOT NULL,
            population INTEGER NOT NULL,
            PRIMARY KEY (sample_id, stratum)
        ) STRICT, WITHOUT ROWID""",
        """INSERT INTO sample_strata SELECT sample_id, '', drawn, population FROM samples""",
        """CREATE TABLE sample_repeats (
            item_id TEXT PRIMARY KEY,
            repeats TEXT NOT NULL UNIQUE REFERENCES sample_items (item_id)
        ) STRICT""",
        """CREATE TABLE splits (
            split_hash TEXT PRIMARY KEY,
            rubric_version TEXT NOT NULL,
            reference_rule TEXT NOT NULL,
            frozen_at TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE split_queries (
            query_hash TEXT PRIMARY KEY,
            split_hash TEXT NOT NULL REFERENCES splits,
            part TEXT NOT NULL CHECK (part IN ('dev', 'test')),
            stratum TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE test_openings (
            opening_id INTEGER PRIMARY KEY,
            split_hash TEXT NOT NULL REFERENCES splits,
            judge_id TEXT NOT NULL REFERENCES judges,
            rubric_version TEXT NOT NULL,
            opened_at TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX sample_items_by_sample ON sample_items (sample_id)",
        "CREATE INDEX split_queries_by_split ON split_queries (split_hash)",
        "CREATE INDEX test_openings_by_split ON test_openings (split_hash)",
        "CREATE INDEX test_openings_by_judge ON test_openings (judge_id)",
    )
    for statement in statements:
        db.conn.execute(statement)


@judge_migrations()
def m004_workbench(db: Database) -> None:
    """Why judge and people differ on an item, why the test half was opened, and the owner's runs.

    Notes on causes are append-only, and each names the note that its writer had before them: of
    two owners at work at once, the later one is told instead of overwriting. Drafts are what an
    owner has typed and not saved. A run is a command that goes on without the page.
    """
    statements = (
        "ALTER TABLE test_openings ADD COLUMN intent TEXT",
        """CREATE TABLE cause_notes (
            note_id INTEGER PRIMARY KEY AUTOINCREMENT,
            item_id TEXT NOT NULL REFERENCES sample_items,
            judge_id TEXT NOT NULL REFERENCES judges,
            causes TEXT NOT NULL CHECK (json_valid(causes)),
            memo TEXT NOT NULL,
            owner TEXT NOT NULL,
            after_note INTEGER REFERENCES cause_notes (note_id),
            noted_at TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX cause_notes_by_item ON cause_notes (item_id, judge_id)",
        "CREATE INDEX cause_notes_by_judge ON cause_notes (judge_id)",
        """CREATE TRIGGER cause_notes_never_replaced BEFORE INSERT ON cause_notes
           WHEN EXISTS (SELECT 1 FROM cause_notes WHERE note_id = NEW.note_id)
           BEGIN SELECT RAISE (ABORT, 'notes on causes are append-only'); END""",
        """CREATE TRIGGER cause_notes_never_change BEFORE UPDATE ON cause_notes
           BEGIN SELECT RAISE (ABORT, 'notes on causes are append-only'); END""",
        """CREATE TRIGGER cause_notes_never_vanish BEFORE DELETE ON cause_notes
           BEGIN SELECT RAISE (ABORT, 'notes on causes are append-only'); END""",
        """CREATE VIEW current_cause_notes AS
           SELECT cause_notes.* FROM cause_notes JOIN (
               SELECT max(note_id) AS note_id FROM cause_notes GROUP BY item_id, judge_id
           ) USING (note_id)""",
        """CREATE TABLE workbench_drafts (
            owner TEXT NOT NULL,
            kind TEXT NOT NULL,
            content TEXT NOT NULL CHECK (json_valid(content)),
            saved_at TEXT NOT NULL,
            PRIMARY KEY (owner, kind)
        ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE launches (
            launch_id INTEGER PRIMARY KEY AUTOINCREMENT,
            owner TEXT NOT NULL,
            command TEXT NOT NULL CHECK (json_valid(command)),
            choices TEXT NOT NULL CHECK (json_valid(choices)),
            started_at TEXT NOT NULL
        ) STRICT""",
    )
    for statement in statements:
        db.conn.execute(statement)
