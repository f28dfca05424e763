"""Options that several `calibrate` commands take."""

from collections.abc import Callable
from typing import Any

import click

from annotator.reference_rule import ReferenceRule
from judge.reading import OF_SEVERAL, Reading

SEED = click.IntRange(0, 2**63 - 1)  # what both SQLite and numpy take


def rubric_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--rubric", "version", help="Rubric version of the labels.  [default: the newest packaged]"
    )(command)


def judge_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--judge",
        "judge",
        metavar="MODEL|ID",
        help="Which judge: its model or the head of its id.  [default: the one that judged last]",
    )(command)


def runs_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--runs",
        type=click.IntRange(min=1),
        metavar="K",
        help="Count the judge's first K runs alone.  [default: all]",
    )(command)


def reading_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--reading",
        type=click.Choice([str(reading) for reading in OF_SEVERAL]),
        callback=lambda _context, _parameter, name: Reading(name) if name else None,
        help="What of several runs counts.  [default: mean-of-runs of several, else the one run]",
    )(command)


def reference_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--reference",
        "rule",
        type=click.Choice([str(rule) for rule in ReferenceRule]),
        callback=lambda _context, _parameter, name: ReferenceRule(name),
        default=str(ReferenceRule.MAJORITY),
        show_default=True,
        help="How several people's labels become the reference label.",
    )(command)


def final_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--final",
        metavar="INTENT",
        help="Open the test half of the frozen split, saying what for; both are kept.",
    )(command)
