"""How many people are to label an item, and how long one of them may take."""

from dataclasses import dataclass

from sqlite_utils import Database

from annotator.settings import (
    GOLD_EVERY,
    LABELS_PER_ITEM,
    LEASE_SECONDS,
    put_setting,
    setting,
)
from generation.database import immediate

DEFAULT_LEASE_SECONDS = 15 * 60
DEFAULT_GOLD_EVERY = 20


@dataclass(frozen=True)
class Plan:
    """`labels_per_item` None: everybody labels every item, and nobody needs a lease.

    One item among `gold_every` of a person's is gold, on average, as long as there is gold.
    """

    labels_per_item: int | None = None
    lease_seconds: int = DEFAULT_LEASE_SECONDS
    gold_every: int = DEFAULT_GOLD_EVERY


def stored_plan(database: Database) -> Plan:
    """The plan that the study's owner has set, else everybody labels everything."""
    labels = setting(database, LABELS_PER_ITEM)
    return Plan(
        labels_per_item=int(labels) if labels else None,
        lease_seconds=int(setting(database, LEASE_SECONDS) or DEFAULT_LEASE_SECONDS),
        gold_every=int(setting(database, GOLD_EVERY) or DEFAULT_GOLD_EVERY),
    )


def changed_plan(
    plan: Plan,
    *,
    labels_per_item: int | None,
    everyone: bool,
    lease_minutes: int | None,
    gold_every: int | None,
) -> Plan:
    """The plan with what was given changed; None leaves a part as it is."""
    labels = None if everyone else labels_per_item or plan.labels_per_item
    seconds = lease_minutes * 60 if lease_minutes else plan.lease_seconds
    return Plan(labels, seconds, gold_every or plan.gold_every)


def put_plan(database: Database, plan: Plan) -> None:
    """Set the plan; those at work get their next item by it."""
    labels = plan.labels_per_item
    with immediate(database):
        put_setting(database, LABELS_PER_ITEM, None if labels is None else str(labels))
        put_setting(database, LEASE_SECONDS, str(plan.lease_seconds))
        put_setting(database, GOLD_EVERY, str(plan.gold_every))
