"""The page of a main run: index.html, which holds what it needs, and the turns beside it."""

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from sqlite_utils import Database

from annotator.reference_rule import ReferenceRule
from generation.study import Study
from judge.calibration.main_run.main_run import NOT_JUDGED, NOT_RUN, MainRun
from judge.calibration.main_run.report import DrawnFile
from judge.calibration.main_run.report_page.inert_json import inert_json
from judge.calibration.main_run.report_page.page_data import page_data
from judge.calibration.main_run.report_page.peoples_labels import peoples_labels
from judge.calibration.main_run.report_page.turn_files import write_turns
from judge.calibration.main_run.report_page.turn_order import TurnOrder, turn_order
from judge.calibration.main_run.report_page.wording import rate_text
from judge.calibration.main_run.statements.statement import Statement
from judge.calibration.main_run.tables.estimates import lone
from judge.calibration.main_run.tables.shown import shown
from judge.calibration.main_run.tables.table import Table, corrected_share, share
from judge.plain_text import visible
from judge.plural import counted

INDEX, TURNS = "index.html", "turns"
_SCRIPTS = ("cells.js", "turns.js", "page.js")  # in the order in which they run


def write_page(
    folder: Path,
    run: MainRun,
    statements: Sequence[Statement],
    tables: Sequence[Table],
    *,
    pipeline_db: Database,
    study: Study,
    rule: ReferenceRule,
    provenance: Mapping[str, object],
    figures: Sequence[DrawnFile] = (),
) -> None:
    """Write index.html and the folder turns into an existing, empty `folder`.

    It opens from there in any browser, without a network. `figures` lie in the folder figures
    beside it. `rule` is the one by which people's labels became reference labels. Texts that must
    not be published are not in it. The same study gives the same bytes. `run` was read in the
    snapshot that `pipeline_db` is in, so that its numbers are those of the turns shown.
    """
    order = turn_order(pipeline_db, run)
    (folder / TURNS).mkdir()
    people = peoples_labels(pipeline_db, study, run.rubric, rule)
    write_turns(folder / TURNS, order, run, pipeline_db, people)
    page = _index(run, order, statements, tables, provenance, figures)
    (folder / INDEX).write_bytes(page.encode())


def _index(
    run: MainRun,
    order: TurnOrder,
    statements: Sequence[Statement],
    tables: Sequence[Table],
    provenance: Mapping[str, object],
    figures: Sequence[DrawnFile],
) -> str:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_spelt_out,
    )
    environment.filters |= {"sentence": _sentence, "json": inert_json}
    environment.globals["counted"] = counted
    style, script = _asset("page.css"), "\n".join(map(_asset, _SCRIPTS))
    whole = run.whole
    return environment.from_string(_asset("page.html")).render(
        run=run,
        # The texts of both are ours; a policy by hash lets no other script or style act.
        style=Markup(style),
        script=Markup(script),
        style_hash=_policy_hash(style),
        script_hash=_policy_hash(script),
        data=Markup(inert_json(page_data(run, order))),
        raw=rate_text(share(whole.raw.value, whole.raw.interval, lone(whole))),
        corrected=rate_text(corrected_share(whole.sigma, lone(whole))),
        turns=len(order.rows),
        datasets=len({of.cell.dataset for of in run.cells}),
        gaps=_gaps(run, order),
        statements=_by_kind(statements),
        figures=figures,
        tables=[shown(table) for table in tables],
        provenance=provenance,
    )


def _gaps(run: MainRun, order: TurnOrder) -> list[str]:
    """What the numbers do not cover, a sentence each."""
    cells = Counter(of.gap for of in run.cells)
    withheld, whole = int(order.withheld.sum()), run.whole
    found = {
        f"{counted(cells[NOT_RUN], 'cell')} of the plan not run": cells[NOT_RUN],
        f"{counted(cells[NOT_JUDGED], 'cell')} without a judged turn": cells[NOT_JUDGED],
        f"{counted(whole.unjudged, 'turn')} not judged in every run that counts, in no rate": (
            whole.unjudged
        ),
        f"{counted(whole.unreadable, 'verdict')} unreadable: an outcome of its own, counted as no "
        "genuine follow-up": whole.unreadable,
        f"not corrected for the judge's errors: {whole.sigma.undefined}": (
            whole.sigma.value is None
        ),
        f"texts of {counted(withheld, 'turn')} withheld, their data sets ask that they never be "
        "published; the labels are here, and where the study is calibrate serve shows the texts": (
            withheld
        ),
    }
    return [*run.selection.remarks, *(words for words, there in found.items() if there)]


def _by_kind(statements: Sequence[Statement]) -> dict[str, list[Statement]]:
    found: dict[str, list[Statement]] = {}
    for statement in statements:
        found.setdefault(str(statement.kind), []).append(statement)
    return found


def _asset(name: str) -> str:
    folder = resources.files("judge.calibration.main_run.report_page") / "page"
    return (folder / name).read_text(encoding="utf-8")


def _policy_hash(text: str) -> str:
    """As a Content-Security-Policy names an element of just this text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _spelt_out(value: object) -> object:
    """Names and sentences with what could not be seen, or would turn a line around, spelt out."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else visible(value)
