"""What may go wrong between us and a judge server, sorted by what is to be done about it.

These are not frozen: Python writes the traceback into an exception while it travels.

ServerError
├── Refused       an HTTP status that says no
├── Unreachable   no connection, or one that broke off
└── OddAnswer     an answer that is not what the API promises, such as a web page
"""

import re
from dataclasses import dataclass

from judge.server.endpoint import Endpoint

RETRIED_STATUSES = frozenset({408, 409, 429})  # and every 5xx
# As OpenAI, vLLM and llama.cpp say it; Anthropic and Bedrock; Gemini.
_CONTEXT_OVERFLOW = re.compile(
    r"context[ _](length|window|size)|(prompt|input) is too long|token count .{0,40}exceeds",
    re.IGNORECASE,
)
_CHECKS = {
    400: "the server does not take this request; check its words, the model and the parameters",
    429: "rate limit or quota; lower --concurrency, set --requests-per-minute, or wait",
}


class ServerError(Exception):
    """A request that brought no answer. `transient` says whether asking again may help."""

    transient = False

    def line(self, endpoint: Endpoint, model: str) -> str:
        """What happened and what to check, as one line without secrets."""
        raise NotImplementedError


@dataclass(eq=False)
class Refused(ServerError):
    """`said` holds the server's own words, cleaned; `retry_after` the seconds it asks to wait."""

    status: int
    said: str
    code: str | None = None
    parameter: str | None = None
    retry_after: float | None = None

    @property
    def transient(self) -> bool:
        if self.code == "insufficient_quota":  # a 429 that no waiting cures
            return False
        return self.status in RETRIED_STATUSES or self.status >= 500

    @property
    def of_the_request(self) -> bool:
        """Whether another request may fare better: this one is refused, or fails its server."""
        if self.retry_after:  # it is the server that needs time
            return False
        return self.status in (400, 413, 422) or self.status >= 500

    @property
    def item_fault(self) -> str | None:
        """Why the server refuses this item and not the whole run, if that is the case."""
        if self.status != 400:
            return None
        if self.code in ("content_filter", "invalid_prompt"):  # of Azure, and of OpenAI itself
            return "content filter"
        if self.code == "context_length_exceeded" or _CONTEXT_OVERFLOW.search(self.said):
            return "prompt and verdict do not fit the model's context"
        return None

    def line(self, endpoint: Endpoint, model: str) -> str:
        check = _CHECKS.get(self.status, "check the server's log")
        if self.code == "insufficient_quota":
            check = "the account's credit is used up"
        if self.status == 401:
            check = f"check {endpoint.key_name}"
        elif self.status == 403:
            check = f"check that {endpoint.key_name} may use this model"
        elif self.status == 404:
            check = f"check that --base-url ends in /v1 and that it serves a model named {model}"
        return (
            f"{endpoint.shown_url} answered {self.status} for model {model}: "
            f"{self.said.rstrip('.')}; {check}"
        )


@dataclass(eq=False)
class Unreachable(ServerError):
    """`reason` is the kind of failure; `waited` the seconds after which we gave up, if we did.

    `sent` says whether the request may have reached the server, and be billed.
    """

    reason: str
    waited: float | None = None
    sent: bool = True
    transient = True

    def line(self, endpoint: Endpoint, model: str) -> str:
        if self.waited is not None:
            return (
                f"no answer from {endpoint.shown_url} within {self.waited:.0f} s; check the "
                "server's load, or lower --concurrency"
            )
        return (
            f"cannot reach {endpoint.shown_url} ({self.reason}); check --base-url and that the "
            "server is running"
        )


@dataclass(eq=False)
class OddAnswer(ServerError):
    transient = True

    def line(self, endpoint: Endpoint, model: str) -> str:
        return (
            f"{endpoint.shown_url} answered with something else than a chat completion; check "
            "that --base-url ends in /v1"
        )
