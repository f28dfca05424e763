"""The published data set: whole, loadable, told in its card, and without what must stay private."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from labelled_study import LABELS, RUBRIC, judge, label
from pyarrow import parquet

from annotator.exchange.who import Who
from annotator.labelling.choice import SKIP_REASONS, Choice
from annotator.labelling.session import LabellingSession
from annotator.labels import open_labels, record_rubric
from generation.exchange.importer import read_turns
from generation.item import Item, Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.main_run.selection import select_runs
from judge.calibration.published.cli import WHO, dataset
from judge.calibration.published.folder import publish
from judge.calibration.published.published import Published, Wanted
from judge.calibration.sampling.sample import draw_sample
from judge.judgment import Judgment, invalid_judgment, valid_judgment
from judge.store import open_pipeline
from rubrics import InputError

SECRET = "Which invented enzyme is SECRET?"


def probed(dataset: str, number: int, text: str, **turn) -> Turn:
    asked = Conversation(dataset, str(number), (Message("user", text),), {"reference": "48"})
    answer = Answer(asked, f"It is {number}.", model="M-1", seed=0)
    made = {"model": "M-1", "temperature": 0.7, "context_mode": "history"} | turn
    return Turn(answer, f"Why {number}?", "self-generated", **made)


def turns_of(folder: Path) -> Study:
    """Two runs that share a turn, a cut answer, and three turns that must not be published."""
    study = Study(folder)
    one = [probed("gsm8k", number, f"How many, {number}?") for number in range(4)]
    uncut = one[0].answer
    cut = replace(uncut, text="It", perturbation="truncate", parent_id=uncut.answer_id)
    of_cut = replace(one[0], answer=cut, temperature=0.0, perturbation="truncate")
    secret = [probed(name, 9, SECRET) for name in ("gpqa_main", "HealthBench", "a copy")]
    again = replace(one[1], sample_index=1, flags=("length",))
    first, second = Run("probe", {"name": "main/a"}), Run("probe", {"name": "main/b"})
    with open_pipeline(study.pipeline, create=True) as pipeline:
        store = TurnStore(pipeline)
        store.add_answers(first, [uncut])
        store.add_turns(first, [*one, of_cut, *secret])
        store.add_turns(second, [one[3], again, probed("ifbench", 5, "List | all.")])
    return study


def said_of(item: Item) -> Judgment:
    """A verdict that cannot be read, of one item."""
    if item.turn == "Why 2?":
        return invalid_judgment("no label found", raw="I cannot say.")
    return valid_judgment(RUBRIC, LABELS[0], "Because.", raw="")


def label_as_zoe(study: Study) -> None:
    """She differs from Ann on one item, notes something of her own, and skips another."""
    with open_labels(study.labels) as labels:
        record_rubric(labels, RUBRIC)
        session = LabellingSession(labels, RUBRIC)
        screen = session.open("zoe").screen
        while shown := screen.shown:
            if shown.item.turn == "Why 5?":
                screen = session.skip(screen.nonce, shown.item_id, SKIP_REASONS[0], Choice()).screen
                continue
            said = Choice(LABELS[2 if shown.item.turn == "Why 1?" else 0], note="zoe's own words")
            screen = session.save(screen.nonce, shown.item_id, said).screen


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Study:
    """The turns, judged twice and labelled by two people."""
    study = turns_of(tmp_path_factory.mktemp("published") / "study")
    with (
        open_pipeline(study.pipeline) as pipeline,
        open_labels(study.labels, create=True) as labels,
    ):
        draw_sample(pipeline, labels, n=7, repeats=0)
    judge(study, "judge-a", said_of)
    judge(study, "other")
    label_as_zoe(study)
    label(study, "ann", lambda _item: Choice(LABELS[0]))
    return study


def published(study: Study, folder: Path, **wanted) -> Published:
    with open_pipeline(study.pipeline) as pipeline:
        return publish(pipeline, study, Wanted(**wanted), folder)


@pytest.fixture(scope="module")
def done(study) -> Published:
    """All of it, as people publish it."""
    return published(study, study.folder.parent / "out")


def table(folder: Path, name: str) -> list[dict]:
    return parquet.read_table(folder / "data" / f"{name}.parquet").to_pylist()


def test_turns_come_back_and_each_is_a_chat(study, done):
    turns = table(done.folder, "turns")
    with open_pipeline(study.pipeline) as pipeline:
        stored = [of for of in TurnStore(pipeline).turns() if "SECRET" not in str(of)]
    assert read_turns(done.folder / "data" / "turns.parquet") == stored
    assert [row["item_hash"] for row in turns] == [turn.item.hash for turn in stored]
    assert len(turns) == done.turns.count == 7  # that of both runs is one
    chats = [json.loads(line)["messages"] for line in (done.folder / "messages.jsonl").open()]
    assert [chat[-1]["content"] for chat in chats] == [row["u"] for row in turns]
    assert [message["role"] for message in chats[0]] == ["user", "assistant", "user"]


def test_what_was_said_meets_the_turns_at_the_items(done):
    items = {row["item_hash"]: row["u"] for row in table(done.folder, "turns")}
    assert len(items) == done.items == 6
    judgments = table(done.folder, "judgments")
    assert {row["item_hash"] for row in judgments} == items.keys()
    assert sorted({row["model"] for row in judgments}) == ["judge-a", "other"]
    (unread,) = [row for row in judgments if row["label"] is None]
    assert (items[unread["item_hash"]], unread["sigma"]) == ("Why 2?", None)
    assert unread["invalid_reason"] == "no label found"
    assert {row["sigma"] for row in judgments if row["label"] == LABELS[0]} == {1}
    labels = {
        (row["annotator"], items[row["item_hash"]]): row["category"] or row["skip_reason"]
        for row in table(done.folder, "labels")
    }
    assert labels["annotator-01", "Why 1?"] == LABELS[2]
    assert labels["annotator-02", "Why 1?"] == LABELS[0]
    assert labels["annotator-01", "Why 5?"] == SKIP_REASONS[0]
    references = {items[row["item_hash"]]: row for row in table(done.folder, "references")}
    assert "Why 1?" not in references  # a tie
    assert {(row["label"], row["sigma"]) for row in references.values()} == {(LABELS[0], 1)}
    assert (references["Why 5?"]["labels"], references["Why 3?"]["labels"]) == (1, 2)
    assert (done.folder / "rubrics" / "v3.toml").read_text() == RUBRIC.text


def test_what_must_stay_private_is_nowhere_and_is_counted(study, done):
    """The text that is also in a copy under another name, too."""
    cells = [json.dumps(table(done.folder, path.stem)) for path in (done.folder / "data").iterdir()]
    files = [path.read_text() for path in done.folder.rglob("*.*") if path.suffix != ".parquet"]
    for private in ("SECRET", "zoe", '"ann"', "own words", str(study.folder)):
        assert not any(private in text for text in [*cells, *files]), private
    found = done.as_dict()["left_out"]
    assert found["turns"] == {"HealthBench": 1, "a copy": 1, "gpqa_main": 1}
    assert found["judgments_canary"] == 2  # of two judges: the three turns are one item
    assert found["labels"] == {"of data sets that ask never to be published": 2}
    card = (done.folder / "README.md").read_text()
    assert "1 turn of HealthBench, 1 turn of a copy, 1 turn of gpqa_main, 2 verdicts" in card


def test_the_card_is_one_that_the_hub_takes(done):
    from huggingface_hub import DatasetCard

    card = DatasetCard.load(done.folder / "README.md")
    head = card.data.to_dict()
    assert (head["license"], head["size_categories"]) == ("other", ["n<1K"])
    assert head["task_categories"] == ["text-generation", "text-classification"]
    assert head["tags"] == ["user-turns", "chat", "llm-as-a-judge", "human-labels"]
    named = [config["config_name"] for config in head["configs"]]
    assert named == ["turns", "judgments", "labels", "references"]
    assert head["configs"][0]["default"] is True
    assert "language" not in head
    for line in (
        "| gsm8k | self-generated | M-1 | 6 |",
        "| 0 | truncate | none | 1 |",
        "At most 2 samples of one answer",
        "`flags`: length 1.",
        "| v3 | annotator-01 | 5 | 1 |",
        "| unreadable |  | 0 | 1 | 0 |",
        "| main/a | ",
        f"| v3 | {RUBRIC.hash} |",
    ):
        assert line in card.text, line
    (kappa,) = [line for line in card.text.splitlines() if line.startswith("| other |")]
    assert "| 6 | 0 | " in kappa
    assert "n = 6 | majority |" in kappa


def test_hugging_face_loads_every_table(done, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")

    def load(*name):
        return datasets.load_dataset(
            str(done.folder), *name, split="train", cache_dir=str(tmp_path / "cache")
        )

    assert load().num_rows == done.turns.count
    for name in done.tables:
        assert load(name).to_list() == table(done.folder, name)


def test_the_same_study_gives_the_same_bytes(study, done, tmp_path):
    published(study, tmp_path / "again")
    files = [path.relative_to(done.folder) for path in done.folder.rglob("*.*")]
    assert len(files) == 7
    for file in files:
        assert (tmp_path / "again" / file).read_bytes() == (done.folder / file).read_bytes(), file


def test_a_run_a_rubric_and_a_judge_alone(study, tmp_path):
    with open_pipeline(study.pipeline) as pipeline:
        selection = select_runs(pipeline, "main/b", "")
    wanted = {"selection": selection, "version": "v3", "judge": "judge-a", "who": Who.NAMES}
    done = published(study, tmp_path / "out", **wanted)
    assert (done.turns.count, done.items) == (3, 3)
    assert {row["model"] for row in table(done.folder, "judgments")} == {"judge-a"}
    assert {row["annotator"] for row in table(done.folder, "labels")} == {"ann", "zoe"}
    assert done.as_dict()["left_out"]["judgments_elsewhere"] == 3
    assert done.labels.left_out["of turns that are not among these runs"] == 6
    assert "- 3 verdicts on turns of other runs." in (done.folder / "README.md").read_text()


def test_what_is_not_there_leaves_no_folder(study, done, tmp_path):
    with pytest.raises(InputError, match="no judge fits 'nobody'"):
        published(study, tmp_path / "out", judge="nobody")
    secret = Study(tmp_path / "study")
    with open_pipeline(secret.pipeline, create=True) as pipeline:
        TurnStore(pipeline).add_turns(Run("import", {}), [probed("gpqa_main", 1, SECRET)])
    with pytest.raises(InputError, match="all 1 turns are of data sets that ask never"):
        published(secret, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="exists already and is not overwritten"):
        published(study, done.folder)


def test_turns_alone_are_a_data_set_too(tmp_path):
    done = published(turns_of(tmp_path / "study"), tmp_path / "out")
    assert done.tables == ("turns",)
    assert [path.name for path in (done.folder / "data").iterdir()] == ["turns.parquet"]
    assert not (done.folder / "rubrics").exists()
    card = (done.folder / "README.md").read_text()
    assert "None: the turns are not judged." in card
    assert "No label by a person is here." in card


def test_a_rubric_of_two_texts_is_refused(study, tmp_path):
    copy = Study(shutil.copytree(study.folder, tmp_path / "study"))
    with open_pipeline(copy.pipeline) as pipeline:
        text = RUBRIC.text.replace("genuine", "true")
        pipeline.conn.execute("UPDATE judge_prompts SET rubric_text = ?", [text])
    with pytest.raises(InputError, match="rubric v3 is not one text but two"):
        published(copy, tmp_path / "out")


def test_the_command_says_what_it_wrote(study, tmp_path):
    options = ["--study", str(study.folder), "--judge", "other"]
    result = CliRunner().invoke(dataset, [str(tmp_path / "out"), *options])
    assert result.exit_code == 0, result.output
    first, canary, *_, last = result.stdout.splitlines()
    assert first.endswith(
        "out: 7 turns, 6 items, 6 verdicts of 1 judge, 12 annotations of 2 annotators"
    )
    assert canary.endswith("(canary): HealthBench 1, a copy 1, gpqa_main 1")
    assert last.endswith("README.md")
    result = CliRunner().invoke(dataset, [str(tmp_path / "json"), "--json", *options])
    assert json.loads(result.stdout)["turns"] == 7
    assert tuple(Who) == WHO
