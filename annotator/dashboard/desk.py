"""The one thing that the dashboard may ask for: a view. JSON in, JSON out, for owners alone."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotator.accounts.person import Role, current_person
from annotator.accounts.refusal import RefusalLog
from annotator.blindness.sent import SentFields
from annotator.dashboard.fresh_figures import FreshFigures, Shown
from annotator.dashboard.place import Place, place_from
from annotator.dashboard.rendered_view import render_view
from annotator.dashboard.view import View
from annotator.dashboard.views.annotators import annotators
from annotator.dashboard.views.disagreement import disagreement
from annotator.dashboard.views.items import items
from annotator.dashboard.views.overview import overview
from annotator.labels import open_labels
from annotator.served_labels import Moved, ServedLabels
from generation.clock import now
from generation.database import readable_refusals
from generation.study import Study
from rubrics import InputError, Rubric

NOT_THE_OWNER = "This page is for the study's owner alone; log in as the owner."
SOON = 1.0  # seconds until a view looks again for what is being computed
CALM = 20.0  # seconds until it looks whether there are new labels

_VIEWS: dict[str, Callable[..., View]] = {
    "overview": overview,
    "disagreement": disagreement,
    "items": items,
    "annotators": annotators,
}


class DashboardDesk:
    """Answers a page; whatever goes wrong becomes a reply, so that the page stays up."""

    def __init__(self, path: Path, rubric: Rubric, refusals: RefusalLog) -> None:
        self._refusals = refusals
        self._path = path
        self._fresh = FreshFigures(path, rubric)
        self._labels = ServedLabels(path)
        with self._labels.use() as database:
            self._sent = SentFields(database)

    def close(self) -> None:
        self._fresh.close()
        self._labels.close()

    def show_dashboard(self, data: Any) -> dict[str, Any]:
        """The view of a place: {html, title, poll} with poll in seconds, or a refusal."""
        person = current_person.get()
        if person is None or person.role is not Role.OWNER:
            return self._refused(NOT_THE_OWNER)
        try:
            with readable_refusals(self._path):
                place = place_from(data)
                shown = self._fresh.get(place.rubric, at_once=data.get("at_once") is True)
                view = self._view(shown, place)
        except InputError as error:
            return self._refused(str(error))
        reply = {
            "refused": False,
            "html": render_view(view, shown, place, Study(self._path.parent).option),
            "title": view.title,
            "poll": CALM if shown.fresh else SOON,
        }
        with contextlib.suppress(Moved), self._labels.use():
            self._sent.note("dashboard: show_dashboard", reply)
        return reply

    def _refused(self, why: str) -> dict[str, Any]:
        person = current_person.get()
        who = person.name if person else None
        self._refusals.record(who, "dashboard: show_dashboard", why, at=now())
        return {"refused": True, "message": why}

    def _view(self, shown: Shown, place: Place) -> View:
        with open_labels(self._path) as database:
            return _VIEWS[place.view](shown, place, database)
