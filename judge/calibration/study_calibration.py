"""From a study's two stores to the calibration of one judge."""

from collections.abc import Mapping, Set

from sqlite_utils import Database

from annotator.adjudication.adjudication import current_adjudications
from annotator.agreement.annotator_influence import annotator_influence
from annotator.agreement.human import human_agreement
from annotator.agreement.intra_annotator import intra_annotator
from annotator.annotation import Annotation, current_annotations
from annotator.labels import blind_items, recorded_rubric
from annotator.measures.confusion import outcome_of
from annotator.measures.sample_size import labels_needed
from annotator.name import checked_name
from annotator.reference import labels_by_annotator
from annotator.reference_rule import ReferenceRule
from generation.item import Item
from generation.study import DEFAULT_SEED
from judge.calibration.calibration import Calibration
from judge.calibration.consistency import flips
from judge.calibration.human_ceiling import human_ceiling
from judge.calibration.judge_choice import check_rubric, choose_judge
from judge.calibration.pair_estimates import estimate_pairs
from judge.calibration.pairing import INCOMPLETE, Pairing, conversation_of, pair_items
from judge.calibration.references import fold_references
from judge.calibration.run_kappas import run_kappas
from judge.calibration.sampling.repeats import repeated_items, without_repeats
from judge.calibration.sampling.sample import sampled_items, stored_sample
from judge.calibration.sampling.weights import design_weights
from judge.calibration.splits.frozen_split import FrozenSplit, frozen_split, part_of
from judge.calibration.splits.opening import checked_intent, openings, record_opening
from judge.calibration.splits.restriction import Restriction, late_items, restricted
from judge.calibration.splits.split import Split
from judge.prompts.template_store import TemplateStore
from judge.reading import Reading, Verdicts, choose_reading, choose_runs, read, to_complete
from judge.store import JudgmentStore, StoredJudge
from judge.verdict_runs import (
    complete_items,
    complete_runs,
    incomplete_items,
    judgments_by_run,
    labels_by_run,
    run_count,
)
from rubrics import InputError, Rubric


def calibrate_study(
    pipeline_db: Database,
    labels_db: Database,
    rubric: Rubric,
    judge: str | None = None,
    annotator: str | None = None,
    seed: int = DEFAULT_SEED,
    reading: Reading | None = None,
    runs: int | None = None,
    rule: ReferenceRule = ReferenceRule.MAJORITY,
    final: str | None = None,
) -> Calibration:
    """Calibrate a judge against the people's labels under `rubric`.

    `judge` is a model name or an id prefix (default: the judge that judged last); `annotator`
    makes one person's labels the reference, `rule` says what several people's make; `runs` takes
    the judge's first runs alone (default: all of them); `reading` says what of several counts
    (default: the mean of runs). An item that the judge's prompt shows as an example is left out.
    Once a split is frozen only the dev half counts; `final`, a sentence of intent, opens the test
    half instead, which is recorded with it.

    Raises InputError when there is nothing to compare, saying what to do first, when labels and
    judgments do not rest on the same rubric text, when the judge has fewer runs, for a reading
    that does not fit them, and for `final` as long as no split is frozen.
    """
    annotator = checked_name(annotator) if annotator is not None else None
    final = None if final is None else checked_intent(final)
    # Two snapshots, so that people may label and a judge may run meanwhile and sums still add up.
    with labels_db.atomic(), pipeline_db.atomic():
        recorded = recorded_rubric(labels_db, rubric.version)
        annotations = current_annotations(labels_db, rubric.version)
        adjudications = current_adjudications(labels_db, rubric.version)
        elsewhere = _labels_elsewhere(labels_db, rubric.version, annotator)
        blind = blind_items(labels_db)
        store = JudgmentStore(pipeline_db)
        judges = store.judges(rubric.version)
        _refuse_unlabelled(rubric, annotations, elsewhere)
        chosen = choose_judge(judges, rubric, judge)
        check_rubric(store, chosen, rubric, recorded)
        sampled = sampled_items(pipeline_db)
        repeats = repeated_items(pipeline_db)
        conversations = {item_id: conversation_of(item) for item_id, item in blind.items()}
        twice = labels_by_annotator(annotations, rubric)
        blind, annotations = without_repeats(repeats, blind, annotations)
        shown = _shown(pipeline_db, store, chosen)
        judge_runs = run_count(pipeline_db, chosen.judge_id)
        runs = choose_runs(judge_runs, runs)
        reading = choose_reading(runs, reading, judge_runs)
        by_run = judgments_by_run(pipeline_db, chosen.judge_id, set(sampled.values()), runs)
        several = labels_by_run(pipeline_db, chosen.judge_id, runs) if runs > 1 else {}
        sample = stored_sample(pipeline_db)
        design = design_weights(pipeline_db)
        frozen = frozen_split(pipeline_db)

    part = _part(frozen, final=final is not None)
    references = fold_references(annotations, rubric, rule, annotator, adjudications)
    by_annotator = labels_by_annotator(annotations, rubric)
    complete = complete_runs(by_run)
    verdicts = {
        item_hash: read(said, reading) for item_hash, said in complete_items(by_run).items()
    }
    everything = pair_items(
        sampled,
        blind,
        references,
        verdicts,
        {i for ids in elsewhere.values() for i in ids},
        incomplete_items(by_run),
        shown,
    )
    pairing = restricted(everything, frozen, part)
    # Where people tie or differ on all, their own agreement is the result.
    if not references.ties and not references.undecided:
        _refuse_unpaired(pairing, runs, complete)

    opening = None
    if final is not None and frozen is not None:
        opening = record_opening(pipeline_db, frozen, chosen.judge_id, rubric.version, final)
    restriction = Restriction(
        part,
        frozen.split_hash if frozen else None,
        len(openings(pipeline_db)),
        opening,
        late_items(pairing, frozen),
    )
    tested = {i: item for i, item in blind.items() if part in (None, part_of(item, frozen))}
    influence = annotator_influence(by_annotator, rubric.category_ids, conversations, seed=seed)
    found = estimate_pairs(pairing.pairs, rubric, design, seed=seed)
    return Calibration(
        rubric=rubric,
        judge=chosen,
        reading=reading,
        runs=runs,
        judge_runs=judge_runs,
        complete_runs=complete,
        flips=flips(complete_items(several), runs),
        other_judges=tuple(other for other in judges if other != chosen),
        restriction=restriction,
        rule=rule,
        reference_rule=references.rule,
        annotator=annotator,
        annotators={name: len(labels) for name, labels in by_annotator.items()},
        flagged=references.flagged,
        sample=sample,
        pairing=pairing,
        other_labels={version: len(ids) for version, ids in elsewhere.items()},
        confusion=found.confusion,
        sigma_confusion=found.sigma_confusion,
        kappas=found.kappas,
        coefficients=found.coefficients,
        label_scores=found.label_scores,
        effective_items=found.effective_items,
        run_kappas=run_kappas(pairing.pairs, rubric, design, seed=seed),
        human=human_agreement(
            by_annotator, rubric.category_ids, conversations, influence, seed=seed
        ),
        ceiling=human_ceiling(
            by_annotator,
            _outcomes(sampled, tested, verdicts, shown),
            references.labels,
            rubric,
            conversations,
            design,
            seed=seed,
        ),
        influence=influence,
        intra=intra_annotator(twice, repeats, rubric.category_ids, conversations, seed=seed),
        more_labels=labels_needed(found.kappas.labels),
        seed=seed,
    )


def _part(frozen: FrozenSplit | None, *, final: bool) -> Split | None:
    """The half that counts; None as long as no split is frozen, when everything does."""
    if final and frozen is None:
        raise InputError(
            "no split is frozen, so there is no test half to open; freeze it before you compare "
            "prompts: calibrate split"
        )
    if frozen is None:
        return None
    return "test" if final else "dev"


def _outcomes(
    sampled: Mapping[str, str],
    blind: Mapping[str, Item],
    verdicts: Mapping[str, Verdicts],
    shown: Set[str],
) -> dict[str, tuple[str, ...]]:
    """What the judge said of every item that it can be tested on, labelled or not, by item id."""
    return {
        item_id: tuple(outcome_of(said.label) for said in verdicts[item_hash].counted)
        for item_id, item_hash in sampled.items()
        if item_hash in verdicts
        and item_hash not in shown
        and item_id in blind
        and blind[item_id].hash == item_hash
    }


def _shown(pipeline_db: Database, store: JudgmentStore, judge: StoredJudge) -> frozenset[str]:
    """Hashes of the items that the judge's prompt shows as examples, with people's labels."""
    template = store.prompt(judge.judge.prompt_hash).template
    return TemplateStore(pipeline_db).shown_items(template)


def _labels_elsewhere(
    labels_db: Database, version: str, annotator: str | None
) -> dict[str, list[str]]:
    """Item ids of current labels by the other rubric version that they were made under."""
    others = [row["version"] for row in labels_db["rubrics"].rows_where(order_by="version")]
    found = {
        other: [
            annotation.item_id
            for annotation in current_annotations(labels_db, other)
            if annotation.kind == "label" and annotator in (None, annotation.annotator)
        ]
        for other in others
        if other != version
    }
    return {other: ids for other, ids in found.items() if ids}


def _refuse_unlabelled(
    rubric: Rubric, annotations: list[Annotation], elsewhere: dict[str, list[str]]
) -> None:
    if any(annotation.kind == "label" for annotation in annotations):
        return
    counts = ", ".join(f"{len(ids)} under {version}" for version, ids in elsewhere.items())
    raise InputError(
        f"no item is labelled under rubric {rubric.version} yet"
        + (f" (labels left out: {counts})" if counts else "")
        + f"; label some: annotate --rubric {rubric.version}"
    )


def _refuse_unpaired(pairing: Pairing, runs: int, complete: int) -> None:
    if not pairing.pairs:
        reasons = ", ".join(f"{e.count} {e.reason}" for e in pairing.exclusions)
        mend = f"; {to_complete(runs, complete)}" if pairing.excluded(INCOMPLETE) else ""
        raise InputError(f"none of {pairing.items} items can be compared: {reasons}{mend}")
