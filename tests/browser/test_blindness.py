"""What an annotator's browser and server process can see: the text of items, and nothing else."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from labelled_study import judge, sampled_study
from labelled_study import label as write_labels
from labelling_page import label, shown_turn, status

from annotator.labelling.choice import Choice
from annotator.labelling.session import LabellingSession
from annotator.labels import open_labels, record_rubric
from rubrics import load_rubric

pytestmark = pytest.mark.browser
BIN = Path(sys.executable).parent


@pytest.fixture
def judged_study(tmp_path):
    """The example study with judgments, and another person's label and note."""
    for command in (["generate", "example"], ["judge"], ["calibrate", "sample"]):
        subprocess.run([BIN / command[0], *command[1:]], cwd=tmp_path, check=True)
    folder = tmp_path / "study"
    database = open_labels(folder / "labels.db")
    record_rubric(database, load_rubric("v3"))
    session = LabellingSession(database, load_rubric("v3"))
    screen = session.open("ben the other").screen
    while screen.shown:
        choice = Choice("malformed", "guessing", "note of ben")
        screen = session.save(screen.nonce, screen.shown.item_id, choice).screen
    database.close()
    return folder


def hidden_facts(folder: Path) -> set[str]:
    """Every identifier, model, data set, hash and rationale that the owner's store holds."""
    store = sqlite3.connect(folder / "pipeline.db")
    queries = (
        "SELECT item_hash FROM turns",
        "SELECT turn_id FROM turns",
        "SELECT model FROM turns WHERE model IS NOT NULL",
        "SELECT conversation_id FROM conversations",
        "SELECT dataset FROM conversations",
        "SELECT rationale FROM judgments",
        "SELECT judge_id FROM judges",
        "SELECT model FROM judges",
        "SELECT setting FROM turns",
        "SELECT sample_id FROM samples",
    )
    found = {row[0] for query in queries for row in store.execute(query)}
    return found | {"note of ben", "ben the other", "pipeline.db"}


def test_the_page_its_traffic_and_its_storage_hold_no_hidden_fact(judged_study, serve, new_page):
    replies = []
    with serve(judged_study, "--annotator", "ann") as server:
        page = new_page("about:blank")
        page.on("response", lambda reply: replies.append(reply) if readable(reply) else None)
        page.goto(server.url)
        shown_turn(page)
        label(page, "1")
        page.get_by_label("Rendered view").check()
        page.locator(".as-rendered").first.wait_for()
        page.get_by_label("Note").fill("a note of my own")
        status(page, "Draft kept")
        storage = page.evaluate(
            "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
        )
        evidence = [(urlsplit(reply.url).path, reply.text()) for reply in replies]
        evidence.append(("storage", storage))
        for path in ("/config", "/gradio_api/info"):
            evidence.append((path, page.request.get(server.url + path).text()))
        files = open_files(server.process.pid)
    # The search sees what it must: the first screen, the next one and the rendered view.
    screens = [text for path, text in evidence if path == "/gradio_api/component_server/"]
    assert sum('"rubric_version"' in text for text in screens) == 2
    assert sum('"parts"' in text for text in screens) == 3
    leaked = {
        (fact, url) for fact in hidden_facts(judged_study) for url, text in evidence if fact in text
    }
    assert leaked == set()
    assert "a note of my own" not in storage
    assert "labels.db" in files
    assert "pipeline.db" not in files


def readable(reply) -> bool:
    """Replies with text of ours; the event stream never ends and cannot be read."""
    kind = reply.headers.get("content-type", "")
    return "json" in kind or "html" in kind or "text/plain" in kind


def test_gradio_keeps_no_history_of_texts_and_labels(desk, new_page):
    page = new_page(desk.url)
    turn = shown_turn(page)
    label(page, "2")
    stored = page.evaluate("() => JSON.stringify({...localStorage, ...sessionStorage})")
    assert turn not in stored
    assert "previous_turn_restate" not in stored
    address = desk.url.split("?")[0]
    for path in ("/gradio_api/runs", "/monitoring"):
        assert page.request.get(address + path).status >= 400


def test_other_sites_cannot_talk_to_the_page(desk, new_page):
    page = new_page(desk.url)
    shown_turn(page)
    address = desk.url.split("?")[0]
    act = address + "/gradio_api/component_server/"
    data = {"data": {"annotator": "x"}, "component_id": 1, "fn_name": "open_screen"}
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example:7880"}):
        answer = page.request.post(act, data=data, headers=headers)
        assert (answer.status, answer.text()) == (403, "only for pages of this machine")


def test_the_annotators_process_has_nothing_of_the_workbench_that_runs_beside_it(
    tmp_path, serve, new_page
):
    study = sampled_study(tmp_path / "study")
    write_labels(study, "ben the other")
    judge(study)
    workbench = (BIN / "calibrate", "serve")
    with (
        serve(study.folder, port=7996, command=workbench) as bench,
        serve(study.folder, "--annotator", "ann", port=7999) as server,
    ):
        page = new_page(server.url)
        shown_turn(page)
        label(page, "1")
        config = page.request.get(server.url + "/config").text()
        for text in ("Workbench", "Disagreements", "show_view", "do_act"):
            assert text not in config
            assert text not in page.content()
            assert text in page.request.get(bench.url + "/config").text()
        component = next(c["id"] for c in json.loads(config)["components"] if c["type"] == "html")
        for name in ("show_view", "do_act"):
            about = {"component_id": component, "fn_name": name, "session_hash": "s"}
            data = about | {"data": {"view": "items"}}
            reply = page.request.post(server.url + "/gradio_api/component_server/", data=data)
            assert reply.status == 404
        assert "pipeline.db" not in open_files(server.process.pid)
        mapped = Path(f"/proc/{server.process.pid}/maps").read_text()
        assert "pipeline.db" not in mapped
        assert addresses(bench.process.pid) == addresses(server.process.pid) == {"127.0.0.1"}


def test_serving_the_annotators_page_never_imports_the_judge():
    code = (
        "import annotator.app, annotator.cli, annotator.web.gate, annotator.web.gradio_app, sys; "
        "print([name for name in sys.modules if name.split('.')[0] == 'judge'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def open_files(pid: int) -> set[str]:
    found = Path(f"/proc/{pid}/fd").iterdir()
    return {Path(os.readlink(entry)).name for entry in found}


def addresses(pid: int) -> set[str]:
    """The addresses on which a process listens."""
    inodes = {os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()}
    found = set()
    for family in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{family}").read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if state == "0A" and f"socket:[{line.split()[9]}]" in inodes:
                found.add(socket.inet_ntoa(bytes.fromhex(local.split(":")[0])[::-1]))
    return found
