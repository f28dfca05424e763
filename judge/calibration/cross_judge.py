"""Several judges side by side: how far each repeats itself, and how far they agree.

Nobody's labels are needed, and none are read: agreeing judges can be wrong together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlite_utils import Database

from annotator.measures.alpha import Alpha, alpha_with_interval
from annotator.measures.confusion import INVALID, outcome_of
from annotator.measures.interval import LEVEL
from annotator.measures.kappa import Kappa, kappa_between
from annotator.measures.replicates import RESAMPLES
from generation.study import DEFAULT_SEED
from judge.calibration.consistency import Consistency, consistency
from judge.calibration.conversations import conversations_by_id, conversations_by_item
from judge.calibration.judge_choice import check_judged_under, judge_dict
from judge.reading import Reading, majority_run
from judge.store import JudgmentStore, StoredJudge
from judge.verdict_runs import complete_items, incomplete_items, labels_by_run
from rubrics import InputError, Rubric, short

Outcomes = Mapping[str, str]  # one outcome per item, by item hash


@dataclass(frozen=True)
class JudgeRow:
    """One judge: `items` are those that all its `runs` have judged, `incomplete` only some.

    `invalid` counts the items whose verdict, of several runs the majority's, could not be read.
    """

    judge: StoredJudge
    template: str
    runs: int
    items: int
    incomplete: int
    invalid: int
    consistency: Consistency | None

    @property
    def name(self) -> str:
        """The model and the head of the judge's id: two judges may share a model."""
        return f"{self.judge.judge.model} ({short(self.judge.judge_id)})"

    def as_dict(self) -> dict[str, object]:
        of_judge = {key: v for key, v in judge_dict(self.judge).items() if key != "judged"}
        return of_judge | {
            "template": self.template,
            "reading": {"name": str(_reading(self.runs)), "runs": self.runs},
            "items": self.items,
            "incomplete": self.incomplete,
            "invalid": self.invalid,
            "consistency": self.consistency.as_dict() if self.consistency else None,
        }


@dataclass(frozen=True)
class JudgePair:
    """Two judges and their kappa over the items that both judged, unreadable being an outcome."""

    first: JudgeRow
    second: JudgeRow
    kappa: Kappa

    def as_dict(self) -> dict[str, object]:
        ids = [self.first.judge.judge_id, self.second.judge.judge_id]
        return {"judges": ids} | self.kappa.as_dict()


@dataclass(frozen=True)
class CrossJudge:
    """The result of `calibrate judges`; `alpha` is that of all judges, None where there is one."""

    rubric: Rubric
    judges: tuple[JudgeRow, ...]
    pairs: tuple[JudgePair, ...]
    alpha: Alpha | None
    seed: int

    def as_dict(self) -> dict[str, object]:
        """For JSON: stable order of keys, no clock, undefined numbers None with their reason."""
        return {
            "rubric": {"version": self.rubric.version, "hash": self.rubric.hash},
            "judges": [row.as_dict() for row in self.judges],
            "pairs": [pair.as_dict() for pair in self.pairs],
            "alpha": self.alpha.as_dict() if self.alpha else None,
            "seed": self.seed,
            "resamples": RESAMPLES,
            "level": LEVEL,
        }


def compare_judges(
    pipeline_db: Database, rubric: Rubric, *, seed: int = DEFAULT_SEED
) -> CrossJudge:
    """Compare all judges that have judged under `rubric`, in the order of their ids.

    Of several runs the majority's label is compared. Raises InputError when there is no judge, or
    when one has judged under another text of the rubric.
    """
    with pipeline_db.atomic():  # one snapshot, so that a judge may run meanwhile
        store = JudgmentStore(pipeline_db)
        judges = [judge for judge in store.judges(rubric.version) if judge.judged]
        if not judges:
            raise InputError(
                f"nothing is judged under rubric {rubric.version} yet; "
                f"run: judge --rubric {rubric.version}"
            )
        for judge in judges:
            check_judged_under(store, judge, rubric)
        conversations = conversations_by_item(pipeline_db, conversations_by_id(pipeline_db))
        found = [
            _row(pipeline_db, store, judge, rubric, conversations, seed)
            for judge in sorted(judges, key=lambda judge: judge.judge_id)
        ]
    categories = (*rubric.category_ids, INVALID)
    pairs = tuple(
        JudgePair(first, second, _kappa(one, other, categories, conversations, seed))
        for (first, one), (second, other) in combinations(found, 2)
    )
    alpha = None
    if len(found) > 1:
        raters = [outcomes for _, outcomes in found]
        alpha = alpha_with_interval(raters, categories, conversations, seed=seed)
    return CrossJudge(rubric, tuple(row for row, _ in found), pairs, alpha, seed)


def _row(
    pipeline_db: Database,
    store: JudgmentStore,
    judge: StoredJudge,
    rubric: Rubric,
    conversations: Mapping[str, int],
    seed: int,
) -> tuple[JudgeRow, Outcomes]:
    """A judge's row, and its outcome of every item."""
    by_run = labels_by_run(pipeline_db, judge.judge_id)
    labels, runs = complete_items(by_run), len(by_run)
    outcomes = {
        item_hash: outcome_of(said[majority_run(said)]) for item_hash, said in labels.items()
    }
    several = None
    if runs > 1:
        several = consistency(labels, runs, rubric.category_ids, conversations, seed=seed)
    row = JudgeRow(
        judge=judge,
        template=store.prompt(judge.judge.prompt_hash).template,
        runs=runs,
        items=len(labels),
        incomplete=len(incomplete_items(by_run)),
        invalid=sum(outcome == INVALID for outcome in outcomes.values()),
        consistency=several,
    )
    return row, outcomes


def _kappa(
    one: Outcomes,
    other: Outcomes,
    categories: Sequence[str],
    conversations: Mapping[str, int],
    seed: int,
) -> Kappa:
    both = sorted(one.keys() & other.keys())
    rows = [(conversations[item], one[item], other[item]) for item in both]
    return kappa_between(rows, categories, seed=seed)


def _reading(runs: int) -> Reading:
    return Reading.SINGLE if runs == 1 else Reading.MAJORITY
