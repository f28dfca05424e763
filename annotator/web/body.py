"""The body of a request, read before anything acts on it, and never more than one can hold."""

from collections.abc import Awaitable, Callable
from typing import Any

LIMIT = 1_000_000  # bytes; a note has at most some kilobytes
OWN_LIMIT = 16_000_000  # of a page without a register, whose one user is its owner


class TooLarge(Exception):
    """A body over the limit."""


class Disconnected(Exception):
    """Whoever asked has gone."""


async def whole_body(
    receive: Callable[[], Awaitable[Any]], declared: str | None, limit: int
) -> bytes:
    """Raises TooLarge by what is declared, or by what comes where nothing or less is declared."""
    if declared and declared.isdigit() and int(declared) > limit:
        raise TooLarge
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        body += message.get("body", b"")
        if len(body) > limit:
            raise TooLarge
        if not message.get("more_body"):
            return bytes(body)


def replayed(body: bytes, receive: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
    """A `receive` that gives the body again, then whatever comes after it."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return messages.pop() if messages else await receive()

    return again
