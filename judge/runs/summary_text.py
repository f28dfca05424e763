"""The summary of a run as plain text."""

from generation.command import one_line
from judge.runs.run import Summary


def summary_text(summary: Summary) -> str:
    """What a judge made of a study, and what to type next."""
    known = f", {summary.judged_before} judged before" if summary.judged_before else ""
    width = max(map(len, summary.labels))
    item = "item" if summary.runs == 1 else "verdict"
    items = item if summary.judged_now == 1 else f"{item}s"
    lines = [
        f"{summary.judged_now} {items} judged by {one_line(summary.model)} "
        f"under rubric {one_line(summary.rubric_version)}{known}",
        *_equal_turns(summary),
        *([f"  ({summary.runs} runs over each item)"] if summary.runs > 1 else []),
        *(f"  {label:<{width}}  {count:>6}" for label, count in summary.labels.items()),
        f"  {'invalid':<{width}}  {sum(summary.invalid.values()):>6}",
        *(f"    {reason}: {count}" for reason, count in summary.invalid.items()),
        *([f"  in an open batch: {summary.waiting}"] if summary.waiting else []),
        *([f"cost: ${summary.cost:.4f}"] if summary.cost is not None else []),
        f"next: {summary.next_command}",
    ]
    return "\n".join(lines)


def _equal_turns(summary: Summary) -> list[str]:
    """Why there are fewer items than turns, where there are."""
    if summary.scope:
        return [f"  (of {summary.scope})"]
    if summary.turns == summary.items:
        return []
    items = "1 distinct item" if summary.items == 1 else f"{summary.items} distinct items"
    return [f"  ({summary.turns} turns hold {items}; equal ones are judged once)"]
