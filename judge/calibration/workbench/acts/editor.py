"""Starting from a version, and saving what is typed as a new one."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from judge.calibration.authoring import Change, edit_template, new_template
from judge.calibration.rubric_authoring import new_rubric
from judge.calibration.workbench.acts.done import Done
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.drafts import DRAFT_LIMIT, drop_draft, keep_draft, kept_draft
from judge.calibration.workbench.field import text
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.preview import PROMPT, RUBRIC, Typed
from judge.calibration.workbench.run_form import run_form
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.views.editor import fresh
from judge.calibration.workbench.views.runs import RUN_DRAFT
from judge.prompts.prompt_template import PACKAGED_NAME
from rubrics import InputError


def start_from(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Put a version's text into the editor, in the place of what is typed there."""
    kind = _written_kind(text(fields, "kind", limit=20))
    base = text(fields, "base", limit=200)
    keep_draft(stores.pipeline, place.owner, kind, asdict(fresh(bench, stores, kind, base)))
    return Done(f"Started from {base}.", place.at("editor", kind=kind))


def save_version(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Write what is typed as a new version, which never changes again."""
    typed = typed_version(text(fields, "draft", limit=20), fields)
    keep_draft(stores.pipeline, place.owner, typed.kind, asdict(typed))
    if typed.kind == RUBRIC:
        label = new_rubric(bench.study, typed.text).version
        run = {"rubric": label}
    else:
        change = Change(typed.note, typed.text, rubric=typed.rubric or None)
        if typed.base == PACKAGED_NAME:
            label = new_template(bench.study, typed.name, change, PACKAGED_NAME).label
        else:
            label = edit_template(bench.study, typed.base, change).label
        run = {"prompt": label, "rubric": typed.rubric}
    drop_draft(stores.pipeline, place.owner, typed.kind)
    _preset_run(stores, place, run)
    return Done(f"Saved {typed.kind} {label}. Now run it on dev.", place.at("runs"))


def typed_version(kind: str, fields: Mapping[str, Any]) -> Typed:
    """What stands in the editor, as a page sent it; raises InputError."""
    return Typed(
        _written_kind(kind),
        text(fields, "base", limit=200),
        text(fields, "text", limit=DRAFT_LIMIT).replace("\r\n", "\n"),
        text(fields, "name", limit=200).strip(),
        text(fields, "note", limit=2_000),
        text(fields, "rubric", limit=200),
    )


def _written_kind(kind: str) -> str:
    if kind not in (PROMPT, RUBRIC):
        raise InputError(f"nothing of the kind {kind!r:.40} can be written")
    return kind


def _preset_run(stores: Stores, place: Place, changes: dict[str, str]) -> None:
    kept = kept_draft(stores.pipeline, place.owner, RUN_DRAFT) or run_form({}).as_dict()
    keep_draft(stores.pipeline, place.owner, RUN_DRAFT, kept | changes)
