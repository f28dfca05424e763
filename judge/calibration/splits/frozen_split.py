"""The frozen split: each labelled query in dev or test for good, the labels halved alike."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from sqlite_utils import Database

from generation.clock import now
from generation.database import immediate
from generation.item import Item
from judge.calibration.splits.split import Split, query_hash, split_by_hash
from rubrics import InputError, fingerprint


@dataclass(frozen=True)
class Halves:
    """How many queries of a stratum, those with this reference label, are in each half."""

    stratum: str
    dev: int
    test: int


@dataclass(frozen=True)
class FrozenSplit:
    """Where each query (by hash) is, and the stratum that it was in when it was put there."""

    split_hash: str
    rubric_version: str
    reference_rule: str
    frozen_at: str
    parts: Mapping[str, Split]
    strata: Mapping[str, str]

    @property
    def halves(self) -> tuple[Halves, ...]:
        """The sizes by stratum, in order of name."""
        counts = Counter((self.strata[query], part) for query, part in self.parts.items())
        return tuple(
            Halves(stratum, counts[stratum, "dev"], counts[stratum, "test"])
            for stratum in sorted(set(self.strata.values()))
        )

    def size(self, part: Split) -> int:
        """How many queries are in this half."""
        return sum(of == part for of in self.parts.values())

    def holds(self, item: Item) -> bool:
        """Whether the item's query was labelled when the split was frozen."""
        return query_hash(item) in self.parts


def part_of(item: Item, frozen: FrozenSplit | None) -> Split:
    """The half that an item is in: by the study's frozen split, else by the hash of its query."""
    query = query_hash(item)
    return split_by_hash(query) if frozen is None else frozen.parts.get(query, split_by_hash(query))


def frozen_split(pipeline_db: Database) -> FrozenSplit | None:
    """The split of the study, or None as long as none is frozen."""
    rows = list(pipeline_db["splits"].rows)
    if not rows:
        return None
    row = rows[0]
    queries = list(pipeline_db["split_queries"].rows_where(order_by="query_hash"))
    return FrozenSplit(
        row["split_hash"],
        row["rubric_version"],
        row["reference_rule"],
        row["frozen_at"],
        {query["query_hash"]: query["part"] for query in queries},
        {query["query_hash"]: query["stratum"] for query in queries},
    )


def freeze_split(
    pipeline_db: Database,
    queries: Mapping[str, tuple[Item, str]],
    rubric_version: str,
    reference_rule: str,
    forced_dev: Set[str] = frozenset(),
) -> FrozenSplit:
    """Halve the queries of labelled items, and store it; one that is stored stays as it is.

    `queries` gives item ids their item and reference label, `forced_dev` are hashes of queries
    that a judge was shown: they are in dev. Raises InputError when there is nothing to split.
    """
    with immediate(pipeline_db):  # of two freezes at once, the later one finds the earlier's
        known = frozen_split(pipeline_db)
        if known is not None:
            return known
        if not queries:
            raise InputError(
                f"no item has a reference label under rubric {rubric_version}, so there is nothing "
                f"to split; label some: annotate --rubric {rubric_version}"
            )
        strata = strata_of_queries(queries.values())
        parts = assign(strata, forced_dev)
        split_hash = fingerprint(parts)
        pipeline_db["splits"].insert(
            {
                "split_hash": split_hash,
                "rubric_version": rubric_version,
                "reference_rule": reference_rule,
                "frozen_at": now(),
            }
        )
        pipeline_db["split_queries"].insert_all(
            {"query_hash": query, "split_hash": split_hash, "part": part, "stratum": strata[query]}
            for query, part in sorted(parts.items())
        )
        frozen = frozen_split(pipeline_db)
    assert frozen is not None
    return frozen


def strata_of_queries(items: Iterable[tuple[Item, str]]) -> dict[str, str]:
    """The stratum of each query: of its items' labels the one that is rarest among all items.

    Of equally rare ones the first by name. So a rare label is spread over both halves even where
    it shares its query with a common one.
    """
    labels: dict[str, set[str]] = defaultdict(set)
    times: Counter[str] = Counter()
    for item, label in items:
        labels[query_hash(item)].add(label)
        times[label] += 1
    return {
        query: min(given, key=lambda label: (times[label], label))
        for query, given in labels.items()
    }


def assign(strata: Mapping[str, str], forced_dev: Set[str] = frozenset()) -> dict[str, Split]:
    """A half for each query, given its stratum: within a stratum dev and test by turns.

    In an order that says nothing, those forced to dev first: they count towards dev's half, so
    test is smaller only where more than half of a stratum is forced. The odd one of a stratum
    goes where its hash says.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for query, stratum in strata.items():
        members[stratum].append(query)
    parts: dict[str, Split] = {}
    for queries in members.values():
        ordered = sorted(queries, key=lambda query: (query not in forced_dev, _order(query)))
        forced = sum(query in forced_dev for query in queries)
        half, odd = divmod(len(ordered), 2)
        in_dev = max(forced, half + (odd and split_by_hash(ordered[-1]) == "dev"))
        parts |= {query: "dev" for query in ordered[:in_dev]}
        parts |= {query: "test" for query in ordered[in_dev:]}
    return parts


def _order(query: str) -> str:
    # Not the query's own hash: the halves of the hash rule are its lower and its upper half, and
    # the last in that order, which is the odd one, would nearly always be of the upper.
    return fingerprint({"order": query})
