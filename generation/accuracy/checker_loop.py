"""The other end of checker_process: python -P -m generation.accuracy.checker_loop MODULE.

One JSON object per line in, one out, until the input ends.
"""

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO


def main(module: str) -> None:
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a package prints is no verdict
    sys.stdin.reconfigure(encoding="utf-8")
    try:
        checker = importlib.import_module(module)
        about = checker.about()
    except Exception as error:
        _write(replies, {"failed": f"the checker cannot start: {described(error)}"})
        return
    _write(replies, about)
    answer_all(checker.check, sys.stdin, replies)


def answer_all(
    check: Callable[[dict[str, Any]], dict[str, Any]], requests: Iterable[str], replies: TextIO
) -> None:
    for line in requests:
        try:
            reply = check(json.loads(line))
        except Exception as error:
            reply = {"failed": f"the checker failed: {described(error)}"}
        _write(replies, reply)


def described(error: BaseException) -> str:
    """An error on one short line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]


def _write(replies: TextIO, reply: dict[str, Any]) -> None:
    replies.write(json.dumps(reply) + "\n")
    replies.flush()


if __name__ == "__main__":
    main(sys.argv[1])
