"""Why somebody says that an item has this label: a sentence that is kept with it."""

from generation.item import is_storable
from rubrics import InputError

REASON_LIMIT = 2_000  # characters


def checked_reason(reason: str) -> str:
    """The reason as it is stored; raises InputError for an empty or overlong one."""
    reason = reason.strip()
    if not is_storable(reason):
        raise InputError("the reason holds a NUL or a lone surrogate, which no store keeps")
    if not 1 <= len(reason) <= REASON_LIMIT:
        raise InputError(
            f"the reason has {len(reason):,} characters, expected 1 to {REASON_LIMIT:,}; say why "
            "in a sentence (--reason TEXT)"
        )
    return reason
