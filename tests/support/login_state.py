"""A browser that is logged in, without the door."""

from pathlib import Path

from annotator.accounts.login import start_login
from annotator.labels import open_labels
from annotator.web.door import cookie_name


def login_state(labels: Path, name: str) -> dict:
    """What Playwright calls the storage state of a context: a new login of that name."""
    with open_labels(labels) as database:
        secret = start_login(database, name)
    cookie = {"name": cookie_name(labels), "value": secret, "domain": "127.0.0.1", "path": "/"}
    kind = {"expires": -1, "httpOnly": True, "secure": False, "sameSite": "Lax"}
    return {"cookies": [cookie | kind], "origins": []}
