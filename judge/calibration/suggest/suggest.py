"""From a study to a suggestion: a revised template, checked on items that it was not made from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from annotator.labels import open_labels
from annotator.reference_rule import ReferenceRule
from generation.study import Study
from judge.calibration.causes.cause_store import current_notes
from judge.calibration.judge_choice import choose_judge, judge_name
from judge.calibration.leak import labelling_items, refuse_leak
from judge.calibration.splits.frozen_split import frozen_split, part_of
from judge.calibration.study_calibration import calibrate_study
from judge.calibration.suggest.examples import Examples, choose_examples
from judge.calibration.suggest.guard import Guard
from judge.calibration.suggest.optimizer import PromptOptimizer, Proposal
from judge.calibration.suggest.reflection import Reflection
from judge.calibration.suggest.trial import Say, Trial
from judge.chat_judge import ChatJudge
from judge.config import checked_model
from judge.plural import counted
from judge.prompts.prompt import JudgePrompt, render_prompt
from judge.prompts.prompt_template import PromptTemplate
from judge.prompts.template_store import TemplateStore
from judge.server.endpoint import find_endpoint
from judge.server.parameters import Parameters
from judge.store import JudgmentStore, StoredJudge, open_pipeline
from rubrics import InputError, Rubric

DEFAULT_CALLS = 150  # verdicts


@dataclass(frozen=True)
class Wish:
    """What is to be suggested, and at what server; None where the study or the server says.

    `model` is the one that reflects; without it the judge's own. `max_tokens` are of one of its
    replies.
    """

    prompt: str | None = None
    rubric: str | None = None
    judge: str | None = None
    rule: ReferenceRule = ReferenceRule.MAJORITY
    model: str | None = None
    max_tokens: int | None = None
    base_url: str | None = None
    calls: int = DEFAULT_CALLS
    seed: int = 0


@dataclass(frozen=True)
class Suggestion:
    """A proposed template text; that of the base where no other did better on held-out items.

    `unusable` are the reasons why replies of the reflection model came to nothing.
    """

    base: PromptTemplate
    rubric: Rubric
    judge: StoredJudge
    examples: Examples
    proposal: Proposal
    unusable: tuple[str, ...]
    seed: int

    @property
    def improved(self) -> bool:
        return self.proposal.right > self.proposal.base_right

    @property
    def note(self) -> str:
        """What the template's next version says of its origin."""
        found = self.proposal
        return (
            f"GEPA from {counted(self.examples.tagged, 'tagged disagreement')} of "
            f"{self.base.label}; on {counted(len(self.examples.validation), 'held-out item')} "
            f"right {found.base_right} → {found.right}"
        )

    def as_dict(self) -> dict[str, Any]:
        held_out = len(self.examples.validation)
        return {
            "base": self.base.label,
            "rubric": self.rubric.version,
            "judge_id": self.judge.judge_id,
            "model": self.judge.judge.model,
            "text": self.proposal.text,
            "note": self.note,
            "tagged": self.examples.tagged,
            "train": len(self.examples.train),
            "validation": held_out,
            "base_score": self.proposal.base_right / held_out,
            "proposed_score": self.proposal.right / held_out,
            "improved": self.improved,
            "tried": self.proposal.tried,
            "unusable": list(self.unusable),
            "calls": self.proposal.calls,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class _Subject:
    """What is to be improved, read from the study before anything is asked of a server."""

    base: PromptTemplate
    prompt: JudgePrompt
    rubric: Rubric
    judge: StoredJudge
    examples: Examples
    guard: Guard


def suggest(
    study: Study,
    optimizer: PromptOptimizer,
    wish: Wish,
    say: Say,
    progressed: Callable[[], None] = lambda: None,
) -> Suggestion:
    """Let the optimizer revise the template by which a judge disagreed with people.

    The judge is asked anew, with its model and parameters as stored; the study stays as it is.

    Raises InputError as long as no split is frozen or too little is tagged, for a judge that reads
    no prompt or another one, and when the server refuses or cannot be reached.
    """
    endpoint = find_endpoint(wish.base_url)
    model = checked_model(wish.model) if wish.model is not None else None
    subject = _read(study, wish)
    judge = subject.judge.judge
    chat = ChatJudge(
        endpoint,
        judge.model,
        Parameters(judge.parameters, logprobs=False),
        subject.prompt,
        subject.rubric,
    )
    trial = Trial(chat, subject.guard.admit, say, progressed)
    limit = {} if wish.max_tokens is None else {"max_completion_tokens": wish.max_tokens}
    reflection = Reflection(
        endpoint,
        model or judge.model,
        subject.rubric,
        subject.guard.admit,
        say,
        Parameters(limit, logprobs=False),
    )
    proposal = optimizer.propose(
        subject.base.text,
        subject.examples.train,
        subject.examples.validation,
        trial.evaluate,
        reflection.reflect,
        wish.calls,
        wish.seed,
    )
    return Suggestion(
        subject.base,
        subject.rubric,
        subject.judge,
        subject.examples,
        proposal,
        tuple(reflection.unusable),
        wish.seed,
    )


def _read(study: Study, wish: Wish) -> _Subject:
    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        frozen = frozen_split(pipeline_db)
        if frozen is None:
            raise InputError(
                "no split is frozen, so there is no dev half to learn from; freeze it: "
                f"calibrate split{study.option}"
            )
        base, rubric, judge = _base(study, pipeline_db, wish)
        prompt = render_prompt(rubric, base)
        refuse_leak(pipeline_db, prompt, study.option)
        calibration = calibrate_study(
            pipeline_db, labels_db, rubric, judge=judge.judge_id, rule=wish.rule
        )
        notes = current_notes(pipeline_db, judge.judge_id)
        examples = choose_examples(calibration.pairing.pairs, notes, study.option)
        test = tuple(
            entry for entry in labelling_items(pipeline_db) if part_of(entry[1], frozen) == "test"
        )
    validation = tuple((example.item_id, example.item) for example in examples.validation)
    return _Subject(base, prompt, rubric, judge, examples, Guard(base, rubric, test, validation))


def _base(
    study: Study, pipeline_db: Database, wish: Wish
) -> tuple[PromptTemplate, Rubric, StoredJudge]:
    """The template to improve and the judge that read it; either may name the other."""
    templates, store = TemplateStore(pipeline_db, study.option), JudgmentStore(pipeline_db)
    named = templates.template(wish.prompt) if wish.prompt else None
    rubric = named.rubric(study, wish.rubric) if named else study.rubric(wish.rubric)
    judges = [stored for stored in store.judges(rubric.version) if stored.judge.reads_prompt]
    if named:
        made = render_prompt(rubric, named).prompt_hash
        judges = [stored for stored in judges if stored.judge.prompt_hash == made]
    if not any(stored.judged for stored in judges):
        option = f" --prompt {named.label}" if named else ""
        raise InputError(
            f"no judge model has judged with {named.label if named else 'any prompt'} under rubric "
            f"{rubric.version} yet; run one: judge{option} --model NAME --rubric {rubric.version} "
            f"--on dev{study.option}"
        )
    judge = choose_judge(judges, rubric, wish.judge)
    if named:
        return named, rubric, judge
    label = store.prompt(judge.judge.prompt_hash).template
    base = templates.template(label)
    if render_prompt(rubric, base).prompt_hash != judge.judge.prompt_hash:
        raise InputError(
            f"{judge_name(judge)} read another text than {label} is in this study; name the "
            "template that is to be improved: --prompt NAME"
        )
    return base, rubric, judge
