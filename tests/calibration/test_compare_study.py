"""`calibrate compare` through the stores: rubrics, prompts, runs, what is left out."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from judge.calibration.cli import calibrate
from judge.calibration.comparison.contestants import by_prompt, by_rubric
from judge.calibration.comparison.study_comparison import compare_study
from judge.calibration.comparison.text import study_text
from judge.calibration.splits.frozen_split import frozen_split, part_of
from judge.prompts.prompt_template import PACKAGED, PromptTemplate
from judge.store import JudgmentStore
from rubrics import Rubric, diff_rubrics, load_rubric, parse_rubric

V2, V3 = load_rubric("v2"), load_rubric("v3")
LABELS = V3.category_ids
STRICT = PromptTemplate("strict", 1, PACKAGED.text.replace("\n", "\n\n", 1))
DATA = Path(__file__).parents[1] / "data"


def run(builder, *arguments: str):
    return CliRunner().invoke(
        calibrate, ["compare", "--study", str(builder.study.folder), *arguments]
    )


def found(builder, *arguments: str) -> dict:
    result = run(builder, "--json", *arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def two_prompts(builder):
    """Sixty items; the packaged prompt is wrong on 1 in 3, the strict one on 1 in 10."""
    builder.turns(60)
    builder.sample(60)
    ids = list(builder.items)
    truth = {item: LABELS[k % 7] for k, item in enumerate(ids)}
    builder.label("ann", truth)
    shifted = {item: LABELS[(LABELS.index(label) + 1) % 7] for item, label in truth.items()}
    builder.judge({i: shifted[i] if k % 3 == 0 else truth[i] for k, i in enumerate(ids)})
    builder.judge(
        {i: shifted[i] if k % 10 == 0 else truth[i] for k, i in enumerate(ids)}, template=STRICT
    )
    return builder


class TestPrompts:
    def test_the_better_prompt_is_found(self, two_prompts):
        """Of items 0, 3, …, 57 the strict prompt mends all but 0 and 30, and it breaks 4 others."""
        store = JudgmentStore(two_prompts.pipeline)
        entrants = by_prompt(store, V3, ["followupeval", "strict@1"])
        found = compare_study(two_prompts.pipeline, two_prompts.labels, entrants, seed=1)
        (challenge,) = found.comparison.challenges
        assert found.comparison.n == 60
        assert challenge.labels.estimate.value == pytest.approx(
            challenge.challenger.labels.value - found.comparison.baseline.labels.value
        )
        assert challenge.labels.verdict == "better"
        assert (len(challenge.fixed), len(challenge.broken)) == (18, 4)
        assert challenge.right_labels.test.only_b == 18
        assert (found.tried, found.reading) == (2, "single-run")
        assert found.optimism > 0
        fixed = found.items[challenge.fixed[0]]
        before, after = fixed.verdicts
        assert before[0].label != after[0].label == fixed.pair.reference

    def test_prompts_are_compared_on_dev_alone(self, two_prompts):
        """The first comparison freezes the split; the test half stays closed."""
        result = found(two_prompts, "--prompt", "followupeval", "--prompt", "strict@1")
        assert result["split"]["part"] == "dev"
        assert result["remarks"][0].startswith("the split into dev and test was frozen")
        (left,) = result["exclusions"]
        assert left["reason"] == "in the test half of the questions"
        assert result["n"] + left["count"] == 60
        assert 26 <= result["n"] <= 34
        again = found(two_prompts, "--prompt", "followupeval", "--prompt", "strict@1")
        assert again == result | {"remarks": []}
        frozen = frozen_split(two_prompts.pipeline)
        assert frozen.split_hash == result["split"]["split_hash"]
        items = two_prompts.items
        (challenger,) = result["challengers"]
        for said in (*challenger["items"]["fixed"], *challenger["items"]["broken"]):
            assert part_of(items[said["item_id"]], frozen) == "dev"

    def test_items_show_both_rationales_on_request_only(self, two_prompts):
        plain = found(two_prompts, "--prompt", "followupeval", "--prompt", "strict@1")
        assert "turn" not in plain["challengers"][0]["items"]["fixed"][0]
        texts = found(two_prompts, "--prompt", "followupeval", "--prompt", "strict@1", "--items")
        challenger = texts["challengers"][0]
        first = challenger["items"]["fixed"][0]
        assert first["turn"].startswith("Why ")
        assert first["rationales"] == [["Because."], ["Because."]]
        assert first["judges"][0] != first["judges"][1] == [first["reference"]]
        shown = run(two_prompts, "--prompt", "followupeval", "--prompt", "strict@1", "--items")
        changed = challenger["fixed"] + challenger["broken"]
        assert shown.stdout.count("Because.") == 2 * changed > 0

    def test_the_text_fits_and_says_what_was_found(self, two_prompts):
        shown = run(two_prompts, "--prompt", "followupeval", "--prompt", "strict@1").stdout
        assert max(map(len, shown.splitlines())) <= 100
        assert "strict@1, judge-a less followupeval, judge-a" in shown
        assert "split: dev" in shown
        assert "2 prompts of rubric v3 have judged in this study" in shown

    def test_an_id_names_a_judge_and_an_unknown_name_lists_those_there_are(self, two_prompts):
        judges = found(two_prompts, "--prompt", "followupeval", "--prompt", "strict@1")["judges"]
        heads = [judge["judge_id"].removeprefix("sha256:")[:12] for judge in judges]
        again = found(two_prompts, "--prompt", heads[0], "--prompt", heads[1])
        assert [judge["judge_id"] for judge in again["judges"]] == [j["judge_id"] for j in judges]
        unknown = run(two_prompts, "--prompt", "followupeval", "--prompt", "loose")
        assert unknown.exit_code == 1
        assert "no judge has the prompt 'loose'" in unknown.stderr
        assert "strict@1 by judge-a" in unknown.stderr
        same = run(two_prompts, "--prompt", "followupeval", "--prompt", heads[0])
        assert "are the same judge" in same.stderr

    def test_two_of_something_are_needed(self, two_prompts):
        for arguments in ([], ["--prompt", "strict@1"], ["--rubric", "v3"]):
            result = run(two_prompts, *arguments)
            assert result.exit_code == 1
            assert "expected two or more" in result.stderr

    def test_items_that_one_has_not_judged_are_counted(self, two_prompts):
        ids = list(two_prompts.items)
        half = {item: LABELS[0] for item in ids[:30]}
        two_prompts.judge(half, model="judge-b")
        judges = found(two_prompts, "--prompt", "followupeval", "--prompt", "strict@1",
                       "--judge", "judge-a")  # fmt: skip
        assert 26 <= judges["n"] <= 34
        partly = run(two_prompts, "--prompt", "strict@1", "--prompt", "followupeval", "--judge",
                     "judge-b", "--json")  # fmt: skip
        assert partly.exit_code == 0, partly.output
        result = json.loads(partly.stdout)
        counts = {e["reason"]: e["count"] for e in result["exclusions"]}
        assert counts["labelled but not judged"] == 30
        assert result["n"] + counts["in the test half of the questions"] == 30


def test_of_several_runs_the_smaller_number_counts(builder):
    builder.turns(40)
    builder.sample(40)
    ids = list(builder.items)
    builder.label("ann", {item: LABELS[k % 3] for k, item in enumerate(ids)})
    often = {item: [LABELS[(k + (r == k % 4)) % 3] for r in range(4)] for k, item in enumerate(ids)}
    builder.judge_runs(often)
    builder.judge_runs({item: said[:3] for item, said in often.items()}, template=STRICT)
    result = found(builder, "--prompt", "followupeval", "--prompt", "strict@1")
    assert (result["runs"], result["reading"]) == (3, "mean-of-runs")
    assert result["remarks"][0] == (
        "followupeval, judge-a: the first 3 of its 4 runs, since others have no more"
    )
    (challenger,) = result["challengers"]
    assert challenger["difference"]["labels"]["value"] == 0
    assert challenger["mcnemar"] == {"labels": None, "sigma": None}


def reworded() -> Rubric:
    """Rubric v3 with another meaning of its last category, as a version of its own."""
    start = V3.categories[-1].definition[:20]
    text = V3.text.replace(start, f"Or else: {start}", 1)
    return parse_rubric(text.replace('version = "v3"', 'version = "v9"', 1), source="v9")


class TestRubrics:
    def test_only_categories_of_the_same_meaning_are_compared(self, builder):
        other, last = reworded(), LABELS[-1]
        assert diff_rubrics(other, V3).same_meaning == LABELS[:-1]
        builder.turns(56)
        builder.sample(56)
        truth = {item: LABELS[k % 7] for k, item in enumerate(builder.items)}
        builder.label("ann", truth)
        builder.judge(truth)
        builder.judge(truth, rubric=other)
        store = JudgmentStore(builder.pipeline)
        entrants = [
            *by_rubric(store, [V3]),
            replace(by_rubric(store, [other])[0], name="v9"),
        ]
        found = compare_study(builder.pipeline, builder.labels, entrants[::-1], seed=1)
        assert (found.categories, found.unlike) == (LABELS[:-1], (last,))
        (challenge,) = found.comparison.challenges
        assert (found.comparison.n, found.comparison.compared) == (56, 48)
        assert (challenge.right_labels.test.n, challenge.right_sigma.test.n) == (48, 56)
        assert challenge.challenger.labels.value == 1
        assert last in study_text(found).split("left out of the labels' numbers:")[1]

    def test_newest_judges_of_the_rubrics(self, builder):
        builder.turns(28)
        builder.sample(28)
        truth = {item: LABELS[k % 7] for k, item in enumerate(builder.items)}
        builder.label("ann", truth)
        builder.judge(truth)
        builder.judge({i: LABELS[0] if k % 2 else t for k, (i, t) in enumerate(truth.items())},
                      rubric=V2)  # fmt: skip
        result = found(builder, "--rubric", "v2", "--rubric", "v3")
        assert result["unlike_categories"] == []
        assert result["reference"]["rubric"] == "v3"
        assert result["challengers"][0]["name"] == "v3, judge-a"
        assert result["challengers"][0]["kappa"]["labels"]["value"] == 1

    def test_labels_under_the_first_rubric_serve_where_there_are_no_others(self, builder):
        builder.turns(14)
        builder.sample(14)
        ids = list(builder.items)
        truth = {item: V2.category_ids[k % 7] for k, item in enumerate(ids)}
        builder.label("ann", truth, rubric=V2)
        builder.judge(truth, rubric=V2)
        builder.judge({item: LABELS[0] for item in ids})
        assert found(builder, "--rubric", "v2", "--rubric", "v3")["reference"]["rubric"] == "v2"


class TestFile:
    def file(self, *arguments: str):
        return CliRunner().invoke(calibrate, ["compare", *arguments])

    def test_llmbar_neighbor(self):
        """GPT-4 under two prompts (LLMBar, Zeng et al. 2024): 104 and 115 of 134 right."""
        result = self.file(
            str(DATA / "llmbar_neighbor_gpt4_ab.csv"), "--reference", "gold", "--a", "vanilla",
            "--b", "metrics_reference", "--json",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        (challenger,) = found["challengers"]
        assert found["baseline"]["kappa"]["labels"]["value"] == pytest.approx(0.54740, abs=5e-6)
        assert challenger["kappa"]["labels"]["value"] == pytest.approx(0.71180, abs=5e-6)
        test = challenger["mcnemar"]["labels"]
        assert (test["only_a"], test["only_b"]) == (0, 11)
        assert test["p"] == pytest.approx(0.0009766, abs=5e-8)
        assert (len(challenger["items"]["fixed"]), challenger["items"]["broken"]) == (11, [])
        assert challenger["kappa"]["sigma"]["undefined"] == "no items"

    def test_long_and_wide_tables_of_the_same_labels_give_the_same(self, tmp_path):
        rows = [("1", "x", "x", "y"), ("2", "y", "y", "y"), ("3", "x", "y", "x")] * 7
        wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
        wide.write_text("item,gold,one,two\n" + "".join(
            f"{k},{g},{a},{b}\n" for k, (_, g, a, b) in enumerate(rows)))  # fmt: skip
        long.write_text("item,rater,label\n" + "".join(
            f"{k},{name},{label}\n" for k, (_, *labels) in enumerate(rows)
            for name, label in zip(("gold", "one", "two"), labels, strict=True)))  # fmt: skip
        results = [
            json.loads(self.file(str(path), "--reference", "gold", "--a", "one", "--b", "two",
                                 "--json").stdout) | {"file": ""}
            for path in (wide, long)
        ]  # fmt: skip
        assert results[0] == results[1]

    def test_fixed_items_are_named_on_request(self):
        arguments = (
            str(DATA / "llmbar_neighbor_gpt4_ab.csv"), "--reference", "gold", "--a", "vanilla",
            "--b", "metrics_reference",
        )  # fmt: skip
        assert "items fixed by" not in self.file(*arguments).stdout
        shown = " ".join(self.file(*arguments, "--items").stdout.split())
        assert "items fixed by metrics_reference: 101, 103, 104," in shown
        assert "items broken by metrics_reference: none" in shown

    @pytest.mark.parametrize("option", [["--judge", "x"], ["--prompt", "x"], ["--runs", "2"]])
    def test_what_is_for_a_study_is_refused_with_a_file(self, option):
        result = self.file("labels.csv", "--reference", "g", "--a", "x", "--b", "y", *option)
        assert result.exit_code == 2
        assert "are for a study; leave FILE out" in result.stderr

    def test_what_is_missing_is_named(self, tmp_path):
        path = tmp_path / "labels.csv"
        path.write_text("item,gold,one,two\n1,x,x,y\n2,y,y,y\n")
        incomplete = self.file(str(path), "--reference", "gold", "--a", "one")
        assert incomplete.exit_code == 2
        unknown = self.file(str(path), "--reference", "gold", "--a", "one", "--b", "three")
        assert unknown.exit_code == 1
        assert "no column" in unknown.stderr
        twice = self.file(str(path), "--reference", "gold", "--a", "one", "--b", "one")
        assert "all differ" in twice.stderr
