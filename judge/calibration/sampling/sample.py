"""Which items people label: a simple random sample, drawn once, handed over blind."""

from dataclasses import dataclass

from sqlite_utils import Database

from annotator.labels import BlindItem, add_items
from generation.clock import now
from generation.database import immediate
from generation.item import Item
from generation.store import TurnStore
from generation.study import DEFAULT_SEED
from judge.plural import counted
from rubrics import InputError, fingerprint, short

DEFAULT_SIZE = 200  # items; 95% half-width of kappa near ±0.07 (Fleiss-Cohen-Everitt at 0.726)
ITEM_ID_DIGITS = 12  # hex digits of an opaque id: 48 bits, no clash to fear below a million items
METHOD = "simple random"


@dataclass(frozen=True)
class Sample:
    """A drawn sample: `drawn` of `population` distinct items, each as likely as any other.

    `added` counts the distinct items that the study got since.
    """

    sample_id: str
    seed: int
    drawn: int
    population: int
    added: int = 0

    @property
    def inclusion_probability(self) -> float:
        return self.drawn / self.population

    @property
    def caveat(self) -> str | None:
        """Whom the sample cannot speak for, if anything came after it."""
        if not self.added:
            return None
        return f"{counted(self.added, 'item')} added since had no chance of being drawn"


@dataclass(frozen=True)
class Drawing:
    """What `draw_sample` did: the sample, whether it was there already, and items handed over."""

    sample: Sample
    known: bool
    handed_over: int

    def as_text(self) -> str:
        """One line on what was done."""
        sample = self.sample
        what = f"{sample.drawn} of {sample.population} distinct items, seed {sample.seed}"
        done = f"sample drawn at random: {what}"
        if self.known:
            done = f"already there: a random sample of {what}"
            if self.handed_over:
                done += f"; missing in labels.db and now put into it: {self.handed_over}"
        return f"{done}; {sample.caveat}" if sample.caveat else done


def draw_sample(
    pipeline_db: Database, labels_db: Database, *, n: int | None = None, seed: int | None = None
) -> Drawing:
    """Draw a sample without replacement once, and put its items, blind, into labels.db.

    Drawing again with the same (or unstated) `n` and `seed` changes nothing but mends a labels.db
    that lacks items, as after a crash between the two stores: pipeline.db is written first.

    Raises InputError when there are no items, fewer than `n`, or a sample with another `n` or
    `seed`: a second sample would give items unequal chances.
    """
    with immediate(pipeline_db):  # of two draws at once, the later one finds the earlier's
        items = dict(TurnStore(pipeline_db).items())
        sample = stored_sample(pipeline_db)
        known = sample is not None
        if sample is None:
            sample = _draw(pipeline_db, sorted(items), n, DEFAULT_SEED if seed is None else seed)
    asked = (n or sample.drawn, sample.seed if seed is None else seed)
    if asked != (sample.drawn, sample.seed):
        raise InputError(
            f"a sample of {counted(sample.drawn, 'item')} with seed {sample.seed} is drawn already "
            "and cannot be changed; to draw another, start a new study with --study"
        )
    before = labels_db["items"].count
    add_items(labels_db, _blind(pipeline_db, items), seed=sample.seed)
    return Drawing(sample, known, labels_db["items"].count - before)


def stored_sample(pipeline_db: Database) -> Sample | None:
    """The sample of the study, or None if none is drawn yet."""
    rows = list(pipeline_db["samples"].rows)
    if not rows:
        return None
    row = rows[0]
    items = pipeline_db.execute("SELECT count(DISTINCT item_hash) FROM turns").fetchone()[0]
    added = max(0, items - row["population"])
    return Sample(row["sample_id"], row["seed"], row["drawn"], row["population"], added)


def sampled_items(pipeline_db: Database) -> dict[str, str]:
    """Item hash by opaque item id: the way back from a blind item to what the judge saw."""
    rows = pipeline_db["sample_items"].rows_where(order_by="item_id")
    return {row["item_id"]: row["item_hash"] for row in rows}


def opaque_id(seed: int, item_hash: str) -> str:
    """An item's id for annotators: the same in every run, telling nothing of where it is from."""
    return short(fingerprint({"blind item": item_hash, "seed": seed}), ITEM_ID_DIGITS)


def choose(hashes: list[str], n: int, seed: int) -> list[str]:
    """A simple random sample of n of the hashes, in their order; the same on every machine.

    Every hash gets a lasting random number from the seed and the n smallest are taken (Ohlsson
    1995, coordination of samples using permanent random numbers), so neither the order of the
    hashes nor the version of a random generator matters.
    """
    return sorted(sorted(hashes, key=lambda h: fingerprint({"draw": h, "seed": seed}))[:n])


def _draw(pipeline_db: Database, hashes: list[str], n: int | None, seed: int) -> Sample:
    population = len(hashes)
    if not population:
        raise InputError("the study has no turns to sample; make some first: generate example")
    if n is not None and n > population:
        raise InputError(f"cannot draw {n} of {population} distinct items; ask for fewer: --n")
    chosen = choose(hashes, n or DEFAULT_SIZE, seed)
    sample_id = fingerprint({"method": METHOD, "seed": seed, "items": chosen})
    sample = Sample(sample_id, seed, len(chosen), population)
    pipeline_db["samples"].insert(
        {
            "sample_id": sample.sample_id,
            "method": METHOD,
            "strata_of": "[]",
            "seed": sample.seed,
            "drawn": sample.drawn,
            "population": sample.population,
            "drawn_at": now(),
        }
    )
    pipeline_db["sample_items"].insert_all(
        {
            "item_id": opaque_id(seed, item_hash),
            "sample_id": sample.sample_id,
            "item_hash": item_hash,
            "stratum": "",
            "multiplicity": 1,
            "inclusion_probability": sample.inclusion_probability,
        }
        for item_hash in chosen
    )
    return sample


def _blind(pipeline_db: Database, items: dict[str, Item]) -> list[BlindItem]:
    return [
        BlindItem(item_id, items[item_hash])
        for item_id, item_hash in sampled_items(pipeline_db).items()
    ]
