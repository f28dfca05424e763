"""The requests that a page of ours makes; what else Gradio would answer is not let in.

Found by watching Chromium. Gradio itself serves queues, uploads, files, proxies, run histories,
monitoring, a session's own token, and more with each version.
"""

DOCUMENTS = frozenset({"", "config", "theme.css", "favicon.ico"})
FOLDERS = ("assets/", "static/")
ACTS = frozenset({"gradio_api/component_server", "gradio_api/component_server/"})


def is_needed(method: str, rest: str) -> bool:
    """Whether a page asks for this; `rest` is the path after the page's own and its slash.

    >>> is_needed("GET", "assets/index.js"), is_needed("POST", "gradio_api/component_server/")
    (True, True)
    >>> is_needed("GET", "gradio_api/info"), is_needed("POST", "gradio_api/queue/join")
    (False, False)
    """
    if method == "POST":
        return rest in ACTS
    return method in ("GET", "HEAD") and (rest in DOCUMENTS or rest.startswith(FOLDERS))
