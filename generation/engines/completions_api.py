"""What is said to a server's /v1/completions and what it says back, without a connection."""

import email.utils
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from generation.engines.engine import Completion, Failure, Request, Sampling
from generation.engines.outcome import one_line, outcome

TOLD = ("root", "parent", "owned_by", "max_model_len")  # the rest has times and random ids


class OddReply(Exception):
    """A reply that is not what the API promises, such as a web page or half a JSON."""


class PromptChanged(Exception):
    """The server read another prompt than it was sent, or does not tell which: no row counts."""


@dataclass(frozen=True)
class ServedModel:
    """A line of /v1/models; `told` is what it says of the model that stays the same."""

    name: str
    told: dict[str, Any]

    @property
    def context_length(self) -> int | None:
        """None where the server does not tell it."""
        return self.told.get("max_model_len")


def completion_body(model: str, request: Request) -> dict[str, Any]:
    """One prompt in token ids: a seed is a request's, so two prompts would share its noise.

    Every sampling parameter is said; a server fills what is not from the model's own defaults.
    """
    sampling = asdict(request.sampling)
    return {
        "model": model,
        "prompt": list(request.prompt),
        **{name: value for name, value in sampling.items() if name != "stop_strings"},
        "stop": list(request.sampling.stop_strings),
        "n": 1,
        "stream": False,
        "ignore_eos": False,
        "add_special_tokens": False,
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
        "return_token_ids": True,
    }


def probe_request(prompt: tuple[int, ...]) -> Request:
    """The shortest request that shows whether token ids go in and come out."""
    return Request("probe", prompt, Sampling(0.0, 1, None, ()))


def read_completion(request: Request, reply: Any) -> Completion | Failure:
    """The outcome of a request. Raises OddReply and PromptChanged.

    >>> choice = {"token_ids": [7, 2], "prompt_token_ids": [5], "finish_reason": "stop"}
    >>> asked = Request("a", (5,), Sampling(0.0, 8, None, (2,)))
    >>> read_completion(asked, {"choices": [choice | {"stop_reason": 2}]}).stop
    2
    """
    match reply:
        case {"choices": [{"finish_reason": reason} as choice]}:
            pass
        case _:
            raise OddReply("no single choice in the reply")
    echoed, token_ids = choice.get("prompt_token_ids"), choice.get("token_ids")
    if not _are_ids(echoed) or not _are_ids(token_ids):
        raise PromptChanged(
            "its reply holds no token_ids and prompt_token_ids; expected vLLM 0.11 or newer, "
            "reached without a proxy that drops return_token_ids"
        )
    if tuple(echoed) != request.prompt:
        raise PromptChanged(
            f"it read a prompt of {len(echoed)} tokens that is not the one of "
            f"{len(request.prompt)} it was sent; expected token ids to pass unchanged, so leave "
            "out the proxy in between"
        )
    stop = choice.get("stop_reason")
    return outcome(token_ids, reason, stop if isinstance(stop, int | str) else None)


def read_models(reply: Any) -> list[ServedModel]:
    """The models of /v1/models. Raises OddReply.

    >>> row = {"id": "m", "created": 17, "root": "org/m", "parent": None, "max_model_len": 64}
    >>> read_models({"data": [row]})
    [ServedModel(name='m', told={'root': 'org/m', 'max_model_len': 64})]
    """
    try:
        return [
            ServedModel(row["id"], {name: row[name] for name in TOLD if row.get(name) is not None})
            for row in reply["data"]
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise OddReply("no list of models in the reply") from error


def words_of(reply: Any, otherwise: str) -> str:
    """A refusal's own words, on one line.

    >>> words_of({"error": {"message": "too long"}}, ""), words_of(None, "Bad Request")
    ('too long', 'Bad Request')
    """
    fault = reply.get("error", reply) if isinstance(reply, Mapping) else reply
    if isinstance(fault, Mapping):
        fault = fault.get("message") or fault.get("detail")
    return one_line(fault or otherwise)


def seconds_to_wait(retry_after: str | None) -> float:
    """Of a Retry-After header, be it seconds or a date; 0 for none or any other text.

    >>> seconds_to_wait("1.5"), seconds_to_wait("soon"), seconds_to_wait(None)
    (1.5, 0.0, 0.0)
    """
    try:
        return max(float(retry_after or 0), 0.0)
    except ValueError:
        pass
    try:
        return max(email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _are_ids(value: Any) -> bool:
    return isinstance(value, list) and all(type(token_id) is int for token_id in value)
