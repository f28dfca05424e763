"""Keeping what is typed in a form and not sent yet."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from judge.calibration.workbench.acts.done import Done
from judge.calibration.workbench.acts.editor import typed_version
from judge.calibration.workbench.acts.items import typed_note
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.drafts import keep_draft
from judge.calibration.workbench.field import text
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.preview import PROMPT, RUBRIC
from judge.calibration.workbench.run_form import run_form
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.suggest_form import suggest_form
from judge.calibration.workbench.views.final import FINAL_DRAFT
from judge.calibration.workbench.views.items import NOTE_DRAFT
from judge.calibration.workbench.views.runs import RUN_DRAFT
from judge.calibration.workbench.views.suggest import SUGGEST_DRAFT
from rubrics import InputError


def keep_form(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Keep what is typed in a form, whatever it is worth."""
    kind = text(fields, "draft", limit=20)
    if kind in (PROMPT, RUBRIC):
        content = asdict(typed_version(kind, fields))
    elif kind == RUN_DRAFT:
        content = run_form(fields).as_dict()
    elif kind == SUGGEST_DRAFT:
        content = suggest_form(fields).as_dict()
    elif kind == NOTE_DRAFT:
        content = asdict(typed_note(fields))
    elif kind == FINAL_DRAFT:
        content = {"intent": text(fields, "intent", limit=2_000)}
    else:
        raise InputError(f"the page sent a draft of {kind!r:.40}; reload it")
    keep_draft(stores.pipeline, place.owner, kind, content)
    return Done("Draft kept.", quiet=kind not in (PROMPT, RUBRIC))
