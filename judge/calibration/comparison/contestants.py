"""Which judges are compared: the newest of each rubric, or one per judge prompt."""

from dataclasses import dataclass

from judge.calibration.judge_choice import check_judged_under, choose_judge, judge_name
from judge.prompts.prompt import JudgePrompt
from judge.store import JudgmentStore, StoredJudge
from rubrics import InputError, Rubric, short


@dataclass(frozen=True)
class Entrant:
    """A judge with its prompt and rubric, under the name that it was asked for by."""

    name: str
    judge: StoredJudge
    prompt: JudgePrompt
    rubric: Rubric


def by_rubric(
    store: JudgmentStore, rubrics: list[Rubric], judge: str | None = None
) -> list[Entrant]:
    """The judge of each rubric that judged last, or the one that `judge` names in each.

    Raises InputError where a rubric has none, or `judge` fits none or several.
    """
    entrants = []
    for rubric in rubrics:
        chosen = choose_judge(store.judges(rubric.version), rubric, judge)
        check_judged_under(store, chosen, rubric)
        name = f"{rubric.version}, {chosen.judge.model}"
        entrants.append(Entrant(name, chosen, store.prompt(chosen.judge.prompt_hash), rubric))
    return entrants


def by_prompt(
    store: JudgmentStore, rubric: Rubric, prompts: list[str], model: str | None = None
) -> list[Entrant]:
    """One judge per prompt: a template's name, or the head of a prompt's or a judge's id.

    `model` (a model or the head of a judge's id) chooses among judges that share a prompt. Raises
    InputError where a prompt fits no judge or several, naming them, and for the same judge twice.
    """
    judges = [judge for judge in store.judges(rubric.version) if judge.judged]
    if not judges:
        raise InputError(
            f"nothing is judged under rubric {rubric.version} yet; "
            f"run: judge --rubric {rubric.version}"
        )
    entrants = [_entrant(store, rubric, judges, prompt, model) for prompt in prompts]
    for place, entrant in enumerate(entrants):
        twin = next((e for e in entrants[:place] if e.judge == entrant.judge), None)
        if twin:
            raise InputError(
                f"{twin.name} and {entrant.name} are the same judge, "
                f"{judge_name(entrant.judge)}; name two that differ"
            )
    return entrants


def _entrant(
    store: JudgmentStore,
    rubric: Rubric,
    judges: list[StoredJudge],
    wanted: str,
    model: str | None,
) -> Entrant:
    prompts = {judge.judge_id: store.prompt(judge.judge.prompt_hash) for judge in judges}
    fitting = [judge for judge in judges if _fits(judge, prompts[judge.judge_id], wanted)]
    if model is not None and len(fitting) > 1:
        fitting = [judge for judge in fitting if _is(judge, model)]
    if len(fitting) != 1:
        listed = "; ".join(
            f"{prompts[judge.judge_id].template} by {judge_name(judge)}"
            for judge in fitting or judges
        )
        problem = f"{len(fitting)} judges have" if fitting else "no judge has"
        raise InputError(
            f"{problem} the prompt {wanted!r} under rubric {rubric.version}; name one by its id, "
            f"or add --judge MODEL: {listed}"
        )
    chosen = fitting[0]
    check_judged_under(store, chosen, rubric)
    return Entrant(f"{wanted}, {chosen.judge.model}", chosen, prompts[chosen.judge_id], rubric)


def _fits(judge: StoredJudge, prompt: JudgePrompt, wanted: str) -> bool:
    if prompt.template == wanted:
        return True
    head = wanted.removeprefix("sha256:")
    ids = (judge.judge_id, judge.judge.prompt_hash)
    return len(head) >= 4 and any(short(known, 64).startswith(head) for known in ids)


def _is(judge: StoredJudge, model: str) -> bool:
    head = model.removeprefix("sha256:")
    return judge.judge.model == model or short(judge.judge_id, 64).startswith(head)
