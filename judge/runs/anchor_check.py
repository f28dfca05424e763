"""Whether a judge is still the one that was calibrated: its anchors, judged anew."""

from collections.abc import Iterator

from generation.clock import now
from generation.study import Study
from judge.anchors import Drift, drift, expected_flip_rate
from judge.instrument import Instrument
from judge.judge import Judge
from judge.reply import Reply
from judge.runs.ask import Ask
from judge.server.parameters import Parameters
from judge.store import open_study
from rubrics import InputError, canonical_json


class Drifted(Exception):
    """The judge labels its anchors otherwise than when it was calibrated."""


class AnchorLedger:
    """A Ledger of the anchors alone: each is asked once more, and nothing goes into the study."""

    def __init__(self, asks: list[Ask]) -> None:
        self._asks = asks
        self.labels: dict[str, str | None] = {}

    def agreed(self, model: str, wanted: Parameters, server: str) -> Parameters | None:
        return None

    def agree(self, model: str, wanted: Parameters, server: str, agreed: Parameters) -> None:
        """The run that follows agrees for itself."""

    def notice(self, line: str) -> None:
        """The run that follows tells the same."""

    def waiting(self, judge: Judge) -> Iterator[Ask]:
        yield from (ask for ask in self._asks if ask.item_hash not in self.labels)

    def keep(self, judge: Judge, ask: Ask, reply: Reply) -> None:
        self.labels[ask.item_hash] = reply.judgment.label

    def sync(self) -> None:
        """Nothing is kept on disk."""


def check_anchors(study: Study, instrument: Instrument) -> str:
    """Re-judge the export's anchors and record the result; returns it in words.

    Raises InputError when the instrument has no anchors, and Drifted.
    """
    export = instrument.export
    if export is None:
        raise InputError("--anchors needs an export to check against: add --prompt exports/FOLDER")
    if not export.anchors:
        raise InputError(
            f"{export.folder} holds no anchors; it is of an older format: calibrate export"
        )
    with open_study(study):  # a study that cannot be used is found out before anything is paid for
        pass
    ledger = AnchorLedger([Ask(anchor.item.hash, 0, anchor.item) for anchor in export.anchors])
    judge = instrument.labeller.label(ledger)
    fresh = [ledger.labels[anchor.item.hash] for anchor in export.anchors]
    found = drift(export.anchors, fresh, expected_flip_rate(export.flip_rate))
    _record(study, export.export_hash, judge, found)
    if found.drifted:
        raise Drifted(
            f"{judge.model} has drifted from its calibration in {export.folder}: "
            f"{found.describe()}; nothing was labelled: calibrate it anew"
        )
    return f"anchors: {found.describe()}"


def _record(study: Study, export_hash: str, judge: Judge, found: Drift) -> None:
    with open_study(study) as database:
        database["anchor_checks"].insert(
            {
                "export_hash": export_hash,
                "model": judge.model,
                "parameters": canonical_json(judge.parameters),
                "anchors": found.n,
                "changed": found.changed,
                "drifted": found.drifted,
                "checked_at": now(),
            }
        )
