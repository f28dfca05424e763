"""What stands before every page: whose request it is, and whether it may pass.

It refuses by itself, before Gradio or an act of ours sees anything; the acts check once more whom
they are for.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from annotator.accounts.person import Person, current_person
from annotator.accounts.register import Register
from annotator.web.body import LIMIT, OWN_LIMIT, Disconnected, TooLarge, replayed, whole_body
from annotator.web.door import HEALTH, cookie_name, is_door, shown_path
from annotator.web.needed import is_needed
from annotator.web.page import Page
from annotator.web.web_site import Site
from generation.clock import now

# Gradio believes these of anybody; where a page is, the site alone says.
BELIEVED = {b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server"}
ANSWER_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
}
READING = ("GET", "HEAD")
THREADS = 4  # for what the gate writes; the acts have threads of their own


class Refused(Exception):
    """A request that may not pass: its HTTP status, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class Gate:
    """ASGI middleware before `app`, which serves `pages` and the door.

    Without a register, or with one that held no accounts at the start, everybody on this machine
    may pass.
    """

    def __init__(
        self, app: Any, site: Site, pages: Sequence[Page], register: Register | None
    ) -> None:
        self.app = app
        self._site = site
        self._pages = sorted(pages, key=lambda page: len(page.path), reverse=True)
        self._register = register
        self._limit = LIMIT if register else OWN_LIMIT
        self._guarded = register is not None and register.in_use()
        self._threads = CapacityLimiter(THREADS)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        path = self._site.inside(scope["path"])
        request = Request(self._known(scope, path))
        person = self._person(request)
        try:
            response = self._passed(request, path, person)
            if response is None and request.method not in READING:
                receive = replayed(await self._body(request, receive), receive)
        except Refused as refused:
            await self._record(person, f"{request.method} {shown_path(path)}", refused.why)
            response = PlainTextResponse(refused.why, refused.status)
        except Disconnected:
            return
        known = current_person.set(person)
        try:
            await (response or self.app)(request.scope, receive, _with_headers(send))
        finally:
            current_person.reset(known)

    def _known(self, scope: dict[str, Any], path: str) -> dict[str, Any]:
        """The request as the browser made it, whatever a proxy made of its address; who asks.

        `path` is that inside the site.
        """
        headers = [(name, value) for name, value in scope["headers"] if name not in BELIEVED]
        forwarded = b",".join(value for name, value in headers if name == b"x-forwarded-for")
        peer, port = scope.get("client") or ("", 0)
        asker = self._site.asker(peer, forwarded.decode("latin-1"))
        return {
            **scope,
            "headers": headers,
            "root_path": self._site.prefix,
            "path": self._site.link(path),
            "client": (asker, port),
        }

    def _person(self, request: Request) -> Person | None:
        if not self._guarded:
            return None
        return self._register.person(request.cookies.get(cookie_name(self._register.labels)))

    def _passed(self, request: Request, path: str, person: Person | None) -> Response | None:
        """None where the request may pass, or where to send it; raises Refused."""
        method = request.method
        if self._register and path == HEALTH and method in READING:
            return None
        if not self._site.is_asked(request.headers.get("host", ""), request.headers.get("origin")):
            raise Refused(403, f"only for pages of {self._site.address or 'this machine'}")
        if method not in (*READING, "POST"):
            raise Refused(405, f"no page asks by {method}")
        if self._guarded and is_door(path):
            return None
        if self._guarded and person is None:
            if method in READING and "text/html" in request.headers.get("accept", ""):
                return RedirectResponse(self._site.link("/login"), 303)
            raise Refused(401, "nobody is logged in; log in first")
        if self._register and not self._guarded and self._register.in_use():
            raise Refused(503, "this study has accounts now: stop `annotate` and start it again")
        return self._page_passed(request, path, person)

    def _page_passed(self, request: Request, path: str, person: Person | None) -> Response | None:
        method = request.method
        page, rest = self._page_of(path)
        if person and page.role is not person.role:
            if path in ("", "/") and method in READING and (home := self._home(person)):
                return RedirectResponse(self._site.link(home), 303)
            raise Refused(403, f"this page is not for the role {person.role.value}")
        if rest is None:
            return RedirectResponse(self._site.link(path + "/"), 307)
        if not is_needed(method, rest):
            raise Refused(404, "nothing that a page asks for")
        kind = request.headers.get("content-type", "")
        if method == "POST" and kind.partition(";")[0].strip() != "application/json":
            raise Refused(415, "an act takes JSON")
        self._settle(request)
        return None

    def _settle(self, request: Request) -> None:
        """Leave Gradio nothing to take from the request but what the page is to know."""
        request.scope["query_string"] = b""  # for the page alone; Gradio has uses of its own
        if public := self._site.public:  # where Gradio tells its page to ask
            headers = [(k, v) for k, v in request.scope["headers"] if k != b"host"]
            request.scope["headers"] = [*headers, (b"host", public.netloc.encode())]
            request.scope["scheme"] = public.scheme

    def _page_of(self, path: str) -> tuple[Page, str | None]:
        """The page that a path belongs to, and the path after its slash, None without one."""
        for page in self._pages:
            base = page.path.rstrip("/")
            if path == base:
                return page, None
            if path.startswith(base + "/"):
                return page, path[len(base) + 1 :]
        raise Refused(404, "no page of ours")

    def _home(self, person: Person) -> str | None:
        return next((page.path for page in self._pages if page.role is person.role), None)

    async def _body(self, request: Request, receive: Any) -> bytes:
        try:
            return await whole_body(receive, request.headers.get("content-length"), self._limit)
        except TooLarge as error:
            raise Refused(413, f"more than {self._limit // 1_000_000} MB") from error

    async def _record(self, person: Person | None, what: str, why: str) -> None:
        if self._register:
            name = person.name if person else None
            record = partial(self._register.refusals.record, name, what, why, at=now())
            await to_thread.run_sync(record, limiter=self._threads)


def _with_headers(send: Any) -> Any:
    async def answer(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(ANSWER_HEADERS)
            if headers.get("content-type", "").startswith("text/html"):
                headers["cache-control"] = "no-store"  # nor is it there after logging out
        await send(message)

    return answer
