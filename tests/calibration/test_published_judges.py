"""Two published judge studies through the project's own path, from labels to kappa."""

import csv
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import pytest
from item_alpha import nominal_alpha

from annotator.annotation import Annotation
from annotator.measures.agreement import agreement, table_agreement
from annotator.measures.confusion import INVALID, parseable, tally
from annotator.reference import labels_by_annotator, reference_labels
from rubrics import Category, Rubric

DATA = Path(__file__).parents[1] / "data"
VERDICTS = ("0", "1", "2")  # PandaLM: tie, first is better, second is better
PANDALM = Rubric(
    version="pandalm",
    changed="",
    why="",
    instructions="",
    precedence=(),
    categories=tuple(Category(v, v, 0, v, "") for v in VERDICTS),
    text="",
    hash="",
)


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def annotations() -> list[Annotation]:
    return [
        Annotation(k, row["rater"], row["item"], "pandalm", "label", row["label"],
                   None, None, "", False, "")
        for k, row in enumerate(rows("pandalm_long.csv"))
        if row["kind"] == "human"
    ]  # fmt: skip


@pytest.fixture(scope="module")
def judged() -> dict[str, str]:
    """GPT-3.5's verdicts; 25 were no verdict at all."""
    names = {"Tie": "0", "garbage": INVALID}
    judge = (row for row in rows("pandalm_long.csv") if row["kind"] == "judge")
    return {row["item"]: names.get(row["label"], row["label"]) for row in judge}


def test_people_of_pandalm(annotations):
    labels = labels_by_annotator(annotations, PANDALM)
    found = {}
    for first, second in combinations(labels, 2):
        pairs = [(labels[first][item], labels[second][item]) for item in labels[first]]
        found[first[-1] + second[-1]] = round(agreement(pairs, VERDICTS).kappa, 4)
    assert found == {"12": 0.8520, "13": 0.8789, "23": 0.8617}
    alpha, items = nominal_alpha(labels.values(), VERDICTS)
    assert (round(alpha, 4), items) == (0.8642, 999)


def test_judge_of_pandalm_against_the_majority(annotations, judged):
    references = reference_labels(annotations, PANDALM)
    assert (len(references.labels), references.ties) == (999, frozenset())
    pairs = [(label, judged[item]) for item, label in references.labels.items()]
    confusion = tally(pairs, VERDICTS, [INVALID])
    whole = table_agreement(confusion.table)
    readable = table_agreement(parseable(confusion.table))
    assert (whole.n, round(whole.kappa, 3)) == (999, 0.476)
    assert (readable.n, round(readable.kappa, 3)) == (974, 0.493)


def test_unreadable_as_a_tie_would_have_looked_better(annotations, judged):
    labels = reference_labels(annotations, PANDALM).labels
    pairs = [(label, judged[item].replace(INVALID, "0")) for item, label in labels.items()]
    assert round(agreement(pairs, VERDICTS).kappa, 3) == 0.496


@pytest.mark.parametrize(
    ("prompt", "right", "kappa"),
    [("vanilla", 104, 0.54740), ("metrics_reference", 115, 0.71180)],
)
def test_judge_prompts_of_llmbar(prompt, right, kappa):
    table = rows("llmbar_neighbor_gpt4_ab.csv")
    pairs = [(row["gold"], row[prompt]) for row in table]
    outcomes = defaultdict(int)
    for gold, verdict in pairs:
        outcomes[gold == verdict] += 1
    found = agreement(pairs, ("1", "2"))
    assert (found.n, outcomes[True]) == (134, right)
    assert found.kappa == pytest.approx(kappa, abs=5e-6)
