"""A served study and a real Chromium; every page must stay free of errors and foreign requests."""

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from intercepted_acts import InterceptedActs
from playwright.sync_api import Page, expect
from served import Server
from served_here import served_here
from sqlite_utils import Database

from annotator.annotation import Annotation, annotation_history
from annotator.labels import BlindItem, add_items, open_labels
from generation.item import Item, Message

PLAIN_TRIPLES = tuple((f"question {n}", f"answer {n}", f"turn {n}") for n in range(6))
PATIENCE_MS = 30_000  # of what is awaited: a loaded machine is slow, not wrong
OURS = ("http://127.0.0.1:", "https://127.0.0.1:", "data:", "blob:")
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture
def new_page(browser):
    """Open pages that fail the test on script errors, dialogs or requests to other hosts."""
    contexts, faults = [], []

    def watch(page: Page) -> None:
        page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
        page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(OURS)
                else faults.append(f"foreign request: {request.url}")
            ),
        )

    def open_page(url: str, *, acts: InterceptedActs | None = None, **options) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        watch(page)
        if acts:
            acts.of(page)
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def serve():
    servers = []

    @contextmanager
    def start(folder: Path, *options: str, **more):
        server = Server(folder, *options, **more)
        servers.append(server)
        try:
            yield server
        finally:
            server.kill()

    yield start
    for server in servers:
        server.kill()


@pytest.fixture(scope="module")
def server_of_module():
    """Start servers that stand for a whole file of tests; gives the address of each."""
    servers = []

    def start(folder: Path, **options) -> str:
        servers.append(Server(folder, **options))
        return servers[-1].url

    yield start
    for server in servers:
        server.kill()


@pytest.fixture(scope="module")
def served_for_module():
    """Serve studies in this process for a whole file of tests; gives the address of each."""
    with ExitStack() as servers:
        yield lambda folder, **options: servers.enter_context(served_here(folder, **options))


def write_labels(folder: Path, triples) -> Path:
    """Write a labels.db of the given (q, a, u) texts; returns the study's folder."""
    database = open_labels(folder / "labels.db", create=True)
    items = [
        BlindItem(f"{n:012x}", Item((Message("user", q),), a, u))
        for n, (q, a, u) in enumerate(triples)
    ]
    add_items(database, items, seed=7)
    database.close()
    return folder


@pytest.fixture
def make_labels(tmp_path):
    return lambda triples: write_labels(tmp_path, triples)


@pytest.fixture
def plain_study(make_labels):
    return make_labels(PLAIN_TRIPLES)


@pytest.fixture(scope="session")
def desks(tmp_path_factory):
    """One server per set of triples, for all tests that leave it standing."""
    places = {}
    with ExitStack() as servers:

        def place_of(triples: tuple) -> tuple[Path, str]:
            if triples not in places:
                folder = write_labels(tmp_path_factory.mktemp("shared"), triples)
                places[triples] = folder, servers.enter_context(served_here(folder, port=7880))
            return places[triples]

        yield place_of


@pytest.fixture
def desk_with(desks, request):
    """A desk over the given triples, under a name that no other test uses."""
    databases = []

    def sit_down(triples: tuple) -> Desk:
        folder, url = desks(triples)
        name = f"ann {abs(hash(request.node.nodeid)) % 10**9}"
        database = open_labels(folder / "labels.db")
        databases.append(database)
        return Desk(f"{url}?annotator={quote(name)}", name, database)

    yield sit_down
    for database in databases:
        database.close()


@pytest.fixture
def desk(desk_with):
    return desk_with(PLAIN_TRIPLES)


@dataclass(frozen=True)
class Desk:
    """Where one annotator labels, and what the store holds of it."""

    url: str
    annotator: str
    database: Database

    def history(self) -> list[Annotation]:
        return [e for e in annotation_history(self.database) if e.annotator == self.annotator]
