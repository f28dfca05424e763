"""What a typed template or rubric would be: the difference, the rendered prompt, its size."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlite_utils import Database

from generation.study import Study
from judge.calibration.leak import refuse_leak
from judge.calibration.rubric_authoring import checked_rubric
from judge.prompts.prompt import JudgePrompt, render_prompt
from judge.prompts.prompt_template import PACKAGED, PromptTemplate, checked_text
from judge.prompts.template_store import TemplateStore
from judge.server.usage import BYTES_PER_TOKEN
from rubrics import InputError

PROMPT, RUBRIC = "prompt", "rubric"  # what can be written


@dataclass(frozen=True)
class Typed:
    """What stands in the editor. `base` is what it started from, `name` a new template's name.

    Of a rubric the name is in its text, and the note too: it says itself what changed and why.
    """

    kind: str
    base: str
    text: str
    name: str = ""
    note: str = ""
    rubric: str = ""


@dataclass(frozen=True)
class Line:
    """A line of a difference: `sign` is "+", "-", "@" or " "."""

    sign: str
    text: str


@dataclass(frozen=True)
class Preview:
    """`problem` is why it cannot be saved as it is, None where it can; then there is a prompt."""

    diff: tuple[Line, ...]
    problem: str | None
    prompt: JudgePrompt | None

    @property
    def tokens(self) -> int | None:
        """An estimate by bytes: every model has a vocabulary of its own."""
        if self.prompt is None:
            return None
        return -(-len(self.prompt.text.encode()) // BYTES_PER_TOKEN)


def base_text(study: Study, pipeline_db: Database, kind: str, base: str) -> str:
    """The text to start from; raises InputError for an unknown template or rubric."""
    if kind == RUBRIC:
        return study.rubric(base or None).text
    return TemplateStore(pipeline_db, study.option).template(base or PACKAGED.name).text


def preview(study: Study, pipeline_db: Database, typed: Typed) -> Preview:
    """The typed text against its base, and the prompt that it makes or why it makes none."""
    diff: tuple[Line, ...] = ()
    try:
        before = base_text(study, pipeline_db, typed.kind, typed.base)
        diff = tuple(_diff(before, typed.text))
        prompt = _prompt(study, pipeline_db, typed)
        refuse_leak(pipeline_db, prompt, study.option)
    except InputError as error:
        return Preview(diff, str(error), None)
    return Preview(diff, None, prompt)


def _prompt(study: Study, pipeline_db: Database, typed: Typed) -> JudgePrompt:
    if typed.kind == RUBRIC:
        return render_prompt(checked_rubric(study, typed.text))
    base = TemplateStore(pipeline_db, study.option).template(typed.base or PACKAGED.name)
    template: PromptTemplate = replace(base, text=checked_text(typed.text))
    return render_prompt(template.rubric(study, typed.rubric or None), template)


def _diff(before: str, after: str) -> Iterator[Line]:
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=2)
    for number, line in enumerate(lines):
        if number >= 2:  # after the two names
            yield Line("@" if line.startswith("@@") else line[0], line[1:])
