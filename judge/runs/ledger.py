"""A study's ledger of one run: what a judge has still to be asked, and each verdict as it comes."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlite_utils import Database

from generation.clock import now
from generation.database import readable_refusals
from generation.store import item_from
from judge.judge import Judge
from judge.prompts.prompt import JudgePrompt
from judge.reply import Reply
from judge.runs.ask import Ask
from judge.runs.scope import WHOLE_STUDY, Scope
from judge.server.parameters import Parameters
from judge.store import JudgmentStore
from rubrics import InputError, canonical_json

PAGE = 500  # items read at once: a read that lasts a whole run would keep the log from shrinking


class StudyLedger:
    """The Ledger of a study, for `runs` runs of any judge with this prompt over a scope.

    `kept` counts the verdicts that were new; `progressed` is called after each with the judge
    that gave it. `say` gets what whoever runs this should know.
    """

    def __init__(
        self,
        database: Database,
        path: Path,
        prompt: JudgePrompt,
        runs: int,
        progressed: Callable[[Judge], None],
        say: Callable[[str], None],
        scope: Scope = WHOLE_STUDY,
    ) -> None:
        self._db = database
        self._path = path
        self._prompt = prompt
        self._runs = runs
        self._progressed = progressed
        self._say = say
        self._only = scope.as_json
        self._store = JudgmentStore(database)
        self._recorded: set[str] = set()
        self._unsynced = False
        self._identity = _identity(path)
        self.kept = 0

    def agreed(self, model: str, wanted: Parameters, server: str | None) -> Parameters | None:
        """As in Ledger; without a server, what any of them took last."""
        row = self._db.conn.execute(
            """SELECT agreed, logprobs FROM agreed_parameters
               WHERE model = :model AND wanted = :wanted AND (:server IS NULL OR server = :server)
               ORDER BY agreed_at DESC LIMIT 1""",
            {"model": model, "wanted": canonical_json(wanted.values), "server": server},
        ).fetchone()
        return row and Parameters(json.loads(row[0]), bool(row[1]))

    def notice(self, line: str) -> None:
        self._say(line)

    def agree(self, model: str, wanted: Parameters, server: str, agreed: Parameters) -> None:
        with readable_refusals(self._path):
            self._db.conn.execute(
                """INSERT INTO agreed_parameters VALUES (?, ?, ?, ?, ?, ?)
                   ON CONFLICT DO UPDATE SET agreed = excluded.agreed,
                   logprobs = excluded.logprobs, agreed_at = excluded.agreed_at""",
                [
                    model,
                    canonical_json(wanted.values),
                    canonical_json(agreed.values),
                    agreed.logprobs,
                    server,
                    now(),
                ],
            )

    def waiting(self, judge: Judge) -> Iterator[Ask]:
        """A whole run over the items, by hash, then the next: a run cut short is one run short.

        Asks that an open batch holds are not waiting: they are paid for already.
        """
        judge_id = judge.judge_id
        for run in range(self._runs):
            after = ""
            while page := self._db.conn.execute(
                _WAITING, {"after": after, "judge": judge_id, "run": run, "only": self._only}
            ).fetchall():
                for item_hash, *texts in page:
                    yield Ask(item_hash, run, item_from(*texts))
                after = page[-1][0]

    def waiting_count(self, judge: Judge) -> int:
        """How many asks `waiting` would give, counted without reading their texts."""
        judge_id = judge.judge_id
        return sum(
            self._db.conn.execute(
                _WAITING_COUNT, {"judge": judge_id, "run": run, "only": self._only}
            ).fetchone()[0]
            for run in range(self._runs)
        )

    def keep(self, judge: Judge, ask: Ask, reply: Reply) -> None:
        judge_id = judge.judge_id
        with readable_refusals(self._path):
            if judge_id not in self._recorded:
                self._store.add_judge(judge, self._prompt)
                self._recorded.add(judge_id)
            new = self._store.add_judgment(
                judge_id,
                ask.item_hash,
                reply.judgment,
                run_index=ask.run_index,
                usage=reply.usage,
                label_probabilities=reply.label_probabilities,
            )
        self._unsynced = True
        if new:
            self.kept += 1
            self._progressed(judge)

    def sync(self) -> None:
        """Each verdict is committed as it comes; this also puts them on the disk itself.

        Raises InputError when the store is no longer where it was: what is kept would be lost.
        """
        if _identity(self._path) != self._identity:
            raise InputError(
                f"{self._path} was moved, removed or replaced while the judge ran; put it back and "
                "run the command again"
            )
        if self._unsynced:
            with readable_refusals(self._path):
                self._db.conn.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._unsynced = False


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands at this path, if any."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


_UNASKED = """
    (:only IS NULL OR turns.item_hash IN (SELECT value FROM json_each(:only)))
    AND NOT EXISTS (
        SELECT 1 FROM judgments
        WHERE judge_id = :judge AND item_hash = turns.item_hash AND run_index = :run)
    AND NOT EXISTS (
        SELECT 1 FROM batch_asks JOIN batches USING (batch_id)
        WHERE batch_asks.judge_id = :judge AND item_hash = turns.item_hash AND run_index = :run
        AND closed_at IS NULL)"""

_WAITING = f"""
    SELECT turns.item_hash, conversations.messages, answers.text, turns.text
    FROM turns JOIN answers USING (answer_id) JOIN conversations USING (conversation_id)
    WHERE turns.item_hash > :after AND {_UNASKED}
    GROUP BY turns.item_hash ORDER BY turns.item_hash LIMIT {PAGE}"""

_WAITING_COUNT = f"SELECT count(DISTINCT turns.item_hash) FROM turns WHERE {_UNASKED}"
