"""The options that make a plan, for every command that takes one."""

import json
from collections.abc import Callable
from datetime import date, datetime
from functools import wraps
from pathlib import Path
from typing import Any

import click

from generation.command import FiniteRange
from generation.plan.plan import CONTEXTS, SETTINGS, AnswerPlan, ModelPlan, Plan, Sweep
from rubrics import InputError

_positive = click.IntRange(min=1)


def _list(*names: str, help: str, type: Any = None, default: Any = ()) -> Any:
    shown = bool(default)
    return click.option(
        *names, multiple=True, type=type, default=default, show_default=shown, help=help
    )


_OPTIONS = (
    click.option("--plan", "plan_file", type=click.Path(dir_okay=False, path_type=Path),
                 help="TOML file that says all of the below; paper.toml comes with the tool."),
    _list("--model", "sources", help="Folder of a model (config.json, tokenizer, safetensors) or "
          "its name on the hub; may be repeated."),
    click.option("--model-name", help="Its name in the study.  [default: the last of --model]"),
    click.option("--revision", help="Commit of the model on the hub."),
    click.option("--template-kwargs", metavar="JSON", default="{}",
                 help="Variables of the chat template, such as {\"enable_thinking\": false}."),
    click.option("--template-file", type=click.Path(dir_okay=False),
                 help="A chat template in place of the model's own."),
    click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]),
                 default=lambda: date.today().isoformat(), show_default="today",
                 help="The date that a chat template reads; recorded."),
    click.option("--context-length", type=click.IntRange(min=64), default=4096, show_default=True,
                 help="Tokens the engine reserves for one conversation."),
    click.option("--engine-arguments", metavar="JSON", default="{}",
                 help="Arguments of vLLM, such as {\"tensor_parallel_size\": 2}."),
    _list("--data", "data", help="NAME or NAME:FILE, such as gsm8k or chat:FILE (any file of "
          "conversations); may be repeated."),
    click.option("--limit", type=_positive,
                 help="Conversations of each data set, by seeded choice.  [default: all]"),
    _list("--setting", "settings", type=click.Choice(SETTINGS), default=(SETTINGS[0],),
          help="The model answers, or goes on from real answers; may be repeated."),
    _list("--context", "contexts", type=click.Choice(CONTEXTS), default=(CONTEXTS[0],),
          help="What stands before the user turn; may be repeated."),
    _list("--perturb", "perturbations", help="truncate, truncate-drop-last or ask, beside the "
          "unperturbed answer; may be repeated."),
    _list("--temperature", "temperatures", type=FiniteRange(min=0), default=(0.0,),
          help="Of the user turn; may be repeated."),
    _list("--top-p", "top_p", type=FiniteRange(0, 1, min_open=True), default=(1.0,),
          help="Of the user turn above temperature 0, 1 for all; may be repeated."),
    _list("--top-k", "top_k", type=click.IntRange(min=0), default=(0,),
          help="Of the user turn above temperature 0, 0 for all; may be repeated."),
    click.option("--samples", type=_positive, default=1, show_default=True,
                 help="User turns per answer in each setting above temperature 0."),
    click.option("--user-turns", type=_positive, default=1, show_default=True,
                 help="User turns of a conversation: the model answers u, and a next u follows."),
    click.option("--seed", type=int, default=0, show_default=True, help="Of choice and sampling."),
    click.option("--answer-temperature", type=FiniteRange(min=0), default=0.0, show_default=True,
                 help="Of the answer."),
    click.option("--answer-top-p", type=FiniteRange(0, 1, min_open=True), default=1.0,
                 show_default=True, help="Of the answer."),
    click.option("--answer-top-k", type=click.IntRange(min=0), default=0, show_default=True,
                 help="Of the answer."),
    click.option("--max-answer-tokens", type=_positive, default=256, show_default=True,
                 help="Where an answer is cut; it is marked then."),
    click.option("--max-turn-tokens", type=_positive, default=256, show_default=True,
                 help="Where a user turn is cut; it is marked then."),
    click.option("--name", "plan_name", default="probe", show_default=True,
                 help="Of the plan, for generate show."),
)  # fmt: skip
_NAMES = (
    "sources", "model_name", "revision", "template_kwargs", "template_file", "day",
    "context_length", "engine_arguments", "data", "limit", "settings", "contexts", "perturbations",
    "temperatures", "top_p", "top_k", "samples", "user_turns", "seed", "answer_temperature",
    "answer_top_p", "answer_top_k", "max_answer_tokens", "max_turn_tokens", "plan_name",
)  # fmt: skip


def plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a plan and hand the command the `plan` that they make."""

    @wraps(command)
    def with_plan(*arguments: Any, plan_file: Path | None, **values: Any) -> Any:
        chosen = {name: values.pop(name) for name in _NAMES}
        return command(*arguments, plan=_plan(plan_file, chosen), **values)

    for option in reversed(_OPTIONS):
        with_plan = option(with_plan)
    return with_plan


def _plan(plan_file: Path | None, chosen: dict[str, Any]) -> Plan:
    from generation.plan.plan_file import read_plan

    if plan_file is None:
        return _plan_of(chosen)
    context = click.get_current_context()
    given = [
        name
        for name in _NAMES
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        option = next(p.opts[0] for p in context.command.params if p.name == given[0])
        raise click.UsageError(
            f"{option} and --plan say the same thing; write it into the plan: "
            "generate plan … > plan.toml"
        )
    return read_plan(plan_file)


def _plan_of(chosen: dict[str, Any]) -> Plan:
    from generation.datasets.open_dataset import dataset_plan_from

    for name, option in (("sources", "--model"), ("data", "--data")):
        if not chosen[name]:
            raise click.UsageError(f"Missing option '{option}', or '--plan'.")
    sources, name = chosen["sources"], chosen["model_name"]
    if name and len(sources) > 1:
        raise click.UsageError("--model-name names one model; write a plan for several.")
    day: datetime = chosen["day"]
    models = tuple(
        ModelPlan(
            source,
            name or Path(source).resolve().name or "model",
            chosen["revision"],
            _json_object("--template-kwargs", chosen["template_kwargs"]),
            chosen["template_file"],
            chosen["context_length"],
            _json_object("--engine-arguments", chosen["engine_arguments"]),
        )
        for source in sources
    )
    sweep = Sweep(
        settings=chosen["settings"],
        contexts=chosen["contexts"],
        perturbations=("none", *chosen["perturbations"]),
        temperatures=chosen["temperatures"],
        top_p=chosen["top_p"],
        top_k=chosen["top_k"],
        samples=chosen["samples"],
        user_turns=chosen["user_turns"],
    )
    answers = AnswerPlan(
        chosen["answer_temperature"],
        chosen["answer_top_p"],
        chosen["answer_top_k"],
        chosen["max_answer_tokens"],
    )
    return Plan(
        chosen["plan_name"],
        models,
        tuple(dataset_plan_from(text, chosen["limit"]) for text in chosen["data"]),
        (sweep,),
        day.date().isoformat(),
        answers,
        chosen["max_turn_tokens"],
        chosen["seed"],
    )


def _json_object(option: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"{option} {text!r}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{option} {text!r}: expected a JSON object")
    return value
