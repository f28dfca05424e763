"""Judge prompts of a study compared on the items that people labelled and all of them judged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.labels import blind_items, recorded_rubric
from annotator.measures.optimism import selection_optimism
from annotator.reference_rule import ReferenceRule
from judge.calibration.comparison.comparison import Comparison, compare_ratings
from judge.calibration.comparison.contestants import Entrant
from judge.calibration.comparison.study_ratings import (
    ComparedItem,
    common_categories,
    study_ratings,
)
from judge.calibration.judge_choice import check_rubric, judge_dict
from judge.calibration.pairing import Exclusion, pair_items
from judge.calibration.references import references_of
from judge.calibration.sampling.repeats import repeated_items, without_repeats
from judge.calibration.sampling.sample_store import sampled_items
from judge.calibration.sampling.weights import design_weights
from judge.calibration.splits.frozen_split import FrozenSplit
from judge.calibration.splits.restriction import Restriction, late_items, restricted
from judge.calibration.splits.split import Split
from judge.prompts.template_store import TemplateStore
from judge.reading import Reading, Verdicts, choose_reading, choose_runs, read
from judge.store import JudgmentStore
from judge.verdict_runs import complete_items, incomplete_items, judgments_by_run, run_count
from rubrics import InputError, Rubric

FEWER_RUNS = "{name}: the first {used} of its {found} runs, since others have no more"
SEVERAL_MODELS = "models differ too ({models}): a difference is not the prompts' alone"


@dataclass(frozen=True)
class StudyComparison:
    """A comparison with what it rests on.

    `unlike` are the categories that the rubrics do not mean alike, which the labels' numbers leave
    out. `tried` is how many prompts of the last rubric have judged in this study, `optimism` what
    the best of so many would on average seem better than it is.
    """

    comparison: Comparison
    entrants: tuple[Entrant, ...]
    items: tuple[ComparedItem, ...]
    reference_rule: str
    reference_rubric: Rubric
    reading: Reading
    categories: tuple[str, ...]
    unlike: tuple[str, ...]
    exclusions: tuple[Exclusion, ...]
    remarks: tuple[str, ...]
    weighted: bool
    restriction: Restriction
    tried: int

    @property
    def optimism(self) -> float | None:
        errors = [each.labels.standard_error for each in self.comparison.challenges]
        if not all(errors):
            return None
        # What two prompts do not share has half the variance of their difference each.
        return selection_optimism(sum(errors) / len(errors) / 2**0.5, self.tried)

    def as_dict(self, *, texts: bool = False) -> dict[str, object]:
        """For JSON, with the keys of `Comparison.as_dict` and these.

        `judges` (those compared, the baseline first), `reference` {rule, rubric}, `reading`,
        `categories` (compared), `unlike_categories` (not meant alike by the rubrics), `split`,
        `weighted`, `exclusions` [{reason, count}], `remarks`, `prompts_tried`,
        `selection_optimism`; and in each challenger `items` {fixed, broken}, lists of {item_id,
        item_hash, reference, judges: labels of every judge by run, null where unreadable}, which
        only with `texts` have messages, answer, turn and `rationales` too.
        """
        found = self.comparison.as_dict()
        for entry, challenge in zip(found["challengers"], self.comparison.challenges, strict=True):
            entry["items"] = {
                name: [self._item_dict(k, texts=texts) for k in positions]
                for name, positions in (("fixed", challenge.fixed), ("broken", challenge.broken))
            }
        return {
            "judges": [
                judge_dict(entrant.judge) | {"name": entrant.name, "rubric": entrant.rubric.version}
                for entrant in self.entrants
            ],
            "reference": {"rule": self.reference_rule, "rubric": self.reference_rubric.version},
            "reading": str(self.reading),
            "categories": list(self.categories),
            "unlike_categories": list(self.unlike),
            "split": self.restriction.as_dict(),
            "weighted": self.weighted,
            "exclusions": [{"reason": e.reason, "count": e.count} for e in self.exclusions],
            "remarks": list(self.remarks),
            "prompts_tried": self.tried,
            "selection_optimism": self.optimism,
        } | found

    def _item_dict(self, position: int, *, texts: bool) -> dict[str, object]:
        item = self.items[position]
        said = [[verdict.label for verdict in verdicts] for verdicts in item.verdicts]
        found = {
            "item_id": item.pair.item_id,
            "item_hash": item.pair.item.hash,
            "reference": item.pair.reference,
            "judges": said,
        }
        if not texts:
            return found
        return found | {
            "messages": [message.as_dict() for message in item.pair.item.messages],
            "answer": item.pair.item.answer,
            "turn": item.pair.item.turn,
            "rationales": [[v.rationale or v.raw for v in verdicts] for verdicts in item.verdicts],
        }


def compare_study(
    pipeline_db: Database,
    labels_db: Database,
    entrants: Sequence[Entrant],
    *,
    rule: ReferenceRule = ReferenceRule.MAJORITY,
    annotator: str | None = None,
    reading: Reading | None = None,
    runs: int | None = None,
    seed: int,
    frozen: FrozenSplit | None = None,
    part: Split | None = None,
) -> StudyComparison:
    """Compare the entrants, the first being the baseline, on items that all of them judged.

    Labels under the last entrant's rubric are the reference, else those under the first's. `part`
    restricts the items to one half of the `frozen` split. Where judges have unequally many runs,
    the smallest number counts. Raises InputError when nothing can be compared.
    """
    with labels_db.atomic(), pipeline_db.atomic():  # snapshots, as people and judges may go on
        rubric = labelled_rubric(labels_db, entrants)
        repeats = repeated_items(pipeline_db)
        references = references_of(labels_db, rubric, rule, annotator, repeats=repeats.keys())
        blind, _ = without_repeats(repeats, blind_items(labels_db), ())
        sampled = sampled_items(pipeline_db)
        store = JudgmentStore(pipeline_db)
        for entrant in entrants:
            if entrant.rubric.version == rubric.version:
                recorded = recorded_rubric(labels_db, rubric.version)
                check_rubric(store, entrant.judge, rubric, recorded)
        found = [run_count(pipeline_db, entrant.judge.judge_id) for entrant in entrants]
        used = choose_runs(min(found), runs)
        chosen = choose_reading(used, reading)
        by_run = [
            judgments_by_run(pipeline_db, e.judge.judge_id, set(sampled.values()), used)
            for e in entrants
        ]
        templates = TemplateStore(pipeline_db)
        shown = frozenset().union(*(templates.shown_items(e.prompt.template) for e in entrants))
        design = design_weights(pipeline_db)
        tried = {judge.judge.prompt_hash for judge in store.judges(entrants[-1].rubric.version)
                 if judge.judged}  # fmt: skip
    verdicts = [
        {item_hash: read(said, chosen) for item_hash, said in complete_items(each).items()}
        for each in by_run
    ]
    everything = pair_items(
        sampled,
        blind,
        references,
        _judged_by_all(verdicts),
        incomplete=frozenset().union(*map(incomplete_items, by_run)),
        shown=shown,
    )
    pairing = restricted(everything, frozen, part)
    if not pairing.pairs:
        reasons = ", ".join(f"{e.count} {e.reason}" for e in pairing.exclusions)
        raise InputError(
            f"no item is labelled and judged by all {len(entrants)}: {reasons or 'no items'}; "
            f"label some, annotate --rubric {rubric.version}, or judge with each of them: judge"
        )
    items = tuple(
        ComparedItem(pair, tuple(each[pair.item.hash].counted for each in verdicts))
        for pair in pairing.pairs
    )
    categories = common_categories(entrants, rubric)
    ratings = study_ratings(items, entrants, rubric, categories, design)
    names = [entrant.name for entrant in entrants]
    return StudyComparison(
        comparison=compare_ratings(ratings, names, categories, seed=seed),
        entrants=tuple(entrants),
        items=items,
        reference_rule=references.rule,
        reference_rubric=rubric,
        reading=chosen,
        categories=categories,
        unlike=tuple(name for name in rubric.category_ids if name not in categories),
        exclusions=pairing.exclusions,
        remarks=tuple(_remarks(entrants, found, used, runs)),
        weighted=not design.equal,
        restriction=Restriction(
            part, frozen.split_hash if frozen else None, late=late_items(pairing, frozen)
        ),
        tried=len(tried),
    )


def _remarks(
    entrants: Sequence[Entrant], found: Sequence[int], used: int, asked: int | None
) -> Iterable[str]:
    for entrant, count in zip(entrants, found, strict=True):
        if count > used and asked is None:
            yield FEWER_RUNS.format(name=entrant.name, used=used, found=count)
    models = dict.fromkeys(entrant.judge.judge.model for entrant in entrants)
    if len(models) > 1 and len({entrant.prompt.prompt_hash for entrant in entrants}) > 1:
        yield SEVERAL_MODELS.format(models=", ".join(models))


def labelled_rubric(labels_db: Database, entrants: Sequence[Entrant]) -> Rubric:
    """The last entrant's rubric if there are labels under it, else the first's.

    Raises InputError when there are labels under neither.
    """
    for rubric in (entrants[-1].rubric, entrants[0].rubric):
        rows = labels_db["current_events"].count_where(
            "rubric_version = ? AND kind = 'label'", [rubric.version]
        )
        if rows:
            return rubric
    versions = " or ".join(dict.fromkeys(entrant.rubric.version for entrant in entrants))
    raise InputError(
        f"no item is labelled under rubric {versions} yet; label some: "
        f"annotate --rubric {entrants[-1].rubric.version}"
    )


def _judged_by_all(verdicts: Sequence[Mapping[str, Verdicts]]) -> dict[str, Verdicts]:
    first, *others = verdicts
    return {
        item_hash: said
        for item_hash, said in first.items()
        if all(item_hash in other for other in others)
    }
