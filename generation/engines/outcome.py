"""What became of a request, said in the same words whichever engine ran it."""

from collections.abc import Sequence

from generation.engines.engine import Completion, Failure, Request

REFUSED = "refused"  # this row cannot be completed as it is, whoever tries
SERVER = "server"  # tried again and again, with nothing usable
UNFINISHED = "unfinished"  # ended by something else than a stop or a limit
MAX_SAID = 300  # characters of somebody else's words that are kept


def too_long(request: Request, context_length: int) -> Failure | None:
    """The refusal of a prompt that leaves too little of the context for `max_tokens`.

    Offline, vLLM would cut such a completion short without a word; a server refuses it.
    """
    prompt, wanted = len(request.prompt), request.sampling.max_tokens
    if prompt + wanted <= context_length:
        return None
    return Failure(
        REFUSED,
        f"a prompt of {prompt} tokens and up to {wanted} more do not fit the context of "
        f"{context_length}; raise the context length or lower the token limit",
    )


def outcome(
    token_ids: Sequence[int], finish_reason: str | None, stop: int | str | None
) -> Completion | Failure:
    """A completion out of vLLM's words for how it ended.

    vLLM names no `stop` where the model's primary end of sequence ended it: then that token is
    the last one.

    >>> outcome([5, 2], "stop", None)
    Completion(token_ids=(5, 2), finish_reason='stop', stop=2)
    >>> outcome([5, 6], "length", None).stop is None
    True
    """
    if finish_reason == "length":
        return Completion(tuple(token_ids), "length", None)
    if finish_reason == "stop" and (token_ids or stop is not None):
        return Completion(tuple(token_ids), "stop", token_ids[-1] if stop is None else stop)
    return Failure(UNFINISHED, f"the engine ended it with {finish_reason!r}, not stop or length")


def one_line(words: object) -> str:
    """Somebody else's words, printable and short.

    >>> one_line("no room\\n  for 12 tokens")
    'no room for 12 tokens'
    """
    printable = "".join(sign if sign.isprintable() else " " for sign in str(words)[: 10 * MAX_SAID])
    return " ".join(printable.split())[:MAX_SAID]
