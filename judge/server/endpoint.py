"""Where a judge model is served, and the key to it, which nothing ever shows or stores."""

import os
import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit, urlunsplit

from rubrics import InputError

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
MIN_KEY_CHARACTERS = 4  # shorter ones are stand-ins, and taking them out would spoil every reply


@dataclass(frozen=True)
class Endpoint:
    """Where the judge model is served. The key is never shown, stored or part of the judge."""

    base_url: str
    key: str | None
    key_variable: str = DEFAULT_KEY_VARIABLE

    def __repr__(self) -> str:
        return f"Endpoint({self.shown_url!r})"

    @property
    def shown_url(self) -> str:
        """The URL without a user name, password or query, any of which may be a secret."""
        parts = urlsplit(self.base_url)
        url = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        url = url.encode(errors="replace").decode()  # it is stored, and undecodable bytes are not
        return url if len(url) <= 200 else f"{url[:200]}…"

    @property
    def key_name(self) -> str:
        """Where the key comes from, for whoever has to look there."""
        return self.key_variable or "api_key_env, which names no variable"

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


def find_endpoint(base_url: str | None, key_variable: str = DEFAULT_KEY_VARIABLE) -> Endpoint:
    """The endpoint from `base_url` or OPENAI_BASE_URL, the key from the variable of that name.

    No key without such a name. Raises InputError when there is neither a URL nor a key, when the
    URL is none, and when a variable other than OPENAI_API_KEY is named but not set.
    """
    base_url = base_url or os.environ.get("OPENAI_BASE_URL", "").strip()
    key = os.environ.get(key_variable, "").strip() if key_variable else ""
    if key_variable not in ("", DEFAULT_KEY_VARIABLE) and not key:
        raise InputError(f"{key_variable} is not set; set it to the judge server's key")
    if not base_url and not key:
        raise InputError(
            f"no judge server: found neither --base-url nor {key_variable}; give --base-url URL "
            f"(such as http://localhost:8000/v1), or set {key_variable} to use {DEFAULT_BASE_URL}"
        )
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"{key_variable} holds a character that no key has; set it again")
    base_url = base_url or DEFAULT_BASE_URL
    if not _is_url(base_url):
        raise InputError(
            "the judge server's URL is none; expected one like http://localhost:8000/v1"
        )
    return Endpoint(base_url, key or None, key_variable)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an address that cannot be
        return False
