"""The single turns of a page, a hundred to a file, each file a script that hands them over.

A page that is opened from a folder may not fetch, but it may load scripts that lie beside it.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from annotator.verbatim import verbatim_html
from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.report_page.inert_json import inert_json
from judge.calibration.main_run.report_page.peoples_labels import PeoplesLabels
from judge.calibration.main_run.report_page.turn_order import TurnOrder
from judge.calibration.rates.judged_turns import last_run
from judge.plural import counted

PER_FILE = 100  # turns
WITHHELD = "withheld: its data set asks that its text never be published"
_JSON = {"flags", "meta", "label_probabilities"}  # columns that hold some
_BESIDE = {"row", "text", "messages", "rationale", "raw", "token_ids"}
_TEXTS = ("text_raw", "thinking", "unusable", "meta", "invalid_reason")  # besides q, a, u

Row = dict[str, Any]


def write_turns(
    folder: Path,
    order: TurnOrder,
    run: MainRun,
    pipeline_db: Database,
    people: Mapping[str, PeoplesLabels],
) -> None:
    """Write 00000.js and so on, with one file's turns in memory at a time.

    Each calls `turnsArrived` with its number and, as JSON in a string, the turns in order, with
    their answers and conversations by id. Texts are HTML as `verbatim_html` makes it, None where
    they are withheld.
    """
    names = {record.run_id: record.name for record in run.selection.runs}
    last = last_run(pipeline_db, run.judge.judge_id, run.judge_runs)
    store = _Store(pipeline_db, run.judge.judge_id, last, names, people)
    for number, first in enumerate(range(0, len(order.rows), PER_FILE)):
        rows = order.rows[first : first + PER_FILE].tolist()
        withheld = order.withheld[first : first + PER_FILE].tolist()
        told = json.dumps(store.told(rows, withheld), ensure_ascii=False, separators=(",", ":"))
        script = f"turnsArrived({number},{inert_json(told)});\n"
        (folder / f"{number:05}.js").write_bytes(script.encode())


@dataclass(frozen=True)
class _Store:
    """Where turns are read from: the verdicts of one judge's runs up to number `last_run`.

    `run_names` are by id those of the runs that the page is about, `people` what they said by item.
    """

    pipeline_db: Database
    judge_id: str
    last_run: int
    run_names: Mapping[str, str]
    people: Mapping[str, PeoplesLabels]

    def told(self, rowids: list[int], withheld: list[bool]) -> Row:
        """These turns, in their order, with all that they rest on."""
        by_row = {row["row"]: row for row in self._rows("turns", "rowid", rowids)}
        turns = [by_row[rowid] for rowid in rowids]
        answers = self._by_id("answers", "answer_id", turns)
        conversations = self._by_id("conversations", "conversation_id", answers.values())
        hidden = {
            turn["answer_id"] for turn, not_said in zip(turns, withheld, strict=True) if not_said
        }
        hidden |= {answers[answer_id]["conversation_id"] for answer_id in hidden}
        verdicts = self._verdicts({turn["item_hash"] for turn in turns})
        given_by = self._given_by([turn["turn_id"] for turn in turns])
        return {
            "conversations": {
                key: _conversation(row, hidden=key in hidden) for key, row in conversations.items()
            },
            "answers": {key: _answer(row, hidden=key in hidden) for key, row in answers.items()},
            "turns": [
                {
                    "html": _html(turn["text"], hidden=not_said),
                    "row": _plain(turn, hidden=not_said),
                    "runs": given_by[turn["turn_id"]],
                    "verdicts": [
                        _verdict(of, hidden=not_said) for of in verdicts[turn["item_hash"]]
                    ],
                    "people": self._people(turn["item_hash"]),
                }
                for turn, not_said in zip(turns, withheld, strict=True)
            ],
        }

    def _rows(self, table: str, key: str, values: Collection[Any]) -> Iterable[Row]:
        """Rows whose `key` is among the values, with all columns and the rowid as `row`."""
        return self.pipeline_db.query(
            f"""SELECT rowid AS row, * FROM {table}
                WHERE {key} IN (SELECT value FROM json_each(?))""",
            [json.dumps(list(values))],
        )

    def _by_id(self, table: str, key: str, rest_on: Iterable[Row]) -> dict[str, Row]:
        """The rows that these others name, in the order in which they do."""
        ids = dict.fromkeys(row[key] for row in rest_on)
        return ids | {row[key]: row for row in self._rows(table, key, ids)}

    def _verdicts(self, hashes: Collection[str]) -> Mapping[str, list[Row]]:
        """The judgments of each item in the runs that count, in order of these."""
        rows = self.pipeline_db.query(
            """SELECT * FROM judgments
               WHERE judge_id = ? AND run_index <= ?
                 AND item_hash IN (SELECT value FROM json_each(?)) ORDER BY run_index""",
            [self.judge_id, self.last_run, json.dumps(sorted(hashes))],
        )
        found = defaultdict(list)
        for row in rows:
            found[row["item_hash"]].append(row)
        return found

    def _given_by(self, turn_ids: list[str]) -> Mapping[str, list[str]]:
        """The names of the runs that gave each turn."""
        rows = self.pipeline_db.conn.execute(
            """SELECT turn_id, run_id FROM run_turns
               WHERE turn_id IN (SELECT value FROM json_each(?)) ORDER BY run_id""",
            [json.dumps(turn_ids)],
        )
        found = defaultdict(list)
        for turn_id, run_id in rows:
            if run_id in self.run_names:
                found[turn_id].append(self.run_names[run_id])
        return found

    def _people(self, item_hash: str) -> Row | None:
        found = self.people.get(item_hash)
        return found and found.as_dict()


def _conversation(row: Row, *, hidden: bool) -> Row:
    messages = [
        {"role": of["role"], "html": _html(of["content"], hidden=hidden)}
        for of in json.loads(row["messages"])
    ]
    return {"messages": messages, "row": _plain(row, hidden=hidden)}


def _answer(row: Row, *, hidden: bool) -> Row:
    # An answer's other texts are long, and of a reader's interest only in the store.
    sizes = {
        key: f"{counted(len(row[key]), 'character')}, in pipeline.db"
        for key in ("text_raw", "thinking")
        if row[key]
    }
    return {"html": _html(row["text"], hidden=hidden), "row": _plain(row | sizes, hidden=hidden)}


def _verdict(row: Row, *, hidden: bool) -> Row:
    """With the rationale, or with what the judge wrote instead of a verdict."""
    said = row["raw"] if row["label"] is None else row["rationale"]
    return {"html": _html(said or "", hidden=hidden), "row": _plain(row, hidden=hidden)}


def _plain(row: Row, *, hidden: bool) -> Row:
    """A stored row but for what is null or stands beside it; token ids as their number."""
    plain = {
        key: json.loads(value) if key in _JSON else value
        for key, value in row.items()
        if value is not None and key not in _BESIDE
    }
    if row.get("token_ids") is not None:
        plain["tokens"] = len(json.loads(row["token_ids"]))
    return plain | {key: WITHHELD for key in _TEXTS if hidden and key in plain}


def _html(text: str, *, hidden: bool) -> str | None:
    return None if hidden else verbatim_html(text)
