"""Which judges are compared: one per rubric, or one per judge prompt of a rubric."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from judge.calibration.judge_choice import check_judged_under, choose_judge, judge_name
from judge.prompts.prompt import JudgePrompt
from judge.store import JudgmentStore, StoredJudge
from rubrics import InputError, Rubric, short

SHORTEST_HEAD = 4  # digits of an id that name a judge


@dataclass(frozen=True)
class Entrant:
    """A judge with its prompt and rubric, under the name that results call it."""

    name: str
    judge: StoredJudge
    prompt: JudgePrompt
    rubric: Rubric


@dataclass(frozen=True)
class Candidate:
    """A judge that judged under the rubric, with its prompt."""

    judge: StoredJudge
    prompt: JudgePrompt

    @property
    def template(self) -> str:
        """The template's name, without a version."""
        return self.prompt.template.partition("@")[0]

    @property
    def version(self) -> int:
        number = self.prompt.template.partition("@")[2]
        return int(number) if number.isdigit() else 0


def by_rubric(
    store: JudgmentStore, rubrics: Sequence[Rubric], judges: Sequence[str] = ()
) -> list[Entrant]:
    """The judge of each rubric that judged last, or those that `judges` names.

    `judges` is one model or id head for all rubrics, or one for each in order. Raises InputError
    where a rubric has no judge, a name fits none or several, and for the same judge twice.
    """
    entrants = []
    for rubric, wanted in zip(rubrics, one_each(judges, len(rubrics)), strict=True):
        chosen = choose_judge(store.judges(rubric.version), rubric, wanted)
        check_judged_under(store, chosen, rubric)
        name = f"{rubric.version}, {chosen.judge.model}"
        entrants.append(Entrant(name, chosen, store.prompt(chosen.judge.prompt_hash), rubric))
    return _told_apart(entrants)


def by_prompt(
    store: JudgmentStore, rubric: Rubric, prompts: Sequence[str], judges: Sequence[str] = ()
) -> list[Entrant]:
    """One judge per prompt: NAME@N, NAME for its newest version that judged, or the head of an id.

    The id is a prompt's or a judge's. Of judges that share a prompt `judges` (a model or id head,
    one for all or one each) names one, or else the only model that judged with every prompt.
    Raises InputError where a prompt fits no judge or several, naming them, and for the same judge
    twice.
    """
    known = [judge for judge in store.judges(rubric.version) if judge.judged]
    if not known:
        raise InputError(
            f"nothing is judged under rubric {rubric.version} yet; "
            f"run: judge --rubric {rubric.version}"
        )
    listed = [Candidate(judge, store.prompt(judge.judge.prompt_hash)) for judge in known]
    fitting = [_fitting(listed, prompt) for prompt in prompts]
    if judges:
        named = one_each(judges, len(prompts))
        fitting = [_named(fits, wanted) for fits, wanted in zip(fitting, named, strict=True)]
    else:
        fitting = _of_one_model(fitting)
    entrants = []
    for wanted, fits in zip(prompts, fitting, strict=True):
        only = _only(fits, listed, wanted, rubric)
        check_judged_under(store, only.judge, rubric)
        called = only.prompt.template if wanted == only.template else wanted
        name = f"{called}, {only.judge.judge.model}"
        entrants.append(Entrant(name, only.judge, only.prompt, rubric))
    return _told_apart(entrants)


def one_each(judges: Sequence[str], count: int) -> list[str | None]:
    """The --judge of each contestant; raises InputError unless one serves all or each has one."""
    if len(judges) not in (0, 1, count):
        raise InputError(
            f"found {len(judges)} --judge for {count} to compare, expected one for all of them, "
            "or one each in the same order"
        )
    return list(judges) if len(judges) == count else [*judges, None][:1] * count


def _fitting(listed: Sequence[Candidate], wanted: str) -> list[Candidate]:
    """The judges of a prompt, by exact name, else by name of any version, else by id."""
    exact = [each for each in listed if each.prompt.template == wanted]
    versions = [each for each in listed if each.template == wanted]
    if exact or versions:
        newest = max((each.version for each in versions), default=0)
        return exact or [each for each in versions if each.version == newest]
    return [
        each
        for each in listed
        if _heads(wanted, each.judge.judge_id) or _heads(wanted, each.judge.judge.prompt_hash)
    ]


def _named(fitting: list[Candidate], wanted: str | None) -> list[Candidate]:
    """Of several that fit, those of this model or id."""
    if len(fitting) < 2 or wanted is None:
        return fitting
    return [
        each
        for each in fitting
        if each.judge.judge.model == wanted or _heads(wanted, each.judge.judge_id)
    ]


def _of_one_model(fitting: list[list[Candidate]]) -> list[list[Candidate]]:
    """Narrowed to the only model of which every prompt has just one judge, if there is such."""
    models = [[each.judge.judge.model for each in fits] for fits in fitting]
    shared = [
        model
        for model in dict.fromkeys(chain(*models))
        if all(of_prompt.count(model) == 1 for of_prompt in models)
    ]
    if len(shared) != 1:
        return fitting
    return [[each for each in fits if each.judge.judge.model == shared[0]] for fits in fitting]


def _only(
    fits: Sequence[Candidate], listed: Sequence[Candidate], wanted: str, rubric: Rubric
) -> Candidate:
    if len(fits) == 1:
        return fits[0]
    choices = "; ".join(
        f"{each.prompt.template} by {judge_name(each.judge)}" for each in fits or listed
    )
    problem = f"{len(fits)} judges have" if fits else "no judge has"
    raise InputError(
        f"{problem} the prompt {wanted!r} under rubric {rubric.version}; name one by its id, "
        f"or add --judge MODEL: {choices}"
    )


def _told_apart(entrants: list[Entrant]) -> list[Entrant]:
    """Names that differ. Raises InputError for the same judge twice."""
    for place, entrant in enumerate(entrants):
        twin = next((e for e in entrants[:place] if e.judge == entrant.judge), None)
        if twin:
            raise InputError(
                f"{twin.name} and {entrant.name} are the same judge, "
                f"{judge_name(entrant.judge)}; name two that differ"
            )
    names = [entrant.name for entrant in entrants]
    return [
        entrant
        if names.count(entrant.name) == 1
        else replace(entrant, name=f"{entrant.name} ({short(entrant.judge.judge_id)})")
        for entrant in entrants
    ]


def _heads(wanted: str, known: str) -> bool:
    head = wanted.removeprefix("sha256:")
    return len(head) >= SHORTEST_HEAD and short(known, 64).startswith(head)
