"""A label table's report as plain text: tables that fit 100 columns, names that cannot act."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from annotator.measures.estimate import Estimate
from judge.calibration.label_table.pair import PairAgreement
from judge.calibration.label_table.report import AlphaReport, BareReport, TableReport
from judge.calibration.report.wording import number
from judge.plain_text import cell, cells, new_table, rendered, wrapped
from judge.plural import counted
from rubrics import short

MATRICES = 10  # pairs whose matrices are printed; those of more would bury the numbers above
WIDEST = 12  # columns of a matrix that still fit the width with their names shortened
NAME = 20  # characters shown of a rater's name or a label in a table


def report_text(report: TableReport) -> str:
    table = report.table
    kinds = f"{counted(len(table.humans), 'person')}".replace("persons", "people")
    judges = counted(len(table.raters) - len(table.humans), "judge")
    hashed = f" ({short(report.hash)})" if report.hash else ""
    heading = [
        f"{report.source}{hashed}, {report.format}: {counted(len(table.items), 'item')}, "
        f"{counted(len(table.ratings), 'rating')} by {kinds} and {judges}",
        f"categories: {', '.join(table.categories)}",
    ]
    parts = [
        wrapped(heading),
        _coefficients(report.pairs),
        wrapped([*_alphas(report), *_reasons(report.pairs)]),
        *_details(report.pairs),
        _repeats(report),
        _excluded(report),
        wrapped([*report.notes, *_closing(report.seed, report.pairs)]),
    ]
    return "\n".join(part for part in parts if part)


def bare_text(report: BareReport) -> str:
    pairs = (report.pair,)
    parts = [
        wrapped([f"{counted(report.pair.n, 'item')} in a bare table"]),
        _coefficients(pairs),
        wrapped([_alpha(report.alpha, "both"), *_reasons(pairs)]),
        _matrix(report.pair) + "\n" + _labels(report.pair),
        wrapped([*report.notes, *_closing(report.seed, pairs)]),
    ]
    return "\n".join(part for part in parts if part)


def _coefficients(pairs: Iterable[PairAgreement]) -> str:
    table = _numbers("raters", "n", "agree", "kappa, 95% CI", "SE", "pi", "AC1", "B-P")
    for pair in pairs:
        found = pair.found
        table.add_row(
            *cells(
                f"{_brief(pair.rater_a)} – {_brief(pair.rater_b)}",
                str(pair.n),
                number(found["agreement"].value),
                _with_interval(found["kappa"], 3),
                number(pair.standard_error, 4),
                *(number(found[name].value) for name in ("pi", "ac1", "brennan_prediger")),
            )
        )
    return rendered(table)


def _alphas(report: TableReport) -> Iterable[str]:
    people = report.alpha.raters != report.table.raters
    yield _alpha(report.alpha, "people" if people else "all raters")
    if people:
        yield _alpha(report.alpha_all, "all raters")


def _alpha(alpha: AlphaReport, over: str) -> str:
    reason = f": {alpha.reason}" if alpha.reason else ""
    return (
        f"Krippendorff's alpha over {over} ({len(alpha.raters)} on {counted(alpha.n, 'item')}): "
        f"{_with_interval(alpha.estimate, 3)}{reason}"
    )


def _reasons(pairs: Iterable[PairAgreement]) -> list[str]:
    """Why a kappa or its interval is missing or less telling, once for all that it holds of."""
    names: dict[str, list[str]] = {}
    for pair in pairs:
        for text in filter(None, [pair.reason("kappa"), *pair.notes]):
            names.setdefault(text, []).append(f"{pair.rater_a} – {pair.rater_b}")
    return [f"{', '.join(of)}: {text}" for text, of in names.items()]


def _details(pairs: Sequence[PairAgreement]) -> Iterable[str]:
    for pair in pairs[:MATRICES]:
        yield _matrix(pair) + "\n" + _labels(pair)
    if (left := len(pairs) - MATRICES) > 0:
        yield f"matrices of {counted(left, 'more pair')}: see --json\n"


def _matrix(pair: PairAgreement) -> str:
    confusion = pair.confusion
    if len(confusion.columns) > WIDEST:
        return f"matrix of {pair.rater_a} – {pair.rater_b}: too wide to print, see --json\n"
    room = max(4, 60 // len(confusion.columns))
    table = new_table(f"{_brief(pair.rater_a)} ↓  {_brief(pair.rater_b)} →")
    for label in (*confusion.columns, "sum"):
        table.add_column(cell(_brief(label, room)), justify="right")
    for label, counts in zip(confusion.categories, confusion.counts, strict=True):
        shown = [str(count) if count else "·" for count in counts]
        table.add_row(*cells(_brief(label), *shown, str(sum(counts))))
    sums = [str(total) for total in confusion.table.sum(axis=0).tolist()]
    table.add_row(*cells("sum", *sums, str(confusion.n)))
    return rendered(table)


def _labels(pair: PairAgreement) -> str:
    headers = {"f1": "F1", "kappa": "kappa vs rest"}
    table = _numbers("label", *(headers.get(name, name) for name in pair.scores))
    for k, label in enumerate(pair.confusion.categories):
        scores = (_with_interval(pair.found[f"{k} {name}"], 2) for name in pair.scores)
        table.add_row(*cells(_brief(label), *scores))
    return rendered(table)


def _numbers(first: str, *headers: str) -> Table:
    """A table whose first column folds where it is too long, and whose numbers never do."""
    table = new_table(first)
    for header in headers:
        table.add_column(cell(header), justify="right", no_wrap=True)
    return table


def _repeats(report: TableReport) -> str:
    return wrapped(
        f"{repeats.rater} rated {counted(repeats.n, 'item')} again: "
        f"{number(repeats.same / repeats.n, 2)} got the first label at last"
        for repeats in report.repeats
    )


def _excluded(report: TableReport) -> str:
    if not report.table.excluded:
        return ""
    table = new_table("left out")
    table.add_column("", justify="right")
    for exclusion in report.table.excluded:
        table.add_row(*cells(exclusion.reason, str(exclusion.count)))
    return rendered(table)


def _closing(seed: int, pairs: Iterable[PairAgreement]) -> Iterable[str]:
    what = next((pair.sampled for pair in pairs), "item")
    yield (
        f"intervals: 95%, BCa bootstrap of {what}s, seed {seed}; "
        "AC1: Gwet's; B-P: Brennan and Prediger's; more with --json"
    )


def _with_interval(estimate: Estimate, digits: int) -> str:
    if estimate.value is None:
        return "undefined"
    low, high = estimate.interval.low, estimate.interval.high
    shown = number(estimate.value, digits)
    return shown if low is None or high is None else f"{shown} [{low:.2f}, {high:.2f}]"


def _brief(name: str, room: int = NAME) -> str:
    return name if len(name) <= room else f"{name[: room - 1]}…"
