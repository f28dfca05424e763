"""Annotators' names: what identifies a person in a study, with an account or without."""

import unicodedata

from rubrics import InputError

NAME_LIMIT = 40  # characters


def checked_name(name: str) -> str:
    """The name in the one spelling that is stored: NFC, no blanks around.

    Raises InputError for an empty or overlong name or one with other characters than letters,
    digits, blank, dot, hyphen, underscore and apostrophe.

    >>> checked_name("  Zoe\\u0308 ")
    'Zoë'
    """
    cleaned = unicodedata.normalize("NFC", name).strip() if isinstance(name, str) else ""
    allowed = all(c.isalnum() or c in " .-_'" for c in cleaned)
    if not cleaned or len(cleaned) > NAME_LIMIT or not allowed:
        raise InputError(
            f"the annotator name {name!r:.60} cannot be used; give 1 to {NAME_LIMIT} letters, "
            "digits, blanks or . - _ '"
        )
    return cleaned
