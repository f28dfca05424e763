"""Alpha of raters whose items are independent."""

from annotator.measures.alpha import alpha_with_interval


def nominal_alpha(raters, categories) -> tuple[float | None, int]:
    """The value, and the number of items it rests on."""
    raters = list(raters)
    own = {item: item for labels in raters for item in labels}
    found = alpha_with_interval(raters, categories, own, seed=1)
    return found.value, found.items
