"""What the command that exports turns prints."""

from collections import Counter

from generation.exchange.exported import Exported, Format


def exported_text(done: Exported) -> str:
    lines = [f"{done.path}: {done.written:,} {'turn' if done.written == 1 else 'turns'}"]
    if done.left_out_canary:
        lines.append(
            "left out, their data sets ask never to be published (canary): "
            + _counts(done.left_out_canary)
        )
    if not done.format.keeps_all:
        lines.append(
            f"{done.format} has a place for messages alone: models, settings, perturbations and "
            "flags are not in it"
        )
        if done.flagged:
            lines.append(f"among them are flagged turns: {_counts(done.flagged)}")
    where = done.path / "data" / "turns.parquet" if done.format is Format.HF else done.path
    kept = "" if done.format.keeps_all else ", as held-out turns of nobody"
    return "\n".join([*lines, f"to read it again: generate import {where}{kept}"])


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
