"""Exporting labels.db: in which format, under which rubric, and what a format has no place for."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from sqlite_utils import Database

from annotator.exchange.jsonl import write_jsonl
from annotator.exchange.record import AnnotationRecord, annotation_records, one_version
from annotator.exchange.who import People, Who, people
from generation.exchange.whole import made_whole
from rubrics import InputError


class Format(StrEnum):
    """What an export can be; only JSONL can be imported again."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    HF = "hf"
    LABEL_STUDIO = "label-studio"
    ARGILLA = "argilla"


_SUFFIXES = {".jsonl": Format.JSONL, ".csv": Format.CSV, ".parquet": Format.PARQUET}
# These know one question, so labels of one rubric version.
_ONE_VERSION = (Format.LABEL_STUDIO, Format.ARGILLA)

# What of an event has no place in a format, by what it is called.
Lost = dict[str, Callable[[AnnotationRecord], object]]
_LOST: dict[Format, Lost] = {
    Format.LABEL_STUDIO: {
        "superseded events": lambda r: not r.stands,
        "reasons of skips": lambda r: r.stands and r.skip_reason,
        "confidences": lambda r: r.stands and r.confidence,
        "flags": lambda r: r.stands and r.flagged,
    },
    Format.ARGILLA: {
        "superseded events": lambda r: not r.stands,
        "skips": lambda r: r.stands and r.kind == "skip",
        "notes": lambda r: r.stands and r.note,
        "confidences": lambda r: r.stands and r.confidence,
        "flags": lambda r: r.stands and r.flagged,
    },
}


@dataclass
class Exported:
    """What was written: events, how many of them stand, by whom, and what was left out."""

    path: Path
    format: Format
    who: Who
    events: int = 0
    standing: int = 0
    annotators: set[str] = field(default_factory=set)
    versions: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)

    def counted(self, records: Iterable[AnnotationRecord]) -> Iterator[AnnotationRecord]:
        lost = _LOST.get(self.format, {})
        for record in records:
            self.events += 1
            self.standing += record.stands
            self.annotators.add(record.annotator)
            self.versions.add(record.rubric_version)
            self.left_out.update(name for name, is_lost in lost.items() if is_lost(record))
            yield record

    def count_all(self, database: Database) -> None:
        """Count what the canonical export holds, which is everything."""
        rows = database.conn.execute(
            """SELECT events.annotator, events.rubric_version, count(*),
                      count(standing_events.event_id)
               FROM events LEFT JOIN standing_events USING (event_id) GROUP BY 1, 2"""
        )
        for annotator, version, events, standing in rows:
            self.events += events
            self.standing += standing
            self.annotators.add(annotator)
            self.versions.add(version)


def format_of(path: Path, named: str | None) -> Format:
    """The format named, else the one that the suffix means.

    Raises InputError for a suffix that could be several.
    """
    if named is not None:
        return Format(named)
    if path.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[path.suffix.lower()]
    raise InputError(
        f"{path.name} does not say which format to write; expected .jsonl, .csv or .parquet, or "
        f"--format with one of {', '.join(Format)}"
    )


def export_labels(
    database: Database,
    path: Path,
    format: Format,
    *,
    who: Who = Who.NAMES,
    version: str | None = None,
    blindness: Callable[[People], dict[str, object]] = lambda _people: {},
) -> Exported:
    """Write all that people said to a new file or folder at `path`.

    `version` takes one rubric version alone. `blindness` makes the report that a Hugging Face
    folder holds. Raises InputError where `path` is taken, for a version that nobody annotated
    under, and for a version where the format is the whole history.
    """
    if format is Format.JSONL and version is not None:
        raise InputError(
            "the canonical export is the whole history under every rubric; leave --rubric out, or "
            "take another format: --format csv"
        )
    if version is not None or format in _ONE_VERSION:
        version = one_version(database, version)
    done = Exported(path, format, who)
    with made_whole(path) as new, database.atomic():
        called = people(database, who)
        records = done.counted(annotation_records(database, called, version))
        if format is Format.CSV:
            from annotator.exchange.csv_table import write_csv

            write_csv(records, new)
        elif format is Format.PARQUET:
            from annotator.exchange.parquet_table import write_parquet

            write_parquet(records, new)
        elif format is Format.LABEL_STUDIO:
            from annotator.exchange.label_studio import write_label_studio

            write_label_studio(records, new)
        elif format is Format.ARGILLA:
            from annotator.exchange.argilla import write_argilla

            write_argilla(records, new)
        elif format is Format.HF:
            from annotator.exchange.hf_folder import write_hf_folder

            report = json.dumps(blindness(called), indent=2, allow_nan=False)
            write_hf_folder(database, new, records, called, version, report)
        else:
            write_jsonl(database, new, called)
            done.count_all(database)
    return done
