"""What `annotate publish`, `annotate relabel` and `annotate assign` print."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from annotator.assignment.assigner import REPEAT_EVERY
from annotator.assignment.plan import Plan
from annotator.publishing.publication import Publication
from annotator.publishing.relabelling import OldLabel
from rubrics import Rubric


def publication_text(published: Publication, old: Sequence[OldLabel], option: str) -> str:
    """What is in force now, what it leaves to be done again, and what to type next."""
    before = f" instead of {published.before}" if published.before else ""
    lines = [
        f"people label under rubric {published.version}{before} from their next item on; open "
        "pages finish what they show under the version that they show it under"
    ]
    if published.untrained:
        lines.append(
            f"nobody trains under {published.version}, which has no training set; next: "
            f"annotate training set --pass-mark SHARE --rubric {published.version}{option}"
        )
    if published.gold_left:
        lines.append(
            f"no item is gold under {published.version} ({published.gold_left} are under "
            f"{published.before}); next: annotate gold add ITEM CATEGORY --reason TEXT --rubric "
            f"{published.version}{option}"
        )
    if old:
        lines += [*_counts(old), f"next: annotate relabel --rubric {published.version}{option}"]
    return "\n".join(lines)


def relabelling_text(old: Sequence[OldLabel], rubric: Rubric) -> str:
    """The worklist: first how much there is, then a line per label."""
    if not old:
        return f"nothing to label again: no label of another version waits under {rubric.version}"
    width = max(len(label.annotator) for label in old)
    lines = [
        f"{label.annotator:<{width}}  {label.item_id}  {label.rubric_version} {label.category}"
        + (f" -> {label.heir}" if label.heir else " -> label again")
        for label in old
    ]
    return "\n".join([*_counts(old), *lines])


def relabelling_dict(old: Sequence[OldLabel], rubric: Rubric) -> dict[str, object]:
    """The same for JSON."""
    return {"rubric": rubric.version, "labels": [asdict(label) for label in old]}


def plan_text(plan: Plan, items: int, gold: int, repeats: int) -> str:
    """The plan in words; of `items` so many are gold and so many silent repeats."""
    if plan.labels_per_item is None:
        return f"{items} items; everybody labels all of them"
    shared = items - gold - repeats
    return (
        f"{shared} items, {plan.labels_per_item} labels each; an item stays with one person for "
        f"{plan.lease_seconds // 60} min after their page was last heard of\n"
        f"mixed in beside them: {gold} gold items, about one in {plan.gold_every} of what a person "
        f"labels, and {repeats} silent repeats, about one in {REPEAT_EVERY}"
    )


def _counts(old: Sequence[OldLabel]) -> list[str]:
    again = Counter(label.annotator for label in old if label.heir is None)
    mapped = sum(label.heir is not None for label in old)
    lines = [
        f"labels of other versions to give again: {again.total()}, of {len(again)} people; "
        "their items come first"
    ]
    if mapped:
        lines.append(f"labels whose category the rubric maps to one of its own: {mapped}")
    return lines
