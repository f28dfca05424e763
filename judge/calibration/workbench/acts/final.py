"""Opening the test half, and exporting a calibrated judge prompt."""

from collections.abc import Mapping
from typing import Any

from annotator.reference_rule import ReferenceRule
from judge.calibration.export import export_calibration
from judge.calibration.study_calibration import calibrate_study
from judge.calibration.workbench.acts.done import Done
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.drafts import drop_draft, keep_draft
from judge.calibration.workbench.field import text
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.roster import one_named
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.views.final import FINAL_DRAFT
from rubrics import InputError


def open_test(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Open the test half for a judge, once more."""
    intent = text(fields, "intent", limit=2_000)
    keep_draft(stores.pipeline, place.owner, FINAL_DRAFT, {"intent": intent})
    judge = one_named(bench.roster(stores), text(fields, "judge", limit=80))
    bench.opened = calibrate_study(
        stores.pipeline,
        stores.labels,
        bench.study.rubric(judge.rubric_version),
        judge=judge.judge_id,
        rule=ReferenceRule(place.rule),
        final=intent,
    )
    drop_draft(stores.pipeline, place.owner, FINAL_DRAFT)
    opening = bench.opened.restriction.opening
    return Done(f"The test half is opened for the {opening.number}. time.")


def export(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Write the folder that `calibrate export` writes, of dev or of the opened test half."""
    judge = one_named(bench.roster(stores), text(fields, "judge", limit=80))
    if text(fields, "half", limit=10) == "test":
        calibration = bench.opened
        if calibration is None or calibration.judge_id != judge.judge_id:
            raise InputError("the test half is not open for this judge; open it first")
    else:
        calibration = calibrate_study(
            stores.pipeline,
            stores.labels,
            bench.study.rubric(judge.rubric_version),
            judge=judge.judge_id,
            rule=ReferenceRule(place.rule),
        )
    exported = export_calibration(stores.pipeline, calibration, bench.exports)
    written = "written" if exported.new else "there already, as it is"
    remark = f"{exported.remark}. " if exported.remark else ""
    return Done(
        f"{exported.folder} is {written}. {remark}Use it: judge --prompt {exported.folder}"
        f"{bench.study.option}"
    )
