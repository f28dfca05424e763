"""The least Gradio page that labels items: a text, seven choices, a button, one durable insert.

What `annotate` is compared with, served in a process of its own: python minimal_gradio.py DB PORT
"""

import html
import json
import sqlite3
import sys
from threading import Lock

import gradio as gr

PEOPLE = 40  # requests at a time; Gradio's own default is one


def main(path: str, port: int) -> None:
    store = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("PRAGMA synchronous=FULL")
    store.execute("CREATE TABLE IF NOT EXISTS saves (item TEXT, category TEXT, who TEXT)")
    items = [
        "\n\n".join([json.loads(messages)[0]["content"], answer, turn])
        for messages, answer, turn in store.execute("SELECT messages, answer, turn FROM items")
    ]
    lock = Lock()

    def text(number: int) -> str:
        return f"<pre class='item'>{number}: {html.escape(items[number % len(items)])}</pre>"

    def save(number: int, category: str | None, request: gr.Request) -> tuple[int, str, None]:
        with lock:
            store.execute(
                "INSERT INTO saves VALUES (?, ?, ?)", [str(number), category, request.session_hash]
            )
        return number + 1, text(number + 1), None

    with gr.Blocks(analytics_enabled=False) as page:
        number = gr.Number(0, visible=False)
        shown = gr.HTML(text(0))
        category = gr.Radio([str(k) for k in range(1, 8)], label="Category")
        gr.Button("Submit").click(
            save, [number, category], [number, shown, category], api_name="save"
        )
    page.queue(default_concurrency_limit=PEOPLE)
    page.launch(
        server_name="127.0.0.1",
        server_port=port,
        quiet=True,
        prevent_thread_lock=True,
        ssr_mode=False,
        run_history=False,
    )
    print(f"serving at http://127.0.0.1:{port}", flush=True)
    page.block_thread()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
