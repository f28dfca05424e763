"""One verdict that is to be had."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from generation.item import Item
from judge.judge import Judge
from judge.reply import Reply
from judge.server.parameters import Parameters


@dataclass(frozen=True)
class Ask:
    """An item and which of a judge's runs over it; with the judge, the key of one verdict."""

    item_hash: str
    run_index: int
    item: Item


class Ledger(Protocol):
    """What a judge at work needs to know and hands back; a study's store, or less."""

    def agreed(self, model: str, wanted: Parameters, server: str) -> Parameters | None:
        """What this server took of the wanted parameters when it was last asked, if it ever was."""

    def agree(self, model: str, wanted: Parameters, server: str, agreed: Parameters) -> None:
        """Remember what the server takes, and that `agreed` is what is sent from now on."""

    def notice(self, line: str) -> None:
        """Tell whoever runs this, before anything else is paid for."""

    def waiting(self, judge: Judge) -> Iterator[Ask]:
        """What this judge has not been asked yet, in the same order every time."""

    def keep(self, judge: Judge, ask: Ask, reply: Reply) -> None:
        """Keep a verdict for good; the first one for an ask stays."""

    def sync(self) -> None:
        """See that what was kept survives a loss of power."""
