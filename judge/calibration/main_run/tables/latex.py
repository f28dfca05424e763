"""A table for LaTeX with the packages booktabs and, where it runs over pages, longtable."""

from collections.abc import Iterator, Sequence

from judge.calibration.main_run.tables.folded import folded
from judge.calibration.main_run.tables.latex_text import escaped
from judge.calibration.main_run.tables.shown import Shown, ShownTable, shown
from judge.calibration.main_run.tables.table import Column, Kind, Table

LONG = 40  # rows, above which a table runs over pages
LINE = 104  # characters of \footnotesize across a text of 6.5 inches, about
NAME = 40  # characters of a name, above which it is folded
HEADER = 10  # characters of a header beyond the width of its column


def as_latex(table: Table) -> str:
    r"""A float to paste, referred to as \ref{tab:NAME}; of more than 40 rows a longtable."""
    of = shown(table)
    long = sum(len(section.rows) for section in of.sections) > LONG
    below = _width(of) > LINE
    columns = "".join(_side(column) for column in of.columns)
    caption = f"\\caption{{{escaped(of.title)}}}\\label{{tab:{table.name}}}"
    header = " & ".join(_stacked(column.header, HEADER, _side(column)) for column in of.columns)
    heading = ["\\toprule", f"{header} \\\\", "\\midrule"]
    lines = list(_body(of, below, "\\\\*" if long else "\\\\"))
    notes = list(_notes(of))
    if long:
        made = [
            "% \\usepackage{booktabs,longtable}",
            "\\begingroup\\footnotesize\\setlength{\\tabcolsep}{3pt}",
            f"\\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
            f"{caption}\\\\",
            *heading,
            "\\endfirsthead",
            *heading,
            "\\endhead",
            "\\bottomrule",
            "\\endfoot",
            *lines,
            "\\end{longtable}",
            *notes,
            "\\endgroup",
        ]
    else:
        made = [
            "% \\usepackage{booktabs}",
            "\\begin{table}[tbp]",
            "\\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}",
            caption,
            f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            *heading,
            *lines,
            "\\bottomrule",
            "\\end{tabular}",
            "\\par\\smallskip",
            *notes,
            "\\end{table}",
        ]
    return "\n".join(made) + "\n"


def _body(of: ShownTable, below: bool, hold: str) -> Iterator[str]:
    """Row by row; `hold` ends a line that the next one must not be parted from."""
    for number, section in enumerate(of.sections):
        if of.heads:
            head = _stacked(", ".join(section.heads), LINE, "l", "\\emph")
            if number:
                yield "\\addlinespace"
            yield f"\\multicolumn{{{len(of.columns)}}}{{@{{}}l}}{{{head}}} {hold}"
        for row in section.rows:
            cells = [_cell(of, beside=not below) for of in row]
            if not below:
                yield f"{' & '.join(cells)} \\\\"
                continue
            yield f"{' & '.join(cells)} {hold}"
            ranges = [
                f"{{\\scriptsize {escaped(of.interval)}}}" if of.interval else "" for of in row
            ]
            yield f"{' & '.join(ranges)} \\\\[2pt]"


def _cell(of: Shown, *, beside: bool) -> str:
    sign = f"\\textsuperscript{{{of.sign}}}" if of.sign else ""
    interval = f"~[{escaped(of.interval)}]" if of.interval and beside else ""
    return f"{_stacked(of.text, NAME, 'l')}{sign}{interval}"


def _notes(of: ShownTable) -> Iterator[str]:
    said = [f"Every row: {escaped('; '.join(of.once))}."] if of.once else []
    said += [f"\\textsuperscript{{{of.sign}}}~{escaped(of.reason)}." for of in of.footnotes]
    said += [f"{escaped(note)}." for note in of.notes]
    yield "\\begin{minipage}{\\linewidth}\\raggedright\\scriptsize"
    yield from (f"{line}\\par" for line in said)
    yield "\\end{minipage}"


def _stacked(text: str, width: int, side: str, command: str = "") -> str:
    """On several lines where it is wider than that, each in its own braces."""
    lines = [
        f"{command}{{{escaped(line)}}}" if command else escaped(line)
        for line in folded(text, width)
    ]
    if len(lines) == 1:
        return lines[0]
    return f"\\shortstack[{side}]{{" + "\\\\".join(lines) + "}"


def _side(column: Column) -> str:
    return "l" if column.kind is Kind.TEXT else "r"


def _width(of: ShownTable) -> int:
    """Characters across with every interval beside its value."""
    rows: Sequence[tuple[Shown, ...]] = [row for section in of.sections for row in section.rows]
    widths = [max(len(line) for line in folded(column.header, HEADER)) for column in of.columns]
    for row in rows:
        for at, cell in enumerate(row):
            beside = len(cell.interval) + 3 if cell.interval else 0
            widths[at] = max(widths[at], min(len(cell.text), NAME) + beside)
    return sum(widths) + 2 * (len(widths) - 1)
