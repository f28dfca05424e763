"""The `calibrate` command."""

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annotator.reference_rule import ReferenceRule
from generation.command import FiniteRange, Verb, study_option
from generation.study import DEFAULT_SEED, Study
from judge.calibration.causes.cli import cause
from judge.calibration.comparison.cli import compare
from judge.calibration.label_table.cli import agreement, table
from judge.calibration.main_run.cli import report_command
from judge.calibration.options import (
    SEED,
    final_option,
    judge_option,
    reading_option,
    reference_option,
    rubric_option,
    runs_option,
)
from judge.calibration.published.cli import dataset
from judge.calibration.rates.cli import rates
from judge.calibration.sampling.cli import sample
from judge.calibration.splits.cli import split
from judge.calibration.suggest.cli import suggest
from judge.reading import Reading

if TYPE_CHECKING:  # they are slow to import, and --help needs none of them
    from sqlite_utils import Database

    from judge.calibration.calibration import Calibration

BELOW_MINIMUM = 3


@click.group("calibrate", cls=Verb, default="kappa", default_if_no_args=True)
def calibrate() -> None:
    """Compare a judge with people's blind labels: `calibrate` alone prints the agreement.

    Its options are those of `calibrate kappa --help`.

    \b
      calibrate sample
      calibrate --rubric v3
      calibrate --rubric v3 --disagreements --html report.html
      calibrate judges --rubric v3
      calibrate export --rubric v3
    """


@calibrate.command()
@rubric_option
@judge_option
@runs_option
@reading_option
@click.option("--annotator", help="Take this person's labels alone as the reference.")
@reference_option
@final_option
@click.option("--seed", type=SEED, help="Seed of the resamples.  [default: a fixed one]")
@click.option("--disagreements", is_flag=True, help="Print every item they disagree on.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the report to this file, as one self-contained page.",
)
@click.option(
    "--min-kappa",
    type=FiniteRange(-1, 1),
    help="Exit with code 3 unless kappa over the labels is at least this.",
)
@study_option
def kappa(
    study: Study,
    version: str | None,
    judge: str | None,
    runs: int | None,
    reading: Reading | None,
    annotator: str | None,
    rule: ReferenceRule,
    final: str | None,
    seed: int | None,
    disagreements: bool,
    as_json: bool,
    html: Path | None,
    min_kappa: float | None,
) -> int:
    """Cohen's kappa of judge and people, with all that it rests on (the main act)."""
    from judge.calibration.report.terminal import report

    seed = DEFAULT_SEED if seed is None else seed
    with _opened(study) as stores:
        calibration = _calibrated(
            study,
            stores,
            version,
            judge=judge,
            annotator=annotator,
            rule=rule,
            final=final,
            seed=seed,
            reading=reading,
            runs=runs,
        )
        if html:
            from judge.calibration.comparison.rivals import compare_rivals
            from judge.calibration.report.html_report import write_report

            write_report(calibration, html, compare_rivals(*stores, calibration))
            click.echo(f"report: {html}", err=True)
    if as_json:
        # ASCII only: no character in a study's texts can act on a terminal.
        click.echo(json.dumps(calibration.as_dict(texts=disagreements), indent=2, allow_nan=False))
    else:
        click.echo(report(calibration, study, disagreements=disagreements), nl=False)
    found = calibration.kappas.labels.value
    if min_kappa is not None and (found is None or found < min_kappa):
        shown = "undefined" if found is None else f"{found:.3f}"
        click.echo(f"kappa is {shown}, below the minimum of {min_kappa:g}", err=True)
        return BELOW_MINIMUM
    return 0


@calibrate.command()
@click.option(
    "--rubric", "version", help="Rubric version of the judges.  [default: the newest packaged]"
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@study_option
def judges(study: Study, version: str | None, as_json: bool) -> None:
    """Compare the judges with each other, and each with itself over its runs.

    It needs nobody's labels.
    """
    from judge.calibration.cross_judge import compare_judges
    from judge.calibration.report.cross_judge_text import comparison
    from judge.store import open_pipeline

    with open_pipeline(study.pipeline) as pipeline_db:
        found = compare_judges(pipeline_db, study.rubric(version))
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    else:
        click.echo(comparison(found), nl=False)


@calibrate.group()
def rubric() -> None:
    """Look at the rubrics, or give the study one of its own."""


@rubric.command("diff")
@click.argument("old")
@click.argument("new")
@study_option
def rubric_diff(study: Study, old: str, new: str) -> None:
    """What changed from rubric version OLD to NEW, and why."""
    from rubrics.diff import diff_rubrics, render_diff

    click.echo(render_diff(diff_rubrics(study.rubric(old), study.rubric(new))))


@rubric.command("new")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@study_option
def rubric_new(study: Study, file: Path) -> None:
    """Give this study the rubric in FILE, under the version that it names; it never changes again.

    Start from a packaged one: calibrate rubric show v3 > mine.toml. A table [mapping.v3] with lines
    OLD = "NEW" says which category of v3 each of its labels counts as here, so that it need not be
    given again; one that was split is left out.
    """
    from judge.calibration.rubric_authoring import new_rubric, remarks
    from judge.prompts.template_editor import read_text_file

    written = new_rubric(study, read_text_file(file))
    click.echo(f"rubric {written.version} is {study.rubrics / written.version}.toml")
    for remark in remarks(study, written):
        click.echo(f"note: {remark}")
    click.echo(f"next: judge --rubric {written.version}{study.option}")
    click.echo(f"or have people label under it: annotate publish {written.version}{study.option}")


@rubric.command("show")
@click.argument("version")
@study_option
def rubric_show(study: Study, version: str) -> None:
    """Print a rubric's TOML, to write the next one from."""
    from judge.prompts.cli import print_text

    print_text(study.rubric(version).text)


@calibrate.command()
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=7960,
    show_default=True,
    help="Port on this machine; the next free one is taken if it is not free.",
)
@study_option
def serve(study: Study, port: int) -> None:
    """Serve the workbench on this machine: why judge and people part, and a better prompt.

    It shows verdicts beside people's labels, so it is no page for annotators.
    """
    from judge.calibration.workbench.app import serve as serve_workbench

    serve_workbench(study, port=port)


@calibrate.command()
@rubric_option
@judge_option
@runs_option
@reading_option
@reference_option
@final_option
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("exports"),
    show_default="./exports",
    help="Folder to put the export in.",
)
@study_option
def export(
    study: Study,
    version: str | None,
    judge: str | None,
    runs: int | None,
    reading: Reading | None,
    rule: ReferenceRule,
    final: str | None,
    output: Path,
) -> None:
    """Write the calibrated judge prompt to a folder, for the main run."""
    from judge.calibration.export import export_calibration
    from judge.calibration.report.wording import headline

    with _opened(study) as stores:
        calibration = _calibrated(
            study, stores, version, judge=judge, reading=reading, runs=runs, rule=rule, final=final
        )
        exported = export_calibration(stores[0], calibration, output)
    click.echo(exported.folder)
    click.echo(headline(calibration))
    if exported.remark:
        click.echo(exported.remark, err=True)
    if not exported.new:
        click.echo(f"{exported.folder} holds this export already; nothing written", err=True)
    click.echo(f"next: judge --prompt {shlex.quote(str(exported.folder))}{study.option}")


calibrate.add_command(cause)
calibrate.add_command(suggest)
calibrate.add_command(sample)
calibrate.add_command(split)
calibrate.add_command(agreement)
calibrate.add_command(compare)
calibrate.add_command(table)
calibrate.add_command(rates)
calibrate.add_command(report_command)
calibrate.add_command(dataset)


@contextmanager
def _opened(study: Study) -> "Iterator[tuple[Database, Database]]":
    """The study's two stores, closed at the end: pipeline.db and labels.db."""
    from annotator.labels import open_labels
    from judge.store import open_pipeline

    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        yield pipeline_db, labels_db


def _calibrated(
    study: Study, stores: "tuple[Database, Database]", version: str | None, **choices: Any
) -> "Calibration":
    """The calibration that the options ask for."""
    from judge.calibration.study_calibration import calibrate_study

    return calibrate_study(*stores, study.rubric(version), **choices)
