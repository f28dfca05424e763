"""All models of a plan, one after the other, each in a process of its own where there are more."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from sqlite3 import DatabaseError

from generation.command import INPUT_WRONG
from generation.datasets.dataset import Dataset, nothing_for
from generation.engines.engine import EngineDied
from generation.engines.open_engine import EngineChoice
from generation.plan.cells import cells_of
from generation.plan.plan import SETTINGS, ModelPlan, Plan
from generation.probe.start import Shard
from generation.probe.tally import ModelTally
from generation.study import Study
from rubrics import InputError


@dataclass(frozen=True)
class RunDone:
    """What a call of `generate` came to; `broken` says of models why they were not finished."""

    tallies: tuple[ModelTally, ...]
    broken: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        return INPUT_WRONG if self.broken else 0


@dataclass(frozen=True)
class _Call:
    """All that a process needs to run one model."""

    study: Study
    plan: Plan
    model_plan: ModelPlan
    datasets: Sequence[Dataset]
    engine: EngineChoice
    shard: Shard
    retry_errors: bool

    def __call__(self) -> ModelTally:
        import click

        from generation.probe.progress import ProgressWatch
        from generation.probe.run_plan import run_model

        with ProgressWatch() as watch:
            return run_model(
                self.study,
                self.plan,
                self.model_plan,
                self.datasets,
                self.engine,
                shard=self.shard,
                retry_errors=self.retry_errors,
                watch=watch,
                warn=lambda line: click.echo(line, err=True),
            )


def run_models(
    study: Study,
    plan: Plan,
    engine: EngineChoice,
    *,
    data_dir: Path | None,
    only: tuple[str, ...],
    shard: Shard,
    retry_errors: bool,
    say: Callable[[str], None],
) -> RunDone:
    """Run the plan's models; one that cannot be run does not keep the others from it.

    Raises InputError where a data set or a name in `only` is not as expected, and, if there is
    one model, where that is.
    """
    models = _chosen(plan, only)
    datasets = open_datasets(plan, data_dir, say)
    calls = [_Call(study, plan, model, datasets, engine, shard, retry_errors) for model in models]
    if len(calls) == 1:
        try:
            return RunDone((calls[0](),), ())
        except EngineDied as error:
            raise InputError(_broken(calls[0], error)) from error
    tallies, broken = [], []
    for call in calls:
        try:
            tallies.append(_in_own_process(call))
        except (InputError, EngineDied, BrokenProcessPool, OSError, DatabaseError) as error:
            broken.append(_broken(call, error))
            say(f"error: {broken[-1]}")
    return RunDone(tuple(tallies), tuple(broken))


def open_datasets(plan: Plan, data_dir: Path | None, say: Callable[[str], None]) -> list[Dataset]:
    """The data sets that a sweep uses; what is surprising about them is said."""
    from generation.datasets.open_dataset import open_dataset

    datasets = []
    for dataset_plan in plan.datasets:
        settings = [name for name in SETTINGS if cells_of(plan, dataset_plan.name, name)]
        if not settings:
            continue
        dataset = open_dataset(dataset_plan, data_dir)
        for setting in settings:
            rows = dataset.held_out if setting == SETTINGS[1] else dataset.conversations
            if not rows(None, plan.seed):
                raise nothing_for(dataset.file_name, setting)
            for line in dataset.surprises(setting):
                say(line)
        datasets.append(dataset)
    return datasets


def shard_from(text: str) -> Shard:
    """The shard that `I/N` names; raises InputError for another text.

    >>> shard_from("2/4")
    Shard(index=2, count=4)
    """
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise InputError(f"--shard {text!r}: expected I/N, such as 2/4 for the second of four")
    return Shard(int(found[1]), int(found[2]))


def _chosen(plan: Plan, only: tuple[str, ...]) -> list[ModelPlan]:
    names = [model.name for model in plan.models]
    for name in only:
        if name not in names:
            raise InputError(f"--only {name!r}: the plan's models are {', '.join(names)}")
    return [model for model in plan.models if not only or model.name in only]


def _in_own_process(call: _Call) -> ModelTally:
    # An engine gives a GPU's memory back for certain only when its process ends.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(call).result()


def _broken(call: _Call, error: Exception) -> str:
    if isinstance(error, InputError):
        return f"{call.model_plan.name}: {error}"
    why = "its process was killed" if isinstance(error, BrokenProcessPool) else str(error)
    return (
        f"{call.model_plan.name}: {why}; what was made is stored, "
        "and the same command goes on from there"
    )
