"""Which judge is calibrated: one of those that judged under the rubric."""

from judge.store import JudgmentStore, StoredJudge
from rubrics import InputError, Rubric, short


def choose_judge(
    judges: list[StoredJudge], rubric: Rubric, wanted: str | None = None
) -> StoredJudge:
    """The judge with this model name or id prefix; unless one is named, the newest (the last).

    Raises InputError when there are none, and when the name fits none or several: it lists them.
    """
    judges = [judge for judge in judges if judge.judged]
    if not judges:
        raise InputError(
            f"nothing is judged under rubric {rubric.version} yet; "
            f"run: judge --rubric {rubric.version}"
        )
    if wanted is None:
        return judges[-1]
    fitting = [judge for judge in judges if judge.judge.model == wanted] or [
        judge
        for judge in judges
        if wanted and short(judge.judge_id, 64).startswith(wanted.removeprefix("sha256:"))
    ]
    if len(fitting) == 1:
        return fitting[0]
    listed = "; ".join(judge_name(judge) for judge in fitting or judges)
    problem = f"{len(fitting)} judges fit" if fitting else "no judge fits"
    raise InputError(f"{problem} {wanted!r}; choose by id, --judge ID: {listed}")


def judge_name(judge: StoredJudge) -> str:
    """How a judge is named to people: its model and the head of its id."""
    return f"{judge.judge.model} ({short(judge.judge_id)}, {judge.judged} judged)"


def judge_dict(judge: StoredJudge) -> dict[str, object]:
    """A judge for JSON."""
    return {
        "judge_id": judge.judge_id,
        "model": judge.judge.model,
        "parameters": judge.judge.parameters,
        "prompt_hash": judge.judge.prompt_hash,
        "judged": judge.judged,
    }


def check_judged_under(store: JudgmentStore, judge: StoredJudge, rubric: Rubric) -> None:
    """Raises InputError unless the judge's prompt holds the packaged `rubric`, text for text."""
    judged_under = store.prompt(judge.judge.prompt_hash).rubric_hash
    _refuse_several(
        rubric,
        {
            "in this installation": rubric.hash,
            f"that {judge.judge.model} judged under": judged_under,
        },
    )


def check_rubric(
    store: JudgmentStore, judge: StoredJudge, rubric: Rubric, recorded: Rubric
) -> None:
    """Refuse to compare labels and judgments that were made under different texts.

    Raises InputError unless the packaged `rubric`, the one `recorded` with the labels and the one
    in the judge's prompt have the same hash.
    """
    judged_under = store.prompt(judge.judge.prompt_hash).rubric_hash
    _refuse_several(
        rubric,
        {
            "in this installation": rubric.hash,
            "that people labelled under": recorded.hash,
            f"that {judge.judge.model} judged under": judged_under,
        },
    )


def _refuse_several(rubric: Rubric, hashes: dict[str, str]) -> None:
    if len(set(hashes.values())) > 1:
        listed = ", ".join(f"{short(found)} {where}" for where, found in hashes.items())
        raise InputError(
            f"rubric {rubric.version} is not one text but several: {listed}; "
            "a changed rubric needs a new version"
        )
