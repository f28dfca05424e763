"""A report as plain text, for the terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from judge.calibration.main_run.report import Report, heading
from judge.calibration.main_run.statements.statement import Statement
from judge.calibration.main_run.tables.text import tables_text
from judge.plain_text import wrapped
from judge.plural import counted
from rubrics import short


def report_text(report: Report) -> str:
    """The whole report without any control sequence; no line of more than 100 columns."""
    parts = [
        wrapped(heading(report)),
        tables_text(report.tables),
        *(wrapped(lines) for lines in statement_blocks(report.statements)),
        wrapped(report.absent),
        wrapped(rests_on(report)),
    ]
    return "\n".join(part for part in parts if part)


def statement_blocks(statements: Sequence[Statement]) -> Iterator[Sequence[str]]:
    """Of each kind: how many of each verdict, then the statements, a paragraph each."""
    kinds = dict.fromkeys(of.kind for of in statements)
    for kind in kinds:
        these = [of for of in statements if of.kind == kind]
        verdicts = Counter(of.verdict for of in these)
        counts = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common())
        yield [f"{kind}: {counts}", *(f"· {of.wording}" for of in these)]


def rests_on(report: Report) -> Iterable[str]:
    """The runs, hashes, seed and versions in a few lines, and how to build it again."""
    told = report.provenance
    for run in told["runs"]:
        yield f"run {run['name']} ({short(run['run_id'])}), {counted(run['turns'], 'turn')}"
    export = told["export"]
    yield "; ".join(
        filter(
            None,
            (
                f"rubric {told['rubric']['version']} ({short(told['rubric']['hash'])})",
                f"judge {short(told['judge']['judge_id'])}",
                export and f"export {export['folder']} ({short(export['hash'])})",
                *(f"inputs of {of['run']} {short(of['fingerprint'])}" for of in told["inputs"]),
                f"seed {told['seed']}",
                str(told["tool"]["tool"]),
            ),
        )
    )
    yield f"again: {told['command']}"
