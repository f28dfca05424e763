"""The door: logging in and out, taking up an invitation, and whether the server is well.

Small pages of our own without a script. That no other site can send their forms is the gate's
doing, which looks at the Origin, and the cookie's, which stays at home (SameSite=Lax).
"""

import hashlib
import re
import sqlite3
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

from anyio import CapacityLimiter, to_thread
from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from annotator.accounts.login import LASTING
from annotator.accounts.password import MAX_LENGTH, MIN_LENGTH
from annotator.accounts.register import Register
from annotator.name import NAME_LIMIT
from annotator.web.health import Health
from annotator.web.page_file import base_style, page_file
from annotator.web.web_site import Site
from rubrics import InputError

HEALTH = "/healthz"
FIELDS = 8  # in any form of ours, at most
THREADS = 2  # whoever floods the door leaves the threads of the acts alone
FAVICON = "/favicon.ico"  # browsers ask for it at the root, whatever page they show
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_INVITE = re.compile(r"/invite/[A-Za-z0-9_-]+")


def is_door(path: str) -> bool:
    """Whether a path is open to those who are not logged in."""
    return path in ("/login", "/logout", FAVICON) or bool(_INVITE.fullmatch(path))


def shown_path(path: str) -> str:
    """A path as it may be kept: an invitation's secret is nobody's to read."""
    return "/invite/…" if path.startswith("/invite/") else path


@cache
def cookie_name(labels: Path) -> str:
    """Of this study's own: a browser shows one cookie to all servers of a machine."""
    return "login_" + hashlib.sha256(str(labels.resolve()).encode()).hexdigest()[:8]


class Door:
    """The routes of the door, for one register."""

    def __init__(self, site: Site, register: Register) -> None:
        self._site = site
        self._register = register
        self._threads = CapacityLimiter(THREADS)
        self._probes = CapacityLimiter(1)
        self._health = Health(register.labels)
        self._style = base_style() + page_file("annotator.web", "door.css")
        text = page_file("annotator.web", "door.html")
        self._template = Environment(autoescape=True).from_string(text)

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/login", self._ask_login),
            Route("/login", self._log_in, methods=["POST"]),
            Route(FAVICON, self._favicon),
            Route("/logout", self._ask_logout),
            Route("/logout", self._log_out, methods=["POST"]),
            Route("/invite/{secret}", self._ask_password),
            Route("/invite/{secret}", self._set_password, methods=["POST"]),
        ]

    @property
    def health(self) -> Route:
        return Route(HEALTH, self._tell_health)

    async def _tell_health(self, request: Request) -> Response:
        trouble = await to_thread.run_sync(self._health.trouble, limiter=self._probes)
        return JSONResponse({"status": trouble or "ok"}, 503 if trouble else 200)

    async def _favicon(self, request: Request) -> Response:
        return Response(status_code=204, headers={"cache-control": "max-age=86400"})

    async def _ask_login(self, request: Request) -> Response:
        return self._page("login")

    async def _log_in(self, request: Request) -> Response:
        form = await _form(request)
        name, password = form.get("name", ""), form.get("password", "")
        try:
            entry = await self._within(self._register.log_in, name, password, request.client.host)
        except sqlite3.OperationalError as error:
            return self._unwritable(error)
        if entry.secret is None:
            return self._page(
                "login", 429 if entry.wait else 401, name=name, wait=entry.wait, wrong=True
            )
        await self._forget(request)
        response = RedirectResponse(self._site.link("/"), 303)
        response.set_cookie(
            cookie_name(self._register.labels),
            entry.secret,
            max_age=int(LASTING.total_seconds()),
            path=self._site.link("/"),
            secure=self._site.is_secure,
            httponly=True,
            samesite="lax",
        )
        return response

    async def _ask_logout(self, request: Request) -> Response:
        person = self._register.person(self._secret(request))
        return self._page("logout", name=person.name if person else "")

    async def _log_out(self, request: Request) -> Response:
        try:
            await self._forget(request)
        except sqlite3.OperationalError as error:
            return self._unwritable(error)
        response = RedirectResponse(self._site.link("/login"), 303)
        response.delete_cookie(cookie_name(self._register.labels), path=self._site.link("/"))
        return response

    async def _ask_password(self, request: Request) -> Response:
        account = self._register.invited(request.path_params["secret"])
        return self._invitation(account.name) if account else self._gone()

    async def _set_password(self, request: Request) -> Response:
        secret = request.path_params["secret"]
        account = self._register.invited(secret)
        if account is None:
            return self._gone()
        form = await _form(request)
        password = form.get("password", "")
        if password != form.get("again", ""):
            return self._invitation(account.name, "The two passwords differ.")
        try:
            await self._within(self._register.take_up, secret, password, request.client.host)
        except InputError as error:
            return self._invitation(account.name, str(error))
        except sqlite3.OperationalError as error:
            return self._unwritable(error)
        return self._page("login", name=account.name, is_set=True)

    def _invitation(self, name: str, problem: str = "") -> Response:
        return self._page("invitation", 422 if problem else 200, name=name, problem=problem)

    def _gone(self) -> Response:
        return self._page("gone", 410)

    def _unwritable(self, error: sqlite3.OperationalError) -> Response:
        return self._page("unwritable", 503, problem=str(error))

    async def _forget(self, request: Request) -> None:
        """End the login that the browser still has."""
        if secret := self._secret(request):
            await self._within(self._register.log_out, secret)

    def _secret(self, request: Request) -> str | None:
        return request.cookies.get(cookie_name(self._register.labels))

    async def _within(self, act, *values):
        return await to_thread.run_sync(act, *values, limiter=self._threads)

    def _page(self, view: str, status: int = 200, **values) -> Response:
        text = self._template.render(
            view=view,
            style=self._style,
            link=self._site.link,
            name_limit=NAME_LIMIT,
            shortest=MIN_LENGTH,
            longest=MAX_LENGTH,
            **values,
        )
        headers = {"content-security-policy": POLICY}
        if values.get("wait"):
            headers["retry-after"] = str(values["wait"])
        return HTMLResponse(text, status, headers)


async def _form(request: Request) -> dict[str, str]:
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=FIELDS))
    except ValueError:
        return {}
