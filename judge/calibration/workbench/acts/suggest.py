"""Suggestions of a prompt: starting the optimiser, and taking what it proposes."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from judge.calibration.workbench.acts.done import Done
from judge.calibration.workbench.acts.runs import sent_launch
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.drafts import keep_draft
from judge.calibration.workbench.launch import start
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.preview import PROMPT, Typed
from judge.calibration.workbench.roster import one_named
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.suggest_form import suggest_command, suggest_form
from judge.calibration.workbench.views.suggest import SUGGEST_DRAFT, shown_suggestion
from rubrics import InputError


def start_suggestion(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Start the optimiser; it goes on when the page is closed."""
    form = suggest_form(fields)
    keep_draft(stores.pipeline, place.owner, SUGGEST_DRAFT, form.as_dict())
    judge = one_named(bench.roster(stores), form.judge)
    command = suggest_command(bench.study, form, judge)
    launch = start(bench.study, stores.pipeline, place.owner, command, form.as_dict())
    return Done(f"Suggestion {launch.launch_id} is being worked on.")


def take_suggestion(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Open a proposal in the editor as a draft; nothing is saved by that."""
    launch = sent_launch(bench, stores, fields)
    proposal = shown_suggestion(launch).proposal
    if proposal is None:
        raise InputError(f"suggestion {launch.launch_id} has no proposal; see what it said")
    typed = Typed(
        PROMPT, proposal["base"], proposal["text"], "", proposal["note"], proposal["rubric"]
    )
    keep_draft(stores.pipeline, place.owner, PROMPT, asdict(typed))
    return Done(
        "The proposal is a draft in the editor: read it before you save it.",
        place.at("editor", kind=PROMPT),
    )
