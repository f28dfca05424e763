"""Where a plan's model is: a folder of one's own, or the hub's cache."""

import re
from pathlib import Path

from generation.hub import hub_model
from generation.plan.plan import ModelPlan
from rubrics import InputError

HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def model_folder(plan: ModelPlan, *, weights: bool) -> Path:
    """The folder of a model; without `weights`, what prompts are made of is enough.

    Raises InputError for what is neither a folder nor to be had from the hub.
    """
    folder = Path(plan.source)
    if folder.is_dir():
        return folder
    if not HUB_NAME.fullmatch(plan.source) or plan.source.startswith("."):
        raise InputError(
            f"{plan.source} is no folder; expected one with config.json, tokenizer.json and "
            "safetensors, or a name on the hub such as Qwen/Qwen3.5-9B"
        )
    try:
        return hub_model(plan.source, plan.revision, weights=weights)
    except InputError as error:
        raise InputError(
            f"{plan.source} is no folder here, and {error}; expected the folder of a model with "
            "config.json, tokenizer.json and safetensors, or a name on the hub"
        ) from error
