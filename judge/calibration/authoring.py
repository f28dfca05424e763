"""Writing versions of a judge prompt: drafted, rendered, held against the test split, stored."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.labels import open_labels
from generation.database import immediate
from generation.study import Study
from judge.calibration.few_shot import choose_shots
from judge.calibration.leak import refuse_leak
from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import PACKAGED_NAME, PromptTemplate, Shot
from judge.prompts.template_store import TemplateStore
from judge.store import open_pipeline

Draft = Callable[[TemplateStore, tuple[Shot, ...] | None], PromptTemplate]


@dataclass(frozen=True)
class Change:
    """What is to differ from the template that one starts from; None where it stays.

    `rubric` is the version to choose shots under and to try the template with.
    """

    note: str
    text: str | None = None
    shots: int | None = None
    rubric: str | None = None


def starting_point(study: Study, name: str, base: str | None = None) -> PromptTemplate:
    """What a new template `name` starts from: NAME[@N] of `base`, else the packaged template.

    Raises InputError when the name cannot be had or there is no such base.
    """
    with open_pipeline(study.pipeline) as database:
        store = TemplateStore(database, study.option)
        store.check_free(name)
        return store.template(base or PACKAGED_NAME)


def editing_point(study: Study, reference: str) -> PromptTemplate:
    """The version NAME@N, or the newest of NAME, to edit; raises InputError if there is none."""
    with open_pipeline(study.pipeline) as database:
        return TemplateStore(database, study.option).editable(reference)


def new_template(
    study: Study, name: str, change: Change, base: str | None = None
) -> PromptTemplate:
    """Write version 1 of a new template; it starts from `base`, or from nothing but its text.

    Raises InputError when the name is taken, the template cannot be rendered, there are too few
    items for the shots, or it quotes an item of the test split. Then nothing is written.
    """

    def draft(store: TemplateStore, shots: tuple[Shot, ...] | None) -> PromptTemplate:
        start = store.template(base or PACKAGED_NAME)
        return store.first(
            name,
            text=start.text if change.text is None else change.text,
            shots=start.shots if shots is None else shots,
            note=change.note,
            parent=start.label if base or change.text is None else "",
        )

    return _written(study, change, draft)


def edit_template(study: Study, reference: str, change: Change) -> PromptTemplate:
    """Write the next version of NAME, made from its newest or from the one that NAME@N names.

    Raises InputError as `new_template` does, and when nothing would change.
    """

    def draft(store: TemplateStore, shots: tuple[Shot, ...] | None) -> PromptTemplate:
        base = store.editable(reference)
        return store.successor(
            base,
            text=base.text if change.text is None else change.text,
            shots=base.shots if shots is None else shots,
            note=change.note,
        )

    return _written(study, change, draft)


def _written(study: Study, change: Change, draft: Draft) -> PromptTemplate:
    with open_pipeline(study.pipeline) as database:
        store = TemplateStore(database, study.option)
        shots = None if change.shots is None else _chosen(study, database, change)
        with immediate(database):  # of two edits at once, the later one sees the earlier's
            template = draft(store, shots)
            prompt = render_prompt(template.rubric(study, change.rubric), template)
            refuse_leak(database, prompt, study.option)
            store.put(template)
    return template


def _chosen(study: Study, pipeline_db: Database, change: Change) -> tuple[Shot, ...]:
    if not change.shots:
        return ()
    with open_labels(study.labels) as labels_db:
        rubric = study.rubric(change.rubric)
        return choose_shots(pipeline_db, labels_db, rubric, change.shots, study.option)
