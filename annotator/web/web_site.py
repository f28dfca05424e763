"""Where people reach the server, and whom it believes about that."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from rubrics import InputError

LOCAL_NAMES = {"127.0.0.1", "localhost", "[::1]"}
LOCAL_HOSTS = {"127.0.0.1", "localhost", "::1"}
EVERY_HOST = {"0.0.0.0", "::"}


@dataclass(frozen=True)
class Site:
    """This machine alone, or the public URL of a reverse proxy; `host` is what we listen on.

    `proxies` are believed when they say for whom they ask, as is this machine.
    """

    host: str = "127.0.0.1"
    public: SplitResult | None = None
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether nobody but this machine is to reach the pages."""
        return self.public is None and self.host in LOCAL_HOSTS

    @property
    def address(self) -> str:
        """The public URL without a slash at its end; empty if there is none."""
        return self.public.geturl() if self.public else ""

    @property
    def prefix(self) -> str:
        """The path under which the proxy has us; without a slash at its end."""
        return self.public.path if self.public else ""

    @property
    def is_secure(self) -> bool:
        return self.public is not None and self.public.scheme == "https"

    def link(self, path: str) -> str:
        """A path of ours as a browser asks for it."""
        return self.prefix + path

    def inside(self, path: str) -> str:
        """A path of ours from one that the proxy passed on, whether it took the prefix off or not.

        >>> site = site_from("127.0.0.1", "https://lab.example/study")
        >>> site.inside("/study/config"), site.inside("/config"), site.inside("/study")
        ('/config', '/config', '')
        """
        return path.removeprefix(self.prefix) if f"{path}/".startswith(f"{self.prefix}/") else path

    def is_asked(self, host: str, origin: str | None) -> bool:
        """Whether a request names us, and comes from a page of ours or from none.

        Any site that somebody has open could send us forms, or have its own name lead here.

        >>> here = Site()
        >>> here.is_asked("127.0.0.1:7860", None), here.is_asked("evil.example:7860", None)
        (True, False)
        >>> here.is_asked("localhost", "http://evil.example"), here.is_asked("localhost", "null")
        (False, False)
        >>> there = site_from("127.0.0.1", "https://lab.example/study")
        >>> there.is_asked("lab.example", "https://lab.example")
        True
        >>> there.is_asked("lab.example", "http://localhost")
        False
        """
        names = LOCAL_NAMES | ({_bracketed(self.host)} - EVERY_HOST)
        if self.public:
            ours = origin in (None, f"{self.public.scheme}://{self.public.netloc}")
            return ours and _name(host) in names | {_name(self.public.netloc)}
        named = [host] if origin is None else [host, urlsplit(origin).netloc]
        return all(_name(netloc) in names for netloc in named)

    def asker(self, peer: str, forwarded: str) -> str:
        """The address that a request comes from, by its peer and `X-Forwarded-For`.

        Read from its end: what a proxy of ours has not added, anybody may have written.

        >>> there = site_from("127.0.0.1", "https://lab.example")
        >>> there.asker("127.0.0.1", "1.1.1.1, 203.0.113.7")
        '203.0.113.7'
        >>> there.asker("198.51.100.2", "1.1.1.1"), Site().asker("127.0.0.1", "1.1.1.1")
        ('198.51.100.2', '127.0.0.1')
        """
        if self.public is None:
            return peer
        said = [part.strip() for part in forwarded.split(",") if part.strip()]
        for address in reversed([*said, peer]):
            if not self._believes(address):
                return address
        return peer

    def _believes(self, address: str) -> bool:
        try:
            known = ip_address(address)
        except ValueError:
            return False
        return known.is_loopback or any(known in network for network in self.proxies)


def site_from(host: str, public_url: str | None, proxies: tuple[str, ...] = ()) -> Site:
    """Raises InputError for what is no URL or no address."""
    try:
        networks = tuple(ip_network(proxy) for proxy in proxies)
    except ValueError as error:
        raise InputError(f"--proxy: {error}; give an address or a network, 10.0.0.0/8") from error
    return Site(host.strip("[]"), _public(public_url) if public_url else None, networks)


def _public(url: str) -> SplitResult:
    """Scheme and name in lower case, no port that the scheme implies, no slash at the end."""
    wrong = InputError(
        f"--public-url {url!r} is no address; give https://NAME or https://NAME/PATH"
    )
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError as error:
        raise wrong from error
    if parts.scheme not in ("http", "https") or not name or parts.query or parts.fragment:
        raise wrong
    if parts.username is not None or "//" in parts.path:
        raise wrong
    implied = {"http": 80, "https": 443}[parts.scheme]
    netloc = _bracketed(name) + ("" if port in (None, implied) else f":{port}")
    return SplitResult(parts.scheme, netloc, parts.path.rstrip("/"), "", "")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _name(netloc: str) -> str:
    name, colon, port = netloc.rpartition(":")
    return (name if colon and port.isdigit() else netloc).lower()
