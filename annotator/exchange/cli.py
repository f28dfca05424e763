"""`annotate export`, `import`, `merge`, `backup` and `restore`."""

import json
from contextlib import AbstractContextManager
from pathlib import Path

import click

from generation.command import study_option

# As `annotator.exchange.export.Format` and `annotator.exchange.who.Who`, which import the store.
FORMATS = ("jsonl", "csv", "parquet", "hf", "label-studio", "argilla")
WHO = ("names", "pseudonyms")

_path = click.Path(path_type=Path)


def _at_work(what: str) -> AbstractContextManager[object]:
    """A line on a terminal as long as it takes; a large study takes a minute."""
    from rich.console import Console

    return Console(stderr=True).status(what)


@click.command("export")
@click.argument("out", type=_path)
@click.option(
    "--format",
    "named",
    type=click.Choice(FORMATS),
    help="What to write.  [default: by the suffix of OUT]",
)
@click.option("--rubric", "version", help="Only labels under this version.  [default: all]")
@click.option(
    "--who",
    type=click.Choice(WHO),
    default="names",
    show_default=True,
    help="What annotators are called; pseudonyms are numbers.",
)
@study_option
def export(study, out, named, version, who) -> None:
    """Write everything that people said to the new file or folder OUT.

    The whole history, corrections too. .jsonl is canonical: `annotate import` makes an equal
    labels.db of it. csv and parquet have one row per event; hf is a folder for Hugging Face's
    load_dataset, with the blindness report; label-studio and argilla hold what stands under one
    rubric version. Accounts and passwords are in none of them.

    \b
      annotate export labels.jsonl
      annotate export labels.csv --rubric v3
      annotate export published --format hf --who pseudonyms
    """
    from annotator.blindness.report import blindness_report
    from annotator.exchange.export import export_labels, format_of
    from annotator.exchange.terminal import exported_text
    from annotator.exchange.who import Who
    from annotator.labels import open_labels

    format = format_of(out, named)
    with open_labels(study.labels) as database, _at_work("exporting"):
        done = export_labels(
            database,
            out,
            format,
            who=Who(who),
            version=version,
            blindness=lambda people: blindness_report(database, study, people).as_dict(),
        )
    click.echo(exported_text(done))


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@study_option
def import_(study, file) -> None:
    """Make labels.db of this study from FILE, a canonical export (.jsonl).

    What a study exported, or labels that people gave elsewhere, written in the same format:
    annotator/exchange/README.md tells it line by line, and how such labels come into a study.
    """
    from annotator.exchange.jsonl_import import import_jsonl
    from annotator.exchange.terminal import imported_text

    with _at_work("importing"):
        counts = import_jsonl(file, study.labels)
    click.echo(imported_text(counts, study))


@click.command()
@click.argument("other", type=_path)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@study_option
def merge(study, other, as_json) -> None:
    """Bring OTHER, a copy of labels.db that was labelled elsewhere, back into this one.

    Nothing is lost on either side, and OTHER is only read. Where one person gave an item different
    labels on both sides, both are kept and the later one stands; all such conflicts are listed.
    Merging again adds nothing. Accounts do not travel.
    """
    from annotator.exchange.merging.merge import merge_labels
    from annotator.exchange.terminal import merged_text
    from annotator.labels import open_labels

    with open_labels(study.labels) as database, _at_work("merging"):
        merged = merge_labels(database, other)
    if as_json:
        click.echo(json.dumps(merged.as_dict(), indent=2, allow_nan=False))
    else:
        click.echo(merged_text(merged, str(other), study.option))


@click.command()
@click.argument("file", type=_path)
@study_option
def backup(study, file) -> None:
    """Copy labels.db to the new FILE while people are labelling, and check the copy.

    To go back to it, stop `annotate` and use `annotate restore`: what SQLite leaves beside a
    labels.db would damage a copy that is put in its place by hand.
    """
    from annotator.exchange.backup import back_up
    from annotator.exchange.terminal import backup_text

    with _at_work("copying"):
        copy = back_up(study.labels, file)
    click.echo(backup_text(copy, study.option))


@click.command("restore")
@click.argument("file", metavar="BACKUP", type=_path)
@study_option
def restore(study, file) -> None:
    """Go back to BACKUP, a copy of labels.db; stop `annotate` first.

    BACKUP is checked and stays as it is. The labels.db that is there is moved aside, with what
    belongs to it, and nothing is deleted.
    """
    from annotator.exchange.restore import restore as put_back
    from annotator.exchange.terminal import restored_text

    with _at_work("restoring"):
        restored = put_back(file, study.labels)
    click.echo(restored_text(restored, file, study.option))
