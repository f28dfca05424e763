"""Results that views ask for, without a page."""

from collections.abc import Callable
from concurrent.futures import Future

import pytest

from judge.calibration.workbench import results
from judge.calibration.workbench.results import Result, Results


class Instant:
    """An executor whose work is done before it can be asked about."""

    def __init__(self, **_) -> None: ...

    def submit(self, work: Callable, *arguments) -> Future:
        done = Future()
        done.set_result(work(*arguments))
        return done


@pytest.mark.timeout(60)
def test_a_result_that_is_there_at_once_is_kept_and_computed_anew_for_another_state(monkeypatch):
    monkeypatch.setattr(results, "ThreadPoolExecutor", Instant)
    kept = Results()
    assert kept.get("key", 1, lambda: "first") == Result("first", fresh=True)
    assert kept.get("key", 1, lambda: "not asked for") == Result("first", fresh=True)
    assert kept.get("key", 2, lambda: "second") == Result("second", fresh=True)
