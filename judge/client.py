"""The judge model behind an OpenAI-compatible server. The only file that imports openai."""

import asyncio
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from generation.item import Item
from judge.judgment import Judgment, invalid_judgment
from judge.prompt import JudgePrompt, judge_messages
from judge.verdict import kept_form, parse_verdict, storable, verdict_schema
from rubrics import InputError, Rubric

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_CONCURRENCY = 8  # requests in flight
DEFAULT_MAX_TOKENS = 1024  # tokens of one verdict, reasoning included
MAX_RETRIES = 4  # per request, by openai itself: connection, 408, 409, 429 and 5xx
TIMEOUT_SECONDS = 300.0  # per attempt
MIN_KEY_CHARACTERS = 4  # shorter ones are stand-ins, and taking them out would spoil every reply
_CONTEXT_OVERFLOW = re.compile(r"context[ _](length|window|size)", re.IGNORECASE)

ItemHash = str
Keep = Callable[[ItemHash, Judgment], None]


@dataclass(frozen=True)
class Endpoint:
    """Where the judge model is served. The key is never shown, stored or part of the judge."""

    base_url: str
    key: str | None

    def __repr__(self) -> str:
        return f"Endpoint({self.shown_url!r})"

    @property
    def shown_url(self) -> str:
        """The URL without a user name, password or query, any of which may be a secret."""
        parts = urlsplit(self.base_url)
        url = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        return url if len(url) <= 200 else f"{url[:200]}…"

    def without_key(self, text: str) -> str:
        """A server's words without the key, should it repeat it, escaped or not."""
        return self._key_pattern.sub("…", text) if self._key_pattern else text

    @cached_property
    def _key_pattern(self) -> re.Pattern[str] | None:
        if not self.key or len(self.key) < MIN_KEY_CHARACTERS:
            return None
        # Every character as it is, after a backslash, or as JSON's \uXXXX.
        spellings = (rf"(?:\\?{re.escape(c)}|\\u(?i:{ord(c):04x}))" for c in self.key)
        return re.compile("".join(spellings))


def find_endpoint(base_url: str | None) -> Endpoint:
    """The endpoint from `base_url` or OPENAI_BASE_URL, the key from OPENAI_API_KEY.

    Raises InputError when there is neither a URL nor a key, or the URL is none.
    """
    base_url = base_url or os.environ.get("OPENAI_BASE_URL", "").strip()
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not base_url and not key:
        raise InputError(
            "no judge server: found neither --base-url nor OPENAI_API_KEY; give --base-url URL "
            f"(such as http://localhost:8000/v1), or set OPENAI_API_KEY to use {DEFAULT_BASE_URL}"
        )
    if not (key.isascii() and key.isprintable()):
        raise InputError("OPENAI_API_KEY holds a character that no key has; set it again")
    base_url = base_url or DEFAULT_BASE_URL
    if not _is_url(base_url):
        raise InputError("--base-url is no URL; expected one like http://localhost:8000/v1")
    return Endpoint(base_url, key or None)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an address that cannot be
        return False


def request_parameters(*, max_tokens: int = DEFAULT_MAX_TOKENS) -> dict[str, object]:
    """What is sent with every item and makes the judge what it is, as it is recorded."""
    return {
        "temperature": 0,
        "max_completion_tokens": max_tokens,
        "seed": 0,
        "response_format": "json_schema",
    }


@dataclass(frozen=True)
class ChatJudge:
    """A judge prompt, a model and its parameters at an endpoint, ready to judge items."""

    endpoint: Endpoint
    model: str
    parameters: dict[str, object]
    prompt: JudgePrompt
    rubric: Rubric
    concurrency: int = DEFAULT_CONCURRENCY

    def judge(self, items: Iterable[tuple[ItemHash, Item]], keep: Keep) -> None:
        """Ask for every item's verdict and hand each to `keep` as it arrives, in any order.

        Raises InputError when the server refuses or cannot be reached. After this or any other
        error no new request is made, and verdicts already under way are still kept.
        """
        asyncio.run(self._judge_all(items, keep))

    async def _judge_all(self, items: Iterable[tuple[ItemHash, Item]], keep: Keep) -> None:
        waiting = iter(items)
        failures: list[Exception] = []

        async def work(client: "openai.AsyncOpenAI") -> None:
            for item_hash, item in waiting:
                try:
                    keep(item_hash, await self._ask(client, item))
                except Exception as error:  # raised below, when the others are done
                    failures.append(error)
                if failures:
                    return

        async with self._connection() as client, asyncio.TaskGroup() as group:
            for _ in range(self.concurrency):
                group.create_task(work(client))
        if failures:
            defects = [error for error in failures if not isinstance(error, InputError)]
            raise (defects or failures)[0]

    def _connection(self) -> "openai.AsyncOpenAI":
        import openai

        try:
            return openai.AsyncOpenAI(
                base_url=self.endpoint.base_url,
                api_key=self.endpoint.key or "none",  # a server of one's own asks for no key
                max_retries=MAX_RETRIES,
                timeout=TIMEOUT_SECONDS,
            )
        except Exception as error:  # what it raises for an odd URL depends on its HTTP library
            raise InputError(
                f"no connection can be made to {self.endpoint.shown_url} ({error!s:.200}); check "
                "--base-url, expected one like http://localhost:8000/v1, and the proxy settings"
            ) from error

    async def _ask(self, client: "openai.AsyncOpenAI", item: Item) -> Judgment:
        """The item's judgment as it is kept: without the key, and of a bounded length."""
        return kept_form(await self._judgment(client, item), self.endpoint.without_key)

    async def _judgment(self, client: "openai.AsyncOpenAI", item: Item) -> Judgment:
        import openai

        try:
            completion = await client.chat.completions.create(**self._request(item))
        except openai.APIStatusError as error:
            reason = _item_refused(error)
            if reason:
                return invalid_judgment(reason, raw=storable(self._said(error)))
            raise InputError(self._status_line(error)) from None
        except openai.APITimeoutError:
            raise InputError(
                f"no answer from {self.endpoint.shown_url} within {TIMEOUT_SECONDS:.0f} s; check "
                "the server's load, or lower --concurrency; verdicts so far are kept"
            ) from None
        except openai.APIConnectionError as error:
            raise InputError(
                f"cannot reach {self.endpoint.shown_url} ({type(error.__cause__).__name__}); check "
                "--base-url and that the server is running; verdicts so far are kept"
            ) from None
        except (openai.APIError, ValueError, RecursionError):
            raise InputError(self._odd_answer()) from None
        # The client does not check a reply's shape: a web page arrives here as plain text.
        if not isinstance(getattr(completion, "choices", None), list):
            raise InputError(self._odd_answer())
        return read_completion(completion, self.rubric)

    def _request(self, item: Item) -> dict[str, Any]:
        schema = {"name": "verdict", "strict": True, "schema": verdict_schema(self.rubric)}
        return {
            **self.parameters,
            "model": self.model,
            "messages": judge_messages(self.prompt, item),
            "response_format": {"type": "json_schema", "json_schema": schema},
        }

    def _odd_answer(self) -> str:
        return (
            f"{self.endpoint.shown_url} answered with something else than a chat completion; "
            "check that --base-url ends in /v1; verdicts so far are kept"
        )

    def _status_line(self, error: "openai.APIStatusError") -> str:
        checks = {
            400: "the server does not take this request; check that the model takes structured "
            "output, temperature 0 and --max-tokens",
            401: "check OPENAI_API_KEY",
            403: "check that OPENAI_API_KEY may use this model",
            404: f"check that --base-url ends in /v1 and that it serves a model named {self.model}",
            429: "rate limit or quota; lower --concurrency or wait",
        }
        check = checks.get(error.status_code, "check the server's log")
        return (
            f"{self.endpoint.shown_url} answered {error.status_code} for model {self.model}: "
            f"{self._said(error)}; {check}; verdicts so far are kept, run the command again"
        )

    def _said(self, error: "openai.APIStatusError") -> str:
        """The server's own words on one line, without the key should it repeat it."""
        body = error.body if isinstance(error.body, dict) else {}
        message = body.get("message")
        said = message if message and isinstance(message, str) else error.message
        said = self.endpoint.without_key(said)
        printable = "".join(sign if sign.isprintable() else " " for sign in said)
        return " ".join(printable.split())[:300]


def read_completion(completion: "ChatCompletion", rubric: Rubric) -> Judgment:
    """The judgment in a completion; an answer without a whole verdict is an invalid one."""
    if not completion.choices:
        return invalid_judgment("no choices in the reply", raw="")
    choice = completion.choices[0]
    # Not every server sends every field, or an object where one belongs; the client does not check.
    message = getattr(choice, "message", None)
    content = getattr(message, "content", None)
    refusal = getattr(message, "refusal", None)
    finish_reason = getattr(choice, "finish_reason", None)
    raw = storable(content) if isinstance(content, str) else ""
    if refusal:
        return invalid_judgment(
            "refusal", raw=storable(refusal) if isinstance(refusal, str) else raw
        )
    if finish_reason == "length":
        return invalid_judgment("cut off by the token limit", raw=raw)
    if finish_reason == "content_filter":
        return invalid_judgment("content filter", raw=raw)
    return parse_verdict(raw, rubric)


def _item_refused(error: "openai.APIStatusError") -> str | None:
    """Why the server refuses this item and not the whole run, if that is the case."""
    if error.status_code != 400:
        return None
    if error.code == "content_filter":
        return "content filter"
    if error.code == "context_length_exceeded" or _CONTEXT_OVERFLOW.search(error.message):
        return "prompt and verdict do not fit the model's context"
    return None
