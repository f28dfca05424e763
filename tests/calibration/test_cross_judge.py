"""Judges side by side, without anybody's labels."""

import json
import tracemalloc

import pytest
from calibrate_command import failed, run
from hostile_texts import HOSTILE_TEXTS
from rich.cells import cell_len

from generation.item import Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.conversations import conversations_by_id, conversations_by_item
from judge.calibration.cross_judge import compare_judges
from judge.judge import Judge
from judge.judgment import Judgment, invalid_judgment, valid_judgment
from judge.prompts.prompt import render_prompt
from judge.store import JudgmentStore, open_pipeline
from rubrics import load_rubric

V3 = load_rubric("v3")
LABELS = V3.category_ids
A, B, C = LABELS[:3]


class Judged:
    """A study of turns and judgments alone: no sample, no labels.db."""

    def __init__(self, folder) -> None:
        self.study = Study(folder)
        self.pipeline = open_pipeline(self.study.pipeline, create=True)
        self.items: list[str] = []

    def turns(self, n: int, *, per_question: int = 1) -> None:
        turns = []
        for k in range(n):
            q = k // per_question
            conversation = Conversation("test", str(q), (Message("user", f"{q} + {q}?"),))
            turns.append(Turn(Answer(conversation, "4"), f"Why {k}?", "self-generated"))
        TurnStore(self.pipeline).add_turns(Run("example", {"n": n}), turns)
        self.items = [turn.item.hash for turn in turns]

    def judge(
        self, model: str, *runs: list[str | None], rubric=V3, parameters: dict | None = None
    ) -> str:
        """Store runs, each a verdict per item; None is an unreadable one. Returns the id."""
        prompt, store = render_prompt(rubric), JudgmentStore(self.pipeline)
        judge = Judge(model, parameters or {}, rubric.version, prompt.prompt_hash)
        judge_id = store.add_judge(judge, prompt)
        for index, verdicts in enumerate(runs):
            for item_hash, label in zip(self.items, verdicts, strict=False):
                verdict = _verdict(rubric, label)
                store.add_judgment(judge_id, item_hash, verdict, run_index=index)
        return judge_id


def _verdict(rubric, label: str | None) -> Judgment:
    if label is None:
        return invalid_judgment("no label found", raw="?")
    return valid_judgment(rubric, label, "Because.", raw="")


@pytest.fixture
def judged(tmp_path) -> Judged:
    return Judged(tmp_path / "study")


@pytest.fixture
def three(judged) -> Judged:
    """Two judges with one run, one with three, over forty items in twenty conversations."""
    judged.turns(40, per_question=2)
    first = [LABELS[k % 3] for k in range(40)]
    judged.judge("one", first)
    judged.judge("two", [B if k % 5 == 0 else label for k, label in enumerate(first)])
    runs = [[C if (k + r) % 9 == 0 else label for k, label in enumerate(first)] for r in range(3)]
    judged.judge("org/three", *runs)
    return judged


def test_kappa_of_two_judges_by_hand(judged):
    """Ten items; the two say (a, a) 4, (a, b) 1, (b, b) 3, (x, x) 1, (x, a) 1, x unreadable.

    po = (4 + 3 + 1)/10. Margins 5 3 2 and 5 4 1: pe = (25 + 12 + 2)/100 = .39.
    kappa = (.8 - .39)/(1 - .39) = .41/.61.
    """
    judged.turns(10)
    judged.judge("one", [A] * 5 + [B] * 3 + [None] * 2)
    judged.judge("two", [A] * 4 + [B] + [B] * 3 + [None, A])
    (pair,) = compare_judges(judged.pipeline, V3).pairs
    assert pair.kappa.value == pytest.approx(0.41 / 0.61)
    assert (pair.kappa.items, pair.kappa.agreement.observed) == (10, 0.8)
    assert pair.kappa.interval.low < pair.kappa.value < pair.kappa.interval.high


def test_alpha_of_all_judges_by_hand(judged):
    """Three judges, items (a a a), (a a b), (b b -), (a - -); the last has one verdict only.

    N = 8: 5 a, 3 b; d = 0, (9-5)/2 = 2, 0. alpha = 1 - 7·2/(64 - 25 - 9) = 1 - 14/30.
    """
    judged.turns(4)
    judged.judge("one", [A, A, B, A])
    judged.judge("two", [A, A, B])
    judged.judge("three", [A, B])
    alpha = compare_judges(judged.pipeline, V3).alpha
    assert alpha.value == pytest.approx(1 - 14 / 30)
    assert alpha.items == 3


def test_only_what_both_judged_is_compared(judged):
    judged.turns(6)
    judged.judge("one", [A, B, A, B])
    judged.judge("two", [A, B, B, B, A, A])
    found = compare_judges(judged.pipeline, V3)
    assert sorted(row.items for row in found.judges) == [4, 6]
    assert found.pairs[0].kappa.items == 4


def test_of_several_runs_the_majority_is_compared(judged):
    judged.turns(4)
    judged.judge("one", [A, B, B, None])
    judged.judge("three", [A, A, None, None], [B, B, B, None], [A, B, None, None])
    found = compare_judges(judged.pipeline, V3)
    assert found.pairs[0].kappa.value == 1
    row = next(row for row in found.judges if row.runs == 3)
    assert row.invalid == 1
    assert row.consistency.flips.flip_rate == 3 / 4
    assert row.consistency.flips.pairwise == 6 / 12  # 2, 2, 2 and 0 of 3 pairs of runs
    assert row.consistency.flips.invalid == (2, 1, 2)


def test_items_that_lack_a_run_are_counted_and_left_out(judged):
    judged.turns(3)
    judged.judge("one", [A, B, A], [A, B])
    (row,) = compare_judges(judged.pipeline, V3).judges
    assert (row.items, row.incomplete) == (2, 1)
    assert "1 item judged in some of its runs only, left out" in " ".join(
        run(judged, "judges").stdout.split()
    )
    assert "left out; judge … --runs 2 judges the rest" in run(judged, "judges").stdout


def test_conversations_stay_together(three):
    found = compare_judges(three.pipeline, V3)
    assert {pair.kappa.conversations for pair in found.pairs} == {20}
    assert found.alpha.conversations == 20
    assert (
        next(row for row in found.judges if row.consistency).consistency.alpha.conversations == 20
    )


def test_a_conversation_is_its_messages_and_none_of_them_is_held(judged):
    """Four conversations of a megabyte; the same messages from two data sets are one."""
    megabyte = "x" * 2**20
    turns = []
    for k in range(4):
        messages = (Message("user", f"{k}{megabyte}"),)
        for dataset in ("one", "other"):
            conversation = Conversation(dataset, str(k), messages)
            turns.append(Turn(Answer(conversation, dataset), "Why?", "self-generated"))
    TurnStore(judged.pipeline).add_turns(Run("example", {}), turns)
    tracemalloc.start()
    numbers = conversations_by_item(judged.pipeline, conversations_by_id(judged.pipeline))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    by_query = [{numbers[turn.item.hash] for turn in turns[k : k + 2]} for k in range(0, 8, 2)]
    assert sorted(map(len, by_query)) == [1] * 4
    assert len(set.union(*by_query)) == 4
    assert held < 3.5 * 2**20  # one row as text and as bytes


def test_the_command_needs_nobodys_labels(three):
    result = run(three, "judges", "--rubric", "v3")
    assert result.exit_code == 0, result.output
    assert [path.name for path in three.study.folder.glob("labels*")] == []
    text = " ".join(result.stdout.split())
    assert text.startswith("rubric v3 (4101b238), 3 judges ")
    assert "Krippendorff's nominal alpha of all 3: 0." in text
    assert "10,000 resamples of the conversations, seed 20260402" in text
    assert "its majority label is compared; runs are held fixed" in text
    rows = [line.split()[:3] for line in result.stdout.splitlines() if line[1:2].isdigit()]
    assert [row[0] for row in rows[:3]] == ["1", "2", "3"]
    assert rows[3:] == [["1", "–", "2"], ["1", "–", "3"], ["2", "–", "3"]]


def test_json_is_stable_and_has_every_number(three):
    result = run(three, "judges", "--json")
    assert run(three, "judges", "--json").stdout == result.stdout
    found = json.loads(result.stdout, parse_constant=pytest.fail)
    assert list(found) == ["rubric", "judges", "pairs", "alpha", "seed", "resamples", "level"]
    for judge in found["judges"]:
        assert list(judge) == [
            "judge_id", "model", "parameters", "prompt_hash", "template", "reading", "items",
            "incomplete", "invalid", "consistency",
        ]  # fmt: skip
    by_model = {judge["model"]: judge for judge in found["judges"]}
    assert by_model["one"]["reading"] == {"name": "single-run", "runs": 1}
    assert by_model["one"]["consistency"] is None
    assert by_model["org/three"]["reading"] == {"name": "majority-of-k", "runs": 3}
    assert by_model["org/three"]["consistency"]["items"] == 40
    assert len(found["pairs"]) == 3
    ids = [judge["judge_id"] for judge in found["judges"]]
    assert ids == sorted(ids)
    assert [pair["judges"] for pair in found["pairs"]] == [ids[:2], ids[::2], ids[1:]]
    assert {"n", "conversations", "observed", "kappa", "interval", "undefined"} <= set(
        found["pairs"][0]
    )


def test_judges_of_one_model_are_told_apart(judged):
    judged.turns(4)
    judged.judge("m", [A] * 4, parameters={"seed": 0, "temperature": 0})
    judged.judge("m", [A, A, A, B], parameters={"seed": 0})
    judged.judge("other", [A] * 4)
    lines = run(judged, "judges").stdout.splitlines()
    told = {line.partition(": ")[2] for line in lines if ": prompt followupeval" in line}
    assert told == {
        "prompt followupeval, temperature 0",
        "prompt followupeval, temperature not sent",
    }


def test_one_judge_alone(judged):
    judged.turns(3)
    judged.judge("one", [A, A, A], [A, A, A])
    result = run(judged, "judges")
    assert "agreement of judges: unknown, only one has judged" in result.stdout
    assert "alpha over runs of one (" in result.stdout
    assert "undefined, fewer than two labels in use" in " ".join(result.stdout.split())
    assert compare_judges(judged.pipeline, V3).alpha is None


def test_judges_that_share_no_item(judged):
    judged.turns(4)
    judged.judge("one", [A, B])
    judged.items = judged.items[2:]
    judged.judge("two", [A, B])
    result = run(judged, "judges")
    assert result.exit_code == 0
    assert "kappa of 1 – 2: undefined, no items" in result.stdout
    (pair,) = json.loads(run(judged, "judges", "--json").stdout)["pairs"]
    assert (pair["n"], pair["kappa"], pair["undefined"]) == (0, None, "no items")


def test_nothing_judged_says_what_to_type(judged):
    judged.turns(2)
    assert "run: judge --rubric v3" in failed(run(judged, "judges"))
    judged.judge("never ran")
    judged.judge("elsewhere", [A, A], rubric=load_rubric("v2"))
    assert "nothing is judged under rubric v3 yet" in failed(run(judged, "judges"))
    assert run(judged, "judges", "--rubric", "v2").exit_code == 0


def test_a_study_that_is_none_is_one_line(tmp_path):
    failed(run(Study(tmp_path / "none"), "judges"))
    assert not (tmp_path / "none").exists()


def test_another_text_of_the_rubric_is_refused(judged):
    judged.turns(2)
    judged.judge("one", [A, B])
    judged.pipeline.execute("UPDATE judge_prompts SET rubric_hash = 'sha256:0123456789'")
    assert "rubric v3 is not one text but several: " in failed(run(judged, "judges"))


def test_hostile_names_and_many_judges_fit_the_page(judged):
    judged.turns(35)
    texts = [text[:60] for text in HOSTILE_TEXTS.values()]
    for k in range(0, len(texts), 5):  # five to a name: every pair of judges takes its time
        verdicts = [LABELS[(k + i) % 7] for i in range(35)]
        judged.judge(f"{''.join(texts[k : k + 5])}{k}", verdicts, verdicts[::-1])
    output = run(judged, "judges").stdout
    assert all(character.isprintable() or character == "\n" for character in output)
    assert all(cell_len(line) <= 100 for line in output.splitlines())
    assert "…" not in output
