"""The two things that the page may ask for: a view, and an act. JSON in, JSON out."""

from collections.abc import Callable
from typing import Any

from generation.database import readable_refusals
from judge.calibration.causes.cause_store import NotedMeanwhile
from judge.calibration.workbench.acts.all_acts import ACTS
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.place import Place, place_from
from judge.calibration.workbench.rendered_view import render_view
from judge.calibration.workbench.stores import Stores, opened
from judge.calibration.workbench.view import View
from judge.calibration.workbench.views.compare import compare
from judge.calibration.workbench.views.editor import editor
from judge.calibration.workbench.views.final import final
from judge.calibration.workbench.views.items import items
from judge.calibration.workbench.views.matrix import matrix
from judge.calibration.workbench.views.overview import overview
from judge.calibration.workbench.views.runs import runs
from judge.calibration.workbench.views.suggest import suggest
from rubrics import InputError

_VIEWS: dict[str, Callable[[Bench, Stores, Place], View]] = {
    "overview": overview,
    "matrix": matrix,
    "items": items,
    "editor": editor,
    "runs": runs,
    "compare": compare,
    "suggest": suggest,
    "final": final,
}


class WorkbenchDesk:
    """Answers a page; whatever goes wrong becomes a reply, so that the page stays up."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def close(self) -> None:
        self._bench.results.close()

    def show_view(self, data: Any) -> dict[str, Any]:
        """The view of a place: {html, title, poll}, or a refusal."""

        def show() -> dict[str, Any]:
            place = place_from(data)
            with opened(self._bench.study) as stores:
                view = _VIEWS[place.view](self._bench, stores, place)
                return {
                    "html": render_view(view, place),
                    "title": view.title,
                    "poll": view.poll,
                }

        return self._answered(show)

    def do_act(self, data: Any) -> dict[str, Any]:
        """An act with its form's fields: {message, goto, quiet, fields}, or a refusal."""

        def do() -> dict[str, Any]:
            if not isinstance(data, dict) or not isinstance(data.get("fields"), dict):
                raise InputError("the page sent something else than a form; reload it")
            act = ACTS.get(str(data.get("act")))
            if act is None:
                raise InputError("the page asked for something unknown; reload it")
            place = place_from(data.get("place"))
            with opened(self._bench.study) as stores:
                done = act(self._bench, stores, place, data["fields"])
            return {
                "message": done.message,
                "goto": done.goto.link() if done.goto else None,
                "quiet": done.quiet,
                "fields": dict(done.fields),
            }

        return self._answered(do)

    def _answered(self, answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Refusals, and stores that the machine refuses; a defect of ours is raised."""
        try:
            with readable_refusals(self._bench.study.folder):
                return {"refused": False} | answer()
        except NotedMeanwhile as error:
            # What is on the page stays; saved again, it takes the place of the note just told of.
            seen = {"seen": str(error.note.note_id)}
            return {"refused": True, "message": str(error), "fields": seen}
        except InputError as error:
            return {"refused": True, "message": str(error)}
