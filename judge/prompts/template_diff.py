"""What differs between two prompt templates, or between the prompts that a rubric makes of them."""

import difflib
import json

from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import PromptTemplate
from rubrics import Rubric


def diff_templates(old: PromptTemplate, new: PromptTemplate, rubric: Rubric | None = None) -> str:
    """A unified diff, "" if nothing differs; of the rendered prompts when a rubric is given.

    Raises InputError when one of them cannot be rendered under that rubric.
    """
    texts = [
        source_text(template) if rubric is None else render_prompt(rubric, template).text
        for template in (old, new)
    ]
    under = f" × rubric {rubric.version}" if rubric else ""
    lines = difflib.unified_diff(
        *(text.split("\n") for text in texts),
        fromfile=f"{old.label}{under}",
        tofile=f"{new.label}{under}",
        lineterm="",
    )
    return "\n".join(lines)


def source_text(template: PromptTemplate) -> str:
    """The template's own text, then its shots, if any, as indented JSON."""
    if not template.shots:
        return template.text
    shots = [shot.as_dict() for shot in template.shots]
    return f"{template.text}\n# shots\n{json.dumps(shots, ensure_ascii=False, indent=2)}\n"
