"""What a plan amounts to before anything is generated: rows, tokens, and time where it is known."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from generation.datasets.dataset import Dataset, nothing_for
from generation.plan.cells import cells_of
from generation.plan.plan import SELF_GENERATED, SETTINGS, DatasetPlan, Plan
from generation.plan.speed import Speed, measured_speeds
from generation.study import Study
from rubrics import InputError

CHARACTERS_PER_TOKEN = 4  # usual for English; the models' tokenizers need not be here


@dataclass(frozen=True)
class Part:
    """One data set in one setting, for one model. Tokens are an estimate; output has a limit.

    `counted` is False where the file is not here and `conversations` is what the set should have:
    then `prompt_tokens` is None.
    """

    dataset: str
    setting: str
    conversations: int
    counted: bool
    cells: int
    answers: int
    turns: int
    prompt_tokens: int | None


@dataclass(frozen=True)
class ModelEstimate:
    """A model's share: `speed` is what this study measured of it, None where it has not yet."""

    model: str
    parts: tuple[Part, ...]
    max_output_tokens: int
    speed: Speed | None

    @property
    def answers(self) -> int:
        return sum(part.answers for part in self.parts)

    @property
    def turns(self) -> int:
        return sum(part.turns for part in self.parts)

    @property
    def seconds(self) -> float | None:
        """At the measured speed and length of answers and turns."""
        if self.speed is None:
            return None
        rows = ((self.answers, self.speed.answer_seconds), (self.turns, self.speed.turn_seconds))
        if any(count and each is None for count, each in rows):
            return None
        return sum(count * (each or 0.0) for count, each in rows)


@dataclass(frozen=True)
class Estimate:
    """All models of a plan; `missing` says which data sets are not here, and why."""

    plan: str
    models: tuple[ModelEstimate, ...]
    missing: tuple[str, ...]


def estimate_plan(plan: Plan, data_dir: Path | None, study: Study) -> Estimate:
    """Count a plan's rows. Files that are not here are counted by what the sets should have.

    Nothing is fetched. Raises InputError where a set is not here and its size is not known.
    """
    datasets, missing = _here(plan, data_dir)
    parts = tuple(
        part
        for dataset_plan in plan.datasets
        for setting in SETTINGS
        if (part := _part(plan, dataset_plan, datasets.get(dataset_plan.name), setting))
    )
    limit = sum(
        part.answers * plan.answers.max_tokens + part.turns * plan.max_turn_tokens for part in parts
    )
    speeds = measured_speeds(study.pipeline)
    models = tuple(
        ModelEstimate(model.name, parts, limit, speeds.get(model.name)) for model in plan.models
    )
    return Estimate(plan.name, models, missing)


def _here(plan: Plan, data_dir: Path | None) -> tuple[dict[str, Dataset], tuple[str, ...]]:
    from generation.datasets.open_dataset import local_file, open_dataset

    datasets, missing = {}, []
    for dataset_plan in plan.datasets:
        if dataset_plan.file is None and local_file(dataset_plan, data_dir) is None:
            missing.append(f"{dataset_plan.name}: no file here, counted as it should be")
        else:
            datasets[dataset_plan.name] = open_dataset(dataset_plan, data_dir)
    return datasets, tuple(missing)


def _part(plan: Plan, of: DatasetPlan, dataset: Dataset | None, setting: str) -> Part | None:
    cells = cells_of(plan, of.name, setting)
    if not cells:
        return None
    conversations, characters = _size(plan, of, dataset, setting)
    if not conversations:
        raise nothing_for(of.name, setting)
    rounds = max(cells.values())
    turns = conversations * sum(cells.values())
    first = conversations if setting == SELF_GENERATED else 0
    # From the second user turn on, every turn of the round before is answered.
    later = conversations * sum(
        sum(last >= number for last in cells.values()) for number in range(2, rounds + 1)
    )
    prompt = None
    if characters is not None:
        turns_read = characters / CHARACTERS_PER_TOKEN * sum(cells.values())
        prompt = round(characters / CHARACTERS_PER_TOKEN * bool(first) + turns_read)
    return Part(
        of.name, setting, conversations, dataset is not None, len(cells), first + later, turns,
        prompt,
    )  # fmt: skip


def _size(
    plan: Plan, of: DatasetPlan, dataset: Dataset | None, setting: str
) -> tuple[int, int | None]:
    """Conversations of a data set, and the characters of their messages where they are here."""
    from generation.datasets.open_dataset import expected_rows

    if dataset is None:
        expected = expected_rows(of.source, setting)
        if expected is None:
            raise InputError(
                f"{of.name} is not here and its size is not known; name its file: "
                f"--data {of.source}:FILE, or file in the plan"
            )
        return min(expected, of.limit or expected), None
    if setting == SELF_GENERATED:
        chosen = dataset.conversations(of.limit, plan.seed)
        texts = (m.content for conversation in chosen for m in conversation.messages)
        return len(chosen), sum(map(len, texts))
    answers = dataset.held_out(of.limit, plan.seed)
    asked = sum(len(m.content) for answer in answers for m in answer.conversation.messages)
    return len(answers), asked + sum(len(answer.text) for answer in answers)


def estimate_json(estimate: Estimate) -> str:
    models = [
        asdict(model) | {"answers": model.answers, "turns": model.turns, "seconds": model.seconds}
        for model in estimate.models
    ]
    return json.dumps(asdict(estimate) | {"models": models})


def estimate_text(estimate: Estimate) -> str:
    """The estimate as people read it: one table of data sets, one line per model."""
    first = estimate.models[0]
    lines = [f"plan {estimate.plan}: {len(estimate.models)} models, each with"]
    width = max(len(part.dataset) for part in first.parts)
    for part in first.parts:
        about = "" if part.counted else " (not here; its usual size)"
        lines.append(
            f"  {part.dataset:<{width}}  {part.setting:<14}  {part.conversations:>6,} "
            f"conversations, {part.cells:>3} cells: {part.answers:>7,} answers, "
            f"{part.turns:>8,} turns{about}"
        )
    counted = [part.prompt_tokens for part in first.parts if part.prompt_tokens is not None]
    if counted:
        lines.append(
            f"  about {sum(counted):,} tokens of questions and real answers to read, at "
            f"{CHARACTERS_PER_TOKEN} characters each; generated answers come on top"
        )
    lines.append(f"  at most {first.max_output_tokens:,} tokens to generate")
    known = [model for model in estimate.models if model.seconds is not None]
    lines += [f"{model.model}: {_time(model.seconds)}" for model in known]
    if len(known) < len(estimate.models):
        count = len(estimate.models) - len(known)
        lines.append(
            f"of {count} {'model' if count == 1 else 'models'} this study has measured no speed "
            "yet: a run with --limit does"
        )
    answers = sum(model.answers for model in estimate.models)
    turns = sum(model.turns for model in estimate.models)
    lines.append(f"in all {answers:,} answers and {turns:,} turns; nothing was generated")
    return "\n".join([*estimate.missing, *lines])


def _time(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"about {hours} h {minutes} min at the speed this study measured"
