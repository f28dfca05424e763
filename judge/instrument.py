"""Instruments: a judge together with all it needs to label items."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generation.item import Item
from judge.client import (
    DEFAULT_CONCURRENCY,
    DEFAULT_MAX_TOKENS,
    ChatJudge,
    Keep,
    find_endpoint,
    request_parameters,
)
from judge.exported import Export, load_export
from judge.judge import LEXICAL, Judge
from judge.lexical import judge_lexically, lexical_parameters
from judge.prompt import JudgePrompt, render_prompt
from rubrics import InputError, Rubric, latest_version, load_rubric

Label = Callable[[list[tuple[str, Item]], Keep], None]


@dataclass(frozen=True)
class Server:
    """How to reach a judge model, as asked for; None where nothing was said."""

    model: str | None = None
    base_url: str | None = None
    concurrency: int | None = None
    max_tokens: int | None = None

    @property
    def asked(self) -> bool:
        """Whether anything was said that only a judge model can heed."""
        return self != Server()


@dataclass(frozen=True)
class Instrument:
    """A judge, its prompt and rubric, and `label`, which judges (hash, item) pairs.

    `warnings` say where a calibration does not carry over to this instrument.
    """

    judge: Judge
    prompt: JudgePrompt
    rubric: Rubric
    label: Label
    warnings: tuple[str, ...] = ()


def choose_instrument(rubric_version: str | None, server: Server) -> Instrument:
    """The lexical baseline, or the judge model when one is named; rubric: latest by default.

    Raises InputError for an unknown rubric or no way to a server.
    """
    rubric = load_rubric(rubric_version or latest_version())
    prompt = render_prompt(rubric)
    if server.model is None:
        return _lexical(rubric, prompt)
    parameters = request_parameters(max_tokens=server.max_tokens or DEFAULT_MAX_TOKENS)
    return _chat(rubric, prompt, server, server.model, parameters)


def exported_instrument(folder: Path, server: Server) -> Instrument:
    """The instrument of an export: the same prompt, and by default the same model and parameters.

    Raises InputError for a folder that is no export or was changed, or no way to a server.
    """
    export = load_export(folder)
    calibrated = export.judge
    if not calibrated.reads_prompt and not server.asked:
        instrument = _lexical(export.rubric, export.prompt)
    else:
        if server.model is None and not calibrated.reads_prompt:
            raise InputError(
                f"{folder} was calibrated with the lexical baseline, which names no model; "
                "say which: --model NAME"
            )
        parameters = (
            dict(calibrated.parameters) if calibrated.reads_prompt else request_parameters()
        )
        if server.max_tokens is not None:
            parameters["max_completion_tokens"] = server.max_tokens
        model = server.model or calibrated.model
        instrument = _chat(export.rubric, export.prompt, server, model, parameters)
    return _warned(instrument, export)


def _lexical(rubric: Rubric, prompt: JudgePrompt) -> Instrument:
    def label(items: list[tuple[str, Item]], keep: Keep) -> None:
        for item_hash, item in items:
            keep(item_hash, judge_lexically(item, rubric))

    judge = Judge(LEXICAL, lexical_parameters(), rubric.version, prompt.prompt_hash)
    return Instrument(judge, prompt, rubric, label)


def _chat(
    rubric: Rubric,
    prompt: JudgePrompt,
    server: Server,
    model: str,
    parameters: dict[str, object],
) -> Instrument:
    if model == LEXICAL:
        raise InputError(
            f"{LEXICAL!r} is the embedded baseline; run it with: judge --judge lexical"
        )
    endpoint = find_endpoint(server.base_url)
    judge = Judge(model, parameters, rubric.version, prompt.prompt_hash)
    concurrency = server.concurrency or DEFAULT_CONCURRENCY
    chat = ChatJudge(endpoint, model, parameters, prompt, rubric, concurrency)
    return Instrument(judge, prompt, rubric, chat.judge)


def _warned(instrument: Instrument, export: Export) -> Instrument:
    """The instrument with a warning for each way in which it is not the calibrated one."""
    used, calibrated = instrument.judge, export.judge
    differences = []
    if used.model != calibrated.model:
        differences.append(f"model {used.model}, calibrated was {calibrated.model}")
    elif used.parameters != calibrated.parameters:
        keys = used.parameters.keys() | calibrated.parameters.keys()
        differences += [
            f"{key} {used.parameters.get(key)!r}, calibrated was {calibrated.parameters.get(key)!r}"
            for key in sorted(keys)
            if used.parameters.get(key) != calibrated.parameters.get(key)
        ]
    warnings = tuple(
        f"the calibration in {export.folder} does not carry over to this judge: {difference}"
        for difference in differences
    )
    return Instrument(used, instrument.prompt, instrument.rubric, instrument.label, warnings)
