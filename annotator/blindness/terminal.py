"""What `annotate blindness` prints."""

from collections import defaultdict

from annotator.blindness.fields import UNKNOWN
from annotator.blindness.report import BlindnessReport


def report_text(report: BlindnessReport) -> str:
    """The verdict, then what it rests on."""
    sections = [
        [report.verdict, *(f"  ! {found}" for found in report.findings)],
        _reach(report),
        _sent(report),
        _orders(report),
        _inference(report),
        ["not examined", *(f"  {what}" for what in report.not_examined)],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections)


def _reach(report: BlindnessReport) -> list[str]:
    reach = report.reach
    return [
        "what the process that serves the pages could read",
        "  one store, labels.db:",
        *(f"    {table}: {', '.join(columns)}" for table, columns in reach.tables.items()),
        f"  of the {reach.modules} files of code that pages run, {len(reach.judge)} import the "
        f"judge and {len(reach.pipeline)} name the owner's store",
        f"  files are opened in: {', '.join(reach.opening)}",
    ]


def _sent(report: BlindnessReport) -> list[str]:
    fields: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for sent in report.sent:
        fields[sent.kind][sent.field].add(sent.act)
    lines = [
        "what pages were sent",
        "  the page itself: the rubric and the program's words, before any item; then replies with",
    ]
    # What nobody knows comes first.
    for kind in sorted(fields, key=lambda kind: (kind != UNKNOWN, kind)):
        lines.append(f"  {kind}:")
        for field, acts in sorted(fields[kind].items()):
            lines.append(f"    {field}" + (f"  in {', '.join(sorted(acts))}" * (kind == UNKNOWN)))
    return lines if report.sent else [*lines, "  nothing yet"]


def _orders(report: BlindnessReport) -> list[str]:
    orders = report.orders
    lines = ["in which order", *(
        f"  {annotator} ({version}): {count} items shown"
        for (annotator, version), count in orders.shown.items()
    )]  # fmt: skip
    if orders.correlation is None:
        return [*lines, "  no two annotators were shown enough items in common to compare"]
    equal = ", ".join(f"{one} and {other}" for one, other in orders.same)
    return [
        *lines,
        f"  {orders.pairs} pairs of annotators: mean absolute Spearman correlation "
        f"{orders.correlation:.3f}, by chance {orders.by_chance:.3f} ± {orders.spread:.3f}",
        f"  equal orders: {equal or 'none'}",
    ]


def _inference(report: BlindnessReport) -> list[str]:
    ids = report.ids
    forms = ", ".join(f"{count} of {form}" for form, count in ids.forms.items())
    near = (
        "nobody was shown a repeat and its original"
        if ids.nearest is None
        else f"between a repeat and its original at least {ids.nearest} items, by the median "
        f"{ids.typical:g}"
    )
    lines = [
        "could a hidden field be inferred",
        f"  {ids.items} items, {ids.gold} of them gold, {ids.repeats} silent repeats; ids: {forms}",
        f"  {near}; a repeat has the same text, so a good memory may know it",
    ]
    for said in report.occurrences:
        lines.append(
            f"  {said.field} {said.value!r} stands in the text of {said.own} of its own "
            f"{said.own_items} items and of {said.others} of {said.other_items} others"
        )
    if not report.occurrences:
        lines.append("  no hidden value stands in a text shown")
    lines += [
        f"  {found.field} ({found.values} values) and {found.place}: p = {found.p:.3f}, "
        f"corrected {found.adjusted:.3f}"
        for found in report.associations
    ]
    if not report.associations:
        lines.append("  no hidden field has two values to tell apart")
    return lines
