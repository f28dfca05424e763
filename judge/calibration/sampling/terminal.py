"""A sample's strata and a plan as plain text."""

from judge.calibration.sampling.design import STRATIFIED, Sample
from judge.calibration.sampling.plan import Plan
from judge.plain_text import cell, cells, new_table, rendered, wrapped


def strata_text(sample: Sample) -> str:
    """A row per stratum; nothing of a simple random sample, which has one."""
    if sample.method != STRATIFIED:
        return ""
    table = new_table("stratum")
    for header in ("drawn", "of", "chance"):
        table.add_column(cell(header), justify="right")
    for stratum in sample.strata:
        chance = f"{stratum.inclusion_probability:.3g}"
        table.add_row(*cells(stratum.name, str(stratum.drawn), str(stratum.population), chance))
    return rendered(table)


def plan_text(plan: Plan) -> str:
    """The plan as a table, with what it rests on."""
    table = new_table("wanted")
    for header in ("items", "5 turns per question"):
        table.add_column(cell(header), justify="right")
    rows = [(f"95% interval of kappa within ±{need.wanted:.2f}", need) for need in plan.half_widths]
    rows += [
        (f"a difference of {need.wanted:.2f} between two prompts' kappas found", need)
        for need in plan.differences
    ]
    for wanted, need in rows:
        table.add_row(*cells(wanted, f"{need.items:,}", f"{need.items_in_clusters:,}"))
    shares = " ".join(f"{share:.2f}".lstrip("0") for share in plan.margins)
    notes = [
        f"planned for kappa {plan.kappa:g} with labels in shares of {shares}",
        "each item needs a label of one person; a second person doubles the labels, not the items",
        "a difference is found with 80% power (two-sided, 5%) on items judged under both prompts; "
        "it takes the prompts to err together as those of one model may",
        "several turns of one question tell less than turns of as many questions: about five per "
        "question take half as many items again (factor 1.5)",
        "estimates for planning, nothing was drawn",
    ]
    return rendered(table) + "\n" + wrapped(notes)
