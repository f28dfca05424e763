"""Verdicts: the JSON that a judge model must write, and the strict reading of what it wrote.

An unreadable verdict is an outcome of its own, with its reason and its raw text; it is never
turned into a label. A reason is `kind` or `kind: detail`, so that kinds can be counted.
"""

import difflib
import json
import reprlib
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from generation.item import is_storable
from judge.judgment import Judgment, invalid_judgment, valid_judgment
from rubrics import Rubric

KEYS = ("rationale", "label", "sigma")
MAX_KEPT = 20_000  # characters of a reply; a whole verdict has a few hundred
MAX_READ = 1_000_000  # characters: a longer reply is none, and is not searched for one
MAX_REASON = 300  # characters
MAX_MISREAD = 1_000_000  # characters read in vain for an object's end, see _json_objects
MISREAD_COST = 200  # characters that one vain start counts for at least

# A value on one short line; texts whole, so that the key can be found in them before they are cut.
_repr = reprlib.Repr()
_repr.maxstring = sys.maxsize


class _Object(dict):
    """A JSON object that remembers the keys it was given twice."""

    doubled: tuple[str, ...] = ()


def verdict_schema(rubric: Rubric) -> dict[str, Any]:
    """JSON schema of a verdict under this rubric; rationale first, so that it is written first."""
    return {
        "type": "object",
        "properties": {
            "rationale": {"type": "string"},
            "label": {"type": "string", "enum": list(rubric.category_ids)},
            "sigma": {"type": "integer", "enum": [0, 1]},
        },
        "required": list(KEYS),
        "additionalProperties": False,
    }


def parse_verdict(raw: str, rubric: Rubric) -> Judgment:
    """Read what the judge wrote, bare or in a fence; of several verdicts the last one counts.

    Never raises: whatever cannot be read becomes an invalid judgment that keeps `raw`.
    """
    raw = storable(raw)
    if not raw.strip():
        return invalid_judgment("empty reply", raw=raw)
    if len(raw) > MAX_READ:
        return invalid_judgment("longer than any verdict", raw=raw)
    objects, around = _json_objects(raw)
    if not objects:
        return invalid_judgment("no JSON object", raw=raw)
    # An object inside another that cannot be read may be a quotation, such as of a planted verdict.
    if "{" in around[-1] or any(text.count("{") != text.count("}") for text in around):
        return invalid_judgment("unreadable text in braces around a JSON object", raw=raw)
    verdicts = [found for found in objects if "label" in found]
    if not verdicts:
        return invalid_judgment("no label in the JSON object", raw=raw)
    verdict = verdicts[-1]
    reason = _fault(verdict, rubric)
    if reason:
        return invalid_judgment(storable(reason), raw=raw)
    return valid_judgment(
        rubric, _normal(verdict["label"]), storable(verdict["rationale"]).strip(), raw=raw
    )


def storable(text: str) -> str:
    """The text with U+FFFD for every character that no store keeps."""
    if is_storable(text):
        return text
    return "".join(sign if is_storable(sign) else "\ufffd" for sign in text)


def kept_form(judgment: Judgment, without_key: Callable[[str], str]) -> Judgment:
    """The judgment as it is kept, whatever the server wrote: without its key, and not endless."""

    def kept(text: str | None, limit: int) -> str | None:
        return None if text is None else _shortened(without_key(text), limit)

    return replace(
        judgment,
        rationale=kept(judgment.rationale, MAX_KEPT),
        raw=kept(judgment.raw, MAX_KEPT),
        invalid_reason=kept(judgment.invalid_reason, MAX_REASON),
    )


def _shortened(text: str, limit: int) -> str:
    """The text's beginning and its end, where the verdict stands, and how much is cut between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} [… {len(text) - 2 * half} characters cut …] {text[-half:]}"


def _fault(verdict: _Object, rubric: Rubric) -> str | None:
    """Why this is no verdict under the rubric, or None when it is one."""
    if verdict.doubled:
        return f"duplicate key: {', '.join(verdict.doubled)}"
    missing = [key for key in KEYS if key not in verdict]
    if missing:
        return f"missing key: {', '.join(missing)}"
    unknown = [key for key in verdict if key not in KEYS]
    if unknown:
        return f"unknown key: {', '.join(unknown)}"
    rationale, label, sigma = (verdict[key] for key in KEYS)
    if not isinstance(rationale, str) or not _visible(rationale):
        return "empty rationale"
    if not isinstance(label, str):
        return f"label is not text: {_repr.repr(label)}"
    if _normal(label) not in rubric.category_ids:
        nearest = difflib.get_close_matches(label[:MAX_REASON], rubric.category_ids, n=1, cutoff=0)
        return f"label not in rubric {rubric.version}: {label!r}, nearest is {nearest[0]}"
    # bool is a kind of int in Python, so that `true` would pass for 1.
    if type(sigma) is not int or sigma not in (0, 1):
        return f"sigma is not 0 or 1: {_repr.repr(sigma)}"
    expected = rubric.category(_normal(label)).sigma
    if sigma != expected:
        return f"sigma contradicts the label: {_normal(label)} has sigma {expected}, found {sigma}"
    return None


def _json_objects(raw: str) -> tuple[list[_Object], list[str]]:
    """All JSON objects in the text in order, and the text before, between and after them.

    Where a brace opens no object, the next one may, inside what was read already. The judge's
    own words may hold many such braces; reading is given up where it would take seconds.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    objects, around, end, start, misread = [], [], 0, raw.find("{"), 0
    while start >= 0 and misread < MAX_MISREAD:
        try:
            found, found_end = decoder.raw_decode(raw, start)
        except json.JSONDecodeError as error:
            misread += error.pos - start + MISREAD_COST
            start = raw.find("{", start + 1)
        except (ValueError, RecursionError):  # a number or a nesting without end
            break
        else:
            objects.append(found)
            around.append(raw[end:start])
            end = found_end
            start = raw.find("{", end)
    return objects, [*around, raw[end:]]


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    times = Counter(key for key, _value in pairs)
    found.doubled = tuple(sorted(key for key, count in times.items() if count > 1))
    return found


def _normal(label: str) -> str:
    return unicodedata.normalize("NFC", label).strip()


def _visible(text: str) -> bool:
    """Whether anything is left without blanks, control and format characters."""
    return any(unicodedata.category(sign)[0] not in "CZ" for sign in text)
