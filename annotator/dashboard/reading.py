"""What the dashboard reads: labels.db under one rubric version, and nothing of any judge."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from sqlite_utils import Database

from annotator.accounts.person import Role
from annotator.annotation import Annotation, current_annotations
from annotator.assignment.plan import stored_plan
from annotator.labels import recorded_rubric, study_seed
from annotator.publishing.in_force import rubric_in_force
from annotator.quality.gold import Gold, gold_items
from annotator.quality.repeats import repeated_items
from annotator.training.round import Round, all_rounds
from generation.clock import now
from rubrics import InputError, Rubric, bytes_fingerprint


@dataclass(frozen=True)
class StudyItems:
    """The items' ids, `repeats` to their originals, and a number for each one's conversation."""

    ids: tuple[str, ...]
    repeats: Mapping[str, str]
    conversations: Mapping[str, int]


@dataclass(frozen=True)
class Training:
    """Rounds that somebody completed, the best share of right answers, and whether one passed."""

    rounds: int
    best: float | None
    passed: bool


@dataclass(frozen=True)
class AnnotatorRecord:
    """Somebody who labels. `role` is None without an account, `spent_ms` all time of work."""

    name: str
    last_seen_at: str
    role: Role | None
    disabled_at: str | None
    spent_ms: int | None
    training: Training


@dataclass(frozen=True)
class Refused:
    """What was refused: requests without the right to them, and failed logins; by day and in all.

    `latest` are (time, name, what, why) of the last refusals.
    """

    requests: int
    requests_today: int
    logins: int
    logins_today: int
    latest: tuple[tuple[str, str | None, str, str], ...]

    def as_dict(self) -> dict[str, object]:
        return {name: count for name, count in asdict(self).items() if name != "latest"}


@dataclass(frozen=True)
class Reading:
    """One moment of the store. `annotations` are those that stand under `rubric`."""

    rubric: Rubric
    at: str
    seed: int
    labels_per_item: int | None
    items: StudyItems
    gold: tuple[Gold, ...]
    annotations: tuple[Annotation, ...]
    other_versions: Mapping[str, int]
    annotators: tuple[AnnotatorRecord, ...]
    refused: Refused


def rubric_to_show(database: Database, default: Rubric, version: str = "") -> Rubric:
    """The rubric of this version, or without one that which annotators label under.

    Raises InputError for a version that nobody has used here.
    """
    if not version:
        return rubric_in_force(database, default)
    if found := recorded_rubric(database, version):
        return found
    if version == default.version:
        return default
    used = ", ".join(used_versions(database)) or "none yet"
    raise InputError(f"rubric {version!r:.80} was never used in labels.db, which has: {used}")


def used_versions(database: Database) -> list[str]:
    return [row["version"] for row in database["rubrics"].rows_where(order_by="first_used_at")]


def study_items(database: Database) -> StudyItems:
    """Every item; those with equal messages are of one conversation."""
    numbers: dict[str, int] = {}
    conversations = {
        item_id: numbers.setdefault(bytes_fingerprint(messages.encode()), len(numbers))
        for item_id, messages in database.conn.execute(
            "SELECT item_id, messages FROM items ORDER BY item_id"
        )
    }
    return StudyItems(tuple(conversations), repeated_items(database), conversations)


def read_study(database: Database, rubric: Rubric, items: StudyItems) -> Reading:
    """One consistent reading; its transaction ends before anything is computed."""
    with database.atomic():
        return Reading(
            rubric=rubric,
            at=now(),
            seed=study_seed(database),
            labels_per_item=stored_plan(database).labels_per_item,
            items=items,
            gold=tuple(gold_items(database, rubric.version)),
            annotations=tuple(current_annotations(database, rubric.version)),
            other_versions=_other_versions(database, rubric.version),
            annotators=tuple(_annotators(database, rubric.version)),
            refused=_refused(database),
        )


def _other_versions(database: Database, version: str) -> dict[str, int]:
    rows = database.conn.execute(
        """SELECT rubric_version, count(*) FROM current_events
           WHERE rubric_version != ? AND kind = 'label' GROUP BY rubric_version ORDER BY 1""",
        [version],
    )
    return dict(rows.fetchall())


def _annotators(database: Database, version: str) -> list[AnnotatorRecord]:
    """Everybody who labels or has labelled, by name; not those whose role is another."""
    rounds: dict[str, list[Round]] = {}
    for found in all_rounds(database, version):
        rounds.setdefault(found.annotator, []).append(found)
    rows = database.query(
        """SELECT annotator, role, disabled_at, first_seen_at, seen_at, spent_ms
           FROM annotators LEFT JOIN accounts ON accounts.name = annotators.annotator
           LEFT JOIN (SELECT annotator, max(shown_at) AS seen_at FROM displays GROUP BY 1)
               USING (annotator)
           LEFT JOIN (SELECT annotator, sum(active_ms) AS spent_ms FROM events
                      WHERE rubric_version = :version GROUP BY 1) USING (annotator)
           WHERE role IS NULL OR role = 'annotator'
               OR annotator IN (SELECT annotator FROM standing_events
                                WHERE rubric_version = :version)
           ORDER BY annotator""",
        {"version": version},
    )
    return [
        AnnotatorRecord(
            name=row["annotator"],
            last_seen_at=max(row["first_seen_at"], row["seen_at"] or ""),
            role=Role(row["role"]) if row["role"] else None,
            disabled_at=row["disabled_at"],
            spent_ms=row["spent_ms"],
            training=_training(rounds.get(row["annotator"], [])),
        )
        for row in rows
    ]


def _training(rounds: list[Round]) -> Training:
    results = [found.result for found in rounds if found.result is not None]
    return Training(
        len(results),
        max((result.correct / result.total for result in results), default=None),
        any(found.passed for found in rounds),
    )


def _refused(database: Database) -> Refused:
    day_ago = "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', '-1 day')"
    requests = database.conn.execute(
        f"SELECT count(*), coalesce(sum(refused_at > {day_ago}), 0) FROM refusals"
    ).fetchone()
    logins = database.conn.execute(
        f"""SELECT count(*), coalesce(sum(tried_at > {day_ago}), 0) FROM login_attempts
            WHERE NOT succeeded"""
    ).fetchone()
    latest = database.conn.execute(
        "SELECT refused_at, name, what, why FROM refusals ORDER BY refusal_id DESC LIMIT 10"
    )
    return Refused(*requests, *logins, tuple(latest.fetchall()))
