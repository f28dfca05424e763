"""Compares an answer with a reference as mathematics; the only file that imports math-verify.

Runs in a process of its own (checker_process), whose time limit stands in for math-verify's: the
package says 'unequal' where its own limit is reached.
"""

import logging
from typing import Any

from math_verify import parse, verify

logging.getLogger("math_verify").setLevel(logging.ERROR)  # it warns of having no limit


def about() -> dict[str, Any]:
    return {}


def check(request: dict[str, Any]) -> dict[str, Any]:
    """`reference` and `answer` to `equal` and what was read of both.

    Raises ValueError where the reference cannot be read.
    """
    reference = request["reference"].strip()
    expected = _read(reference) or _read(f"${reference}$")
    if not expected:
        raise ValueError("the reference is no number and no formula")
    found = _read(request["answer"])
    return {
        "equal": bool(found) and verify(expected, found, timeout_seconds=None),
        "reference": _as_text(expected),
        "found": _as_text(found),
    }


def _read(text: str) -> list[Any]:
    """What math-verify reads: an expression and its text, or nothing."""
    return parse(text, parsing_timeout=None)


def _as_text(read: list[Any]) -> str | None:
    texts = [part for part in read if isinstance(part, str)]
    return texts[0][:200] if texts else None
