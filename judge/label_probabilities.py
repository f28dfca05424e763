"""How sure a judge model was of its label, read from the logprobs of the label's tokens."""

import re
from collections import defaultdict
from math import exp, inf
from typing import Any, NamedTuple

from rubrics import Rubric

_LABEL = re.compile(rb'"label"\s*:\s*"')
DIGITS = 6  # of a probability as it is stored


class _Token(NamedTuple):
    text: bytes
    probability: float
    alternatives: dict[bytes, float]


def label_probabilities(logprobs: Any, content: str, rubric: Rubric) -> dict[str, float] | None:
    """Probability of each label where the verdict in `content` names its own; they sum to ≤ 1.

    A label of several tokens is followed token by token: what might have been written instead
    counts for a label as soon as it can only be that one. What could still be several labels, or
    is none, is left out, hence the sum below 1. None where the server's logprobs are missing or
    do not spell the content.
    """
    tokens = _tokens(logprobs)
    text = content.encode(errors="replace")
    # Some servers count the token that ended the answer too.
    if tokens is None or not b"".join(token.text for token in tokens).startswith(text):
        return None
    starts = [found.end() for found in _LABEL.finditer(text)]
    if not starts:
        return None
    found: dict[str, float] = defaultdict(float)
    written, so_far, position = b"", 1.0, 0
    for token in tokens:
        begin, position = position, position + len(token.text)
        if position <= starts[-1]:
            continue
        lead = token.text[: max(0, starts[-1] - begin)]  # a token may hold the quotation mark too
        for alternative, probability in token.alternatives.items():
            label = _only_label(written + alternative[len(lead) :], rubric)
            if alternative.startswith(lead) and label:
                found[label] += so_far * probability
        written += token.text[len(lead) :]
        so_far *= token.probability
        if len(_possible(written, rubric)) < 2:
            break
    return {label: round(found[label], DIGITS) for label in rubric.category_ids if label in found}


def _possible(written: bytes, rubric: Rubric) -> list[str]:
    """Labels that a verdict could still have whose label value begins like this."""
    return [
        label
        for label in rubric.category_ids
        if label.encode().startswith(written) or written.startswith(label.encode() + b'"')
    ]


def _only_label(written: bytes, rubric: Rubric) -> str | None:
    possible = _possible(written, rubric)
    return possible[0] if len(possible) == 1 else None


def _tokens(logprobs: Any) -> list[_Token] | None:
    """Tokens of a reply's logprobs, each with its alternatives, itself among them."""
    try:
        tokens = []
        for entry in logprobs["content"]:
            others = {_text(other): _probability(other) for other in entry["top_logprobs"]}
            chosen = _probability(entry)
            tokens.append(_Token(_text(entry), chosen, {**others, _text(entry): chosen}))
        return tokens
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):  # of another shape
        return None


def _probability(entry: dict[str, Any]) -> float:
    logprob = entry["logprob"]
    if not -inf < logprob < 1e-3:  # above 0 by rounding at most; NaN fails both
        raise ValueError
    return min(1.0, exp(logprob))


def _text(entry: dict[str, Any]) -> bytes:
    # The text of a token that ends amid a character cannot be joined; its bytes can.
    spelt = entry.get("bytes")
    return bytes(spelt) if spelt and isinstance(spelt, list) else entry["token"].encode()
