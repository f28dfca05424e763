"""From a study's two stores to its rates of genuine follow-ups."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from annotator.annotation import current_annotations
from annotator.labels import blind_items, recorded_rubric
from annotator.measures.confusion import INVALID
from annotator.measures.double_sample import Labelled
from annotator.measures.misclassification import judge_errors
from annotator.reference_rule import ReferenceRule
from judge.calibration.conversations import conversations_by_id, conversations_by_item
from judge.calibration.judge_choice import check_rubric, choose_judge
from judge.calibration.pairing import Pair, Pairing, pair_items
from judge.calibration.rates.correction import (
    Correction,
    by_errors,
    by_sample,
    outcome_sigmas,
    too_few,
)
from judge.calibration.rates.rate import Labels, Rate, StudyRates, raw_rate, samples_of
from judge.calibration.rates.turn_verdicts import (
    Cell,
    TurnVerdicts,
    cell_counts,
    item_verdicts,
    turn_verdicts,
)
from judge.calibration.references import references_of
from judge.calibration.sampling.design import Sample
from judge.calibration.sampling.repeats import repeated_items
from judge.calibration.sampling.sample_store import sampled_items, stored_sample
from judge.calibration.sampling.weights import design_weights
from judge.plural import counted
from judge.prompts.template_store import TemplateStore
from judge.reading import Reading, choose_reading, choose_runs, read
from judge.store import JudgmentStore
from judge.verdict_runs import complete_items, incomplete_items, judgments_by_run, run_count
from rubrics import InputError, Rubric


@dataclass(frozen=True)
class LabelledItems:
    """The labelled items, weighted for the whole run, and how many turns each has in every cell."""

    whole: Labelled
    chances: NDArray[np.float64]
    turns: tuple[Mapping[Cell, int], ...]

    def of_cell(self, cell: Cell) -> Labelled:
        """Those among the cell's items, each standing for its turns there."""
        turns = np.array([of.get(cell, 0) for of in self.turns], dtype=np.float64)
        here = turns > 0
        return Labelled(
            self.whole.people[here],
            self.whole.judged[here],
            (turns / self.chances)[here],
            self.whole.conversations[here],
        )


def study_rates(
    pipeline_db: Database,
    labels_db: Database,
    rubric: Rubric,
    *,
    judge: str | None = None,
    annotator: str | None = None,
    reading: Reading | None = None,
    runs: int | None = None,
    rule: ReferenceRule = ReferenceRule.MAJORITY,
) -> StudyRates:
    """Rates of the whole run and of every cell, by one judge; the choices are `calibrate_study`'s.

    Raises InputError when nothing is labelled or judged, when labels and judgments do not rest on
    the same rubric text, when the judge has fewer runs, and for a reading that does not fit them.
    """
    with labels_db.atomic(), pipeline_db.atomic():
        store = JudgmentStore(pipeline_db)
        chosen = choose_judge(store.judges(rubric.version), rubric, judge)
        _refuse_unlabelled(labels_db, rubric)
        check_rubric(store, chosen, rubric, recorded_rubric(labels_db, rubric.version))
        judge_runs = run_count(pipeline_db, chosen.judge_id)
        runs = choose_runs(judge_runs, runs)
        reading = choose_reading(runs, reading, judge_runs)
        sampled = sampled_items(pipeline_db)
        by_run = judgments_by_run(pipeline_db, chosen.judge_id, set(sampled.values()), runs)
        said = {i: read(runs_of, reading) for i, runs_of in complete_items(by_run).items()}
        repeats = repeated_items(pipeline_db)
        blind = {i: item for i, item in blind_items(labels_db).items() if i not in repeats}
        references = references_of(labels_db, rubric, rule, annotator, repeats=repeats.keys())
        template = store.prompt(chosen.judge.prompt_hash).template
        shown = TemplateStore(pipeline_db).shown_items(template)
        incomplete = incomplete_items(by_run)
        pairing = pair_items(sampled, blind, references, said, incomplete=incomplete, shown=shown)
        _refuse_unpaired(pairing)
        conversations = conversations_by_id(pipeline_db)
        items = item_verdicts(
            pipeline_db,
            chosen.judge_id,
            rubric,
            reading=reading,
            runs=runs,
            last_run=max(by_run),
        )
        outcomes = len(rubric.categories) + 1
        verdicts = turn_verdicts(pipeline_db, items, conversations, outcomes)
        labelled = _labelled(pipeline_db, pairing.pairs, rubric, conversations)
        sample = stored_sample(pipeline_db)

    sigmas = outcome_sigmas(rubric)
    unsampled = _unsampled(sample)
    errors = judge_errors(labelled.whole.regrouped(sigmas, sigmas[:-1]))
    return StudyRates(
        rubric=rubric,
        judge=chosen,
        reading=reading,
        runs=runs,
        reference_rule=references.rule,
        sample=sample,
        pairing=pairing,
        errors=errors,
        whole=_whole(verdicts, labelled.whole, rubric, sample, unsampled),
        cells=tuple(
            _of_cell(verdicts.of_cell(number), labelled, rubric, unsampled)
            for number in np.unique(verdicts.cell).tolist()
        ),
    )


def _whole(
    verdicts: TurnVerdicts,
    labelled: Labelled,
    rubric: Rubric,
    sample: Sample | None,
    unsampled: str | None,
) -> Rate:
    judged, sigmas = verdicts.judged, outcome_sigmas(rubric)
    if unsampled or sample is None:
        correction = by_errors(labelled, judged, sigmas, unsampled or "")
    else:
        reason = f"the labelled items are a sample of its items, {sample.design}"
        correction = by_sample(labelled, judged, sigmas, reason)
    return _rate(None, verdicts, labelled.n, correction, rubric)


def _of_cell(
    verdicts: TurnVerdicts, labelled: LabelledItems, rubric: Rubric, unsampled: str | None
) -> Rate:
    cell, judged, sigmas = verdicts.cells[0], verdicts.judged, outcome_sigmas(rubric)
    own = labelled.of_cell(cell)
    reason = unsampled or too_few(own, judged, sigmas)
    if reason:
        correction = by_errors(labelled.whole, judged, sigmas, reason)
    else:
        correction = by_sample(
            own, judged, sigmas, "the cell's own labelled items are a sample of it"
        )
    return _rate(cell, verdicts, own.n, correction, rubric)


def _rate(
    cell: Cell | None,
    verdicts: TurnVerdicts,
    labelled: int,
    correction: Correction,
    rubric: Rubric,
) -> Rate:
    judged, sigmas = verdicts.judged, outcome_sigmas(rubric)
    return Rate(
        cell=cell,
        turns=verdicts.turns,
        conversations=len(judged.conversations),
        labelled=labelled,
        unreadable=verdicts.unreadable,
        unjudged=int(verdicts.unjudged.sum()),
        samples=samples_of(verdicts.by_sample(sigmas)),
        raw=raw_rate(judged, np.flatnonzero(sigmas)),
        method=correction.method,
        reason=correction.reason,
        sigma=correction.sigma,
        labels=tuple(
            Labels(category, raw_rate(judged, np.array([k])), correction.labels[k])
            for k, category in enumerate(rubric.category_ids)
        ),
        representativeness=correction.representativeness,
    )


def _labelled(
    pipeline_db: Database,
    pairs: tuple[Pair, ...],
    rubric: Rubric,
    conversations: Mapping[str, int],
) -> LabelledItems:
    """The pairs in numbers; weight = turns that read so / chance of being drawn."""
    code = {name: k for k, name in enumerate((*rubric.category_ids, INVALID))}
    chances = design_weights(pipeline_db).probabilities
    hashes = [pair.item.hash for pair in pairs]
    turns = cell_counts(pipeline_db, hashes)
    belongs = conversations_by_item(pipeline_db, conversations, hashes)
    judged = np.zeros((len(pairs), len(code)))
    for row, pair in enumerate(pairs):
        for outcome in pair.outcomes:
            judged[row, code[outcome]] += 1 / len(pair.outcomes)
    chance = np.array([chances[pair.item_id] for pair in pairs])
    whole = Labelled(
        np.array([code[pair.reference] for pair in pairs], dtype=np.int64),
        judged,
        np.array([sum(turns[item_hash].values()) for item_hash in hashes]) / chance,
        np.array([belongs[item_hash] for item_hash in hashes], dtype=np.int64),
    )
    return LabelledItems(whole, chance, tuple(turns[item_hash] for item_hash in hashes))


def _unsampled(sample: Sample | None) -> str | None:
    """Why the labelled items are no random sample of the study's, or None if they are."""
    if sample is None:
        return "no sample is recorded"
    if sample.added:
        return f"{counted(sample.added, 'item')} came after the sample, with no chance to be drawn"
    return None


def _refuse_unlabelled(labels_db: Database, rubric: Rubric) -> None:
    if any(said.kind == "label" for said in current_annotations(labels_db, rubric.version)):
        return
    raise InputError(
        f"no item is labelled under rubric {rubric.version} yet, and without labels the judge's "
        "errors are unknown; draw a sample of this study and label it: calibrate sample"
    )


def _refuse_unpaired(pairing: Pairing) -> None:
    if not pairing.pairs:
        reasons = ", ".join(f"{e.count} {e.reason}" for e in pairing.exclusions)
        raise InputError(
            f"none of {pairing.items} items is both labelled and judged: {reasons}; "
            "label more: annotate"
        )
