"""The workbench in a browser: going about in it."""

from playwright.sync_api import Page


def go(page: Page, where: str) -> None:
    """Follow a link of the top bar, and wait until all that it shows is computed."""
    page.get_by_role("navigation", name="Views").get_by_role("link", name=where).click()
    settled(page)


SETTLED = """() => {
    const view = document.querySelector(".bench .view");
    const waiting = view?.hasAttribute("aria-busy") || view?.querySelector("[data-waiting]");
    return view?.dataset.place === location.hash && !waiting;
}"""


def settled(page: Page) -> None:
    """Wait until the view of this address is there, with all that it shows computed."""
    page.wait_for_function(SETTLED)


def choose(page: Page, name: str, *words: str) -> None:
    """Choose the option with all these words, and wait for what it shows."""
    field = page.locator(f".view select[name={name}]").first
    options = field.locator("option").all_inner_texts()
    field.select_option(label=next(o for o in options if all(word in o for word in words)))
    settled(page)
