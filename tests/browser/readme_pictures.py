"""Make the README's pictures and terminal session: python tests/browser/readme_pictures.py

A script labels the example by a one-line rule, so that there is something to show. These labels
are nobody's annotation, and the README says so.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / ".readme"
BIN = Path(sys.executable).parent
ITEMS = 60
SIZES = {"": (1280, 880), "-phone": (390, 844)}
REPORT_SIZES = {"": (1280, 1560), "-phone": (390, 844)}

sys.path.insert(0, str(ROOT / "tests" / "support"))
from labelling_page import label, shown_turn, status  # noqa: E402
from workbench_page import settled  # noqa: E402


def key_by_rule(question: str, turn: str) -> str:
    """Not a person's judgment: the request again is 2, a question mark is 1, all else is 4."""
    if turn.strip() == question.strip():
        return "2"
    return "1" if "?" in turn and len(turn) < 200 else "4"


def run(folder: Path, command: str) -> None:
    name, *arguments = command.split()
    print(f"$ {command}", flush=True)
    subprocess.run([BIN / name, *arguments], cwd=folder, check=True)


def photograph(page: Page, name: str) -> None:
    page.screenshot(path=PICTURES / f"{name}.png")


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp())
    for command in ("generate example", "judge", "calibrate sample"):
        run(folder, command)
    server = subprocess.Popen(
        [BIN / "annotate", "--annotator", "script"], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    url = server.stdout.readline().split(" at ")[1].split()[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto(url)
        for _ in range(ITEMS):
            turn = shown_turn(page)
            question = page.locator(".part.user .text").last.text_content()
            label(page, key_by_rule(question, turn))
        for scheme in ("light", "dark"):
            for suffix, (width, height) in SIZES.items():
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                page.goto(url)
                shown_turn(page)
                page.keyboard.press("1")
                status(page, "Draft kept")
                photograph(page, f"labelling-{scheme}{suffix}")
        server.kill()
        run(folder, "calibrate --rubric v3 --html report.html")
        run(folder, "calibrate export --rubric v3")
        for scheme in ("light", "dark"):
            for suffix, (width, height) in REPORT_SIZES.items():
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                page.goto((folder / "report.html").as_uri())
                photograph(page, f"report-{scheme}{suffix}")
        photograph_workbench(folder, browser)
        browser.close()


def photograph_workbench(folder: Path, browser: Browser) -> None:
    """The matrix, and a disagreement with a cause chosen."""
    server = subprocess.Popen(
        [BIN / "calibrate", "serve"], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    url = server.stdout.readline().split(" at ")[1].split()[0]
    for scheme in ("light", "dark"):
        for suffix, (width, height) in SIZES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            for name, view in (("workbench", "matrix"), ("workbench-item", "items")):
                page.goto(f"{url}/#view={view}")
                page.reload()
                settled(page)
                if view == "items":
                    page.keyboard.press("2")
                photograph(page, f"{name}-{scheme}{suffix}")
    server.kill()


if __name__ == "__main__":
    main()
