"""Small plans, data sets and a script for a scripted engine."""

from dataclasses import replace

from generation.datasets.dataset import Dataset, Rows
from generation.item import Message
from generation.plan.plan import DatasetPlan, ModelPlan, Plan, Sweep
from generation.turn import Conversation, Run


def plan_of(*sweeps, **changes):
    plan = Plan(
        "test",
        (ModelPlan("m", "scripted"),),
        (DatasetPlan("gsm8k", "gsm8k"),),
        sweeps or (Sweep(),),
        date="2026-11-30",
    )
    return replace(plan, **changes)


def questions(*texts, **changes):
    rows = tuple(
        Conversation("gsm8k", f"test-{number}", (Message("user", text),))
        for number, text in enumerate(texts, start=1)
    )
    return dataset(Rows(rows), **changes)


def dataset(rows, **changes):
    return replace(Dataset("gsm8k", "f.jsonl", "sha256:0", rows, "MIT"), **changes)


def run_of(plan):
    return Run("probe", {"plan": repr(plan)})


def answer_or_turn(prompt, sampling):
    return "4" if prompt.endswith("assistant\n") else f"Why at {sampling.temperature}?"
