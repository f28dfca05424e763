"""What people are called in an export: by their names, or by numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sqlite_utils import Database

from annotator.adjudication.adjudication import ADJUDICATOR
from annotator.exchange.tables import EXPORTED


class Who(StrEnum):
    """How people are called."""

    NAMES = "names"
    PSEUDONYMS = "pseudonyms"


@dataclass(frozen=True)
class People:
    """What everybody in a study is called: by name, or as `renamed` says, which must know all."""

    who: Who = Who.NAMES
    renamed: Mapping[str, str] = field(default_factory=dict)

    def called(self, name: str) -> str:
        """Raises KeyError for somebody who has no pseudonym: a name must not stand for itself."""
        return name if self.who is Who.NAMES else self.renamed[name]


def people(database: Database, who: Who) -> People:
    """Everybody by number if `who` asks for it: annotators in the order in which they came.

    Any other order would tell something of the names. To be read in the transaction that what they
    said is read in: somebody new may come at any time.
    """
    if who is Who.NAMES:
        return People()
    came = [row["annotator"] for row in database["annotators"].rows_where(order_by="rowid")]
    others: dict[str, None] = {}
    for table in EXPORTED:
        for column in table.people:
            rows = database.conn.execute(f"SELECT {column} FROM {table.name} ORDER BY rowid")
            others |= {row[0]: None for row in rows}
    unnamed = {ADJUDICATOR: ADJUDICATOR}  # nobody's name
    adjudicators = [name for name in others if name not in {*came, *unnamed}]
    numbered = _numbered("annotator", came) | _numbered("adjudicator", adjudicators)
    return People(who, numbered | unnamed)


def _numbered(kind: str, names: list[str]) -> dict[str, str]:
    return {name: f"{kind}-{number:02d}" for number, name in enumerate(names, start=1)}
