"""Results computed once, beside the page: a view shows what there is and says when it is older."""

import sqlite3
import traceback
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

from generation.database import storage_refusal
from rubrics import InputError

Value = TypeVar("Value")
PATIENCE = 0.3  # seconds after its start that views wait for a result, before they show the last
KEPT = 256  # results, more than a study has judges; the least recently asked for goes first


@dataclass(frozen=True)
class Result(Generic[Value]):
    """What became of a computation: a value, or why there is none; neither as long as it runs.

    `fresh` is False while a newer one is being computed.
    """

    value: Value | None = None
    refusal: str | None = None
    fresh: bool = False


@dataclass
class _Entry:
    state: Hashable = None
    result: Result = Result()
    running: Future | None = None
    running_for: Hashable = None
    asked_at: float = 0.0


class Results:
    """Results by key, one computed at a time: two at once would only take longer each."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = Lock()
        self._workers = ThreadPoolExecutor(max_workers=1, thread_name_prefix="results")

    def get(
        self,
        key: Hashable,
        state: Hashable,
        compute: Callable[[], Value],
        patience: float = PATIENCE,
    ) -> Result[Value]:
        """The result of `compute` for this state of the stores, or the last one there is."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            while len(self._entries) > KEPT:
                self._entries.popitem(last=False)
            if entry.result.fresh and entry.state == state:
                return entry.result
            begins = entry.running is None
            if begins:
                entry.running_for, entry.asked_at = state, monotonic()
                entry.running = self._workers.submit(self._computed, compute)
            running = entry.running
            running_for = entry.running_for
            left = entry.asked_at + patience - monotonic()
        if begins:  # without the lock: what is done already is kept at once, in this thread
            running.add_done_callback(lambda done: self._keep(entry, done))
        done, _ = wait_for([running], timeout=max(0.0, left))
        if done and running_for == state:
            return running.result()
        with self._lock:
            return Result(entry.result.value, entry.result.refusal, fresh=False)

    def close(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _keep(self, entry: _Entry, done: Future) -> None:
        with self._lock:
            entry.running = None
            if done.cancelled():
                return
            entry.result = done.result()
            # A refusal may pass, as that of a store which was locked: it is asked for anew.
            entry.state = None if entry.result.refusal else entry.running_for

    @staticmethod
    def _computed(compute: Callable[[], Value]) -> Result[Value]:
        try:
            return Result(compute(), fresh=True)
        except InputError as error:
            return Result(refusal=str(error), fresh=True)
        except sqlite3.DatabaseError as error:
            return Result(refusal=storage_refusal(error) or _defect(error), fresh=True)
        except Exception as error:  # a page that stays up and says so is of more use than none
            return Result(refusal=_defect(error), fresh=True)


def _defect(error: Exception) -> str:
    """What the page says of a defect of ours, whose trace goes to stderr."""
    traceback.print_exception(error)
    return f"a defect of followupeval ({type(error).__name__}: {error}); see stderr"
