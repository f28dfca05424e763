"""Acting on the labelling page as a person does, waiting for what it shows."""

from playwright.sync_api import Page, expect


def shown_turn(page: Page) -> str:
    page.locator(".part.turn .text").wait_for(state="attached")
    return page.locator(".part.turn .text").evaluate("element => element.textContent")


def status(page: Page, text: str) -> str:
    """Wait until the status line holds `text`; returns the whole line."""
    line = page.locator("form.verdict .status")
    expect(line).to_contain_text(text)  # which says what it held instead
    return line.inner_text()


def label(page: Page, key: str) -> int:
    """Label the item on screen by keyboard; returns the receipt that the page shows."""
    before = page.locator("form.verdict .status").inner_text()
    page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.wait_for_function(
        """before => {
            const line = [...document.querySelectorAll('.status')].map(e => e.textContent);
            return line.some(t => t.startsWith('Saved (receipt') && t !== before);
        }""",
        arg=before,
    )
    line = page.locator(".status", has_text="Saved (receipt").first.text_content()
    return int(line.split("receipt ")[1].rstrip(")."))
