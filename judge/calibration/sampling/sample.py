"""Which items people label: a random sample, drawn once, extended at most, handed over blind."""

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlite_utils import Database

from annotator.labels import add_items
from generation.database import immediate
from generation.study import DEFAULT_SEED
from judge.calibration.sampling.allocation import allocate
from judge.calibration.sampling.design import SIMPLE_RANDOM, STRATIFIED, Sample, Stratum
from judge.calibration.sampling.drawing import Drawing
from judge.calibration.sampling.repeats import (
    FROM,
    more_repeats,
    repeated_items,
    repeats_wanted,
)
from judge.calibration.sampling.sample_store import (
    SampledItem,
    sampled_items,
    sampled_strata,
    save_repeats,
    save_sample,
    stored_sample,
    to_hand_over,
)
from judge.calibration.sampling.strata import Feature, strata
from judge.plural import counted
from rubrics import InputError, fingerprint, short

DEFAULT_SIZE = 200  # items; 95% half-width of kappa near ±0.07 (Fleiss-Cohen-Everitt at 0.726)
ITEM_ID_DIGITS = 12  # hex digits of an opaque id: 48 bits, no clash to fear below a million items


def draw_sample(
    pipeline_db: Database,
    labels_db: Database,
    *,
    n: int | None = None,
    seed: int | None = None,
    by: Sequence[Feature] | None = None,
    repeats: float | None = None,
) -> Drawing:
    """Draw a sample without replacement once, and put its items, blind, into labels.db.

    `by` stratifies it. `repeats` is the share of items to hand over twice (default: 5% from 100
    items on). Drawing again with the same or unstated choices changes nothing but mends a
    labels.db that lacks items, as after a crash between the two stores: pipeline.db is written
    first. A larger `n` extends the sample to what it would have been at once.

    Raises InputError when there are no items, fewer than `n` or fewer wanted than strata; when a
    sample with another design, seed or a smaller `n` would give items unequal chances; and when
    one cannot be extended, as items came or strata changed since.
    """
    with immediate(pipeline_db):  # of two draws at once, the later one finds the earlier's
        known = stored_sample(pipeline_db)
        if known is None:
            _draw(pipeline_db, n, DEFAULT_SEED if seed is None else seed, tuple(by or ()))
        else:
            _refuse_another(known, n, seed, by)
            if n is not None and n > known.drawn:
                _extend(pipeline_db, known, n)
        new_repeats = _repeat(pipeline_db, known, repeats)
        sample = _found(pipeline_db)
        blind = list(to_hand_over(pipeline_db))
    before = labels_db["items"].count
    add_items(labels_db, blind, seed=sample.seed)
    handed_over = labels_db["items"].count - before
    return Drawing(sample, known.drawn if known else 0, handed_over, new_repeats)


def opaque_id(seed: int, item_hash: str) -> str:
    """An item's id for annotators: the same in every run, telling nothing of where it is from."""
    return short(fingerprint({"blind item": item_hash, "seed": seed}), ITEM_ID_DIGITS)


def choose(hashes: Sequence[str], n: int, seed: int) -> list[str]:
    """A simple random sample of n of the hashes, in their order; the same on every machine.

    Every hash gets a lasting random number from the seed and the n smallest are taken (Ohlsson
    1995, coordination of samples using permanent random numbers), so neither the order of the
    hashes nor the version of a random generator matters, and a larger sample has the smaller in it.
    """
    return sorted(sorted(hashes, key=lambda h: fingerprint({"draw": h, "seed": seed}))[:n])


def choose_by_strata(frame: Mapping[str, str], n: int, seed: int) -> dict[str, list[str]]:
    """By stratum the hashes drawn of it, simple random in each; `frame` gives each its stratum."""
    members: dict[str, list[str]] = {}
    for item_hash, stratum in frame.items():
        members.setdefault(stratum, []).append(item_hash)
    shares = allocate({stratum: len(of) for stratum, of in members.items()}, n)
    return {stratum: choose(members[stratum], shares[stratum], seed) for stratum in sorted(members)}


def _draw(pipeline_db: Database, n: int | None, seed: int, by: tuple[Feature, ...]) -> None:
    frame = strata(pipeline_db, by)
    if not frame:
        raise InputError("the study has no turns to sample; make some first: generate example")
    found = len(set(frame.values()))
    size = n or min(max(DEFAULT_SIZE, found), len(frame))
    _refuse_more(size, len(frame))
    if size < found:
        raise InputError(
            f"{counted(size, 'item')} cannot come from each of {found} strata; ask for as many, "
            f"--n {found}, or stratify by less"
        )
    _save(pipeline_db, frame, choose_by_strata(frame, size, seed), seed, tuple(map(str, by)))


def _extend(pipeline_db: Database, known: Sample, n: int) -> None:
    """Draw the n items that would have been drawn at once; the known ones must be among them."""
    if known.added:
        raise InputError(
            f"the sample of {counted(known.drawn, 'item')} cannot be extended: "
            f"{counted(known.added, 'item')} came since it was drawn, and all together would have "
            f"unequal chances; go on with it as it is, or start a new study with --study"
        )
    _refuse_more(n, known.population)
    frame = strata(pipeline_db, tuple(map(Feature, known.strata_of)))
    chosen = choose_by_strata(frame, n, known.seed)
    drawn = {item_hash: stratum for stratum, of in chosen.items() for item_hash in of}
    sizes = {stratum.name: stratum.population for stratum in known.strata}
    if sizes != Counter(frame.values()) or not (
        sampled_strata(pipeline_db).items() <= drawn.items()
    ):
        why = (
            f"its strata by {', '.join(known.strata_of)} are not what they were when it was drawn, "
            "as happens when a judge ran since"
            if known.strata_of
            else f"its items are not the first that seed {known.seed} draws"
        )
        raise InputError(
            f"the sample of {counted(known.drawn, 'item')} cannot be extended: {why}; go on with "
            "it as it is, or start a new study with --study"
        )
    _save(pipeline_db, frame, chosen, known.seed, known.strata_of)


def _save(
    pipeline_db: Database,
    frame: Mapping[str, str],
    chosen: Mapping[str, list[str]],
    seed: int,
    strata_of: tuple[str, ...],
) -> None:
    sizes = Counter(frame.values())
    hashes = sorted(item_hash for of in chosen.values() for item_hash in of)
    method = STRATIFIED if strata_of else SIMPLE_RANDOM
    content: dict[str, object] = {"method": method, "seed": seed, "items": hashes}
    sample_id = fingerprint(content | ({"strata_of": strata_of} if strata_of else {}))
    by_stratum = tuple(Stratum(name, len(of), sizes[name]) for name, of in chosen.items())
    sample = Sample(sample_id, seed, len(hashes), len(frame), method, strata_of, by_stratum)
    items = [SampledItem(opaque_id(seed, drawn), drawn, frame[drawn]) for drawn in hashes]
    save_sample(pipeline_db, sample, items)


def _repeat(pipeline_db: Database, before: Sample | None, share: float | None) -> int:
    """Choose what is to be repeated besides what is already; says how many are new.

    With no share said, a sample that is there stays as it is, and one that was extended keeps the
    share that it had, if it was large enough to have one.
    """
    sample, known = _found(pipeline_db), repeated_items(pipeline_db)
    if share is None and before is not None:
        if before.drawn == sample.drawn:
            return 0
        if before.repeats or before.drawn >= FROM:
            share = before.repeats / before.drawn
    originals = sampled_items(pipeline_db)
    wanted = repeats_wanted(sample.drawn, share)
    new = more_repeats(originals, known, wanted, sample.seed)
    save_repeats(pipeline_db, {_repeat_id(sample.seed, originals[i]): i for i in new})
    return len(new)


def _repeat_id(seed: int, item_hash: str) -> str:
    """A repeat's id, of the same form as any other."""
    return opaque_id(seed, fingerprint({"again": item_hash}))


def _found(pipeline_db: Database) -> Sample:
    sample = stored_sample(pipeline_db)
    assert sample is not None
    return sample


def _refuse_another(
    known: Sample, n: int | None, seed: int | None, by: Sequence[Feature] | None
) -> None:
    same_design = by is None or tuple(map(str, by)) == known.strata_of
    if (n is None or n >= known.drawn) and seed in (None, known.seed) and same_design:
        return
    how = f" stratified by {', '.join(known.strata_of)}" if known.strata_of else ""
    raise InputError(
        f"a sample of {counted(known.drawn, 'item')}{how} with seed {known.seed} is drawn already "
        "and cannot be changed but by a larger --n; to draw another, start a new study with --study"
    )


def _refuse_more(n: int, population: int) -> None:
    if n > population:
        raise InputError(f"cannot draw {n} of {population} distinct items; ask for fewer: --n")
