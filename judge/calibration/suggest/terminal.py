"""A suggestion as plain text, and a bar while it is looked for."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from judge.calibration.judge_choice import judge_name
from judge.calibration.suggest.suggest import Suggestion
from judge.plain_text import wrapped
from judge.plural import counted
from judge.prompts.prompt_template import PACKAGED


def suggestion_text(found: Suggestion, option: str) -> str:
    """What was found, how far it can be trusted, and what to type next."""
    examples, proposal = found.examples, found.proposal
    lines = [
        f"{found.note}, under rubric {found.rubric.version} by {judge_name(found.judge)}",
        f"learnt from {counted(len(examples.train), 'dev item')}, {examples.tagged} of them "
        f"tagged; checked on {len(examples.validation)} others of other queries; nothing of the "
        f"test half was read; {counted(proposal.calls, 'verdict')}, seed {found.seed}",
    ]
    if found.unusable:
        reason, times = Counter(found.unusable).most_common(1)[0]
        lines.append(
            f"{counted(len(found.unusable), 'proposed text')} could not be used; most often "
            f"({times}): {reason}"
        )
    if not found.improved:
        lines.append(
            f"nothing better than {found.base.label} was found among "
            f"{counted(proposal.tried, 'text')} that came as far as the held-out items; the text "
            "is the base's own"
        )
        lines.append(f"next: tag more disagreements: calibrate cause{option}")
        return wrapped(lines)
    lines.append(
        f"it is the best of {counted(proposal.tried, 'text')} by these same held-out items, which "
        "flatters it; nothing is adopted: read it, then judge dev with it and compare"
    )
    act = "new NAME --from followupeval" if found.base == PACKAGED else f"edit {found.base.label}"
    # Not wrapped: it is to be copied.
    command = f"judge prompt {act} --file FILE --note {shlex.quote(found.note)}{option}"
    return f"{wrapped(lines)}next: {command}\n"


@contextmanager
def bar(calls: int) -> Iterator[Callable[[], None]]:
    """A bar on stderr where somebody looks on; call what it gives once per verdict."""
    columns = (TextColumn("suggesting"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, disable=not console.is_terminal, transient=True
    ) as shown:
        task = shown.add_task("suggesting", total=calls)
        yield lambda: shown.advance(task)
