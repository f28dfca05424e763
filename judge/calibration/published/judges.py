"""Whose verdicts are published, and how far each of these judges agrees with people."""

from sqlite_utils import Database

from generation.study import Study
from judge.calibration.judge_choice import choose_judge
from judge.calibration.main_run.judge_quality import JudgeQuality, found_kappa, unknown_quality
from judge.calibration.published.published import Wanted
from judge.calibration.study_calibration import calibrate_study
from judge.store import JudgmentStore, StoredJudge
from rubrics import InputError, Rubric, parse_rubric


def wanted_judges(pipeline_db: Database, study: Study, wanted: Wanted) -> list[StoredJudge]:
    """The judges that have judged, by rubric version; raises InputError where none is as wanted."""
    rows = pipeline_db.conn.execute(
        """SELECT DISTINCT rubric_version FROM judges
           WHERE ? IS NULL OR rubric_version = ? ORDER BY 1""",
        [wanted.version, wanted.version],
    )
    store = JudgmentStore(pipeline_db)
    found = [judge for (version,) in rows.fetchall() for judge in store.judges(version)]
    if wanted.judge is not None:
        return [choose_judge(found, study.rubric(wanted.version), wanted.judge)]
    return [judge for judge in found if judge.judged]


def rubric_of(pipeline_db: Database, judge: StoredJudge) -> Rubric:
    """The rubric as the judge read it."""
    prompt = JudgmentStore(pipeline_db).prompt(judge.judge.prompt_hash)
    return parse_rubric(prompt.rubric_text, source=f"the prompt of {judge.judge.model}")


def quality_of(pipeline_db: Database, labels_db: Database, judge: StoredJudge) -> JudgeQuality:
    """Its kappa with people's labels of the study, published or not; without names of anybody."""
    rubric = rubric_of(pipeline_db, judge)
    try:
        found = calibrate_study(pipeline_db, labels_db, rubric, judge.judge_id)
    except InputError as error:  # such as that nobody has labelled under this rubric
        return unknown_quality(str(error).partition("; ")[0])
    half = f" of the {found.restriction.part} half" if found.restriction.part else ""
    return JudgeQuality(
        found_kappa(found.kappas.labels), found_kappa(found.kappas.sigma), f"{found.rule}{half}"
    )
