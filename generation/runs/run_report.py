"""`generate show`: the runs of a study, or one run whole, for people and as JSON."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from generation.database import open_database
from generation.migrations import generation_migrations
from generation.runs.run_counts import (
    AnswerCount,
    FailureCount,
    TurnCount,
    answer_counts,
    failure_counts,
    turn_counts,
)
from generation.runs.run_record import (
    EngineWork,
    RunRecord,
    engine_work,
    find_run,
    flat,
    run_records,
)
from generation.study import Study
from rubrics import short


@dataclass(frozen=True)
class RunReport:
    """One run: what it rests on, who made it, what it gave."""

    run: RunRecord
    work: tuple[EngineWork, ...]
    answers: tuple[AnswerCount, ...]
    turns: tuple[TurnCount, ...]
    failures: tuple[FailureCount, ...]


def report_run(study: Study, text: str) -> RunReport:
    """The run of that name or id; raises InputError where there is none."""
    database = open_database(study.pipeline, (generation_migrations,))
    run = find_run(database, text, study.option)
    return RunReport(
        run,
        tuple(engine_work(database, run.run_id)),
        tuple(answer_counts(database, run.run_id)),
        tuple(turn_counts(database, run.run_id)),
        tuple(failure_counts(database, run.run_id)),
    )


def runs_text(study: Study, *, as_json: bool) -> str:
    """Every run of a study on a line, then what failed in any of them."""
    database = open_database(study.pipeline, (generation_migrations,))
    records, failures = run_records(database), failure_counts(database)
    if as_json:
        rows = [asdict(record) for record in records]
        runs = [{k: v for k, v in row.items() if k != "provenance"} for row in rows]
        return json.dumps({"runs": runs, "failures": [asdict(count) for count in failures]})
    lines = [
        f"{short(record.run_id)}  {record.started_at[:16].replace('T', ' ')}  "
        f"{record.turns:>9,} turns  {record.name}"
        for record in records
    ]
    lines += _failures(failures)
    return "\n".join([*lines, f"next: generate show RUN{study.option}"])


def report_json(report: RunReport) -> str:
    work = [asdict(w) | {"tokens_per_second": w.tokens_per_second} for w in report.work]
    return json.dumps(asdict(report) | {"work": work}, ensure_ascii=False)


def report_text(report: RunReport) -> str:
    """Counts first, then everything that the numbers rest on."""
    run = report.run
    parts = [
        [f"run {run.name} ({short(run.run_id)}), {run.kind}, begun {run.started_at}"],
        _answers(report.answers),
        _turns(report.turns),
        _failures(report.failures),
        _work(report.work),
        ["what the rows rest on", *_leaves(run)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _answers(counts: Iterable[AnswerCount]) -> list[str]:
    lines = []
    for count in counts:
        accuracy = (
            f"{100 * count.right / count.checked:.1f} % right of {count.checked:,} checked"
            if count.checked
            else "accuracy: nothing to check it by"
        )
        if count.not_checkable:
            accuracy += f", {count.not_checkable:,} not checkable"
        lines.append(f"{count.dataset}: {count.answers:,} answers, {accuracy}")
        if count.cut:
            lines.append(f"  {count.cut:,} cut by the limit of tokens")
        for reason, rows in count.unusable.items():
            lines.append(f"  {rows:,} without a turn: {reason}")
    return lines


def _turns(counts: Iterable[TurnCount]) -> list[str]:
    lines = []
    for c in counts:
        temperature = "T unknown" if c.temperature is None else f"T = {c.temperature:g}"
        made = ", ".join(filter(None, (temperature, c.perturbation, c.condition)))
        line = f"{c.dataset}, {c.setting}, {made}: {c.turns:,} turns"
        if c.compared:
            line += f", {100 * (c.changed or 0) / c.compared:.1f} % changed of {c.compared:,}"
        for flag, rows in c.flagged.items():
            line += f", {rows:,} flagged {flag!r}"
        lines.append(line)
    return lines


def _failures(counts: Iterable[FailureCount]) -> list[str]:
    return [f"failed: {c.rows:,} {c.act}s, {c.kind}: {c.example}" for c in counts]


def _work(work: Iterable[EngineWork]) -> list[str]:
    lines = []
    for w in work:
        speed = "" if w.tokens_per_second is None else f", {w.tokens_per_second:,.0f} tokens/s"
        lines.append(
            f"{w.started_at[:16].replace('T', ' ')}: {w.rows:,} {w.act}s, {w.output_tokens:,} "
            f"tokens in {w.seconds:,.1f} s{speed}"
        )
        lines += [f"  {path}: {value}" for path, value in flat(w.record)]
    return lines


def _leaves(run: RunRecord) -> list[str]:
    lines = []
    for path, value in flat(run.provenance):
        first, *rest = value.splitlines() or [""]
        lines.append(f"  {path}: {first}")
        lines += [f"    | {line}" for line in rest]
    return lines
