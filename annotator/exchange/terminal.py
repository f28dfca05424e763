"""What the commands that export, import, merge and copy print."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from annotator.exchange.backup import Backup
from annotator.exchange.export import Exported, Format
from annotator.exchange.merging.merge import Merged
from annotator.exchange.restore import Restored
from annotator.exchange.who import Who
from generation.study import Study

NEVER = "accounts, passwords and logins are never in it"


def exported_text(done: Exported) -> str:
    versions = ", ".join(sorted(done.versions)) or "none"
    lines = [
        f"{done.path}: {_counted(done.events, 'annotation event')} of "
        f"{_counted(len(done.annotators), 'annotator')} under rubric {versions}, "
        f"{done.standing} of them standing; {NEVER}"
    ]
    if done.left_out:
        parts = [f"{name} {count}" for name, count in sorted(done.left_out.items())]
        lines.append(f"left out, as {done.format} has no place for them: {', '.join(parts)}")
    if len(done.versions) > 1 and done.format is not Format.JSONL:
        lines.append("labels of several rubric versions: for agreement take one, with --rubric")
    if done.who is Who.PSEUDONYMS:
        lines.append(
            "numbers hide names, not people: notes are as they were written, and who knows who "
            "worked when can tell. Read the notes before you publish"
        )
    return "\n".join(lines)


def imported_text(counts: Mapping[str, int], study: Study) -> str:
    parts = [f"{record.replace('_', ' ')} {count}" for record, count in sorted(counts.items())]
    return (
        f"{study.labels}: {', '.join(parts) or 'nothing'}; everybody needs a new account there: "
        f"annotate user add NAME --role annotator{study.option}"
    )


def merged_text(merged: Merged, other: str, option: str) -> str:
    """What was added, every conflict, and what was not taken; `option` names the study."""
    added = ", ".join(f"{table} {count}" for table, count in merged.added.items())
    lines = [f"merged from {other}: {added.replace('_', ' ') or 'nothing that is not here'}"]
    lines.append(f"conflicts, both answers kept, the later stands: {len(merged.conflicts)}")
    for conflict in merged.conflicts:
        who = f" of {conflict.who}" if conflict.who else ""
        lines.append(
            f"  {conflict.kind}{who} on {conflict.item_id} ({conflict.rubric_version}): "
            f"{conflict.here} here ({conflict.here_at}), {conflict.there} there "
            f"({conflict.there_at}); what was said {conflict.stands} stands"
        )
    lines += [f"not taken: {what}" for what in merged.kept]
    if merged.added:
        lines.append(
            "accounts do not travel; who has none here and is to go on: "
            f"annotate user add NAME --role annotator{option}"
        )
    return "\n".join(lines)


def backup_text(backup: Backup, option: str) -> str:
    return (
        f"{backup.path}: {_counted(backup.events, 'annotation event')}, {backup.size:,} bytes, "
        "read back and sound. It holds accounts with password hashes: keep it as safe as "
        f"labels.db\nto go back to it: annotate restore {shlex.quote(str(backup.path))}{option}\n"
        "to label it elsewhere: put it into a folder there as labels.db, annotate serve --study "
        f"FOLDER, and bring it back: annotate merge FILE{option}"
    )


def restored_text(restored: Restored, backup: Path, option: str) -> str:
    lines = [
        f"{restored.labels}: {_counted(restored.events, 'annotation event')}, "
        f"a sound copy of {backup}"
    ]
    if restored.aside:
        lines += [
            f"what was there: {restored.aside}",
            "labels that were given after the copy was made are in there alone; if it can be read: "
            f"annotate merge {shlex.quote(str(restored.aside))}{option}",
        ]
    return "\n".join(lines)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
