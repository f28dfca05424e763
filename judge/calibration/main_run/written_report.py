"""A report as a folder: tables in every format, figures, statements, and the page if wanted."""

import json
from pathlib import Path

from sqlite_utils import Database

from annotator.labels import open_labels
from annotator.reference_rule import ReferenceRule
from generation.study import Study
from judge.calibration.comparison.rivals import Rivals, compare_rivals
from judge.calibration.comparison.text import forest_rows
from judge.calibration.main_run.figures.absence import Absent
from judge.calibration.main_run.figures.all_figures import comparison_figures, figures_or_reasons
from judge.calibration.main_run.figures.canvas import save
from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.report import DrawnFile, Report
from judge.calibration.main_run.report_folder import report_folder
from judge.calibration.main_run.report_markdown import report_markdown
from judge.calibration.main_run.report_page.write_page import write_page
from judge.calibration.main_run.tables.csv_text import as_csv
from judge.calibration.main_run.tables.json_text import as_json
from judge.calibration.main_run.tables.latex import as_latex
from judge.calibration.main_run.tables.markdown import as_markdown
from judge.calibration.main_run.tables.text import as_text

REPORT, TABLES, FIGURES = "report", "tables", "figures"
_FORMATS = {"txt": as_text, "md": as_markdown, "tex": as_latex, "csv": as_csv, "json": as_json}


def write_report(
    path: Path,
    report: Report,
    pipeline_db: Database,
    study: Study,
    *,
    rule: ReferenceRule,
    html: bool,
) -> None:
    """Write a report to the folder `path`, in place of one that is there.

    `rule` is the one of people's reference labels. The page is of a single run. Raises InputError
    where the folder is not a report's or cannot be written; then it is as it was.
    """
    with report_folder(path, report.provenance) as folder:
        _write_tables(folder / TABLES, report)
        drawn, absent = _draw(folder / FIGURES, report, pipeline_db, study)
        told = report.as_dict() | {"absent_figures": absent}
        _write(folder / f"{REPORT}.json", f"{_json(told)}\n")
        _write(folder / f"{REPORT}.md", report_markdown(report, drawn, absent))
        if html and report.comparison is None:
            write_page(
                folder,
                report.runs[0],
                report.statements,
                report.tables,
                pipeline_db=pipeline_db,
                study=study,
                rule=rule,
                provenance=report.provenance,
                figures=drawn,
            )


def _write_tables(folder: Path, report: Report) -> None:
    folder.mkdir()
    for table in report.tables:
        for ending, written in _FORMATS.items():
            _write(folder / f"{table.name}.{ending}", written(table))


def _draw(
    folder: Path, report: Report, pipeline_db: Database, study: Study
) -> tuple[list[DrawnFile], list[str]]:
    """The PNG and title of each figure, and why others are not there."""
    folder.mkdir()
    drawn, absent = [], []
    if report.comparison is not None:
        figures = comparison_figures(report.comparison)
    else:
        run = report.runs[0]
        rivals = _rivals(run, pipeline_db, study)
        forest = forest_rows(rivals.comparison.comparison) if rivals.comparison else ()
        absent += [f"judges, without {left}" for left in rivals.left_out]
        figures = figures_or_reasons(run, tuple(forest))
    for made in figures:
        if isinstance(made, Absent):
            absent.append(str(made))
        else:
            save(made, folder)
            drawn.append(DrawnFile(f"{made.name}.png", made.title))
    if not drawn:
        folder.rmdir()
    return drawn, absent


def _rivals(run: MainRun, pipeline_db: Database, study: Study) -> Rivals:
    """The other judges of the rubric compared with this one, on this study's labels."""
    if run.quality.calibration is None:
        return Rivals(None)
    with open_labels(study.labels) as labels_db:
        return compare_rivals(pipeline_db, labels_db, run.quality.calibration)


def _json(told: object) -> str:
    return json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False)


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode())  # as it is: a CSV's line ends are its own
