"""Every act by its name, which the page sends."""

from collections.abc import Callable, Mapping
from typing import Any

from judge.calibration.workbench.acts.done import Done
from judge.calibration.workbench.acts.editor import save_version, start_from
from judge.calibration.workbench.acts.final import export, open_test
from judge.calibration.workbench.acts.form import keep_form
from judge.calibration.workbench.acts.items import note_item
from judge.calibration.workbench.acts.runs import estimate, resume_run, start_run, stop_run
from judge.calibration.workbench.acts.suggest import start_suggestion, take_suggestion
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.stores import Stores

Act = Callable[[Bench, Stores, Place, Mapping[str, Any]], Done]

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
