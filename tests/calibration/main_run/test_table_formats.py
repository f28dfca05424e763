"""The five formats of tables: against stored files, and with names that try to break them.

To write the stored files anew after a change that is meant, and look at what git shows:

    REWRITE_GOLDEN=1 pytest tests/calibration/main_run/test_table_formats.py
"""

import csv
import io
import json
import os
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len

from annotator.verbatim import is_invisible
from generation.study import Study
from judge.calibration.main_run.reported.reported import reported_by
from judge.calibration.main_run.tables.all_tables import Tables, tables
from judge.calibration.main_run.tables.csv_text import as_csv
from judge.calibration.main_run.tables.folded import folded
from judge.calibration.main_run.tables.json_text import as_json
from judge.calibration.main_run.tables.latex import as_latex
from judge.calibration.main_run.tables.latex_columns import APART, TEXT_WIDTH, blocks
from judge.calibration.main_run.tables.markdown import as_markdown
from judge.calibration.main_run.tables.shown import one_line, shown
from judge.calibration.main_run.tables.table import Column, Estimate, Kind, Table
from judge.calibration.main_run.tables.text import as_text, tables_text
from tests.support.gapped_run import gapped_run, gapped_study
from tests.support.hostile_texts import HOSTILE_TEXTS

GOLDEN = Path(__file__).parent / "golden"
NAMES = {name: text[:200] for name, text in HOSTILE_TEXTS.items() if text} | {
    "pipes": "a|b\\|c\\",
    "latex specials": r"100% of $x_1^2 \& {#1} ~ \end{tabular} \input{x}",
    "ligatures": "--x ?` !` ,, '' <<",
    "row argument": "[3cm]* a",
    "closing script": "</script><script>alert(1)</script>",
    "formula": "=HYPERLINK(0)",
    "wide": "模型" * 60,
    "autolinks": "@someone #12 www.example.invalid ~~x~~ ***",
}


def every(of: Tables) -> dict[str, str]:
    """Each file's content by its name: CSV one per table, the others several tables in one."""
    return {
        "tables.txt": tables_text(of.tables),
        "tables.md": "\n".join(map(as_markdown, of.tables)),
        "tables.tex": "\n".join(map(as_latex, of.tables)),
        "tables.json": as_json(of.tables[0]) + as_json(of.tables[-1]),
    } | {f"{table.name}.csv": as_csv(table) for table in of.tables}


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Study:
    return gapped_study(tmp_path_factory.mktemp("gapped") / "study")


@pytest.fixture(scope="module")
def found(study) -> Tables:
    return tables(gapped_run(study), reported_by("paper"))


@pytest.fixture(scope="module")
def accuracy(found) -> Table:
    return found.tables[0]


@pytest.fixture(scope="module")
def few(found) -> tuple[Table, ...]:
    """Those whose texts differ: names in rows, names in groups, conditions."""
    return tuple(of for of in found.tables if of.name in ("accuracy", "labels", "conditions"))


def renamed(table: Table, name: str) -> Table:
    """Its first rows, with that name wherever a text of the study stands."""
    rows = [
        tuple(
            name if column.key in ("dataset", "model", "condition") else value
            for column, value in zip(table.columns, row, strict=True)
        )
        for row in table.rows[:4]
    ]
    return replace(table, title=name, rows=tuple(rows), notes=(*table.notes, f"judge: {name}"))


def many(table: Table, models: int, datasets: int) -> Table:
    """As many rows as that, all like the first but for their names."""
    columns = [column.key for column in table.columns]
    rows = []
    for dataset in range(datasets):
        for model in range(models):
            row = list(table.rows[0])
            row[columns.index("dataset")] = f"data_set_{dataset}"
            row[columns.index("model")] = f"Family-{model}-{model + 1}B-A3B-Instruct"
            rows.append(tuple(row))
    return replace(table, rows=tuple(rows))


def rounded(text: str) -> str:
    """Without the last digits, in which one machine may differ from another."""
    return re.sub(r"\d+\.\d{6,}(e-\d+)?", lambda number: f"{float(number[0]):.9g}", text)


def test_every_format_gives_the_stored_files(found):
    made = {name: rounded(content) for name, content in every(found).items()}
    if os.environ.get("REWRITE_GOLDEN"):
        for name, content in made.items():
            (GOLDEN / name).write_bytes(content.encode())
    stored = {file.name: file.read_bytes().decode() for file in GOLDEN.iterdir()}
    assert made.keys() == stored.keys()
    for name, content in made.items():
        assert content == stored[name], name


def test_a_second_build_gives_the_same_bytes(study, found):
    again = tables(gapped_run(study), reported_by("paper"))
    assert every(again) == every(found)


def text_rows(table: Table) -> list[str]:
    return as_text(table).splitlines()


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_no_name_breaks_the_terminal(few, name):
    for table in few:
        for line in text_rows(renamed(table, name)):
            assert cell_len(line) <= 100
            assert not any(is_invisible(c) or c == "\t" for c in line)


def test_thirty_models_on_seven_data_sets_fit_the_terminal(found):
    for table in found.tables:
        lines = text_rows(many(table, 30, 7))
        assert max(map(cell_len, lines)) <= 100
        headers = [at for at, line in enumerate(lines) if line.startswith("───")]
        # Whoever scrolls finds them again: 30 rows of two lines, and as many before the next set.
        assert max(b - a for a, b in pairwise(headers)) < 140


def test_a_table_too_wide_for_any_layout_goes_on_below():
    wide = Table(
        "wide",
        "Wide",
        (Column("model", "model"), *(Column(f"x{n}", f"x{n} %", Kind.SHARE) for n in range(20))),
        (("a", *(Estimate(n / 20, n / 20, 1.0) for n in range(20))),),
    )
    text = as_text(wide)
    assert max(map(cell_len, text.splitlines())) <= 100
    assert text.count("model ") == text.count("───\n") == 3
    ranges = [word for word in text.split() if word.endswith("–100.0")]
    assert ranges == [f"{5.0 * n:.1f}–100.0" for n in range(20)]


def test_names_keep_every_character_in_the_terminal():
    name = "a-very-long/name_of.a.model" * 8
    made = Table("t", "T", (Column("model", "model"), Column("n", "n", Kind.COUNT)), ((name, 1),))
    parts = [line.removesuffix(" 1").strip() for line in text_rows(made)[4:]]
    assert "".join(parts) == name


def test_columns_that_say_the_same_are_said_once(accuracy):
    same = replace(accuracy, rows=tuple(row for row in accuracy.rows if "Silent-2B" in row))
    assert "every row: T 0;" in as_text(same)
    assert "Every row: T 0;" in as_markdown(same)
    assert "Every row: T 0;" in as_latex(same)


def test_notes_that_all_tables_share_stand_once(found):
    text = tables_text(found.tables)
    assert text.count("judge: made-up-judge") == 1
    assert text.count("(a) n = 1: no interval") > 1


def test_folded_lines_hold_every_word():
    text = "one two-three  four/five " + "x" * 30
    lines = folded(text, 10)
    assert max(map(len, lines)) <= 10
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def markdown_rows(table: Table) -> list[list[str]]:
    """What a reader of Markdown sees in the cells, as plain text."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(as_markdown(table))
    rows: list[list[str]] = []
    for at, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            inner = [of for of in tokens[at + 1].children or [] if of.type != "html_inline"]
            assert {of.type for of in inner} <= {"text", "text_special"}
            rows[-1].append("".join(of.content for of in inner))
    return rows


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_no_name_breaks_markdown(few, name):
    for table in few:
        made = renamed(table, name)
        head, *rows = markdown_rows(made)
        assert len(rows) == len(made.rows)
        assert {len(row) for row in rows} == {len(head)}
        models = {row[head.index("model")] for row in rows}
        assert models == {one_line(name).strip()}


def test_markdown_has_interval_and_footnote_beside_the_value(accuracy):
    head, *rows = markdown_rows(accuracy)
    assert rows[0][head.index("accuracy %")] == "75.0 [46.8–91.1]"
    (sign,) = re.findall("- <sup>(.)</sup> no answer could be checked\n", as_markdown(accuracy))
    assert f" –<sup>{sign}</sup> |" in as_markdown(accuracy)


ESCAPED = re.compile(r"\\(?:[a-zA-Z]+\*?|.)")


def check_closed(body: str) -> None:
    """Environments and braces are closed, no sign acts on its own."""
    environments: list[str] = []
    for act, name in re.findall(r"\\(begin|end)\{(\w+)\}", body):
        if act == "begin":
            environments.append(name)
        else:
            assert environments.pop() == name
    assert not environments
    bare = ESCAPED.sub("", body)
    assert not re.search(r"[%$#^\"`|<>\\_]", bare)
    depth = 0
    for sign in re.findall(r"[{}]", bare):
        depth += 1 if sign == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert body.isascii() or set(body) - set(map(chr, range(128))) <= set("éèüäöß")


def check_rows(body: str, columns: int) -> None:
    """Each row has its cells."""
    rows = 0
    for line in body.splitlines():
        if not re.search(r"\\\\\*?(\[2pt\])?$", line) or line.startswith("\\caption"):
            continue
        cells = ESCAPED.sub("", line).count("&") + 1
        assert cells == (1 if line.startswith("\\multicolumn") else columns), line
        rows += 1
    assert rows


def check_latex(text: str) -> None:
    """It says its packages and can be set, each tabular with as many cells as it has columns."""
    first, *rest = text.splitlines()
    assert first.startswith("% \\usepackage{booktabs")
    check_closed("\n".join(rest))
    tabulars = re.findall(
        r"\\begin\{(tabular|longtable)\}\{@\{\}([lr]+)@\{\}\}(.*?)\\end\{\1\}", text, re.DOTALL
    )
    assert tabulars
    for _, columns, body in tabulars:
        check_rows(body, len(columns))


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_no_name_breaks_latex(few, name):
    for table in few:
        check_latex(as_latex(renamed(table, name)))


def test_latex_tables_have_caption_label_and_rules(few):
    text = as_latex(few[-1])
    assert "\\label{tab:conditions}" in text
    assert "\\caption{Genuine follow-ups under unusual conditions: made}" in text
    for rule in ("\\toprule", "\\midrule", "\\bottomrule"):
        assert text.count(rule) == 1


def test_latex_signs_stand_beside_the_digits_and_below_the_table(accuracy):
    text = as_latex(accuracy)
    (sign,) = re.findall(r"\\textsuperscript\{(.)\}~no answer could be checked\.", text)
    assert f"--\\rlap{{\\textsuperscript{{{sign}}}}}" in text


def test_long_latex_tables_run_over_pages(accuracy):
    short, long = as_latex(many(accuracy, 10, 1)), as_latex(many(accuracy, 30, 7))
    assert "longtable" not in short
    assert "\\begin{longtable}" in long
    check_latex(long)
    # A value is never parted from the interval below it.
    assert re.search(r"\\\\\*\n[^&\n]* & \{\\scriptsize", long)
    # Else the page would have to hold rows, intervals and names of several lines.
    assert "longtable" in as_latex(many(accuracy, 30, 1))


def test_latex_columns_beyond_the_page_go_on_below(found):
    wide = Table(
        "wide",
        "Wide",
        (Column("model", "model"), *(Column(f"x{n}", f"x{n} %", Kind.SHARE) for n in range(20))),
        (("a", *(Estimate(n / 20, n / 20, 1.0) for n in range(20))),),
    )
    for table in (wide, *found.tables, *(many(of, 30, 1) for of in found.tables)):
        for block in blocks(shown(table)):
            assert sum(of.width + APART for of in block) - APART <= TEXT_WIDTH
    text = as_latex(wide)
    check_latex(text)
    assert text.count("\\begin{tabular}") == 2
    assert text.count("--100.0") == 20
    long = as_latex(replace(wide, rows=wide.rows * 60))
    assert long.count("\\begin{longtable}") == 2
    assert long.count("\\caption") == long.count("\\addtocounter{table}{-1}") == 1


def test_latex_has_a_minus_for_numbers_and_a_hyphen_for_words():
    made = Table(
        "t",
        "T",
        (Column("m", "model"), Column("a", "A %", Kind.SHARE)),
        (("Made-1B", Estimate(-0.1, -0.2, -0.05)), ("b", Estimate(None, gap="held-out"))),
    )
    text = as_latex(made)
    assert "Made-1B & \\(-\\)10.0" in text
    assert "\\scriptsize \\(-\\)20.0 to \\(-\\)5.0" in text
    assert "held-out" in text


def test_latex_lines_may_end_within_a_long_word():
    made = Table("t", "x" * 200, (Column("m", "model"),), (("a",),), ("y" * 200,))
    assert not re.search(r"[xy]{17}", as_latex(made))


def csv_rows(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(table), newline=""), strict=True))


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_no_name_breaks_csv_or_becomes_a_formula(few, name):
    for table in few:
        made = renamed(table, name)
        rows = csv_rows(made)
        assert len(rows) == len(made.rows)
        for row in rows:
            assert row["model"].removeprefix("'") == name.removeprefix("'")
            assert not row["model"].startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


def test_csv_has_estimates_at_full_precision_and_the_reasons_of_gaps(accuracy):
    keys = [column.key for column in accuracy.columns]
    at = keys.index("judged")
    for row, told in zip(accuracy.rows, csv_rows(accuracy), strict=True):
        estimate = row[at]
        for key, value in (("", estimate.value), ("_low", estimate.low), ("_high", estimate.high)):
            assert told[f"judged{key}"] == ("" if value is None else repr(value))
        assert told["judged_gap"] == (estimate.gap or "")
        assert None not in told
    assert "reported_rate_low" not in csv_rows(accuracy)[0]
    assert as_csv(accuracy).count("\r\n") == len(accuracy.rows) + 1


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_no_name_breaks_json(few, name):
    of = renamed(few[0], name)
    told = json.loads(as_json(of))
    assert told == of.as_dict()
    assert {row["model"] for row in told["rows"]} == {name}


def test_shares_are_percent_with_one_decimal_and_kappa_has_two():
    made = Table(
        "t",
        "T",
        (Column("a", "A %", Kind.SHARE), Column("b", "B", Kind.NUMBER)),
        ((Estimate(0.12345, 0.1, 0.2), Estimate(0.6789, 0.5, 0.7)),
         (Estimate(-0.0002, -0.1, 0.1), Estimate(-0.001, -0.1, 0.1))),
    )  # fmt: skip
    first, second = text_rows(made)[4:6]
    assert first.split() == ["12.3", "[10.0–20.0]", "0.68"]
    assert second.split() == ["0.0", "[-10.0", "to", "10.0]", "0.00"]


def test_no_header_widens_the_terminal_or_turns_a_line_around():
    made = Table(
        "t",
        "T",
        (Column("m", "model"), Column("a", "x" * 120 + "\u202e", Kind.SHARE)),
        (("one", Estimate(0.5, 0.4, 0.6)),),
    )
    text = as_text(made)
    assert max(map(len, text.splitlines())) <= 100
    assert "\u202e" not in text
    assert "<U+202E>" in "".join(text.split())
