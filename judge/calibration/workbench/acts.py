"""What an owner does on the page: each act is what a command does, and answers with a message."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from annotator.reference_rule import ReferenceRule
from judge.calibration.authoring import Change, edit_template, new_template
from judge.calibration.causes.cause import MEMO_LIMIT
from judge.calibration.causes.cause_store import note_cause
from judge.calibration.export import export_calibration
from judge.calibration.rubric_authoring import new_rubric
from judge.calibration.splits.study_split import split_study
from judge.calibration.study_calibration import calibrate_study
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.drafts import DRAFT_LIMIT, drop_draft, keep_draft, kept_draft
from judge.calibration.workbench.field import number, text, texts
from judge.calibration.workbench.launch import find, start, stop
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.preview import PROMPT, RUBRIC, Typed
from judge.calibration.workbench.roster import Contender, named
from judge.calibration.workbench.run_form import dev_run, run_form
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.suggest_form import suggest_command, suggest_form
from judge.calibration.workbench.views.editor import fresh
from judge.calibration.workbench.views.final import FINAL_DRAFT
from judge.calibration.workbench.views.items import NOTE_DRAFT, TypedNote
from judge.calibration.workbench.views.runs import RUN_DRAFT
from judge.calibration.workbench.views.suggest import SUGGEST_DRAFT, shown_suggestion
from judge.instrument import Budget, choose_instrument
from judge.prompts.prompt_template import PACKAGED_NAME
from judge.runs.estimate import estimate_run, estimate_text
from judge.runs.scope import dev_scope
from rubrics import InputError

EXPORTS = "exports"  # beside where the page was started, as the command has it
_LAST_ID = 2**63 - 1  # that SQLite can give to a row


@dataclass(frozen=True)
class Done:
    """`goto` is where to go now, None for staying; the view is shown anew unless `quiet`.

    `fields` are those of the form that the act has changed.
    """

    message: str
    goto: Place | None = None
    quiet: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)


Act = Callable[[Bench, Stores, Place, Mapping[str, Any]], Done]


def keep_form(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Keep what is typed in a form, whatever it is worth."""
    kind = text(fields, "draft", limit=20)
    if kind in (PROMPT, RUBRIC):
        content = asdict(_typed(kind, fields))
    elif kind == RUN_DRAFT:
        content = run_form(fields).as_dict()
    elif kind == SUGGEST_DRAFT:
        content = suggest_form(fields).as_dict()
    elif kind == NOTE_DRAFT:
        content = asdict(_typed_note(fields))
    elif kind == FINAL_DRAFT:
        content = {"intent": text(fields, "intent", limit=2_000)}
    else:
        raise InputError(f"the page sent a draft of {kind!r:.40}; reload it")
    keep_draft(stores.pipeline, place.owner, kind, content)
    return Done("Draft kept.", quiet=kind not in (PROMPT, RUBRIC))


def note_item(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Store the causes and the memo of the item that was on screen."""
    typed = _typed_note(fields)
    judge = _judge(bench, stores, typed.judge)
    note = note_cause(
        stores.pipeline,
        stores.labels,
        judge.judge_id,
        judge.judge,
        typed.item,
        causes=[*typed.causes, *filter(str.strip, typed.own.split(","))],
        memo=typed.memo,
        owner=place.owner,
        seen=_stored_id(fields, "seen"),
    )
    drop_draft(stores.pipeline, place.owner, NOTE_DRAFT)
    return Done(
        f"Noted: {', '.join(note.causes) or 'no cause'} (note {note.note_id}).",
        fields={"seen": str(note.note_id)},
    )


def start_from(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Put a version's text into the editor, in the place of what is typed there."""
    kind = _written_kind(text(fields, "kind", limit=20))
    base = text(fields, "base", limit=200)
    keep_draft(stores.pipeline, place.owner, kind, asdict(fresh(bench, stores, kind, base)))
    return Done(f"Started from {base}.", _editor(place, kind))


def save_version(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Write what is typed as a new version, which never changes again."""
    typed = _typed(text(fields, "draft", limit=20), fields)
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
    return Done(f"Saved {typed.kind} {label}. Now run it on dev.", _at(place, "runs"))


def estimate(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Say what a run would take."""
    form = run_form(fields)
    keep_draft(stores.pipeline, place.owner, RUN_DRAFT, form.as_dict())
    run = dev_run(form)
    frozen = _freeze(bench, stores)
    budget = Budget(run.prices, run.max_cost)
    scope = dev_scope(bench.study, stores.pipeline, run.draw)
    instrument = choose_instrument(run.config, bench.study, budget)
    found = estimate_run(bench.study, instrument, scope, budget)
    return Done(f"{estimate_text(found)}{frozen}", quiet=True)


def start_run(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Start the command of the form; it goes on when the page is closed."""
    form = run_form(fields)
    keep_draft(stores.pipeline, place.owner, RUN_DRAFT, form.as_dict())
    run = dev_run(form)
    frozen = _freeze(bench, stores)
    choose_instrument(run.config, bench.study, Budget(run.prices, run.max_cost))
    launch = start(
        bench.study, stores.pipeline, place.owner, run.command(bench.study), form.as_dict()
    )
    return Done(f"Run {launch.launch_id} is started.{frozen}")


def resume_run(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Start the command of an ended run again: it goes on where that one stopped."""
    before = find(bench.study, stores.pipeline, _launch_id(fields))
    if before.alive:
        raise InputError(f"run {before.launch_id} is still going on")
    launch = start(bench.study, stores.pipeline, place.owner, before.command, dict(before.choices))
    return Done(f"Run {launch.launch_id} goes on where run {before.launch_id} stopped.")


def stop_run(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Stop a run in order: what it has is kept."""
    launch = find(bench.study, stores.pipeline, _launch_id(fields))
    stop(launch)
    return Done(f"Run {launch.launch_id} is told to stop; its verdicts are kept.")


def start_suggestion(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Start the optimiser; it goes on when the page is closed."""
    form = suggest_form(fields)
    keep_draft(stores.pipeline, place.owner, SUGGEST_DRAFT, form.as_dict())
    judge = _judge(bench, stores, form.judge)
    command = suggest_command(bench.study, form, judge)
    launch = start(bench.study, stores.pipeline, place.owner, command, form.as_dict())
    return Done(f"Suggestion {launch.launch_id} is being worked on.")


def take_suggestion(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Open a proposal in the editor as a draft; nothing is saved by that."""
    launch = find(bench.study, stores.pipeline, _launch_id(fields))
    proposal = shown_suggestion(launch).proposal
    if proposal is None:
        raise InputError(f"suggestion {launch.launch_id} has no proposal; see what it said")
    typed = Typed(
        PROMPT, proposal["base"], proposal["text"], "", proposal["note"], proposal["rubric"]
    )
    keep_draft(stores.pipeline, place.owner, PROMPT, asdict(typed))
    return Done("The proposal is a draft in the editor: read it before you save it.",
                _editor(place, PROMPT))  # fmt: skip


def open_test(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Open the test half for a judge, once more."""
    intent = text(fields, "intent", limit=2_000)
    keep_draft(stores.pipeline, place.owner, FINAL_DRAFT, {"intent": intent})
    judge = _judge(bench, stores, text(fields, "judge", limit=80))
    bench.opened = calibrate_study(
        stores.pipeline,
        stores.labels,
        bench.study.rubric(judge.rubric_version),
        judge=judge.judge_id,
        rule=ReferenceRule(place.rule),
        final=intent,
    )
    drop_draft(stores.pipeline, place.owner, FINAL_DRAFT)
    opening = bench.opened.restriction.opening
    return Done(f"The test half is opened for the {opening.number}. time.")


def export(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Write the folder that `calibrate export` writes, of dev or of the opened test half."""
    judge = _judge(bench, stores, text(fields, "judge", limit=80))
    if text(fields, "half", limit=10) == "test":
        calibration = bench.opened
        if calibration is None or calibration.judge_id != judge.judge_id:
            raise InputError("the test half is not open for this judge; open it first")
    else:
        calibration = calibrate_study(
            stores.pipeline,
            stores.labels,
            bench.study.rubric(judge.rubric_version),
            judge=judge.judge_id,
            rule=ReferenceRule(place.rule),
        )
    exported = export_calibration(stores.pipeline, calibration, bench.exports)
    written = "written" if exported.new else "there already, as it is"
    remark = f"{exported.remark}. " if exported.remark else ""
    return Done(
        f"{exported.folder} is {written}. {remark}Use it: judge --prompt {exported.folder}"
        f"{bench.study.option}"
    )


ACTS: dict[str, Act] = {
    act.__name__: act
    for act in (
        keep_form,
        note_item,
        start_from,
        save_version,
        estimate,
        start_run,
        resume_run,
        stop_run,
        start_suggestion,
        take_suggestion,
        open_test,
        export,
    )
}


def _written_kind(kind: str) -> str:
    if kind not in (PROMPT, RUBRIC):
        raise InputError(f"nothing of the kind {kind!r:.40} can be written")
    return kind


def _typed(kind: str, fields: Mapping[str, Any]) -> Typed:
    return Typed(
        _written_kind(kind),
        text(fields, "base", limit=200),
        text(fields, "text", limit=DRAFT_LIMIT).replace("\r\n", "\n"),
        text(fields, "name", limit=200).strip(),
        text(fields, "note", limit=2_000),
        text(fields, "rubric", limit=200),
    )


def _typed_note(fields: Mapping[str, Any]) -> TypedNote:
    return TypedNote(
        text(fields, "judge", limit=80),
        text(fields, "item", limit=80),
        texts(fields, "causes"),
        text(fields, "own", limit=400),
        text(fields, "memo", limit=MEMO_LIMIT + 1),
        text(fields, "seen", limit=20),
    )


def _judge(bench: Bench, stores: Stores, head: str) -> Contender:
    judge = named(bench.roster(stores), head)
    if judge is None:
        raise InputError("nothing is judged yet; run a judge first")
    return judge


def _launch_id(fields: Mapping[str, Any]) -> int:
    launch_id = _stored_id(fields, "launch")
    if launch_id is None:
        raise InputError("the page names no run; reload it")
    return launch_id


def _stored_id(fields: Mapping[str, Any], name: str) -> int | None:
    """The number of a row, None where the page knows of none."""
    return number(text(fields, name, limit=20), name, int, 1, _LAST_ID)


def _freeze(bench: Bench, stores: Stores) -> str:
    """Freeze the split if nobody did; says so, "" where one was frozen."""
    if stores.pipeline["splits"].count:
        return ""
    versions = [c.rubric_version for c in bench.labels(stores, patience=30).value or () if c.items]
    split_study(stores.pipeline, stores.labels, versions[-1] if versions else None)
    return " The split into dev and test was frozen for it."


def _preset_run(stores: Stores, place: Place, changes: dict[str, str]) -> None:
    kept = kept_draft(stores.pipeline, place.owner, RUN_DRAFT) or run_form({}).as_dict()
    keep_draft(stores.pipeline, place.owner, RUN_DRAFT, kept | changes)


def _at(place: Place, view: str) -> Place:
    return Place(view=view, owner=place.owner, rule=place.rule, judge=place.judge)


def _editor(place: Place, kind: str) -> Place:
    return Place(view="editor", owner=place.owner, rule=place.rule, judge=place.judge, kind=kind)
