"""The judges of a study under every rubric, with the prompt that each reads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from generation.study import Study
from judge.judge import Judge
from judge.store import JudgmentStore
from rubrics import InputError, available_versions, short


@dataclass(frozen=True)
class Contender:
    """A judge that has judged; `rubric_version` and `template` make its prompt."""

    judge_id: str
    judge: Judge
    template: str

    @property
    def head(self) -> str:
        """What commands and addresses name it by."""
        return short(self.judge_id, 12)

    @property
    def rubric_version(self) -> str:
        return self.judge.rubric_version

    @property
    def model(self) -> str:
        return self.judge.model

    @property
    def name(self) -> str:
        prompt = self.template if self.judge.reads_prompt else "no prompt"
        return f"{self.rubric_version} × {prompt} × {self.model}"


def contenders(study: Study, pipeline_db: Database, judged: Iterable[str]) -> list[Contender]:
    """The judges with these ids, rubric by rubric, and of each rubric in the order given."""
    store = JudgmentStore(pipeline_db)
    found = []
    for judge_id in judged:
        judge = store.judge(judge_id)
        found.append(Contender(judge_id, judge, store.prompt(judge.prompt_hash).template))
    known = available_versions(study.rubrics)
    order = [*known, *sorted({each.rubric_version for each in found} - set(known))]
    return sorted(found, key=lambda each: order.index(each.rubric_version))


def named(roster: Sequence[Contender], head: str) -> Contender | None:
    """The judge whose id begins so; raises InputError where none or several do.

    Without a head the one that judged last under the newest rubric, None where nobody judged.
    """
    if not head:
        return roster[-1] if roster else None
    fitting = [each for each in roster if short(each.judge_id, 64).startswith(head)]
    if len(fitting) != 1:
        raise InputError(f"{len(fitting)} judges have the id {head!r:.20}; choose one of the list")
    return fitting[0]


def one_named(roster: Sequence[Contender], head: str) -> Contender:
    """The judge of `named`, for what cannot do without one; raises InputError for none, too."""
    judge = named(roster, head)
    if judge is None:
        raise InputError("nothing is judged yet; run a judge first")
    return judge
