"""From what was asked for to the comparison: which judges, which half of the questions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlite_utils import Database

from annotator.labels import open_labels
from annotator.reference_rule import ReferenceRule
from generation.study import Study
from judge.calibration.comparison.contestants import Entrant, by_prompt, by_rubric
from judge.calibration.comparison.study_comparison import (
    StudyComparison,
    compare_study,
    labelled_rubric,
)
from judge.calibration.splits.frozen_split import FrozenSplit, frozen_split
from judge.calibration.splits.study_split import split_study
from judge.store import JudgmentStore, open_pipeline
from rubrics import InputError, latest_version

JUST_FROZEN = "the split into dev and test was frozen by this comparison; see it: calibrate split"


def compare_opened(
    study: Study,
    versions: Sequence[str],
    prompts: Sequence[str],
    *,
    judges: Sequence[str] = (),
    rule: str | None = None,
    **choices: Any,
) -> StudyComparison:
    """Compare judges of two rubrics or more, or of two prompts or more of one rubric.

    Of one rubric without prompts those that `judges` names. Raises InputError for less than two of
    either, or two of both, and for an unknown rule.
    """
    if len(judges) > 1 and len(versions) < 2 and not prompts:
        versions = [versions[0] if versions else latest_version()] * len(judges)
    if (len(prompts) > 1) == (len(versions) > 1) or len(prompts) == 1:
        raise InputError(
            f"found {len(prompts)} --prompt and {len(versions)} --rubric, expected two or more of "
            "one: calibrate compare --rubric v2 --rubric v3, or --prompt A --prompt B, or "
            "--judge A --judge B"
        )
    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        store = JudgmentStore(pipeline_db)
        if prompts:
            rubric = study.rubric(versions[0] if versions else None)
            entrants = by_prompt(store, rubric, prompts, judges)
        else:
            entrants = by_rubric(store, [study.rubric(version) for version in versions], judges)
        # Prompts are chosen by what a comparison says, so it never sees the test half.
        known = frozen_split(pipeline_db)
        frozen = known or _freeze(pipeline_db, labels_db, entrants)
        found = compare_study(
            pipeline_db,
            labels_db,
            entrants,
            rule=_parsed(rule),
            frozen=frozen,
            part="dev",
            **choices,
        )
    return found if known else replace(found, remarks=(*found.remarks, JUST_FROZEN))


def _freeze(pipeline_db: Database, labels_db: Database, entrants: Sequence[Entrant]) -> FrozenSplit:
    version = labelled_rubric(labels_db, entrants).version
    return split_study(pipeline_db, labels_db, version).frozen


def _parsed(rule: str | None) -> ReferenceRule:
    try:
        return ReferenceRule(rule or ReferenceRule.MAJORITY)
    except ValueError:
        raise InputError(
            f"unknown --reference {rule!r}; expected one of {', '.join(ReferenceRule)}, or name a "
            "FILE to take it for a rater"
        ) from None
