"""What `calibrate dataset` prints."""

from generation.command import one_line
from judge.calibration.published.published import Published
from judge.plural import counted


def published_text(done: Published) -> str:
    """What was written and what was left out, a line each."""
    lines = [
        f"{done.folder}: {counted(done.turns.count, 'turn')}, {counted(done.items, 'item')}, "
        f"{counted(done.verdicts, 'verdict')} of {counted(len(done.judges), 'judge')}, "
        f"{counted(len(done.labels.labels), 'annotation')} of "
        f"{counted(len(done.annotators), 'annotator')}"
    ]
    canary = done.turns.left_out
    if canary:
        names = ", ".join(f"{name} {count:,}" for name, count in sorted(canary.items()))
        lines.append(f"left out, their data sets ask never to be published (canary): {names}")
    verdicts = sum(of.canary + of.elsewhere for of in done.judges)
    if verdicts:
        lines.append(f"left out, on turns that are not here: {counted(verdicts, 'verdict')}")
    for reason, count in sorted(done.labels.left_out.items()):
        lines.append(f"left out, {reason}: {counted(count, 'annotation')}")
    lines.append(f"its card, to read before it is published: {done.folder / 'README.md'}")
    return "\n".join(map(one_line, lines))
