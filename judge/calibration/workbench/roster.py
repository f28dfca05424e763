"""The judges of a study under every rubric, with the prompt that each reads."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from generation.study import Study
from judge.store import JudgmentStore, StoredJudge
from rubrics import InputError, available_versions, short


@dataclass(frozen=True)
class Contender:
    """A judge that has judged; `rubric_version` and `template` make its prompt."""

    judge: StoredJudge
    template: str

    @property
    def judge_id(self) -> str:
        return self.judge.judge_id

    @property
    def head(self) -> str:
        """What commands and addresses name it by."""
        return short(self.judge.judge_id, 12)

    @property
    def rubric_version(self) -> str:
        return self.judge.judge.rubric_version

    @property
    def model(self) -> str:
        return self.judge.judge.model

    @property
    def name(self) -> str:
        prompt = self.template if self.judge.judge.reads_prompt else "no prompt"
        return f"{self.rubric_version} × {prompt} × {self.model}"


def contenders(study: Study, pipeline_db: Database) -> list[Contender]:
    """Every judge with a verdict, rubric by rubric, the one that judged last at the end of each."""
    store = JudgmentStore(pipeline_db)
    versions = [row[0] for row in pipeline_db.conn.execute("SELECT rubric_version FROM judges")]
    known = available_versions(study.rubrics)
    order = [*known, *sorted(set(versions) - set(known))]
    return [
        Contender(judge, store.prompt(judge.judge.prompt_hash).template)
        for version in order
        if version in versions
        for judge in store.judges(version)
        if judge.judged
    ]


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
