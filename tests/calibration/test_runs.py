"""A judge with several runs: what counts of them, and what the numbers then are."""

import json
import random
import sqlite3
from dataclasses import replace

import pytest
from calibrate_command import failed, run

from judge.calibration.report.html_report import render_report
from judge.calibration.study_calibration import calibrate_study
from judge.exported import load_export
from judge.judgment import Judgment, invalid_judgment
from judge.reading import Reading, choose_reading, majority, parse_reading
from judge.verdict_runs import (
    complete_items,
    complete_runs,
    incomplete_items,
    judgments_by_run,
    labels_by_run,
    run_count,
)
from rubrics import InputError, load_rubric

LABELS = load_rubric("v3").category_ids
A, B, C = LABELS[:3]


def calibrated(builder, **options):
    return calibrate_study(builder.pipeline, builder.labels, builder.rubric, **options)


def study(builder, references, runs, *, per_question=1):
    """One item per reference, labelled by ann and judged as `runs` says, item by item."""
    builder.add([f"Why {k}?" for k in range(len(references))], per_question=per_question)
    builder.sample(len(references), repeats=0)
    ids = sorted(builder.items, key=lambda i: int(builder.items[i].turn[4:-1]))
    builder.label("ann", dict(zip(ids, references, strict=True)))
    builder.judge_runs(dict(zip(ids, runs, strict=True)))
    return ids


def noisy(n, k, seed=5):
    """References, and k runs of each that are right in three of four cases."""
    chance = random.Random(seed)
    references = [chance.choice(LABELS[:4]) for _ in range(n)]
    runs = [
        tuple(
            None if chance.random() < 0.05 else said if chance.random() < 0.75 else C
            for said in [reference] * k
        )
        for reference in references
    ]
    return references, runs


def verdict(label: str | None, rationale: str = "") -> Judgment:
    if label is None:
        return invalid_judgment("no label found", raw=rationale)
    return Judgment(label, 0, rationale, rationale)


class TestMajority:
    @pytest.mark.parametrize(
        ("labels", "winner"),
        [
            ([A], 0),
            ([A, B, B], 1),
            ([A, B, C, C, B, B], 1),
            ([B, A, A, B], 0),  # a tie goes to the label met first
            ([C, B, A, A, B], 1),
            ([None, None, A], 2),  # an unreadable verdict does not vote
            ([None, A, None, B], 1),
            ([None, None], 0),
        ],
    )
    def test_the_first_run_with_the_winning_label_speaks(self, labels, winner):
        runs = [verdict(label, f"run {k}") for k, label in enumerate(labels)]
        assert majority(runs) is runs[winner]


class TestChoice:
    def test_the_default_depends_on_the_runs(self):
        assert choose_reading(1) is Reading.SINGLE
        assert choose_reading(4) is Reading.MEAN
        assert choose_reading(4, Reading.MAJORITY) is Reading.MAJORITY

    @pytest.mark.parametrize(
        ("runs", "wanted", "said"),
        [
            (
                1,
                Reading.MEAN,
                "mean-of-runs reads several runs of each item, and the judge has one",
            ),
            (1, Reading.MAJORITY, "judge more often: judge --runs 4"),
            (3, Reading.SINGLE, "or take one alone: --runs 1"),
            (3, Reading.SINGLE, "the judge has 3; choose what counts of them, --reading mean-of"),
        ],
    )
    def test_what_does_not_fit_the_runs_is_refused(self, runs, wanted, said):
        with pytest.raises(InputError, match=said):
            choose_reading(runs, wanted)

    def test_names(self):
        assert [parse_reading(str(reading)) for reading in Reading] == list(Reading)
        with pytest.raises(InputError, match="unknown reading 'best'; expected one of single-run"):
            parse_reading("best")


class TestStored:
    def test_runs_come_back_with_every_column(self, builder):
        ids = study(builder, [A, B], [(A, None), (B,)])
        (judge_id,) = {row["judge_id"] for row in builder.pipeline["judgments"].rows}
        first, second = (builder.items[i].hash for i in ids)
        found = judgments_by_run(builder.pipeline, judge_id)
        assert found[0][first] == Judgment(A, 1, "Because.", f"label: {A}")
        assert found[1] == {first: invalid_judgment("no label found", raw="I cannot say.")}
        assert labels_by_run(builder.pipeline, judge_id) == {
            0: {first: A, second: B},
            1: {first: None},
        }
        assert complete_items(found).keys() == {first}
        assert incomplete_items(found) == {second}

    def test_a_run_without_any_item_of_interest_still_counts(self, builder):
        ids = study(builder, [A, B], [(A, A), (B,)])
        (judge_id,) = {row["judge_id"] for row in builder.pipeline["judgments"].rows}
        second = builder.items[ids[1]].hash
        found = judgments_by_run(builder.pipeline, judge_id, {second})
        assert found.keys() == {0, 1}
        assert (found[0].keys(), found[1]) == ({second}, {})
        assert incomplete_items(found) == {second}

    def test_nothing_is_read_of_items_that_are_not_of_interest(self, builder):
        """A raw text that cannot be read stands for a main run's million that need not be."""
        first, second = study(builder, [A, B], [(A, A), (B, B)])
        (judge_id,) = {row["judge_id"] for row in builder.pipeline["judgments"].rows}
        unread = builder.items[second].hash
        builder.pipeline.execute(
            "UPDATE judgments SET raw = CAST(x'ff' AS TEXT) WHERE item_hash = ?", [unread]
        )
        found = judgments_by_run(builder.pipeline, judge_id, {builder.items[first].hash})
        assert [list(run) for run in found.values()] == [[builder.items[first].hash]] * 2
        with pytest.raises(sqlite3.OperationalError, match="decode"):
            judgments_by_run(builder.pipeline, judge_id)

    def test_more_items_than_a_statement_takes_values(self, builder):
        study(builder, [A], [(A,)])
        (judge_id,) = {row["judge_id"] for row in builder.pipeline["judgments"].rows}
        (item,) = builder.items.values()
        many = {item.hash} | {f"sha256:{k}" for k in range(300_000)}
        assert judgments_by_run(builder.pipeline, judge_id, many).keys() == {0}
        assert judgments_by_run(builder.pipeline, judge_id, many)[0].keys() == {item.hash}

    def test_the_first_runs_alone(self, builder):
        ids = study(builder, [A, B], [(A, B, C), (B,)])
        (judge_id,) = {row["judge_id"] for row in builder.pipeline["judgments"].rows}
        first, second = (builder.items[i].hash for i in ids)
        assert run_count(builder.pipeline, judge_id) == 3
        assert labels_by_run(builder.pipeline, judge_id, 2) == {
            0: {first: A, second: B},
            1: {first: B},
        }
        found = judgments_by_run(builder.pipeline, judge_id, {second}, 2)
        assert {run: list(items) for run, items in found.items()} == {0: [second], 1: []}
        assert complete_runs(judgments_by_run(builder.pipeline, judge_id)) == 1

    def test_nothing_judged_is_nothing(self, builder):
        assert judgments_by_run(builder.pipeline, "sha256:none") == {}
        assert complete_items({}) == {}
        assert incomplete_items({}) == set()
        assert (complete_runs({}), run_count(builder.pipeline, "sha256:none")) == (0, 0)


class TestMeanOfRuns:
    def test_kappa_is_that_of_the_tables_of_all_runs(self, builder):
        """Cohen 1960 p45, kappa .491525: its 200 counts as 100 items with two runs each."""
        table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
        references, runs = [], []
        for row, counts in enumerate(table):
            said = [LABELS[j] for j, count in enumerate(counts) for _ in range(count)]
            half = len(said) // 2
            references += [LABELS[row]] * half
            runs += list(zip(said[:half], said[half:], strict=True))
        study(builder, references, runs)
        found = calibrated(builder)
        assert (found.reading, found.runs) == (Reading.MEAN, 2)
        assert found.kappas.labels.value == pytest.approx(0.491525, abs=5e-7)
        assert found.confusion.table[:3, :3].tolist() == table
        assert (found.n, found.kappas.labels.agreement.n, found.confusion.n) == (100, 100, 200)
        assert found.kappas.labels.agreement.standard_error is None

    @pytest.mark.parametrize("per_question", [1, 2])
    def test_runs_that_are_all_alike_give_what_one_run_gives(self, builder, per_question):
        references, runs = noisy(60, 1)
        study(builder, references, [said * 4 for said in runs], per_question=per_question)
        items = {i: builder.items[i] for i in builder.items}
        by_turn = {f"Why {k}?": said[0] for k, said in enumerate(runs)}
        builder.judge({i: by_turn[item.turn] for i, item in items.items()}, model="once")
        once, often = calibrated(builder, judge="once"), calibrated(builder, judge="judge-a")
        assert (once.runs, often.runs) == (1, 4)
        for name in ("labels", "sigma", "parseable"):
            one, four = getattr(once.kappas, name), getattr(often.kappas, name)
            assert four.interval == one.interval
            assert four.standard_error == pytest.approx(one.standard_error)
            assert replace(four.agreement, standard_error=0) == replace(
                one.agreement, standard_error=0
            )
        assert often.more_labels == once.more_labels > 0
        assert (often.flips.flip_rate, often.flips.pairwise) == (0, 0)

    def test_the_error_is_the_spread_over_resampled_items_with_all_their_runs(self, builder):
        """An oracle that knows nothing of tables: draw items, put their runs one after another."""
        references, runs = noisy(80, 3)
        study(builder, references, runs)
        found = calibrated(builder).kappas.labels
        rows = list(zip(references, runs, strict=True))
        chance = random.Random(1)
        spread = [_kappa(chance.choices(rows, k=len(rows))) for _ in range(2000)]
        assert found.value == pytest.approx(_kappa(rows))
        mean = sum(spread) / len(spread)
        deviation = (sum((k - mean) ** 2 for k in spread) / len(spread)) ** 0.5
        assert found.standard_error == pytest.approx(deviation, rel=0.08)
        low, high = sorted(spread)[50], sorted(spread)[-50]
        assert found.interval.low == pytest.approx(low, abs=0.02)
        assert found.interval.high == pytest.approx(high, abs=0.02)

    def test_an_item_is_a_disagreement_when_any_run_is(self, builder):
        study(builder, [A, A, A, B], [(A, A), (A, B), (None, A), (C, C)])
        found = calibrated(builder)
        assert [pair.outcomes for pair in found.pairing.pairs if pair.agrees] == [(A, A)]
        assert len(found.disagreements) == 3
        assert found.invalid == {"no label found": 1}
        written = {tuple(r["judge"] for r in p["runs"]): p for p in found.as_dict()["pairs"]}
        assert written[A, B]["judge"] is None
        assert written[C, C]["judge"] == C
        assert written["invalid", A]["runs"][0]["invalid_reason"] == "no label found"

    def test_readable_rests_on_the_items_with_a_readable_run(self, builder):
        study(builder, [A, A, B, B], [(A, None), (A, A), (None, None), (B, B)])
        found = calibrated(builder)
        assert found.kappas.parseable.agreement.n == 3
        assert found.kappas.parseable.agreement.observed == 1
        assert found.kappas.labels.agreement.observed == 5 / 8


class TestMajorityOfK:
    def test_it_is_the_judge_that_says_what_most_runs_say(self, builder):
        references, runs = noisy(60, 5)
        study(builder, references, runs)
        said = {
            f"Why {k}?": majority([verdict(label) for label in of_item]).label
            for k, of_item in enumerate(runs)
        }
        builder.judge({i: said[x.turn] for i, x in builder.items.items()}, model="once")
        once = calibrated(builder, judge="once")
        found = calibrated(builder, judge="judge-a", reading=Reading.MAJORITY)
        assert found.kappas == once.kappas
        assert found.confusion == once.confusion
        assert found.more_labels == once.more_labels
        assert found.kappas.labels.value > calibrated(builder, judge="judge-a").kappas.labels.value
        assert found.counts_per_item == 1

    def test_its_disagreements_are_those_of_the_majority(self, builder):
        study(builder, [A, A, B], [(A, B, A), (B, A, B), (B, B, B)])
        found = calibrated(builder, reading=Reading.MAJORITY)
        assert [pair.outcome for pair in found.disagreements] == [B]
        assert "runs" not in found.as_dict()["pairs"][0]


class TestIncomplete:
    def test_items_that_lack_a_run_have_a_reason_of_their_own(self, builder):
        ids = study(builder, [A, B, A, B], [(A, A), (B, B), (A,), ()])
        for reading in (Reading.MEAN, Reading.MAJORITY):
            found = calibrated(builder, reading=reading)
            assert found.n == 2
            assert {(e.reason, e.count) for e in found.exclusions} == {
                ("judged in some of its runs only", 1),
                ("labelled but not judged", 1),
            }
            assert found.flips.items == 2
        assert len(ids) == found.as_dict()["n"]["items"] == 4

    def test_nothing_to_compare_says_why(self, builder):
        builder.turns(2)
        builder.sample()
        one, other = builder.items
        builder.label("ann", {one: A, other: B})
        builder.judge({one: A}, run_index=0)
        builder.judge({other: A}, run_index=1)
        assert (
            "none of 2 items can be compared: 2 judged in some of its runs only; "
            "judge … --runs 2 judges the rest\n" in failed(run(builder))
        )


class TestFirstRuns:
    """A second run that was stopped at once, and what there is to do about it."""

    @pytest.fixture
    def cut_off(self, builder):
        references, runs = noisy(60, 2)
        study(builder, references, [said if k == 0 else said[:1] for k, said in enumerate(runs)])
        return builder

    def test_all_runs_count_unless_it_is_said_how_many(self, cut_off):
        found = calibrated(cut_off)
        assert (found.reading, found.runs, found.judge_runs, found.n) == (Reading.MEAN, 2, 2, 1)
        assert found.complete_runs == 1

    def test_the_first_run_alone_is_what_it_was_before_the_second(self, cut_off):
        found = calibrated(cut_off, runs=1)
        assert (found.reading, found.runs, found.judge_runs) == (Reading.SINGLE, 1, 2)
        assert found.exclusions == ()
        cut_off.pipeline.execute("DELETE FROM judgments WHERE run_index = 1")
        before = calibrated(cut_off)
        assert (found.kappas, found.confusion) == (before.kappas, before.confusion)
        assert found.flips == before.flips
        as_dict = found.as_dict()
        several = ("judge_runs", "complete_runs", "counts_per_item", "consistency", "run_kappas")
        for key in several:
            del as_dict[key]
        assert as_dict == before.as_dict()

    @pytest.mark.parametrize("k", [1, 2, 3])
    @pytest.mark.parametrize("reading", [Reading.MEAN, Reading.MAJORITY])
    def test_the_first_k_runs_are_a_judge_that_has_no_more(self, builder, k, reading):
        references, runs = noisy(40, 4)
        study(builder, references, runs)
        reading = reading if k > 1 else None
        found = calibrated(builder, runs=k, reading=reading)
        builder.pipeline.execute("DELETE FROM judgments WHERE run_index >= ?", [k])
        alone = calibrated(builder, reading=reading)
        assert (found.kappas, found.flips, found.runs) == (alone.kappas, alone.flips, k)
        assert [pair.runs for pair in found.pairing.pairs] == [p.runs for p in alone.pairing.pairs]

    def test_the_report_says_what_to_type(self, cut_off):
        mend = (
            "59 items judged in some of its runs only: --runs 1 takes the first run, which has "
            "them all; judge … --runs 2 judges the rest"
        )
        assert mend in " ".join(run(cut_off).stdout.split())
        assert mend in render_report(calibrated(cut_off))
        assert json.loads(run(cut_off, "--json").stdout)["complete_runs"] == 1
        taken = run(cut_off, "--runs", "1")
        text = " ".join(taken.stdout.split())
        assert "reading: single-run, the first of 2 runs counts" in text
        assert "self-consistency" not in text
        assert "some of its runs" not in text
        assert " --rubric v3 --runs 1 --study " in taken.stdout.splitlines()[-1]
        assert "Reading: single-run, the first of 2 runs counts." in render_report(
            calibrated(cut_off, runs=1)
        )

    def test_two_of_three_runs_may_be_complete(self, builder):
        study(builder, [A, B, A, B], [(A, A, A), (B, B), (A, B), (B, B)])
        text = " ".join(run(builder).stdout.split())
        assert "3 items judged in some of its runs only: --runs 2 takes the first 2 runs, " in text
        assert "judge … --runs 3 judges the rest" in text
        text = " ".join(run(builder, "--runs", "2").stdout.split())
        assert "reading: mean-of-runs, each of the first 2 of 3 runs counts, with weight" in text
        assert "of 4 items judged in each of the first 2 of 3 runs, 0.25 got more" in text

    def test_fewer_runs_than_asked_for_are_refused(self, cut_off):
        line = failed(run(cut_off, "--runs", "3"))
        assert "found 2 runs of the judge, expected 3 or more for --runs 3; " in line
        assert "--runs 2, or judge more often: judge … --runs 3\n" in line
        assert run(cut_off, "--runs", "0").exit_code == 2

    def test_the_reading_must_fit_the_runs_that_count(self, cut_off):
        line = failed(run(cut_off, "--runs", "1", "--reading", "mean-of-runs"))
        assert "--runs 1 leaves one of 2; leave --reading out, or take more: --runs 2" in line
        assert calibrated(cut_off, runs=2, reading=Reading.MAJORITY).n == 1

    def test_the_export_is_of_the_runs_that_counted(self, cut_off, tmp_path):
        result = run(cut_off, "export", "--runs", "1", "--output", str(tmp_path / "out"))
        assert result.exit_code == 0, result.output
        assert "n = 60, single-run (the first of 2 runs)" in result.stdout
        (folder,) = (tmp_path / "out").iterdir()
        export = load_export(folder)
        assert (export.reading, export.runs, export.flip_rate) == (Reading.SINGLE, 1, None)
        assert {len(anchor.labels) for anchor in export.anchors} == {1}
        stored = json.loads((folder / "calibration.json").read_text())
        assert (stored["reading"]["runs"], stored["judge_runs"]) == (1, 2)

    def test_of_a_single_run_not_every_label_is_read(self, cut_off, monkeypatch):
        monkeypatch.setattr("judge.calibration.study_calibration.labels_by_run", None)
        assert calibrated(cut_off, runs=1).n == 60


class TestCommand:
    @pytest.fixture
    def several(self, builder):
        references, runs = noisy(40, 4)
        study(builder, references, runs)
        return builder

    def test_the_report_names_the_reading_and_what_is_counted(self, several):
        result = run(several)
        assert result.exit_code == 0, result.output
        text = " ".join(result.stdout.split())
        assert "reading: mean-of-runs, each of the 4 runs counts, with weight 1/4" in text
        assert "self-consistency: of 40 items judged in each of the 4 runs, 0." in text
        assert "in these two tables each item counts 4 times, once per run" in text
        assert "compared: n = 40 in 40 conversations" in text
        assert "of 160 verdicts could not be read" in text
        assert "they allow for what fresh runs would change" in text
        assert "kappa of each run: 0." in text
        assert all(len(line) <= 100 for line in result.stdout.splitlines()[:-1])

    @pytest.mark.parametrize("choice", [("--runs", "2"), ("--reading", "majority-of-k")])
    def test_runs_that_are_not_drawn_are_said_to_be_held_fixed(self, several, choice):
        text = " ".join(run(several, *choice).stdout.split())
        assert "the runs are held fixed, fresh runs would add to the width" in text

    def test_disagreements_show_every_run(self, several):
        output = run(several, "--disagreements").stdout
        assert "rationale of run 3" in output
        assert "(3 of 4)" in output
        assert output.splitlines()[-1].startswith("next: calibrate export --rubric v3 --study")
        majority_of = run(several, "--reading", "majority-of-k", "--disagreements").stdout
        assert "rationale of run" not in majority_of

    def test_the_next_command_keeps_to_the_reading(self, several):
        result = run(several, "--reading", "majority-of-k")
        assert "reading: majority-of-k, the most frequent label of the 4 runs" in result.stdout
        assert "in these two tables" not in result.stdout
        assert " --rubric v3 --reading majority-of-k --study " in result.stdout.splitlines()[-1]

    def test_json_says_what_was_read(self, several):
        found = json.loads(run(several, "--json").stdout)
        assert found["reading"] == {"name": "mean-of-runs", "runs": 4}
        assert found["counts_per_item"] == 4
        assert found["consistency"]["items"] == 40
        assert sum(map(sum, found["confusion"]["labels"]["counts"])) == 160
        assert found["n"]["paired"] == found["kappa"]["labels"]["n"] == 40
        assert "rationale" not in found["pairs"][0]["runs"][0]
        texts = json.loads(run(several, "--json", "--disagreements").stdout)
        assert "rationale" in texts["pairs"][0]["runs"][0]
        other = json.loads(run(several, "--json", "--reading", "majority-of-k").stdout)
        assert other["reading"] == {"name": "majority-of-k", "runs": 4}
        assert other["counts_per_item"] == 1

    def test_a_single_run_is_told_as_ever(self, small_study):
        found = json.loads(run(small_study, "--json").stdout)
        assert found["reading"] == {"name": "single-run", "runs": 1}
        assert not {"counts_per_item", "consistency", "run_kappas"} & found.keys()
        assert "runs" not in found["pairs"][0]
        output = run(small_study).stdout
        assert not [word for word in ("run", "reading", "consistency") if f"{word}:" in output]
        assert "reads several runs" in failed(run(small_study, "--reading", "mean-of-runs"))
        assert run(small_study, "--reading", "single-run").exit_code == 2

    def test_the_page_says_what_the_terminal_says(self, several):
        source = " ".join(render_report(calibrated(several)).split())
        for said in (
            "Reading: mean-of-runs, each of the 4 runs counts, with weight 1/4.",
            "In these two tables each item counts 4 times, once per run.",
            "they allow for what fresh runs would change", "<td>160</td>", "run 3, ",
        ):  # fmt: skip
            assert said in source

    @pytest.mark.parametrize("reading", ["mean-of-runs", "majority-of-k"])
    def test_the_export_pins_what_was_calibrated(self, several, tmp_path, reading):
        arguments = ("export", "--reading", reading, "--output", str(tmp_path / "out"))
        result = run(several, *arguments)
        assert result.exit_code == 0, result.output
        assert f"n = 40, {reading} (4 runs)" in result.stdout
        (folder,) = (tmp_path / "out").iterdir()
        export = load_export(folder)
        assert (export.reading, export.runs) == (reading, 4)
        assert export.flip_rate == calibrated(several).flips.pairwise > 0
        assert {len(anchor.labels) for anchor in export.anchors} == {4}
        assert {a.item.hash for a in export.anchors} == {i.hash for i in several.items.values()}
        by_hash = {p.item.hash: p for p in calibrated(several).pairing.pairs}
        for anchor in export.anchors:
            assert anchor.labels == tuple(v.label for v in by_hash[anchor.item.hash].runs)


def _kappa(rows) -> float:
    """Cohen's kappa over (reference, runs) rows, every run a pair; by counting, no arrays."""
    pairs = [(reference, label) for reference, runs in rows for label in runs]
    n = len(pairs)
    observed = sum(one == other for one, other in pairs) / n
    expected = sum(
        sum(one == label for one, _ in pairs) * sum(other == label for _, other in pairs)
        for label in LABELS
    ) / n**2  # fmt: skip
    return (observed - expected) / (1 - expected)
