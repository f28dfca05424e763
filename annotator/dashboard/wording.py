"""What the page and the terminal say of the figures, in the same words."""

from collections.abc import Iterable

from annotator.dashboard.figures import Figures
from annotator.measures.alpha import Alpha
from annotator.measures.interval import Interval
from annotator.quality.coverage import StudyCoverage
from annotator.quality.pace import TimeLeft
from rubrics import Rubric

# Krippendorff 2004, Content Analysis, 11.4.2: what an alpha is good for.
RELIABLE, TENTATIVE = 0.800, 0.667
COMMON = 0.5  # agreement by chance from which on a few disagreements make a low alpha
MANY = 20  # items, on all of which people rarely agree


def number(value: float | None, digits: int = 2) -> str:
    return "undefined" if value is None else f"{value:,.{digits}f}"


def percent(share: float | None) -> str:
    """A share in percent; all and nothing are said of exactly these alone.

    >>> percent(0.9996), percent(1.0), percent(0.0002), percent(None)
    ('99.9%', '100%', '0.1%', 'undefined')
    """
    if share is None:
        return "undefined"
    if share in (0, 1):
        return f"{share:.0%}"
    return f"{min(max(100 * share, 0.1), 99.9):.1f}%"


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def ends(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "no CI"
    return f"95% CI {low:.2f}{'–' if low >= 0 else ' to '}{high:.2f}"


def interval(found: Interval) -> str:
    return ends(found.low, found.high)


def alpha_text(alpha: Alpha) -> str:
    """The value with its interval and what it rests on, or why there is none."""
    on = f"{counted(alpha.items, 'item')} with two labels or more"
    if alpha.value is None:
        return f"undefined, {alpha.undefined} ({on})"
    return f"{alpha.value:.3f}, {interval(alpha.interval)}, {on}"


def reliability(alpha: Alpha) -> str | None:
    """What an alpha is good for, and the low end of its interval where that is good for less."""
    if alpha.value is None:
        return None
    word = _reliability(alpha.value)
    low = alpha.interval.low
    if low is None or _reliability(low) == word:
        return word
    return f"{word}; the low end of the interval: {_reliability(low)}"


def alpha_notes(found: Figures, alpha: Alpha) -> list[str]:
    """What makes alpha read otherwise than it seems."""
    pairs, notes = found.pairs, []
    if alpha.value is None or pairs.agreement is None or pairs.expected is None:
        return [f"Krippendorff's alpha is undefined: {alpha.undefined}."]
    label, share = commonest(found)
    notes.append(
        f"People agree on {percent(pairs.agreement)} of the labels; by chance alone they would on "
        f"{percent(pairs.expected)}, and alpha is what lies beyond. The commonest label, "
        f"“{label}”, is {percent(share)} of all."
    )
    if pairs.expected > COMMON:
        notes.append(
            "With a label that common a few disagreements are enough for a low alpha: that is how "
            "alpha is meant, and no error."
        )
    if alpha.value == 1 and alpha.items >= MANY:
        notes.append(
            f"Everybody agrees on all of {alpha.items} items. People who label on their own hardly "
            "ever do; see that nobody copies."
        )
    if alpha.interval.low is None:
        notes.append(f"There is no interval: {alpha.interval.method.removeprefix('none: ')}.")
    return [*notes, *(f"Interval from {note}." for note in alpha.notes)]


def commonest(found: Figures) -> tuple[str, float]:
    """The name and share of the label that is given most."""
    counts = found.pairs.given.sum(axis=0)
    most = int(counts.argmax())
    return found.reading.rubric.categories[most].name, float(counts[most] / counts.sum())


def progress_text(found: StudyCoverage) -> str:
    if found.undefined:
        return f"undefined: {found.undefined}"
    return f"{found.given:,} of {found.wanted:,} labels ({percent(found.share)})"


def plan_text(found: StudyCoverage) -> str:
    if found.labels_per_item is None:
        return f"everybody labels every item: {counted(found.people, 'annotator')} at present"
    return f"{counted(found.labels_per_item, 'label')} per item"


def left_out(found: StudyCoverage) -> list[str]:
    """What else was given, and whether it counts."""
    lines = [
        (found.above, "labels beyond the number that an item is to have, kept"),
        (found.late, "labels saved after their lease had gone to somebody else, counted"),
        (found.skips, "skips, which are no labels"),
        (found.taken_back, "labels taken back"),
        (found.unknown, "labels of a category that the rubric does not have, left out"),
    ]
    said = [f"{text}: {count:,}" for count, text in lines if count]
    others = found.other_versions.items()
    return said + [f"labels under rubric {name}, left out: {count:,}" for name, count in others]


def time_left_text(found: TimeLeft) -> str:
    if not found.missing:
        return "no label is missing"
    work = "" if found.active_hours is None else f"; {found.active_hours:,.1f} hours of work"
    if found.days is None:
        return f"undefined: {found.undefined}{work}"
    return (
        f"{found.days:,.1f} days at {found.per_day:,.0f} labels a day "
        f"({counted(found.recent, 'label')} by {people(found.people)} in the last 7 days){work}"
    )


def people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def labels_text(labels: Iterable[tuple[str, int]], rubric: Rubric) -> str:
    """How often an item got which labels, by category id.

    >>> from rubrics import load_rubric
    >>> labels_text([("malformed", 2)], load_rubric("v3"))
    'Malformed ×2'
    """
    return ", ".join(f"{rubric.category(label).name} ×{count}" for label, count in labels)


def _reliability(alpha: float) -> str:
    if alpha >= RELIABLE:
        return "reliable"
    return "for tentative conclusions only" if alpha >= TENTATIVE else "too low to rely on"
