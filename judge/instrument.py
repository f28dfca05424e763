"""Instruments: a judge together with all it needs to label items."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from generation.study import Study
from judge.chat_judge import DEFAULT_CONCURRENCY, ChatJudge
from judge.config import JudgeConfig, checked_model
from judge.exported import MANIFEST, Export, load_export
from judge.judge import LEXICAL, Judge
from judge.lexical.baseline import judge_lexically, lexical_parameters
from judge.prompts.prompt import JudgePrompt, render_prompt
from judge.prompts.prompt_template import PACKAGED
from judge.prompts.template_store import read_template
from judge.reply import Reply
from judge.runs.ask import Ledger
from judge.server.endpoint import find_endpoint
from judge.server.limits import Limits, Spending
from judge.server.parameters import (
    DEFAULT_MAX_TOKENS,
    Parameters,
    plain_number,
    wanted_parameters,
)
from judge.server.usage import read_price
from rubrics import InputError, Rubric


class Labeller(Protocol):
    """What labels items: a judge model, or the baseline."""

    judge: Judge
    prompt: JudgePrompt
    rubric: Rubric

    def label(self, ledger: Ledger) -> Judge:
        """Label all that the ledger waits for; returns the judge that did."""


@dataclass(frozen=True)
class Budget:
    """The dollars that a run may cost, and the price table to count them by; None where unsaid."""

    prices: Path | None = None
    max_cost: float | None = None
    spending: Spending = field(default_factory=Spending)


@dataclass(frozen=True)
class LexicalJudge:
    """The embedded baseline under a rubric; it reads no prompt, the prompt names its rubric."""

    prompt: JudgePrompt
    rubric: Rubric

    @property
    def judge(self) -> Judge:
        return Judge(LEXICAL, lexical_parameters(), self.rubric.version, self.prompt.prompt_hash)

    def label(self, ledger: Ledger) -> Judge:
        judge = self.judge
        for ask in ledger.waiting(judge):
            ledger.keep(judge, ask, Reply(judge_lexically(ask.item, self.rubric)))
        return judge


@dataclass(frozen=True)
class Instrument:
    """A labeller and how often it labels each item; `export` is what it was calibrated as.

    `spending` is counted where a price is known.
    """

    labeller: Labeller
    runs: int = 1
    export: Export | None = None
    spending: Spending | None = None

    def warnings(self, used: Judge) -> tuple[str, ...]:
        """Where the export's calibration does not carry over to the judge that is used."""
        if self.export is None:
            return ()
        calibrated = self.export.judge
        differences = []
        if used.model != calibrated.model:
            differences.append(f"model {used.model}, calibrated was {calibrated.model}")
        elif used.parameters != calibrated.parameters:
            keys = used.parameters.keys() | calibrated.parameters.keys()
            differences += [
                f"{key} {used.parameters.get(key)!r}, "
                f"calibrated was {calibrated.parameters.get(key)!r}"
                for key in sorted(keys)
                if used.parameters.get(key) != calibrated.parameters.get(key)
            ]
        if self.runs != self.export.runs:
            differences.append(f"runs {self.runs}, calibrated were {self.export.runs}")
        return tuple(
            f"the calibration in {self.export.folder} does not carry over to this judge: {found}"
            for found in differences
        )


def choose_instrument(
    config: JudgeConfig, study: Study, budget: Budget | None = None
) -> Instrument:
    """The lexical baseline or the model of this config, under an export's prompt or a template's.

    The rubric is the latest, or that of the template's shots, unless one is named.

    Raises InputError for an unknown rubric or prompt, an export that was changed, and where there
    is no way to a server.
    """
    budget = budget or Budget()
    if config.prompt is not None and Path(config.prompt).is_file():
        raise InputError(
            f"--prompt {config.prompt} is a file; make a template of it: judge prompt new NAME "
            f"--note TEXT --file {config.prompt}"
        )
    if config.prompt is not None and is_export(config.prompt):
        if config.rubric:
            raise InputError(f"--prompt {config.prompt} brings its own rubric: drop --rubric")
        return _exported(load_export(Path(config.prompt)), config, budget)
    if config.model is None:
        if config.prompt is not None:
            raise InputError(f"--prompt {config.prompt}: for which model? add --model NAME")
        rubric = study.rubric(config.rubric)
        return Instrument(LexicalJudge(render_prompt(rubric), rubric))
    find_endpoint(config.base_url, config.key_variable)  # is asked for before the study is
    template = read_template(study, config.prompt) if config.prompt else PACKAGED
    rubric = template.rubric(study, config.rubric)
    prompt = render_prompt(rubric, template)
    parameters = wanted_parameters(
        max_tokens=config.max_tokens or DEFAULT_MAX_TOKENS,
        temperature=config.temperature or 0,
        reasoning_effort=config.reasoning_effort,
    )
    chat = _chat(config.model, parameters, prompt, rubric, config, budget)
    return Instrument(chat, config.runs or 1, spending=budget.spending if budget.prices else None)


def is_export(prompt: str) -> bool:
    """Whether this names an export's folder, and not a prompt template."""
    return "/" in prompt or (Path(prompt) / MANIFEST).is_file()


def _exported(export: Export, config: JudgeConfig, budget: Budget) -> Instrument:
    """The export's prompt, and by default its model, parameters and number of runs."""
    calibrated = export.judge
    if not calibrated.reads_prompt and not config.of_a_model:
        return Instrument(LexicalJudge(export.prompt, export.rubric), export=export)
    if config.model is None and not calibrated.reads_prompt:
        raise InputError(
            f"{export.folder} was calibrated with the lexical baseline, which names no model; "
            "say which: --model NAME"
        )
    values = dict(calibrated.parameters) if calibrated.reads_prompt else wanted_parameters().values
    if config.max_tokens is not None:
        limit = "max_tokens" if "max_tokens" in values else "max_completion_tokens"
        values[limit] = config.max_tokens
    if config.temperature is not None:
        values["temperature"] = plain_number(config.temperature)
    if config.reasoning_effort is not None:
        values["reasoning_effort"] = config.reasoning_effort
    model = config.model or calibrated.model
    chat = _chat(model, Parameters(values), export.prompt, export.rubric, config, budget)
    spending = budget.spending if budget.prices else None
    return Instrument(chat, config.runs or export.runs, export, spending)


def _chat(
    model: str,
    parameters: Parameters,
    prompt: JudgePrompt,
    rubric: Rubric,
    config: JudgeConfig,
    budget: Budget,
) -> ChatJudge:
    checked_model(model)
    if model == LEXICAL:
        raise InputError(
            f"{LEXICAL!r} is the embedded baseline; run it with: judge --judge lexical"
        )
    endpoint = find_endpoint(config.base_url, config.key_variable)
    concurrency = config.concurrency or DEFAULT_CONCURRENCY
    limits = Limits(
        config.requests_per_minute,
        config.tokens_per_minute,
        budget.max_cost,
        read_price(budget.prices, model) if budget.prices else None,
        budget.spending,
    )
    return ChatJudge(endpoint, model, parameters, prompt, rubric, concurrency, limits)
