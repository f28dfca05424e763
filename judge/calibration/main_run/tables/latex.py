"""A table for LaTeX with the packages booktabs and, where it runs over pages, longtable."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from judge.calibration.main_run.tables.folded import folded
from judge.calibration.main_run.tables.latex_columns import Setting, blocks
from judge.calibration.main_run.tables.latex_text import escaped, flowing, spelt
from judge.calibration.main_run.tables.shown import ShownTable, shown
from judge.calibration.main_run.tables.table import Kind, Table

PAGE = 50  # lines, above which a table runs over pages
HEAD = 72  # characters of what rows have in common, of any kind, across the page
NOTE = 125  # characters of a note across the page, about


def as_latex(table: Table) -> str:
    r"""A float to paste, referred to as \ref{tab:NAME}; a longtable if it is longer than a page.

    Columns that do not fit the page's width go on in a second tabular below.
    """
    of = shown(table)
    found = blocks(of)
    if len(found) > 1:
        of = shown(table, once=(Kind.COUNT, Kind.NUMBER))
        found = blocks(of)
    caption = f"\\caption{{{flowing(of.title)}}}\\label{{tab:{table.name}}}"
    headings = [_heading(block) for block in found]
    bodies = [list(_body(of, block)) for block in found]
    notes = list(_notes(of))
    lines = sum(map(len, (*headings, *bodies))) + sum(len(folded(line, NOTE)) for line in notes)
    made = _long if lines > PAGE else _float
    parts = zip(map(_columns, found), headings, bodies, strict=True)
    return "\n".join(made(caption, list(parts), notes)) + "\n"


Part = tuple[str, list[str], list[str]]  # the columns' sides, heading, body


def _float(caption: str, parts: Sequence[Part], notes: Sequence[str]) -> Iterator[str]:
    yield "% \\usepackage{booktabs}"
    yield "\\begin{table}[tbp]"
    yield "\\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}"
    yield caption
    for columns, heading, body in parts:
        yield f"\\begin{{tabular}}{{{columns}}}"
        yield from heading
        yield from body
        yield "\\bottomrule"
        yield "\\end{tabular}"
        yield "\\par\\smallskip"
    yield from notes
    yield "\\end{table}"


def _long(caption: str, parts: Sequence[Part], notes: Sequence[str]) -> Iterator[str]:
    yield "% \\usepackage{booktabs,longtable}"
    yield "\\begingroup\\footnotesize\\setlength{\\tabcolsep}{3pt}"
    yield "\\setlength{\\LTcapwidth}{\\linewidth}"
    for number, (columns, heading, body) in enumerate(parts):
        if number:
            yield "\\addtocounter{table}{-1}"  # each longtable counts
        yield f"\\begin{{longtable}}{{{columns}}}"
        if not number:
            yield f"{caption}\\\\"
            yield from heading
            yield "\\endfirsthead"
        yield from heading
        yield "\\endhead"
        yield "\\bottomrule"
        yield "\\endfoot"
        yield from body
        yield "\\end{longtable}"
    yield from notes
    yield "\\endgroup"


def _columns(block: Sequence[Setting]) -> str:
    return f"@{{}}{''.join('r' if of.right else 'l' for of in block)}@{{}}"


def _heading(block: Sequence[Setting]) -> list[str]:
    """Headers of several lines end on the same one."""
    height = max(len(of.header) for of in block)
    cells = [("",) * (height - len(of.header)) + of.header for of in block]
    return [
        "\\toprule",
        *(f"{' & '.join(line)} \\\\" for line in zip(*cells, strict=True)),
        "\\midrule",
    ]


def _body(of: ShownTable, block: Sequence[Setting]) -> Iterator[str]:
    r"""Line by line; \\* ends one that the next must not be parted from."""
    at = 0
    for number, section in enumerate(of.sections):
        if of.heads:
            if number:
                yield "\\addlinespace"
            for line in folded(spelt(", ".join(section.heads)), HEAD):
                yield f"\\multicolumn{{{len(block)}}}{{@{{}}l}}{{\\emph{{{escaped(line)}}}}} \\\\*"
        for row in range(at, at + len(section.rows)):
            lines = [*zip_longest(*(column.cells[row] for column in block), fillvalue="")]
            yield from (f"{' & '.join(line)} \\\\*" for line in lines[:-1])
            yield f"{' & '.join(lines[-1])} \\\\[2pt]"
        at += len(section.rows)


def _notes(of: ShownTable) -> Iterator[str]:
    said = [f"Every row: {flowing('; '.join(of.once))}."] if of.once else []
    said += [f"\\textsuperscript{{{of.sign}}}~{flowing(of.reason)}." for of in of.footnotes]
    said += [f"{flowing(note)}." for note in of.notes]
    yield "\\noindent\\begin{minipage}{\\linewidth}\\raggedright\\scriptsize"
    yield from (f"{line}\\par" for line in said)
    yield "\\end{minipage}"
