"""The page of a main run as it is written: whole, the same twice, and safe to publish."""

import base64
import hashlib
import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest
from main_run_page import HOSTILE_MODEL, MODEL, SECRET, make_page_study

from annotator.labels import open_labels
from judge.calibration.main_run.main_run import NOT_RUN, CellRate
from judge.calibration.main_run.report_page.turn_files import PER_FILE, WITHHELD
from judge.calibration.main_run.tables.fields import in_order
from judge.calibration.rates.turn_verdicts import Cell
from judge.store import open_pipeline


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_page_study(tmp_path_factory.mktemp("made") / "study")


@pytest.fixture(scope="module")
def page(made, tmp_path_factory):
    return made.write(tmp_path_factory.mktemp("page") / "report")


@pytest.fixture(scope="module")
def index(page):
    return (page / "index.html").read_text(encoding="utf-8")


def data_of(index):
    """What the page computes from."""
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', index)[1]
    )


def turns_of(page):
    """Every turn in order, with its answer and its conversation."""
    told = []
    for number, path in enumerate(sorted((page / "turns").iterdir())):
        call = re.fullmatch(r"turnsArrived\((\d+),(.*)\);\n", path.read_text(encoding="utf-8"))
        assert int(call[1]) == number
        file = json.loads(json.loads(call[2]))
        for turn in file["turns"]:
            answer = file["answers"][turn["row"]["answer_id"]]
            conversation = file["conversations"][answer["row"]["conversation_id"]]
            told.append(turn | {"answer": answer, "conversation": conversation})
    return told


def text_of(html):
    found = []
    parser = HTMLParser()
    parser.handle_data = found.append
    parser.feed(html)
    parser.close()
    return "".join(found)


def test_the_same_study_gives_the_same_bytes(made, page, tmp_path):
    again = made.write(tmp_path / "again")
    files = sorted(file.relative_to(page) for file in page.rglob("*") if file.is_file())
    assert files == sorted(f.relative_to(again) for f in again.rglob("*") if f.is_file())
    assert all((page / file).read_bytes() == (again / file).read_bytes() for file in files)


def test_every_turn_stands_once_under_its_cell_and_label(made, page, index):
    data, turns = data_of(index), turns_of(page)
    assert len(turns) == sum(of.turns for of in made.run.cells) > 2 * PER_FILE
    assert len({turn["row"]["turn_id"] for turn in turns}) == len(turns)
    at, keys = 0, []
    for cell, label, count, _ in data["groups"]:
        for turn in turns[at : at + count]:
            row, judgments = turn["row"], turn["verdicts"]
            assert row["model"] == data["cells"][cell]["model"]
            assert turn["conversation"]["row"]["dataset"] == data["cells"][cell]["dataset"]
            assert f"{row['temperature']:g}" == data["cells"][cell]["temperature"]
            said = judgments[0]["row"].get("label", "unreadable") if judgments else "not judged"
            assert said == data["labels"][label]["id"]
            number = int(turn["conversation"]["row"]["source_id"])
            keys.append((cell, label, number, row["sample_index"]))
        at += count
    assert at == len(turns)
    assert keys == sorted(keys)


def test_counts_are_those_of_the_rates(made, index):
    data, cells = data_of(index), in_order(made.run, made.run.cells)
    turns, unjudged, genuine = Counter(), Counter(), Counter()
    for cell, label, count, sigma in data["groups"]:
        turns[cell] += count
        genuine[cell] += sigma
        if data["labels"][label]["id"] == "not judged":
            unjudged[cell] += count
    for number, of in enumerate(cells):
        assert (turns[number], unjudged[number]) == (of.turns, of.unjudged)
        assert genuine[number] / of.rate.turns == pytest.approx(of.rate.raw.value)
    raw, corrected = data["cells"][0]["rates"][""]
    rate = cells[0].rate
    assert raw == pytest.approx(
        [rate.raw.value, rate.raw.interval.low, rate.raw.interval.high], abs=1e-6
    )
    assert corrected[0] == pytest.approx(rate.sigma.clipped, abs=1e-6)


def test_texts_that_must_not_be_published_are_nowhere(made, page, index):
    for file in page.rglob("*.*"):
        assert SECRET not in file.read_text(encoding="utf-8")
    withheld = [t for t in turns_of(page) if t["conversation"]["row"]["dataset"] == "gpqa_diamond"]
    assert withheld
    for turn in withheld:
        assert turn["html"] is None
        assert turn["answer"]["html"] is None
        assert turn["conversation"]["messages"] == [{"role": "user", "html": None}]
        assert turn["row"]["text_raw"] == turn["answer"]["row"]["thinking"] == WITHHELD
        assert all(verdict["html"] is None for verdict in turn["verdicts"])
        assert all(verdict["row"]["judge_id"] for verdict in turn["verdicts"])  # the rest is there
    assert f"Texts of {len(withheld)} turns withheld" in index


def test_hostile_texts_are_verbatim_and_inert(made, page, index):
    turns = {turn["row"]["turn_id"]: turn for turn in turns_of(page)}
    for turn_id, text in made.hostile.items():
        turn = turns[turn_id]
        assert text_of(turn["html"]) == text
        assert turn["row"]["text_raw"] == turn["row"]["meta"]["__proto__"] == text
        if turn["verdicts"] and "label" in turn["verdicts"][0]["row"]:
            assert text_of(turn["verdicts"][0]["html"]) == text
    for file in (page / "turns").iterdir():
        assert not re.search("[<>&\u2028\u2029]", file.read_text(encoding="utf-8"))
    assert index.count("<script") == index.count("</script>") == 2
    assert HOSTILE_MODEL not in index
    assert "<title>&lt;i&gt;made: main run</title>" in index
    assert "Rises &lt;b&gt;with&lt;/b&gt; T." in index
    assert "&lt;u&gt;1&lt;/u&gt;" in index


def test_the_policy_allows_the_pages_own_script_and_style_alone(index):
    policy = unescape(
        re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', index)[1]
    )
    for tag in ("script", "style"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", index, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert not re.search(r"""\son\w+=|style=|src=["']|https?://""", index)


def test_what_a_reader_must_know_is_on_the_page(made, index):
    run = made.run
    text = re.sub(
        r"\s+", " ", unescape(re.sub(r"<script.*?</script>|<[^>]+>", "", index, flags=re.DOTALL))
    )
    kappa = run.quality.labels
    for said in (
        f"{kappa.value:.2f} [{kappa.low:.2f}, {kappa.high:.2f}], n = {kappa.n}",
        run.quality.source,
        f"{100 * run.whole.raw.value:.1f} [",
        f"{100 * run.whole.sigma.clipped:.1f} [",
        f"{run.whole.unjudged} turns not judged in every run that counts",
        f"{run.whole.unreadable} verdicts unreadable",
        "calibrate report --run made",
        "25.0 [12.5–50.0]",
        "A note & no more.",
    ):
        assert said in text


def test_a_cell_that_was_not_run_is_named(made, tmp_path):
    planned = CellRate(Cell("held-out", MODEL, "coval", 0.3, "none"), None, 0, NOT_RUN)
    page = made.write(tmp_path / "r", run=replace(made.run, cells=(*made.run.cells, planned)))
    index = (page / "index.html").read_text(encoding="utf-8")
    assert "1 cell of the plan not run." in index
    (cell,) = (of for of in data_of(index)["cells"] if of["dataset"] == "coval")
    assert (cell["turns"], cell["gap"], cell["rates"]) == (0, NOT_RUN, {})


def test_people_are_counted_and_not_named(made, page):
    turns = turns_of(page)
    with (
        open_labels(made.study.labels) as labels_db,
        open_pipeline(made.study.pipeline) as database,
    ):
        said = dict(
            labels_db.conn.execute("SELECT item_id, category FROM current_events").fetchall()
        )
        items = database.conn.execute("SELECT item_id, item_hash FROM sample_items").fetchall()
    labels = {item_hash: said[item_id] for item_id, item_hash in items}
    assert len(labels) == 60
    for turn in turns:
        label = labels.get(turn["row"]["item_hash"])
        expected = label and {"reference": label, "counts": [[label, 1]], "skipped": 0}
        assert turn["people"] == expected
    assert "made-up" not in "".join(
        file.read_text(encoding="utf-8").replace("made-up-judge", "")
        for file in (page / "turns").iterdir()
    )


def test_raw_rows_hold_what_is_stored(page):
    turn = next(turn for turn in turns_of(page) if turn["people"] and turn["verdicts"])
    row = turn["row"]
    assert row["tokens"] == 3
    assert (row["seed"], row["finish_reason"]) == (11, "length")
    assert turn["runs"][0].startswith("<i>made/")
    assert {"turn_id", "item_hash", "run_id", "sample_index"} <= row.keys()
    assert "token_ids" not in row


def test_of_several_runs_a_turn_stands_where_most_put_it_and_rates_count_each(tmp_path):
    made = make_page_study(tmp_path / "study", runs=2)
    page = made.write(tmp_path / "report")
    data, turns = data_of((page / "index.html").read_text(encoding="utf-8")), turns_of(page)
    assert data["severalRuns"] == 2
    labels = [data["labels"][of[1]]["id"] for of in data["groups"] for _ in range(of[2])]
    split = 0
    for label, turn in zip(labels, turns, strict=True):
        if label != "not judged":
            first, second = (of["row"].get("label", "unreadable") for of in turn["verdicts"])
            assert label in (first, second)
            split += first != second
    assert split > 10
    judged = sum(of[2] for of in data["groups"] if data["labels"][of[1]]["id"] != "not judged")
    share = sum(of[3] for of in data["groups"]) / judged
    assert share == pytest.approx(made.run.whole.raw.value)
