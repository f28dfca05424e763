"""A rubric of a study's own, with whatever names."""

import json
from collections.abc import Sequence
from pathlib import Path

from rubrics import Rubric, load_rubric


def write_rubric(study: Path, version: str, categories: Sequence[tuple[str, str]]) -> Rubric:
    """A rubric of seven (id, name), whose keys are their places; the first one has sigma 1."""
    lines = [
        f'version = "{version}"',
        f"changed = {json.dumps(categories[0][1])}",
        'why = "For a test."',
        'instructions = "Choose one."',
    ]
    for place, (category_id, name) in enumerate(categories, 1):
        lines += [
            "[[categories]]",
            f'id = "{category_id}"',
            f"name = {json.dumps(name)}",
            f"sigma = {int(place == 1)}",
            f'key = "{place}"',
            f"definition = {json.dumps(name)}",
            f"decision_rules = [{json.dumps(name)}]",
        ]
    folder = study / "rubrics"
    folder.mkdir(exist_ok=True)
    (folder / f"{version}.toml").write_text("\n".join(lines), encoding="utf-8")
    return load_rubric(version, folder)
