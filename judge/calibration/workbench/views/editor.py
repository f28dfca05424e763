"""Writing a prompt template or a rubric: from any version, with what it would be beside it."""

from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.drafts import kept_draft
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.preview import PROMPT, RUBRIC, Typed, base_text, preview
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.view import View
from judge.prompts.prompt_template import PACKAGED_NAME
from judge.prompts.template_store import TemplateStore
from rubrics import InputError, available_versions, latest_version


def editor(bench: Bench, stores: Stores, place: Place) -> View:
    if place.kind not in (PROMPT, RUBRIC):
        raise InputError(f"nothing of the kind {place.kind!r:.40} can be written")
    typed = typed_draft(bench, stores, place)
    templates = TemplateStore(stores.pipeline).templates()
    versions = available_versions(bench.study.rubrics)
    values = {
        "typed": typed,
        "found": preview(bench.study, stores.pipeline, typed),
        "templates": templates,
        "versions": versions,
        "packaged": PACKAGED_NAME,
    }
    return View("editor.html", f"Write a {place.kind}", values, editor_commands(bench, typed))


def typed_draft(bench: Bench, stores: Stores, place: Place) -> Typed:
    """The owner's draft of this kind, or an unchanged copy of the base to start from."""
    kept = kept_draft(stores.pipeline, place.owner, place.kind)
    if kept is not None:
        return Typed(**kept)
    base = PACKAGED_NAME if place.kind == PROMPT else latest_version()
    return fresh(bench, stores, place.kind, base)


def fresh(bench: Bench, stores: Stores, kind: str, base: str) -> Typed:
    """The text of a version as it stands; raises InputError where there is no such version."""
    return Typed(kind, base, base_text(bench.study, stores.pipeline, kind, base))


def editor_commands(bench: Bench, typed: Typed) -> tuple[str, ...]:
    option = bench.study.option
    if typed.kind == RUBRIC:
        return (f"calibrate rubric new FILE.toml{option}",)
    if typed.base == PACKAGED_NAME:
        name = typed.name or "NAME"
        return (f"judge prompt new {name} --file FILE.md --note TEXT{option}",)
    return (f"judge prompt edit {typed.base} --file FILE.md --note TEXT{option}",)
