"""JSON as a browser reads it inside a script, where a study's text must not end or start one."""

import json
from typing import Any

_UNSAFE = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def inert_json(value: Any) -> str:
    """Neither `</script>` nor `<!--` nor a line separator is in it, whatever the value holds.

    >>> inert_json({"u": "</script>"})
    '{"u":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # They stand inside strings alone, where JSON has this other way to write them.
    return text.translate(str.maketrans(_UNSAFE))
