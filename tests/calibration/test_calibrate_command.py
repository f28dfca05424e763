"""The command as typed: what it prints, and with which exit code."""

import json
import resource
import subprocess
import sys

import pytest
from calibrate_command import failed, run
from click.testing import CliRunner
from hostile_texts import HOSTILE_TEXTS
from rich.cells import cell_len

from judge.calibration.cli import calibrate
from rubrics import load_rubric

LABELS = load_rubric("v3").category_ids
A = LABELS[0]

INTENT = "the prompt is chosen, this is its test"


def tables(output: str) -> list[str]:
    """The lines but for the next command, which stays in one piece to be copied."""
    *lines, last = output.splitlines()
    assert last.startswith("next: ")
    return lines


@pytest.mark.parametrize("arguments", [(), ("--rubric", "v3"), ("kappa", "--rubric", "v3")])
def test_prints_the_kappas_first(small_study, arguments):
    result = run(small_study, *arguments)
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stdout.splitlines() if line.startswith("kappa")]
    assert lines[0].startswith("kappa (7 labels)  0.71")
    assert "n = 40  agreement 0.75  substantial (low end: moderate)" in lines[0]
    assert "compared: n = 40 in 40 conversations\n" in result.stdout
    assert "labels per item compared: 1 label on 40; left out as ties: 0; flagged" in result.stdout
    assert "2 of 40 verdicts could not be read" in result.stdout
    assert result.stderr == ""


def test_piped_output_fits_100_columns_without_control_characters(small_study):
    result = run(small_study, "--disagreements")
    assert max(map(len, tables(result.stdout))) <= 100
    assert all(character.isprintable() or character == "\n" for character in result.stdout)


def test_long_names_and_caveats_are_wrapped(builder):
    builder.turns(6)
    builder.sample()
    ids = list(builder.items)
    builder.label("Bartholomew van der Long-Name the Third", dict.fromkeys(ids, LABELS[1]))
    builder.label("Wilhelmina of the other Long-Name family", dict.fromkeys(ids[:3], LABELS[1]))
    builder.judge(dict.fromkeys(ids, LABELS[2]), model="org/" + "long-model-name-" * 8)
    result = run(builder)
    assert max(map(len, tables(result.stdout))) <= 100
    text = " ".join(result.stdout.split())
    assert "kappa (7 labels): no common label: the two sides never used the same one" in text
    assert "kappa (sigma): undefined, one class: both used the same single label, so" in text


def test_names_the_next_command(small_study):
    named = f"--rubric v3 --study {small_study.study.folder}"
    assert f"calibrate {named} --disagreements\n" in run(small_study).stdout
    assert f"next: calibrate export {named}\n" in run(small_study, "--disagreements").stdout


def test_names_other_judges_and_keeps_to_the_chosen_one(small_study):
    items = dict.fromkeys(small_study.items, A)
    judge_id = small_study.judge(items, model="second")
    output = run(small_study).stdout
    assert "other judges, choose with --judge: judge-a (" in output
    assert f"calibrate --rubric v3 --judge {judge_id[7:15]} --study" in output


def test_json_is_valid_adds_up_and_is_byte_identical(small_study):
    first, again = (run(small_study, "--json") for _ in range(2))
    assert first.stdout_bytes == again.stdout_bytes
    found = json.loads(first.stdout, parse_constant=pytest.fail)
    assert found["n"] == {
        "items": 40, "paired": 40, "conversations": 40, "excluded": 0, "unlabelled": 0,
        "invalid": 2, "effective": None,
    }  # fmt: skip
    assert sum(map(sum, found["confusion"]["labels"]["counts"])) == 40
    assert found["confusion"]["labels"]["columns"] == [*LABELS, "invalid"]
    assert len(found["pairs"]) == 40
    assert sum(pair["reference"] != pair["judge"] for pair in found["pairs"]) == 10
    assert "turn" not in found["pairs"][0]


def test_json_with_disagreements_carries_their_texts_in_ascii(builder):
    builder.turns(2, "Pourquoi \u202e\x9b {}?")
    builder.sample()
    ids = list(builder.items)
    builder.label("ann", dict.fromkeys(ids, A))
    builder.judge(dict.fromkeys(ids, LABELS[1]))
    result = run(builder, "--json", "--disagreements")
    assert result.stdout.isascii()
    assert json.loads(result.stdout)["pairs"][0]["turn"].startswith("Pourquoi \u202e\x9b ")


def test_disagreements_show_what_people_said(builder):
    builder.from_pairs([(A, LABELS[1]), (LABELS[1], LABELS[1])])
    wrong = next(iter(builder.items))
    builder.label("bo", {wrong: A}, confidence="guessing", note="Not \x1b[2J sure.", flagged=True)
    builder.label("cy", {wrong: "skip: Two categories fit"})
    output = run(builder, "--disagreements").stdout
    lines = [line.split() for line in output.splitlines()]
    assert ["·", "ann", A] in lines
    assert ["·", "bo", f"{A},", "guessing,", "flagged"] in lines
    assert ["note:", "Not", "<U+001B>[2J", "sure."] in lines
    assert ["·", "cy", "skipped:", "Two", "categories", "fit"] in lines
    assert "next: look at 1 disagreement: " in run(builder).stdout


def test_labels_that_the_sample_cannot_give_are_not_promised(builder):
    builder.from_pairs([(A, A), (A, LABELS[1]), (LABELS[1], LABELS[1])] * 4)
    text = " ".join(run(builder).stdout.split())
    assert (
        "12 items compared; an estimated 89 more would bring the 95% interval of kappa within "
        "±0.10, which this sample cannot give: it has 0 left to label" in text
    )
    assert "fewer than 30 conversations, and an interval then tends to be too narrow" in text


def test_labels_that_the_sample_can_give_are_asked_for(builder):
    builder.turns(120)
    builder.sample()
    ids = list(builder.items)[:12]
    builder.label("ann", dict(zip(ids, [A, LABELS[1]] * 6, strict=True)))
    builder.judge(dict(zip(ids, [A, LABELS[1], A] * 4, strict=True)))
    text = " ".join(run(builder).stdout.split())
    assert "an estimated 89 more would bring the 95% interval of kappa within ±0.10 " in text


def test_items_added_after_the_draw_are_named(small_study):
    small_study.turns(1, "Later?")
    text = " ".join(run(small_study).stdout.split())
    assert "seed 20260402; 1 item added since had no chance of being drawn" in text


def test_hostile_text_cannot_reach_the_terminal(builder):
    commands = "\x1b]0;gone\x07\x1b[2J\u202e[red]x[/red]\r" + "y" * 900
    builder.add([*HOSTILE_TEXTS.values(), commands])
    builder.sample()
    ids = list(builder.items)
    builder.label("ann", dict.fromkeys(ids[:2], "skip: \x1b[5m"))
    builder.label("bo\x1b[1m", dict.fromkeys(ids, A))
    builder.judge(dict.fromkeys(ids, LABELS[1]), model="m\x1b[1m", rationale="\x1b[2J why")
    output = run(builder, "--disagreements").stdout
    assert all(character.isprintable() or character == "\n" for character in output)
    assert all(cell_len(line) <= 100 for line in tables(output))
    shown = "".join(output.split())
    assert "<U+001B>]0;gone<U+0007><U+001B>[2J<U+202E>[red]x[/red]<U+000D>yyy" in shown
    assert f"…({len(commands) - 600}morecharacters)" in shown


def test_min_kappa_sets_the_exit_code(small_study):
    assert run(small_study, "--min-kappa", "0.7").exit_code == 0
    below = run(small_study, "--min-kappa", "0.8")
    assert below.exit_code == 3
    assert below.stderr == "kappa is 0.710, below the minimum of 0.8\n"
    assert below.stdout == run(small_study).stdout


def test_an_undefined_kappa_is_below_any_minimum(builder):
    builder.from_pairs([(A, A)] * 4)
    result = run(builder, "--min-kappa", "-1")
    assert result.exit_code == 3
    assert result.stderr == "kappa is undefined, below the minimum of -1\n"
    assert "kappa (7 labels), kappa (sigma): undefined, one class" in result.stdout


def test_sample_says_what_it_did_and_what_comes_next(builder):
    builder.turns(9)
    first = run(builder, "sample", "--n", "5", "--seed", "8")
    assert first.stdout.splitlines() == [
        "sample drawn at random: 5 of 9 distinct items, seed 8",
        f"next: annotate --study {builder.study.folder}",
    ]
    assert run(builder, "sample").stdout.startswith("already there: ")
    assert "is drawn already" in failed(run(builder, "sample", "--n", "4"))


def test_rubric_diff_shows_what_changed():
    result = CliRunner().invoke(calibrate, ["rubric", "diff", "v2", "v3"])
    assert result.exit_code == 0
    assert "v2" in result.stdout.splitlines()[0]
    assert CliRunner().invoke(calibrate, ["rubric", "diff", "v2", "v9"]).exit_code == 1


def test_export_writes_the_calibrated_prompt(small_study, tmp_path):
    result = run(small_study, "export", "--rubric", "v3", "--output", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    (folder,) = (tmp_path / "out").iterdir()
    option = f"--study {small_study.study.folder}"
    assert result.stdout.splitlines() == [
        str(folder),
        "kappa 0.710, 95% CI 0.54–0.85, n = 40",
        f"next: judge --prompt {folder} {option}",
    ]
    assert result.stderr == ""
    again = run(small_study, "export", "--rubric", "v3", "--output", str(tmp_path / "out"))
    assert again.stdout == result.stdout
    assert again.stderr == f"{folder} holds this export already; nothing written\n"
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    turns = {json.loads(line)["turn"] for line in texts.pop("anchors.jsonl").splitlines()}
    assert turns == {item.turn for item in small_study.items.values()}
    assert not any(item.turn in "".join(texts.values()) for item in small_study.items.values())


def test_help_is_quick_and_imports_nothing_heavy():
    code = (
        "import sys, judge.calibration.cli\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'sklearn', 'rich', 'jinja2', 'krippendorff'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "[]\n", found.stderr
    # Processor time of the child, so that a busy machine does not fail the test.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = "from judge.calibration.cli import calibrate; calibrate(['--help'])"
    subprocess.run([sys.executable, "-c", command], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < 0.4  # seconds


def test_people_who_agree_on_nothing_are_a_result_of_their_own(builder):
    builder.turns(6)
    builder.sample()
    items = list(builder.items)
    builder.label("ann", dict.fromkeys(items, A))
    builder.label("bob", dict.fromkeys(items, LABELS[1]))
    builder.judge(dict.fromkeys(items, A))
    result = run(builder, "--json")
    found = json.loads(result.stdout)
    assert found["n"]["paired"] == 0
    assert found["kappa"]["labels"]["undefined"] == "no items"
    assert found["human"]["pairs"][0]["kappa"] == 0
    output = run(builder).stdout
    assert "annotators tie" in output
    assert "--annotator NAME" in output.splitlines()[-1]
    assert "nothing is calibrated" in run(builder, "export").stderr


def test_the_next_command_keeps_to_the_chosen_annotator(small_study):
    output = run(small_study, "--annotator", "ann").stdout
    assert output.endswith(" --annotator ann --disagreements\n")


def test_an_annotator_is_found_in_either_spelling(builder):
    builder.turns(2)
    builder.sample()
    items = dict.fromkeys(builder.items, A)
    builder.label("Zo\u00eb", items)
    builder.judge(items)
    assert "labels of Zo\u00eb alone" in run(builder, "--annotator", "Zoe\u0308").stdout


class TestFinal:
    """The test half is opened on request only, and every opening is counted."""

    def test_without_a_frozen_split_there_is_none(self, small_study):
        found = json.loads(run(small_study, "--json").stdout)
        assert (found["split"]["part"], found["n"]["paired"]) == ("all", 40)
        assert "freeze it" in failed(run(small_study, "--final", INTENT))

    def test_dev_counts_until_test_is_opened_and_each_opening_is_counted(self, small_study):
        assert run(small_study, "split").exit_code == 0
        dev = json.loads(run(small_study, "--json").stdout)
        test = json.loads(run(small_study, "--final", INTENT, "--json").stdout)
        assert (dev["split"]["part"], test["split"]["part"]) == ("dev", "test")
        assert test["split"]["opening"]["intent"] == INTENT
        assert (dev["split"]["test_openings"], test["split"]["test_openings"]) == (0, 1)
        halves = [{pair["item_id"] for pair in found["pairs"]} for found in (dev, test)]
        assert not halves[0] & halves[1]
        assert len(halves[0] | halves[1]) == 40
        assert min(map(len, halves)) >= 16
        for found, reason in ((dev, "test half"), (test, "dev half")):
            assert reason in found["exclusions"][0]["reason"]
        again = run(small_study, "--final", INTENT).stdout
        assert "opened for the 2nd time, 2nd by this judge" in again
        assert "the test half was opened 2 times" in run(small_study).stdout

    def test_an_export_says_which_half_it_was_calibrated_on(self, small_study, tmp_path):
        run(small_study, "split")
        result = run(small_study, "export", "--final", INTENT, "--output", str(tmp_path / "out"))
        assert result.exit_code == 0, result.output
        (folder,) = (tmp_path / "out").iterdir()
        calibration = json.loads((folder / "calibration.json").read_text())
        assert calibration["split"]["part"] == "test"
