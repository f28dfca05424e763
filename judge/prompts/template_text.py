"""Prompt templates as plain text: what was written, what a study has, and what to type next."""

from collections.abc import Iterator

from generation.command import one_line
from generation.study import Study
from judge.prompts.prompt_template import PACKAGED, PromptTemplate
from judge.prompts.template_store import StoredTemplate
from rubrics import latest_version, short


def written_text(template: PromptTemplate, study: Study) -> str:
    """What was written, and the command that judges with it."""
    shots = f", {len(template.shots)} shots" if template.shots else ""
    parent = f", from {template.parent}" if template.parent else ""
    size = f"{len(template.text):,} characters"
    written = f"prompt template {template.label} written: {size}{shots}{parent}"
    return f"{written}\n{next_text(template, study)}"


def templates_text(stored: list[StoredTemplate], study: Study) -> str:
    """One line per version, and what to type next."""
    act = f"show {stored[-1].template.label}" if stored[1:] else "new NAME --note TEXT"
    return "\n".join([*_lines(stored), f"next: judge prompt {act}{study.option}"])


def next_text(template: PromptTemplate, study: Study) -> str:
    """The command that judges with a template, under the rubric that its shots are bound to."""
    named = "" if template == PACKAGED else f" --prompt {template.label}"
    bound = template.shots_rubric not in (None, latest_version())
    rubric = f" --rubric {template.shots_rubric}" if bound else ""
    return f"next: judge{named} --model NAME{rubric}{study.option}"


def _lines(stored: list[StoredTemplate]) -> Iterator[str]:
    width = max(len(entry.template.label) for entry in stored)
    for entry in stored:
        template = entry.template
        judges = "1 judge" if entry.judges == 1 else f"{entry.judges} judges"
        shots = f"{len(template.shots)} shots, " if template.shots else ""
        written = entry.written_at[:16].replace("T", " ")
        yield one_line(
            f"{template.label:<{width}}  {short(template.hash)}  {judges:>9}  {written:16}  "
            f"{shots}{template.note}"
        )
