"""Every role at every route that the served app exposes, and what else is sent to a server."""

import re
import resource
import shutil
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from starlette.routing import BaseRoute, Mount, Route
from starlette.testclient import TestClient

from annotator.accounts import account as accounts
from annotator.accounts.account import add_account, set_password
from annotator.accounts.invitation import invite
from annotator.accounts.login import LASTING
from annotator.accounts.person import Role
from annotator.accounts.register import Register
from annotator.accounts.secret import digest
from annotator.app import pages_of, serve
from annotator.labels import BlindItem, add_items, open_labels, record_rubric
from annotator.web.needed import is_needed
from annotator.web.server import gated, listening
from annotator.web.web_site import Site, site_from
from generation.item import Item, Message
from generation.study import Study
from rubrics import InputError, load_rubric

PASSWORD = "correct horse battery"
HERE = "http://127.0.0.1:7860"
PEOPLE = {"ann": Role.ANNOTATOR, "ben": Role.ANNOTATOR, "zoe": Role.ADJUDICATOR, "lab": Role.OWNER}
HOMES = {Role.ANNOTATOR: "/", Role.ADJUDICATOR: "/adjudicate/", Role.OWNER: "/dashboard/"}
DOOR = ("/healthz", "/login", "/logout", "/favicon.ico")
HTML = {"accept": "text/html"}
ACT = "/gradio_api/component_server/"


def write_labels(folder, people=()):
    """A labels.db of five items with accounts that share one password."""
    path = folder / "labels.db"
    database = open_labels(path, create=True)
    items = [
        BlindItem(f"{n:012x}", Item((Message("user", f"q {n}"),), f"a {n}", f"t {n}"))
        for n in range(5)
    ]
    add_items(database, items, seed=7)
    record_rubric(database, load_rubric("v3"))
    for name in people:
        add_account(database, name, PEOPLE[name])
        set_password(database, name, PASSWORD)
    database.close()
    return path


@pytest.fixture(autouse=True, scope="module")
def every_refusal_is_kept():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotator.accounts.refusal.PER_MINUTE", 100_000)
        yield


class Served:
    """The app as it is served, in this process; clients are browsers of their own."""

    def __init__(self, path, site=None) -> None:
        self.database = open_labels(path)
        self.register = Register(path)
        self.pages = pages_of(
            path, load_rubric("v3"), self.register.refusals, accounts=self.register.in_use()
        )
        self.gate = gated(self.pages, site or Site(), self.register)

    def client(self, base=HERE, **more) -> TestClient:
        return TestClient(
            self.gate,
            base_url=base,
            client=more.pop("client", ("127.0.0.1", 50_000)),
            follow_redirects=False,
            **more,
        )

    def logged_in(self, name: str) -> TestClient:
        client = self.client()
        reply = client.post("/login", data={"name": name, "password": PASSWORD})
        assert (reply.status_code, reply.headers["location"]) == (303, "/")
        return client

    def refusals(self) -> list[tuple[str | None, str, str]]:
        return list(self.database.conn.execute("SELECT name, what, why FROM refusals"))

    def close(self) -> None:
        for page in self.pages:
            page.close()
        self.register.close()
        self.database.close()


@contextmanager
def running(path, site=None) -> Iterator[Served]:
    served = Served(path, site)
    with served.client():  # starts what Gradio wants started
        yield served
    served.close()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with running(write_labels(tmp_path_factory.mktemp("gate"), PEOPLE)) as served:
        yield served


@pytest.fixture(scope="module")
def open_study(tmp_path_factory):
    with running(write_labels(tmp_path_factory.mktemp("open"))) as served:
        yield served


def every_route(routes: list[BaseRoute], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Method and path of all that is mounted, with a value for each parameter."""
    for route in routes:
        if isinstance(route, Mount):
            yield from every_route(route.app.routes, prefix + route.path)
        elif hasattr(route, "original_router"):  # a router that FastAPI includes
            yield from every_route(route.original_router.routes, prefix)
        else:
            assert isinstance(route, Route) or hasattr(route, "methods"), route
            for method in sorted(route.methods):
                yield method, re.sub(r"{[^}]*}", "x", prefix + route.path)


def act(client, base="/", name="open_screen", component=None, **data):
    """Ask for an act as the page of `base` does."""
    if component is None:
        config = client.get(f"{base}config").json()
        component = next(c["id"] for c in config["components"] if c["type"] == "html")
    body = {"component_id": component, "fn_name": name, "session_hash": "of ben", "data": data}
    return client.post(base.rstrip("/") + ACT, json=body)


def test_each_role_gets_what_its_page_needs_and_nothing_else_of_what_is_exposed(study, monkeypatch):
    recorded = []
    monkeypatch.setattr(
        study.register.refusals, "record", lambda *entry, at: recorded.append(entry)
    )
    routes = set(every_route(study.gate.app.routes))
    exposed = {path for _, path in routes}
    for known in (
        "/gradio_api/queue/join",
        "/gradio_api/upload",
        "/gradio_api/run/x",
        "/monitoring",
    ):
        assert {known, "/dashboard" + known, "/adjudicate" + known} <= exposed
    for name, client in {
        None: study.client(),
        "ann": study.logged_in("ann"),
        "zoe": study.logged_in("zoe"),
        "lab": study.logged_in("lab"),
    }.items():
        home = HOMES[PEOPLE[name]] if name else None
        for method, path in sorted(routes):
            if path in DOOR or path.startswith("/invite/"):
                continue
            before = len(recorded)
            reply = client.request(method, path)
            base = next(b for b in ("/adjudicate/", "/dashboard/", "/") if path.startswith(b))
            rest = path.removeprefix(base)
            if base == home and is_needed(method, rest):
                # An act without JSON is refused as such; what there is not is Gradio's to say.
                assert reply.status_code in ((415,) if method == "POST" else (200, 404)), path
            elif (method, path) in (("GET", "/"), ("HEAD", "/")) and name:
                assert (reply.status_code, reply.headers["location"]) == (303, home.rstrip("/"))
            else:
                wrong = {401} if not name else {404, 405} if base == home else {403, 405}
                assert reply.status_code in wrong, (name, method, path)
                [(who, what, why)] = recorded[before:]
                assert (who, what) == (name, f"{method} {path}")
                assert why == reply.text or method == "HEAD"


def test_routes_that_gradio_does_not_list_are_refused_too(study):
    client = study.logged_in("ann")
    for method, path in (
        ("GET", "/gradio_api/file=/etc/passwd"),
        ("GET", "/gradio_api/proxy=https://evil.example"),
        ("GET", "/gradio_api/token"),
        ("POST", "/gradio_api/queue/join"),
        ("GET", "/gradio_api/heartbeat/x"),
        ("OPTIONS", "/config"),
        ("DELETE", "/"),
        ("GET", "/invite/a/b"),
        ("GET", "/%64ashboard/config"),
    ):
        assert client.request(method, path).status_code in (403, 404, 405), path
    assert ("ann", "GET /gradio_api/token", "nothing that a page asks for") in study.refusals()


def test_gradio_gets_no_parameter_of_its_own(study):
    client = study.logged_in("ann")
    whole = client.get("/config").json()
    assert client.get("/config?deep_link=../../x&page=nope").json() == whole
    assert client.get("/?page=nope&deep_link=x&annotator=ben").status_code == 200


def test_who_labels_is_who_is_logged_in_whatever_the_page_sends(study):
    client = study.logged_in("ann")
    reply = act(client, annotator="ben").json()
    assert reply["screen"]["annotator"] == "ann"
    theirs = act(study.logged_in("ben")).json()["screen"]
    body = {"nonce": theirs["nonce"], "item_id": theirs["item_id"]}
    refused = act(client, name="save_label", choice={"category": "malformed"}, **body).json()
    assert refused["refused"]
    assert study.database["events"].count == 0


def test_acts_of_another_page_are_out_of_reach(study):
    client = study.logged_in("ann")
    for name in ("show_dashboard", "act", "__class__", "launch"):
        assert act(client, name=name).status_code == 404
    for base in ("/dashboard/", "/adjudicate/"):
        assert act(client, base, component=1).status_code == 403
    assert act(study.logged_in("zoe"), component=1).status_code == 403


def test_without_a_login_pages_lead_to_the_door_and_acts_are_refused(study):
    client = study.client()
    for path in ("/", "/dashboard", "/adjudicate/", "/config", "/no/such/page"):
        reply = client.get(path, headers=HTML)
        assert (reply.status_code, reply.headers["location"]) == (303, "/login")
    assert client.get("/config").status_code == 401
    for cookie in ("", "made up", "é", "x" * 5_000):
        name = next(iter(study.logged_in("ann").cookies))
        reply = client.post(ACT, json={}, headers={"cookie": f"{name}={cookie}".encode()})
        assert reply.status_code == 401


def test_each_role_comes_home(study):
    for name in ("zoe", "lab"):
        client = study.logged_in(name)
        home = HOMES[PEOPLE[name]]
        first = client.get("/", headers=HTML)
        assert (first.status_code, first.headers["location"]) == (303, home.rstrip("/"))
        second = client.get(home.rstrip("/"), headers=HTML)
        assert (second.status_code, second.headers["location"]) == (307, home)
        assert client.get(home, headers=HTML).status_code == 200
        assert client.get("/config", headers=HTML).status_code == 403


@pytest.mark.parametrize("end", ["log out", "disable", "reset", "expire"])
def test_a_login_that_ends_in_mid_session_is_refused_at_the_next_act(study, end):
    client = study.logged_in("ben")
    assert act(client).status_code == 200
    [cookie] = client.cookies.jar
    if end == "log out":
        elsewhere = study.client(cookies={cookie.name: cookie.value})
        left = elsewhere.post("/logout")
        assert (left.status_code, left.headers["location"]) == (303, "/login")
    elif end == "expire":
        study.database["logins"].update(
            digest(cookie.value), {"expires_at": "2026-01-01T00:00:00.000+00:00"}
        )
    else:
        getattr(accounts, end)(study.database, "ben")
    try:
        assert act(client, component=1).status_code == 401
        assert client.get("/", headers=HTML).headers["location"] == "/login"
    finally:
        accounts.enable(study.database, "ben")
        set_password(study.database, "ben", PASSWORD)


def test_a_disabled_person_cannot_log_in(study):
    accounts.disable(study.database, "ben")
    try:
        reply = study.client().post("/login", data={"name": "ben", "password": PASSWORD})
        assert reply.status_code == 401
        assert "login_" not in reply.headers.get("set-cookie", "")
    finally:
        accounts.enable(study.database, "ben")


def test_the_cookie_is_for_this_site_alone(study):
    reply = study.client().post("/login", data={"name": "ann", "password": PASSWORD})
    cookie = reply.headers["set-cookie"].lower()
    assert re.match(r"login_[0-9a-f]{8}=[\w-]{43};", cookie)
    for part in ("httponly", "samesite=lax", "path=/", f"max-age={int(LASTING.total_seconds())}"):
        assert part in cookie
    assert "secure" not in cookie


def test_logins_outlive_the_server(study):
    client = study.logged_in("ann")
    [cookie] = client.cookies.jar
    with running(study.register.labels) as again:
        kept = again.client(cookies={cookie.name: cookie.value})
        assert kept.get("/config").status_code == 200


def test_where_to_go_after_logging_in_is_not_for_an_address_to_say(study):
    for there in ("https://evil.example", "//evil.example", "/\\evil.example", "javascript:x"):
        client = study.client()
        page = client.get("/login", params={"next": there})
        assert there not in page.text
        form = {"name": "ann", "password": PASSWORD, "next": there}
        reply = client.post("/login", params={"next": there}, data=form)
        assert reply.headers["location"] == "/"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1.evil.example"},
        {"host": "evil.example:7860"},
        {"host": ""},
        {"host": "evil.example", "x-forwarded-host": "127.0.0.1"},
    ],
)
def test_other_sites_are_refused_everywhere(study, headers):
    client = study.logged_in("ann")
    for method, path in (("GET", "/"), ("POST", ACT), ("POST", "/login"), ("POST", "/logout")):
        reply = client.request(method, path, headers=headers)
        assert (reply.status_code, reply.text) == (403, "only for pages of this machine")
    assert client.get("/config").status_code == 200


def test_a_large_body_is_refused_and_recorded_whether_declared_or_not(study):
    client = study.logged_in("ann")
    note = {"note": "n" * 5_000_000}
    assert act(client, name="save_label", choice=note).status_code == 413

    def dribble():
        for _ in range(50):
            yield b"x" * 100_000

    for path in (ACT, "/login"):
        reply = client.post(path, content=dribble(), headers={"content-type": "application/json"})
        assert reply.status_code == 413
    assert study.refusals()[-3:] == [
        ("ann", f"POST {ACT}", "more than 1 MB"),
        ("ann", f"POST {ACT}", "more than 1 MB"),
        ("ann", "POST /login", "more than 1 MB"),
    ]
    assert study.database["events"].count == 0


def test_guessing_has_to_wait_and_is_told_how_long(study):
    client = study.client(client=("198.51.100.4", 1))
    replies = [
        client.post("/login", data={"name": "lab", "password": f"guess {n}"}) for n in range(5)
    ]
    assert [reply.status_code for reply in replies] == [401] * 4 + [429]
    right = client.post("/login", data={"name": "lab", "password": PASSWORD})
    assert right.status_code == 429
    assert int(right.headers["retry-after"]) == 1
    assert "Wait 1 second, then try again" in right.text
    # Where she has logged in before, nobody's guesses elsewhere keep her out.
    study.database["login_attempts"].insert(
        {"name": "lab", "address": "127.0.0.1", "succeeded": 1, "tried_at": "2026-01-01"}
    )
    study.logged_in("lab")


def test_whether_a_name_is_known_does_not_show(study):
    pages = [
        study.client(client=(f"203.0.113.{n}", 1))
        .post("/login", data={"name": name, "password": "wrong"})
        .text.replace(name, "NAME")
        for n, name in enumerate(("ben", "nemo"))
    ]
    assert pages[0] == pages[1]


def test_an_invitation_sets_a_password_once(study):
    add_account(study.database, "new", Role.ANNOTATOR)
    secret = invite(study.database, "new", timedelta(days=7))
    client = study.client()
    page = client.get(f"/invite/{secret}")
    assert page.status_code == 200
    assert 'autocomplete="new-password"' in page.text
    for form, problem in (
        ({"password": PASSWORD, "again": PASSWORD + "!"}, "differ"),
        ({"password": "short", "again": "short"}, "5 characters"),
    ):
        reply = client.post(f"/invite/{secret}", data=form)
        assert reply.status_code == 422
        assert problem in reply.text
    evil = client.post(
        f"/invite/{secret}",
        data={"password": PASSWORD, "again": PASSWORD},
        headers={"origin": "http://evil.example"},
    )
    assert evil.status_code == 403
    done = client.post(f"/invite/{secret}", data={"password": PASSWORD, "again": PASSWORD})
    assert "Your password is set" in done.text
    PEOPLE["new"] = Role.ANNOTATOR
    assert study.logged_in("new").get("/config").status_code == 200
    for used in (secret, "made-up"):
        for reply in (
            client.get(f"/invite/{used}"),
            client.post(
                f"/invite/{used}", data={"password": "an other one", "again": "an other one"}
            ),
        ):
            assert reply.status_code == 410
    assert not any(secret in what for _, what, _ in study.refusals())


def test_the_door_escapes_and_lets_no_script_run(study):
    name = "<img src=x onerror=alert(1)>\"' {{7*7}}"
    reply = study.client().post("/login", data={"name": name, "password": "wrong"})
    assert "<img" not in reply.text
    assert "49" not in re.sub(r"<style>.*</style>", "", reply.text, flags=re.S)
    assert "script-src" not in reply.headers["content-security-policy"]
    assert reply.headers["content-security-policy"].startswith("default-src 'none'")
    assert reply.headers["cache-control"] == "no-store"
    odd = study.client().post("/login", content=b"&".join(b"a=%ff" for _ in range(50)))
    assert odd.status_code == 401


def test_health_needs_no_login_and_tells_when_nothing_can_be_saved(study, tmp_path, monkeypatch):
    client = study.client(base="http://10.1.2.3")
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.post("/healthz").status_code == 403
    monkeypatch.setattr("annotator.web.health.PATIENCE", 0)
    study.database.conn.execute("BEGIN IMMEDIATE")
    busy = client.get("/healthz")
    study.database.conn.execute("ROLLBACK")
    assert busy.status_code == 503
    assert client.get("/healthz").status_code == 200


def test_health_tells_of_a_full_disk(study):
    """Taking SQLite's lock alone needs no room."""
    client = study.client()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        full = client.get("/healthz")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (full.status_code, full.json()) == (503, {"status": "labels.db cannot be written"})
    assert client.get("/healthz").status_code == 200
    assert study.database["settings"].count_where("name = 'probe'") == 0


def test_health_tells_of_another_file_in_the_place_of_labels_db(tmp_path):
    """Such as a copy that was put there by hand: it can be written, and nobody's labels get in."""
    found = Served(write_labels(tmp_path))
    shutil.copy(tmp_path / "labels.db", tmp_path / "copy.db")
    (tmp_path / "copy.db").rename(tmp_path / "labels.db")
    reply = found.client().get("/healthz")
    assert (reply.status_code, reply.json()["status"]) == (503, "labels.db was moved or replaced")
    found.close()
    assert not (tmp_path / "gone.db").exists()


def test_a_store_that_cannot_be_written_is_said_at_the_door(study, monkeypatch):
    def refuse(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(study.register, "log_in", refuse)
    reply = study.client().post("/login", data={"name": "ann", "password": PASSWORD})
    assert reply.status_code == 503
    assert "disk is full" in reply.text


def test_without_accounts_everybody_on_this_machine_may_label(open_study):
    client = open_study.client()
    assert act(client, annotator="ann").json()["screen"]["annotator"] == "ann"
    for path in (
        "/login",
        "/logout",
        "/invite/x",
        "/dashboard/",
        "/gradio_api/info",
        "/monitoring",
    ):
        assert client.get(path, headers=HTML).status_code == 404
    assert client.get("/healthz").status_code == 200
    assert (None, "GET /monitoring", "nothing that a page asks for") in open_study.refusals()


def test_a_first_account_shuts_the_open_page(tmp_path):
    with running(write_labels(tmp_path)) as served:
        client = served.client()
        assert client.get("/config").status_code == 200
        add_account(served.database, "lab", Role.OWNER)
        reply = client.get("/config")
        assert reply.status_code == 503
        assert "start it again" in reply.text


@pytest.mark.parametrize("keeps_prefix", [True, False])
def test_behind_a_proxy_with_a_prefix_and_tls(study, keeps_prefix):
    site = site_from("127.0.0.1", "https://lab.example/study")
    gate = gated(study.pages, site, study.register)
    prefix = "/study" if keeps_prefix else ""
    forwarded = {"x-forwarded-for": "1.1.1.1, 203.0.113.77", "x-forwarded-host": "evil.example"}
    client = TestClient(
        gate,
        base_url="https://lab.example",
        client=("127.0.0.1", 1),
        headers=forwarded,
        follow_redirects=False,
    )
    assert client.get(f"{prefix}/", headers=HTML).headers["location"] == "/study/login"
    assert client.get("/study", headers=HTML).headers["location"] == "/study/login"
    assert 'action="/study/login"' in client.get(f"{prefix}/login").text
    reply = client.post(
        f"{prefix}/login",
        data={"name": "zoe", "password": PASSWORD},
        headers={"origin": "https://lab.example"},
    )
    assert reply.headers["location"] == "/study/"
    cookie = reply.headers["set-cookie"]
    assert "Secure" in cookie
    assert "Path=/study/" in cookie
    client.headers["cookie"] = cookie.partition(";")[0]
    assert client.get(f"{prefix}/", headers=HTML).headers["location"] == "/study/adjudicate"
    config = client.get(f"{prefix}/adjudicate/config").json()
    assert config["root"] == "https://lab.example/study/adjudicate"
    place = study.database.conn.execute(
        "SELECT address FROM login_attempts WHERE name = 'zoe' AND succeeded = 1 "
        "ORDER BY attempt_id DESC LIMIT 1"
    ).fetchone()
    assert place == ("203.0.113.77",)
    for origin in ("http://lab.example", "https://evil.example", "http://127.0.0.1:7860"):
        refused = client.post(f"{prefix}/logout", headers={"origin": origin})
        assert (refused.status_code, refused.text) == (
            403,
            "only for pages of https://lab.example/study",
        )


def test_what_a_stranger_says_of_proxies_is_not_believed(study):
    client = study.client(client=("198.51.100.99", 1), headers={"x-forwarded-for": "127.0.0.1"})
    client.post("/login", data={"name": "nemo 2", "password": "wrong"})
    [row] = study.database["login_attempts"].rows_where("name = 'nemo 2'")
    assert row["address"] == "198.51.100.99"


@pytest.mark.parametrize(
    ("site", "people", "annotator", "says"),
    [
        (site_from("192.0.2.7", None), (), None, "annotate user add"),
        (site_from("127.0.0.1", "https://lab.example"), (), None, "annotate user add"),
        (site_from("0.0.0.0", None), ("lab",), None, "--public-url"),
        (Site(), ("lab",), "ann", "leave out --annotator"),
    ],
)
def test_serving_others_without_accounts_is_refused(tmp_path, site, people, annotator, says):
    path = write_labels(tmp_path, people)
    with pytest.raises(InputError, match=says):
        serve(Study(path.parent), None, site, annotator=annotator, port=7860)


@pytest.mark.parametrize(
    "url",
    ["lab.example", "ftp://lab.example", "https://", "https://a:b@c", "https://a/?q", "http://[x"],
)
def test_a_public_url_that_is_none_is_refused(url):
    with pytest.raises(InputError, match="--public-url"):
        site_from("127.0.0.1", url)


def test_the_next_free_port_is_taken_but_not_behind_a_proxy(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with listening(Site(), port, "annotate") as found:
            assert found.getsockname()[1] > port
            assert found.proto == socket.IPPROTO_TCP  # else each answer waits 40 ms for an ACK
        assert f"port {port} is taken; using" in capsys.readouterr().err
        with pytest.raises(InputError, match=f"port {port} is taken; .*annotate --port"):
            listening(site_from("127.0.0.1", "https://lab.example"), port, "annotate")
    with pytest.raises(InputError, match="address of this machine"):
        listening(Site(host="192.0.2.1"), 7860, "annotate")
