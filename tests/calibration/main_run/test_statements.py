"""Statements on a main run: what is said where, with which test, and that it is rarely false."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from annotator.measures.double_sample import Judged
from annotator.measures.mcnemar import mcnemar
from annotator.measures.multiplicity import holm
from annotator.measures.rate_difference import shares_of
from generation.perturbation import UNPERTURBED
from judge.calibration.main_run.main_run import LONE, NOT_JUDGED, MainRun
from judge.calibration.main_run.model_facts import ModelFacts, facts_of
from judge.calibration.main_run.run_labels import Choices
from judge.calibration.main_run.selection import select_runs
from judge.calibration.main_run.statements.all_statements import statements
from judge.calibration.main_run.statements.bound import BoundTest
from judge.calibration.main_run.statements.dominant_label import dominance_of
from judge.calibration.main_run.statements.latency import (
    ABSENT,
    LATENT,
    PRESENT,
    latency_claim,
    latency_statements,
)
from judge.calibration.main_run.statements.perturbation import perturbation_statements
from judge.calibration.main_run.statements.size import scaling_of, series_of, size_statements
from judge.calibration.main_run.statements.statement import Kind, Statement
from judge.calibration.main_run.statements.temperature import (
    course_of,
    decide,
    temperature_statements,
)
from judge.calibration.main_run.study_main_run import study_main_run
from judge.calibration.main_run.tables.table import Estimate, corrected_share
from judge.store import open_pipeline
from rubrics import load_rubric
from tests.simulation.drawn_runs import Population, draw_run
from tests.simulation.statements import KINDS, SCENARIOS, over, rows_of, same, simulated
from tests.support.main_run_study import MadeRun, make_main_run

UNDECIDED = "undecided"
CLEAR = Population(
    over(0.0, 0.1, 0.4, 0.8, truncated=0.5),
    degenerate=(8, 1, 1, 1, 1, 1),
    models=2,
    conversations=300,
    specificity=0.99,
    labelled=600,
)


def seeded(population: Population, seed: int = 1) -> MainRun:
    return draw_run(population, np.random.default_rng(seed))


def judged(hits: Sequence[int], of: int) -> Judged:
    counts = np.column_stack([hits, of - np.array(hits)]).astype(float)
    return Judged(counts, np.arange(len(hits)))


def of_kind(found: Sequence[Statement], kind: Kind) -> list[Statement]:
    return [of for of in found if of.kind is kind]


@pytest.fixture(scope="module")
def clear() -> MainRun:
    """Latent, rising at every step, one label dominant, truncation raising the rate."""
    return seeded(CLEAR)


@pytest.fixture(scope="module")
def said(clear) -> tuple[Statement, ...]:
    return statements(clear)


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> MainRun:
    made = MadeRun(
        datasets={"gsm8k": 12}, held_out={"coval": 1}, models=("Made-1B", "Made-8B"), labelled=60
    )
    study = make_main_run(tmp_path_factory.mktemp("made") / "study", made)
    with open_pipeline(study.pipeline) as database:
        selection = select_runs(database, "made", study.option)
        return study_main_run(database, study, load_rubric("v3"), selection, Choices())


def test_what_is_plain_in_the_data_is_said(said):
    verdicts = {kind: {of.verdict for of in of_kind(said, kind)} for kind in KINDS}
    assert verdicts[Kind.LATENCY] == {LATENT}
    assert verdicts[Kind.TEMPERATURE] == {"rises at every step"}
    assert verdicts[Kind.LABEL] == {"previous_turn_restate"}
    assert verdicts[Kind.PERTURBATION] == {"raises"}
    assert verdicts[Kind.SIZE] == {UNDECIDED}  # both models have the same true rates


def test_every_kind_is_a_family_of_its_own_for_holm(said):
    for kind in set(KINDS) - {Kind.TEMPERATURE}:
        of = of_kind(said, kind)
        assert {one.tests for one in of} == {len(of)}
        assert [one.adjusted_p for one in of] == pytest.approx(holm([one.p for one in of]))
    assert {of.tests for of in of_kind(said, Kind.TEMPERATURE)} == {2 * (1 + 3)}


def test_a_sentence_has_its_numbers_its_n_and_its_test(said):
    for of in said:
        assert of.wording.startswith(of.about)
        assert "300 conversations" in of.wording
        assert f"Holm over {of.tests} tests" in of.wording
        assert "%" in of.wording and "p = 0.000" not in of.wording  # noqa: PT018
        assert "nan" not in of.wording.lower()


def test_latency_rests_on_the_rates_of_the_tables(clear, said):
    of = of_kind(said, Kind.LATENCY)[0]
    rates = {
        cell.cell.temperature: corrected_share(cell.rate.sigma, LONE)
        for cell in clear.sweep(clear.groups[0])
    }
    for T in (0.0, 1.0):
        name = f"rate_at_{T:g}"
        found = (of.numbers[name], of.numbers[f"{name}_low"], of.numbers[f"{name}_high"])
        assert Estimate(*found) == replace(rates[T], gap=None)
    assert of.numbers["rate_at_0_high"] < of.numbers["bound"] < of.numbers["rate_at_1_low"]
    away = of.numbers["difference"]
    assert of.numbers["difference_low"] < away < of.numbers["difference_high"]


@pytest.mark.parametrize(
    ("rates", "truncated", "verdict"),
    [((0.0, 0.0, 0.0, 0.0), 0.6, ABSENT), ((0.3,) * 4, 0, PRESENT)],
)
def test_absent_and_present(rates, truncated, verdict):
    population = replace(CLEAR, rate=over(*rates, truncated=truncated), models=1)
    (found,) = latency_statements(seeded(population))
    assert found.verdict == verdict
    assert f"genuine follow-ups are {verdict}" in found.wording


def test_rates_of_a_judge_that_nobody_checked_are_tested_as_judged_and_said_to_be():
    run = seeded(Population(over(0.0, 0.0, 0.0, 0.0), models=1, specificity=1.0, labelled=0))
    (found,) = latency_statements(run)
    assert found.verdict == ABSENT
    assert "Judged rates, not corrected" in found.wording
    assert found.p == pytest.approx(2 * 0.95**100)


def test_rates_that_labels_cannot_correct_decide_nothing():
    """False alarms alone would else pass for a rate."""
    run = seeded(Population(same(0.0), models=1, specificity=0.8, labelled=200))
    (found,) = latency_statements(run)
    assert (found.verdict, found.p, found.tests) == (UNDECIDED, None, 0)
    assert "not corrected, as no labelled item has sigma 1" in found.wording


def bound(below: float, above: float) -> BoundTest:
    return BoundTest(Estimate(0.0, 0.0, 0.0), below, above, below < 0.025, above < 0.025)


def test_both_rates_must_be_shown_and_the_choice_among_verdicts_is_paid_for():
    assert latency_claim(bound(0.001, 0.9), bound(0.02, 0.9)).p == pytest.approx(2 * 0.02)
    assert latency_claim(bound(0.001, 0.9), bound(0.02, 0.9)).verdict == ABSENT
    assert latency_claim(bound(0.01, 0.9), bound(0.9, 0.002)).p == pytest.approx(2 * 0.01)
    assert latency_claim(bound(0.01, 0.9), bound(0.9, 0.002)).verdict == LATENT
    assert latency_claim(bound(0.9, 0.004), bound(0.9, 0.2)).verdict == PRESENT
    lone = latency_claim(bound(0.001, 0.9))
    assert (lone.verdict, lone.p, lone.decided(lone.p)) == (PRESENT, 1.0, UNDECIDED)


def test_without_t_1_only_presence_can_be_said_and_what_is_missing_is_named(clear):
    cells = tuple(of for of in clear.cells if of.cell.temperature != 1.0)
    for of in latency_statements(replace(clear, cells=cells)):
        assert of.verdict == UNDECIDED
        assert "there are no turns at T = 1" in of.wording


def test_a_verdict_is_never_against_the_interval():
    at_odds = replace(bound(0.001, 0.9), is_below=False)
    assert latency_claim(at_odds, bound(0.001, 0.9)).decided(0.01) == UNDECIDED


def test_a_cell_that_is_not_judged_is_named_and_no_test(clear):
    group = clear.groups[0]
    gone = {of.cell for of in clear.sweep(group) if of.cell.temperature in (0.0, 1.0)}
    cells = tuple(
        replace(of, rate=None, gap=NOT_JUDGED) if of.cell in gone else of for of in clear.cells
    )
    numbers = [clear.verdicts.cells.index(of) for of in gone]
    kept = ~np.isin(clear.verdicts.cell, numbers)
    rest = {
        name: getattr(clear.verdicts, name)[kept]
        for name in ("cell", "conversation", "sample", "verdicts")
    }
    run = replace(clear, cells=cells, verdicts=replace(clear.verdicts, **rest))
    found = statements(run)
    latency, other = of_kind(found, Kind.LATENCY)
    assert (latency.verdict, latency.p, latency.adjusted_p) == (UNDECIDED, None, None)
    assert "the turns at T = 0 are not judged" in latency.wording
    assert (other.verdict, other.tests) == (LATENT, 1)
    rising = of_kind(found, Kind.TEMPERATURE)[0]
    assert rising.verdict == "rises"  # 0.3 and 0.7 are left: one step, which is the trend
    assert "the turns at T = 0 are not judged and the turns at T = 1 are" in rising.wording
    truncated = of_kind(found, Kind.PERTURBATION)[0]
    assert truncated.p is None
    assert "the turns after answers as they are are not judged" in truncated.wording
    assert "the turns of Made-1B are not judged" in of_kind(found, Kind.SIZE)[0].wording


def course(*shares: float, samples: int = 4, conversations: int = 400):
    rng = np.random.default_rng(5)
    drawn = [judged(rng.binomial(samples, share, conversations), samples) for share in shares]
    return course_of(drawn, (0.0, 0.3, 0.7, 1.0)[: len(shares)], np.array([1, 0]))


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ((0.1, 0.2, 0.3, 0.4), "rises at every step"),
        ((0.4, 0.3, 0.2, 0.1), "falls at every step"),
        ((0.1, 0.3, 0.3, 0.4), "rises"),
        ((0.4, 0.2, 0.2, 0.2), "falls"),
        ((0.13, 0.12, 0.35, 0.12), "not monotone"),
        ((0.2, 0.2, 0.2, 0.2), UNDECIDED),
        ((0.1, 0.3), "rises"),
    ],
)
def test_the_course_over_temperatures(shares, verdict):
    found = course(*shares)
    after = holm([of.p for of in found.tests])
    assert decide(found, after).verdict == verdict


def test_the_verdict_has_the_p_of_what_it_claims():
    found = course(0.1, 0.2, 0.3, 0.4)
    after = [0.001, 0.02, 0.03, 0.01]
    assert decide(found, after).adjusted_p == 0.03  # every step
    assert decide(found, [0.001, 0.02, 0.06, 0.01]).adjusted_p == 0.001  # the trend
    zigzag = course(0.13, 0.12, 0.35, 0.12)
    decided = decide(zigzag, [0.9, 0.9, 0.001, 0.04])
    assert (decided.verdict, decided.adjusted_p) == ("not monotone", 0.04)


def test_without_a_verdict_the_change_that_is_not_excluded_is_named(stored):
    for of in temperature_statements(stored):
        if of.verdict == UNDECIDED and of.p is not None:
            most = max(abs(of.numbers["trend_low"]), abs(of.numbers["trend_high"]))
            assert f"a change by {100 * most:.1f} points is not excluded" in of.wording


def test_the_slope_is_per_tenfold_parameters():
    shares = ((0.1, 1e9), (0.3, 1e10), (0.5, 1e11))
    cells = [judged([round(10 * share)] * 50, 10) for share, _ in shares]
    found = scaling_of(cells, [size for _, size in shares], np.array([1, 0]))
    assert found.slope.estimate == pytest.approx(0.2)


def test_series_differ_in_size_alone():
    names = ("Q-2B", "Q-9B", "Q-27B", "G-120B", "Other")
    told = {
        name: ModelFacts(name, "Q", 2e9, "Q-2B", stage)
        for name, stage in (("Q-2B-sft", "SFT"), ("Q-2B-rl", "RL"))
    }
    models = tuple(facts_of({*names, *told}, told).values())
    assert {name: [of.name for of in those] for name, those in series_of(models).items()} == {
        "Q": ["Q-2B", "Q-9B", "Q-27B"]
    }
    larger = ModelFacts("Q-9B-sft", "Q", 9e9, "Q-9B", "SFT")
    assert [of.name for of in series_of((*models, larger))["Q SFT"]] == ["Q-2B-sft", "Q-9B-sft"]


def test_scaling_is_found_and_two_sizes_are_called_no_trend():
    grows = Population(
        lambda number, cell: 0.05 + 0.25 * number * (cell.temperature == 1.0),
        models=4,
        specificity=0.99,
    )
    lowest, highest = size_statements(seeded(grows))
    assert (lowest.verdict, highest.verdict) == (UNDECIDED, "rises with size")
    assert highest.numbers["slope_low"] > 0
    few = size_statements(seeded(replace(grows, models=2)))
    assert all("two sizes alone, which is no trend" in of.wording for of in few)


def label_counts(*rows: Sequence[int]) -> Judged:
    return Judged(np.array(rows, dtype=float), np.arange(len(rows)))


def test_the_winner_is_compared_with_the_label_that_comes_nearest():
    cell = label_counts(*[(0, 1, 0, 0)] * 30, *[(0, 0, 1, 0)] * 10, *[(0, 0, 0, 1)] * 3)
    found = dominance_of(cell, (1, 2, 3), seed=0)
    assert (found.winner, found.runner_up) == (1, 2)
    assert found.margin.p == pytest.approx(mcnemar(10, 30, 43).p)
    assert found.margin.value == pytest.approx(20 / 43)


def test_a_tie_has_no_dominant_label_and_no_degenerate_turn_none_at_all():
    tie = dominance_of(label_counts(*[(0, 1, 0)] * 8, *[(0, 0, 1)] * 8), (1, 2), seed=0)
    assert tie.margin.p == 1.0
    assert dominance_of(label_counts(*[(1, 0, 0)] * 8), (1, 2), seed=0) is None


def test_a_perturbation_with_one_sample_is_tested_as_mcnemar_does(stored):
    found = perturbation_statements(stored)
    cells = [of.cell for of in stored.cells if of.cell.perturbation != UNPERTURBED]
    assert len(found) == len(cells) == 4
    for cell in cells:
        before, after = (
            shares_of(stored.judged(of), stored.sigmas)
            for of in (replace(cell, perturbation=UNPERTURBED), cell)
        )
        p = mcnemar(int((before > after).sum()), int((before < after).sum()), len(before)).p
        said = next(
            of for of in found if f"{cell.model} on " in of.about and cell.perturbation in of.about
        )
        assert said.p == pytest.approx(p)
        assert said.numbers["difference"] == pytest.approx(after.mean() - before.mean())
        assert said.numbers["changed"] == stored.by_cell[cell].changed.share


def test_a_conversation_alone_is_named_and_everything_is_fit_for_json(stored):
    found = statements(stored)
    lone = [of for of in found if "coval" in of.about]
    assert lone
    assert all((of.verdict, of.p) == (UNDECIDED, None) for of in lone)
    assert all("a single conversation" in of.wording for of in lone if of.kind is not Kind.SIZE)
    json.dumps([of.as_dict() for of in found], allow_nan=False)


def test_statements_are_the_same_each_time(clear, said):
    assert statements(clear) == said


def test_of_runs_with_nothing_to_find_few_say_something():
    """A small part of the table that tests/simulation/statements.py prints."""
    (scenario,) = [number for number, of in enumerate(SCENARIOS) if "20 conv" in of.name]
    rows = list(rows_of(SCENARIOS[scenario], simulated((scenario, range(12)))))
    assert {row.kind for row in rows} == set(KINDS)
    assert all(row.met for row in rows)
    assert sum(row.false for row in rows) <= 0.25
