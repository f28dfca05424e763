"""Many people at one server: from the invitation to the first label, and the end of the server."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest
from labelling_page import label, shown_turn
from tls_proxy import tls_proxy

from annotator.annotation import annotation_history
from annotator.labels import open_labels

pytestmark = pytest.mark.browser
ANNOTATE = Path(sys.executable).with_name("annotate")
PASSWORD = "correct horse battery"


def test_from_an_invitation_to_a_label_behind_a_proxy(plain_study, serve, new_page):
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"https://127.0.0.1:{listener.getsockname()[1]}/study"
    command = [ANNOTATE, "user", "add", "ann", "--role", "annotator", "--public-url", address]
    study = {"FOLLOWUPEVAL_STUDY": str(plain_study)}
    added = subprocess.run(
        command, env=os.environ | study, capture_output=True, text=True, check=True
    )
    invitation = added.stdout.strip()
    assert invitation.startswith(f"{address}/invite/")
    with (
        serve(plain_study, "--public-url", address, port=7930) as server,
        tls_proxy(plain_study, listener, server.url, prefix="/study", strips=True),
    ):
        page = new_page(invitation, ignore_https_errors=True)
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_label("The same again").fill(PASSWORD)
        page.get_by_role("button", name="Set password").click()
        page.get_by_text("Your password is set").wait_for()
        assert page.get_by_label("Name").input_value() == "ann"
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        shown_turn(page)
        assert page.url == f"{address}/"
        assert "ann" in page.locator(".who-is").inner_text()
        label(page, "2")
        [cookie] = page.context.cookies()
        assert cookie["httpOnly"]
        assert cookie["secure"]
        assert cookie["path"] == "/study/"
        page.reload()
        shown_turn(page)
        page.get_by_role("button", name="Log out").click()
        page.get_by_role("heading", name="Log in").wait_for()
        assert page.url == f"{address}/login"
        page.goto(f"{address}/")
        page.get_by_role("heading", name="Log in").wait_for()
        page.goto(invitation)
        page.get_by_role("heading", name="This invitation is no more").wait_for()
        with open_labels(plain_study / "labels.db") as labels_db:
            [event] = annotation_history(labels_db)
            refused = list(labels_db["refusals"].rows)
        assert event.annotator == "ann"
        # The page asked for nothing that it is not given.
        assert refused == []


def test_told_to_stop_it_first_finishes_what_is_being_saved(plain_study, serve):
    with serve(plain_study, "--annotator", "ann", port=7935) as server:
        config = httpx.get(server.url + "/config").json()
        component = next(c["id"] for c in config["components"] if c["type"] == "html")
        asking = HTTPConnection("127.0.0.1", server.port, timeout=60)

        def ask(name: str, **data) -> None:
            body = {"component_id": component, "fn_name": name, "session_hash": "s", "data": data}
            headers = {"content-type": "application/json"}
            asking.request("POST", "/gradio_api/component_server/", json.dumps(body), headers)

        ask("open_screen")
        shown = json.load(asking.getresponse())["screen"]
        with closing(open_labels(plain_study / "labels.db")) as labels_db:
            labels_db.conn.execute("BEGIN IMMEDIATE")  # the save has to wait for this
            choice = {"category": "malformed", "confidence": None, "note": "", "flagged": False}
            ask("save_label", nonce=shown["nonce"], item_id=shown["item_id"], choice=choice)
            httpx.get(server.url + "/config")  # what was sent before has arrived too
            server.process.send_signal(signal.SIGTERM)
            while is_open(server.port):
                pass
            labels_db.conn.execute("COMMIT")
            assert not json.load(asking.getresponse())["refused"]
            assert server.process.wait() == 0
            assert len(annotation_history(labels_db)) == 1
    assert {file.name for file in plain_study.iterdir()} == {"labels.db"}


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
