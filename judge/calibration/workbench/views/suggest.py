"""A revised prompt proposed by an optimiser, as a draft to look at."""

import json
import shlex
from dataclasses import dataclass
from typing import Any

from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.drafts import kept_draft
from judge.calibration.workbench.launch import Launch, launches
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.roster import named
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.suggest_form import SuggestForm, suggest_command
from judge.calibration.workbench.view import View
from judge.calibration.workbench.views.runs import LOOK_AGAIN

SUGGEST_DRAFT = "suggest"


@dataclass(frozen=True)
class ShownSuggestion:
    """`proposal` is what the command printed, None as long as it runs and where it failed."""

    launch: Launch
    alive: bool
    exit_code: int | None
    proposal: dict[str, Any] | None
    command: str


def suggest(bench: Bench, stores: Stores, place: Place) -> View:
    roster = [each for each in bench.roster(stores) if each.judge.reads_prompt]
    kept = kept_draft(stores.pipeline, place.owner, SUGGEST_DRAFT)
    form = SuggestForm(**kept) if kept else SuggestForm()
    shown = [shown_suggestion(each) for each in launches(bench.study, stores.pipeline, "calibrate")]
    chosen = named(roster, form.judge if kept else place.judge) if roster else None
    commands = ()
    if chosen:
        commands = (shlex.join(suggest_command(bench.study, form, chosen)),)
    return View(
        "suggest.html",
        "Suggest a prompt",
        {"form": form, "roster": roster, "chosen": chosen, "suggestions": shown},
        commands,
        poll=LOOK_AGAIN if any(each.alive for each in shown) else 0,
    )


def shown_suggestion(launch: Launch) -> ShownSuggestion:
    alive = launch.alive
    proposal = None
    if not alive and launch.exit_code == 0:
        try:
            proposal = json.loads(launch.result)
        except ValueError:
            proposal = None
    if not isinstance(proposal, dict):
        proposal = None
    return ShownSuggestion(launch, alive, launch.exit_code, proposal, shlex.join(launch.command))
