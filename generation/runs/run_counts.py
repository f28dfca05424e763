"""What a run gave, counted: turns by cell, answers with their accuracy, failures by kind."""

from dataclasses import dataclass

from sqlite_utils import Database


@dataclass(frozen=True)
class TurnCount:
    """Turns made alike. `changed` of `compared` differ, at T = 0, from the unperturbed turn.

    Both are None where that is no question: unperturbed, or drawn.
    """

    dataset: str
    setting: str
    temperature: float | None
    perturbation: str
    condition: str
    turns: int
    flagged: dict[str, int]
    compared: int | None
    changed: int | None


@dataclass(frozen=True)
class ChangedCount:
    """A perturbed cell at T = 0: `changed` of `compared` turns differ from the unperturbed one."""

    dataset: str
    setting: str
    model: str | None
    perturbation: str
    condition: str
    compared: int
    changed: int


@dataclass(frozen=True)
class AnswerCount:
    """A model's answers to a data set.

    `right` of `checked` are; `unusable` have no turn, by reason.
    """

    model: str | None
    dataset: str
    answers: int
    cut: int
    unusable: dict[str, int]
    right: int
    checked: int
    not_checkable: int


@dataclass(frozen=True)
class FailureCount:
    """Rows that failed alike and were not made since, with one of their messages."""

    act: str
    kind: str
    rows: int
    example: str


def turn_counts(database: Database, run_id: str) -> list[TurnCount]:
    """Every cell of a run by data set, in order."""
    cells = database.conn.execute(
        f"""SELECT {_CELL}, count(*) {_OF_RUN} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 5, 4, 3""",
        [run_id],
    ).fetchall()
    flags: dict[tuple, dict[str, int]] = {}
    for *cell, flag, count in database.conn.execute(
        f"""SELECT {_CELL}, flag.value, count(*)
            {_OF_RUN.replace("WHERE", ", json_each(turns.flags) AS flag WHERE")}
            GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 6""",
        [run_id],
    ):
        flags.setdefault(tuple(cell), {})[flag] = count
    changed = {
        (of.dataset, of.setting, 0.0, of.perturbation, of.condition): (of.compared, of.changed)
        for of in changed_counts(database, run_id)
    }
    return [
        TurnCount(*cell, turns, flags.get(tuple(cell), {}), *changed.get(tuple(cell), (None, None)))
        for *cell, turns in cells
    ]


def changed_counts(database: Database, run_id: str) -> list[ChangedCount]:
    """Of a run's perturbed cells at T = 0: pairs with the unperturbed turn, and those that differ.

    A cell without such a pair is left out.
    """
    rows = database.conn.execute(
        """SELECT conversations.dataset, turns.setting, turns.model, turns.perturbation,
                  turns.condition, count(*), sum(turns.text <> plain.text)
           FROM run_turns JOIN turns USING (turn_id) JOIN answers USING (answer_id)
           JOIN conversations USING (conversation_id)
           JOIN turns AS plain ON plain.answer_id = answers.parent_id
           JOIN run_turns AS also
             ON also.turn_id = plain.turn_id AND also.run_id = run_turns.run_id
           WHERE run_turns.run_id = ? AND turns.temperature = 0 AND turns.number = 1
             AND plain.temperature = 0 AND plain.perturbation = 'none'
             AND plain.condition = turns.condition AND plain.model IS turns.model
           GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5""",
        [run_id],
    )
    return [ChangedCount(*row) for row in rows]


def answer_counts(database: Database, run_id: str) -> list[AnswerCount]:
    """The generated first answers that a run made or goes on from, by model and data set."""
    answers = """(SELECT DISTINCT first.* FROM answers AS first
                  JOIN conversations USING (conversation_id)
                  WHERE first.parent_id IS NULL AND first.row_id IS NOT NULL AND root IS NULL
                  AND (first.run_id = :run OR first.answer_id IN
                       (SELECT coalesce(gone_on.parent_id, gone_on.answer_id) FROM run_turns
                        JOIN turns USING (turn_id) JOIN answers AS gone_on USING (answer_id)
                        WHERE run_turns.run_id = :run))) AS answers"""
    joined = f"FROM {answers} JOIN conversations USING (conversation_id)"
    unusable: dict[tuple, dict[str, int]] = {}
    for *of, reason, count in database.conn.execute(
        f"""SELECT answers.model, dataset, unusable, count(*) {joined}
            WHERE unusable IS NOT NULL GROUP BY 1, 2, 3""",
        {"run": run_id},
    ):
        unusable.setdefault(tuple(of), {})[reason] = count
    rows = database.conn.execute(
        f"""SELECT answers.model, dataset, count(*), sum(finish_reason = 'length'),
                   sum(outcome IS 'right'), coalesce(sum(outcome IN ('right', 'wrong')), 0),
                   sum(outcome IS 'not checkable')
            {joined} LEFT JOIN ({_ONE_SCORE}) USING (answer_id) GROUP BY 1, 2 ORDER BY 1, 2""",
        {"run": run_id},
    )
    return [
        AnswerCount(model, dataset, n, cut, unusable.get((model, dataset), {}), right, *checked)
        for model, dataset, n, cut, right, *checked in rows
    ]


def failure_counts(database: Database, run_id: str | None = None) -> list[FailureCount]:
    """What failed in a run, or in any, and was not made since, by kind."""
    rows = database.conn.execute(
        """SELECT act, kind, count(DISTINCT row_id), min(message) FROM failures
           WHERE run_id = coalesce(?, run_id)
             AND row_id NOT IN (SELECT row_id FROM turns WHERE row_id IS NOT NULL)
             AND row_id NOT IN (SELECT row_id FROM answers WHERE row_id IS NOT NULL)
           GROUP BY 1, 2 ORDER BY 1, 3 DESC""",
        [run_id],
    )
    return [FailureCount(*row) for row in rows]


# An answer counts once: what could be checked goes before what could not, later scorers first.
_ONE_SCORE = """SELECT answer_id, outcome, max(scorer)
                FROM answer_scores AS scores WHERE outcome <> 'not checkable' OR NOT EXISTS
                (SELECT 1 FROM answer_scores AS better WHERE better.answer_id = scores.answer_id
                 AND better.outcome <> 'not checkable')
                GROUP BY answer_id"""
_CELL = """conversations.dataset, turns.setting, turns.temperature, turns.perturbation,
           turns.condition"""
_OF_RUN = """FROM run_turns JOIN turns USING (turn_id) JOIN answers USING (answer_id)
             JOIN conversations USING (conversation_id) WHERE run_turns.run_id = ?"""
