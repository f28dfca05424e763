"""What moved between two versions of a rubric, as data and as text to read."""

import difflib
import textwrap
from collections import Counter
from dataclasses import dataclass, fields

from rubrics.rubric import Category, Example, Rubric

WIDTH = 100  # columns of the rendered text
REWORDED = 0.6  # from this similarity (difflib ratio) on, a text was reworded, not replaced

Entry = str | Example


@dataclass(frozen=True)
class FieldChange:
    """One field of a category with its old and new value."""

    field: str
    old: str | int
    new: str | int


@dataclass(frozen=True)
class Rewording:
    """An entry that was kept in other words."""

    old: Entry
    new: Entry


@dataclass(frozen=True)
class ListDiff:
    """What happened to a list of paragraphs, points, rules or examples."""

    added: tuple[Entry, ...] = ()
    removed: tuple[Entry, ...] = ()
    reworded: tuple[Rewording, ...] = ()
    reordered: bool = False

    @property
    def moved(self) -> bool:
        return self != ListDiff()


@dataclass(frozen=True)
class CategoryDiff:
    """What happened to a category that both rubrics have."""

    id: str
    fields: tuple[FieldChange, ...]
    decision_rules: ListDiff
    examples: ListDiff

    @property
    def moved(self) -> bool:
        return bool(self.fields) or self.decision_rules.moved or self.examples.moved


@dataclass(frozen=True)
class RubricDiff:
    """What moved from the version `old` to `new`; `changed` and `why` are what `new` says of it.

    `same_meaning` holds the ids whose definition and sigma are letter for letter the same. A rule
    or an example may still have moved the boundary of such a category.
    """

    old: str
    new: str
    changed: str
    why: str
    instructions: ListDiff
    precedence: ListDiff
    added: tuple[Category, ...]
    removed: tuple[Category, ...]
    reordered: bool
    order: tuple[str, ...]
    categories: tuple[CategoryDiff, ...]
    same_meaning: tuple[str, ...]


def diff_rubrics(old: Rubric, new: Rubric) -> RubricDiff:
    """Compare two rubrics; categories are matched by id and reported in the order of `new`."""
    before = {category.id: category for category in old.categories}
    after = {category.id: category for category in new.categories}
    kept = [name for name in after if name in before]
    return RubricDiff(
        old=old.version,
        new=new.version,
        changed=new.changed,
        why=new.why,
        instructions=_diff_lists(_paragraphs(old.instructions), _paragraphs(new.instructions)),
        precedence=_diff_lists(old.precedence, new.precedence),
        added=tuple(after[name] for name in after if name not in before),
        removed=tuple(before[name] for name in before if name not in after),
        reordered=kept != [name for name in before if name in after],
        order=new.category_ids,
        categories=tuple(_diff_categories(before[name], after[name]) for name in kept),
        same_meaning=tuple(name for name in kept if _same_meaning(before[name], after[name])),
    )


def render_diff(diff: RubricDiff) -> str:
    """The diff as plain text of at most 100 columns; what did not move is named in one line."""
    blocks = [
        [
            f"Rubric {diff.old} -> {diff.new}",
            *_wrap("changed  ", diff.changed),
            *_wrap("why      ", diff.why),
        ],
        _render_list("instructions", diff.instructions),
        _render_list("precedence", diff.precedence),
        _wrap("order of the categories: ", ", ".join(diff.order)) if diff.reordered else [],
        *[_render_whole("-", category) for category in diff.removed],
        *[_render_whole("+", category) for category in diff.added],
        *[_render_category(category) for category in diff.categories if category.moved],
        _render_rest(diff),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _same_meaning(old: Category, new: Category) -> bool:
    return (old.definition, old.sigma) == (new.definition, new.sigma)


def _diff_categories(old: Category, new: Category) -> CategoryDiff:
    return CategoryDiff(
        id=new.id,
        fields=tuple(
            FieldChange(field, getattr(old, field), getattr(new, field))
            for field in ("name", "sigma", "key", "definition")
            if getattr(old, field) != getattr(new, field)
        ),
        decision_rules=_diff_lists(old.decision_rules, new.decision_rules),
        examples=_diff_lists(old.examples, new.examples),
    )


def _diff_lists(old: tuple[Entry, ...], new: tuple[Entry, ...]) -> ListDiff:
    """Compare as multisets first; then pair what is left by likeness and look at the order."""
    removed = list((Counter(old) - Counter(new)).elements())
    added = list((Counter(new) - Counter(old)).elements())
    reworded = []
    for entry in list(removed):
        twin = max(added, key=lambda other: _likeness(entry, other), default=None)
        if twin is not None and _likeness(entry, twin) >= REWORDED:
            reworded.append(Rewording(entry, twin))
            removed.remove(entry)
            added.remove(twin)
    return ListDiff(tuple(added), tuple(removed), tuple(reworded), _reordered(old, new, reworded))


def _reordered(old: tuple[Entry, ...], new: tuple[Entry, ...], reworded: list[Rewording]) -> bool:
    renamed = {change.old: change.new for change in reworded}
    before = dict.fromkeys(renamed.get(entry, entry) for entry in old)
    after = dict.fromkeys(new)
    return [e for e in before if e in after] != [e for e in after if e in before]


def _likeness(old: Entry, new: Entry) -> float:
    return difflib.SequenceMatcher(None, _wording(old), _wording(new), autojunk=False).ratio()


def _wording(entry: Entry) -> str:
    # Twin examples share q and a on purpose, so only the turn and the reason tell them apart.
    return f"{entry.u}\n{entry.why}" if isinstance(entry, Example) else entry


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.strip())


def _render_list(title: str, diff: ListDiff, indent: str = "") -> list[str]:
    if not diff.moved:
        return []
    lines = [f"{indent}{title}" + (" (order changed)" if diff.reordered else "")]
    for change in diff.reworded:
        lines += _render_entry(f"{indent}  - ", change.old)
        lines += _render_entry(f"{indent}  + ", change.new)
    for entry in diff.removed:
        lines += _render_entry(f"{indent}  - ", entry)
    for entry in diff.added:
        lines += _render_entry(f"{indent}  + ", entry)
    return lines


def _render_entry(lead: str, entry: Entry) -> list[str]:
    if isinstance(entry, str):
        return _wrap(lead, entry)
    lines = []
    for position, field in enumerate(fields(entry)):
        start = lead if position == 0 else " " * len(lead)
        lines += _wrap(f"{start}{field.name:<5}", getattr(entry, field.name))
    return lines


def _render_category(category: CategoryDiff) -> list[str]:
    lines = [category.id]
    for change in category.fields:
        lines += [f"  {change.field}"]
        lines += _wrap("    - ", str(change.old)) + _wrap("    + ", str(change.new))
    return [
        *lines,
        *_render_list("decision rules", category.decision_rules, "  "),
        *_render_list("examples", category.examples, "  "),
    ]


def _render_whole(sign: str, category: Category) -> list[str]:
    """A category that only one of the rubrics has."""
    title = f"{category.id} ({category.name}, sigma {category.sigma}, key {category.key})"
    entries = (category.definition, *category.decision_rules, *category.examples)
    return [
        *_wrap(f"{sign} ", title),
        *[line for entry in entries for line in _render_entry(f"  {sign} ", entry)],
    ]


def _render_rest(diff: RubricDiff) -> list[str]:
    still = tuple(category.id for category in diff.categories if not category.moved)
    return [
        *_wrap("did not move: ", _listing(still, diff.order)),
        *_wrap("same definition and sigma: ", _listing(diff.same_meaning, diff.order)),
    ]


def _listing(ids: tuple[str, ...], every: tuple[str, ...]) -> str:
    return "every category" if ids == every else ", ".join(ids) or "no category"


def _wrap(lead: str, text: str) -> list[str]:
    """`text` behind `lead`, later lines indented to match it."""
    lines = textwrap.wrap(
        _visible(text),
        WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_on_hyphens=False,
    )
    return lines or [f"{lead}(blank)"]


def _visible(text: str) -> str:
    """Line breaks, zero-width signs and terminal controls written out as escapes."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )
