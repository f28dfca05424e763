"""What a call of `generate` came to, for people and as JSON."""

import json
from dataclasses import asdict

from generation.probe.run_models import RunDone
from generation.probe.tally import ModelTally
from generation.study import Study


def summary_json(study: Study, done: RunDone) -> str:
    return json.dumps(
        {
            "study": str(study.folder),
            "new": sum(tally.turns.new for tally in done.tallies),
            "known": sum(tally.turns.known for tally in done.tallies),
            "models": [asdict(tally) for tally in done.tallies],
            "broken": list(done.broken),
        }
    )


def summary_text(study: Study, done: RunDone) -> str:
    """Counts of turns, then per model whatever is not simply made."""
    new = sum(tally.turns.new for tally in done.tallies)
    known = sum(tally.turns.known for tally in done.tallies)
    lines = [added_text(study, new, known)]
    for tally in done.tallies:
        lines += [f"  {line}" for line in _model_lines(tally, study)]
    return "\n".join([*lines, f"next: {_next(done, study)}"])


def added_text(study: Study, new: int, known: int) -> str:
    turns, were = "turn" if new == 1 else "turns", "was" if known == 1 else "were"
    return f"{study.pipeline}: {new:,} {turns} added, {known:,} {were} there already"


def _model_lines(tally: ModelTally, study: Study) -> list[str]:
    lines = []
    if tally.answers.planned:
        answers = tally.answers
        lines.append(f"{tally.model}: {answers.new:,} answers added, {answers.known:,} known")
    for reason, count in sorted(tally.unusable.items()):
        lines.append(f"{tally.model}: {count:,} turns cannot be made, of their answer: {reason}")
    if tally.turns.waiting:
        lines.append(f"{tally.model}: {tally.turns.waiting:,} turns wait for an answer that failed")
    if tally.ended:
        lines.append(
            f"{tally.model}: {tally.ended:,} conversations ended before their last user turn: "
            "one before it is missing or says nothing"
        )
    for act, part in (("answers", tally.answers), ("turns", tally.turns)):
        if part.failed or part.failed_before:
            lines.append(
                f"{tally.model}: {part.failed:,} {act} failed now, {part.failed_before:,} before: "
                f"generate show{study.option}; --retry-errors tries them again"
            )
    return lines


def _next(done: RunDone, study: Study) -> str:
    if done.broken:
        return "see the errors above; the same command goes on"
    if not any(tally.turns.new + tally.turns.known for tally in done.tallies):
        return f"no turn was made; see why: generate show{study.option}"
    return f"calibrate sample{study.option}"
