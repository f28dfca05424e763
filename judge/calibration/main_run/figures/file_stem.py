"""Names of files from names of data sets, which may hold anything."""

import re

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 100  # characters: file systems take 255 bytes with the ending


def file_stem(*parts: str) -> str:
    """The parts with hyphens for all that a file system may refuse.

    >>> file_stem("accuracy", "gsm8k"), file_stem("labels", "../a b.json"), file_stem("x", "智")
    ('accuracy-gsm8k', 'labels-a-b-json', 'x-unnamed')
    """
    safe = (_UNSAFE.sub("-", part).strip("-") or "unnamed" for part in parts)
    return "-".join(safe)[:_LONGEST]


def told_apart(stem: str, taken: set[str]) -> str:
    """The stem, numbered where it is taken on a file system that ignores case; then it is taken.

    >>> taken = {"a-b"}
    >>> told_apart("A-b", taken), told_apart("a-b", taken)
    ('A-b-2', 'a-b-3')
    """
    name, number = stem, 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name.casefold())
    return name
