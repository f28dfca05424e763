"""A page of ours: what is served at one path, and what it may ask for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from annotator.accounts.person import Role


@dataclass(frozen=True)
class Page:
    """A page and its acts.

    `path` is "/", or begins with a slash and ends with none. `script` runs once with Gradio's
    `element`, the page's root, and `server`, which has each of `acts` under its name; an act takes
    and gives what JSON can hold. Where there are accounts the page is for people of `role` alone.
    `close` is called once, after the last act.
    """

    path: str
    title: str
    html: str
    style: str
    script: str
    acts: tuple[Callable[[Any], Any], ...]
    role: Role | None = None
    close: Callable[[], None] = lambda: None
