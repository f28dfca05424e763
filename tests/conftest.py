"""What all tests share: the number of random examples, and one Chromium.

Playwright allows a single driver per process.
"""

import shutil

import pytest
from hypothesis import settings
from playwright.sync_api import sync_playwright

# Of random examples, so that the whole suite stays under ten minutes on two cores.
settings.register_profile("suite", max_examples=40)
settings.load_profile("suite")

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    executable = shutil.which("chromium")
    assert executable, "the browser tests need Chromium: run make test, which installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in the browser come last: Playwright keeps an event loop running in its thread."""
    items.sort(key=lambda item: "browser" in getattr(item, "fixturenames", ()))
