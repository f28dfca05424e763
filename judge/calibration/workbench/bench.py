"""What the views share: the study, and results that are computed once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotator.annotation import current_annotations
from annotator.labels import recorded_rubric
from annotator.reference import LabelsByAnnotator, labels_by_annotator, reference_labels
from generation.study import DEFAULT_SEED, Study
from judge.calibration.calibration import Calibration
from judge.calibration.comparison.open_comparison import compare_opened
from judge.calibration.comparison.study_comparison import StudyComparison
from judge.calibration.comparison.text import forest_rows, selection_text, verdict_text
from judge.calibration.sampling.repeats import repeated_items
from judge.calibration.sampling.sample_store import sampled_items
from judge.calibration.workbench.launch import Launch
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.readout import Readout, read_out
from judge.calibration.workbench.results import PATIENCE, Result, Results
from judge.calibration.workbench.roster import Contender, contenders
from judge.calibration.workbench.run_progress import RunPlan, run_plan
from judge.calibration.workbench.state import VerdictCounts, labels_state, study_state
from judge.calibration.workbench.stores import Stores, opened
from judge.store import JudgmentStore


@dataclass(frozen=True)
class ComparisonReadout:
    """`result` is what `calibrate compare --json` prints; the others say it in words."""

    result: Mapping[str, Any]
    verdicts: tuple[tuple[str, str], ...]
    selection: str | None


@dataclass(frozen=True)
class LabelCounts:
    """The labels under one rubric version: by annotator, and how many items have any.

    `majority` gives the hash of each item that has one its most frequent label.
    """

    rubric_version: str
    category_ids: tuple[str, ...]
    items: int
    majority: Mapping[str, str]
    annotators: LabelsByAnnotator


@dataclass
class Bench:
    """A study under calibration, whoever looks at it.

    Exports go into the folder `exports`. `opened` is the last look at the test half: shown as
    long as the page is served, since every other look is counted.
    """

    study: Study
    exports: Path
    results: Results = field(default_factory=Results)
    verdicts: VerdictCounts = field(default_factory=VerdictCounts)
    opened: Calibration | None = None

    def roster(self, stores: Stores) -> list[Contender]:
        """Every judge with a verdict, rubric by rubric, the one that judged last at each's end."""
        return contenders(self.study, stores.pipeline, self.verdicts.of(stores.pipeline))

    def readout(self, stores: Stores, contender: Contender, place: Place) -> Result[Readout]:
        """The judge's calibration by the place's reference rule."""
        state = (
            labels_state(stores.labels),
            study_state(stores.pipeline),
            self.verdicts.of(stores.pipeline).get(contender.judge_id),
        )

        def compute() -> Readout:
            rubric = self.study.rubric(contender.rubric_version)
            with opened(self.study) as mine:
                judges = JudgmentStore(mine.pipeline).judges(rubric.version)
                judge = next(each for each in judges if each.judge_id == contender.judge_id)
                rule = place.reference_rule
                return read_out(mine.pipeline, mine.labels, rubric, judge, rule)

        return self.results.get(("readout", contender.judge_id, place.rule), state, compute)

    def comparison(
        self, stores: Stores, baseline: Contender, challenger: Contender, place: Place
    ) -> Result[ComparisonReadout]:
        """The two judges on the dev items that both judged, as `calibrate compare` has it."""
        pair = (baseline, challenger)
        verdicts = self.verdicts.of(stores.pipeline)
        state = (
            labels_state(stores.labels),
            study_state(stores.pipeline),
            *(verdicts.get(each.judge_id) for each in pair),
        )

        def compute() -> ComparisonReadout:
            found = compare_opened(
                self.study,
                [each.rubric_version for each in pair],
                [],
                judges=[each.head for each in pair],
                rule=place.rule,
                seed=DEFAULT_SEED,
            )
            return comparison_readout(found)

        key = ("comparison", *(each.judge_id for each in pair), place.rule)
        return self.results.get(key, state, compute)

    def plan(self, launch: Launch) -> Result[RunPlan]:
        """What a run that was started is over."""

        def compute() -> RunPlan:
            with opened(self.study) as mine:
                return run_plan(self.study, mine.pipeline, launch)

        return self.results.get(("plan", launch.launch_id), launch.launch_id, compute)

    def labels(self, stores: Stores, patience: float = PATIENCE) -> Result[tuple[LabelCounts, ...]]:
        """Everybody's current labels, rubric by rubric; items shown twice count once."""

        def compute() -> tuple[LabelCounts, ...]:
            with opened(self.study) as mine:
                repeats = repeated_items(mine.pipeline)
                versions = [row["version"] for row in mine.labels["rubrics"].rows]
                return tuple(_counts(mine, version, repeats) for version in sorted(versions))

        state = (labels_state(stores.labels), study_state(stores.pipeline))
        return self.results.get("labels", state, compute, patience)


def comparison_readout(found: StudyComparison) -> ComparisonReadout:
    comparison = found.comparison
    baseline = comparison.baseline.name
    words = tuple(
        (name, verdict_text(difference, name.rpartition(", ")[0], comparison, baseline))
        for name, difference in forest_rows(comparison)
    )
    return ComparisonReadout(found.as_dict(), words, selection_text(found))


def _counts(stores: Stores, version: str, repeats: Mapping[str, str]) -> LabelCounts:
    rubric = recorded_rubric(stores.labels, version)
    annotations = [
        said for said in current_annotations(stores.labels, version) if said.item_id not in repeats
    ]
    labels = labels_by_annotator(annotations, rubric)
    sampled = sampled_items(stores.pipeline)
    majority = {
        sampled[item_id]: label
        for item_id, label in reference_labels(annotations, rubric).labels.items()
        if item_id in sampled
    }
    labelled = len({i for given in labels.values() for i in given})
    return LabelCounts(version, rubric.category_ids, labelled, majority, labels)
