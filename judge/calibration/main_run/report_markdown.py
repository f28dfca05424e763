"""A report as one Markdown file: what was run, tables, figures, statements, what it rests on."""

import json
from collections.abc import Iterator, Sequence

from judge.calibration.main_run.report import DrawnFile, Report, heading
from judge.calibration.main_run.report_text import statement_blocks
from judge.calibration.main_run.tables.markdown import as_markdown, escaped


def report_markdown(
    report: Report, figures: Sequence[DrawnFile], absent_figures: Sequence[str]
) -> str:
    """`figures` lie in the folder figures beside it."""
    return "\n".join(_parts(report, figures, absent_figures)) + "\n"


def _parts(
    report: Report, figures: Sequence[DrawnFile], absent_figures: Sequence[str]
) -> Iterator[str]:
    yield f"# {escaped(report.title)}\n"
    yield "\n".join(f"- {escaped(line)}" for line in heading(report))
    yield "\n## Tables"
    yield from (f"\n{as_markdown(table)}" for table in report.tables)
    if figures:
        yield "\n## Figures\n"
        yield "\n\n".join(f"![{escaped(of.title)}](figures/{of.file})" for of in figures)
    for name, *statements in statement_blocks(report.statements):
        yield f"\n## {escaped(name)}\n"
        yield "\n".join(f"- {escaped(of.removeprefix('· '))}" for of in statements)
    absent = [*report.absent, *(f"no figure {of}" for of in absent_figures)]
    if absent:
        yield "\n## Not in this report\n"
        yield "\n".join(f"- {escaped(of)}" for of in absent)
    yield "\n## What it rests on\n"
    told = json.dumps(report.provenance, ensure_ascii=True, indent=2, allow_nan=False)
    yield f"```json\n{told}\n```"
