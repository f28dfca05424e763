"""What becomes of a page's requests to the server, changed while the page is open.

Chromium lets a request pass that closely follows upon the start of interception (seen once in 120
times). So it starts before the page loads, and what is done with a request is changed instead.
"""

from collections.abc import Callable

from playwright.sync_api import Page, Route


def pass_on(route: Route) -> None:
    route.continue_()


def fail(route: Route) -> None:
    route.abort()


class InterceptedActs:
    """For `new_page(url, acts=…)`: hands each act of the page to `handle`."""

    def __init__(self) -> None:
        self.handle: Callable[[Route], object] = pass_on

    def of(self, page: Page) -> None:
        page.route("**/component_server/", lambda route: self.handle(route))
