"""`calibrate rates` on studies small enough to count by hand."""

import json
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from generation.item import Item, Message
from generation.store import TurnStore
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.rates.rate import INVERTED, POST_STRATIFIED, StudyRates
from judge.calibration.rates.study_rates import study_rates
from judge.calibration.rates.turn_verdicts import Cell, majority
from judge.calibration.sampling.sample import draw_sample
from judge.calibration.sampling.strata import Feature
from judge.judge import Judge
from judge.judgment import invalid_judgment, valid_judgment
from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import PACKAGED
from judge.reading import Reading, majority_run
from judge.store import JudgmentStore
from rubrics import InputError
from tests.calibration.conftest import LABELS, StudyBuilder
from tests.support.calibrate_command import failed, run

GENUINE, OTHER = LABELS[0], LABELS[1]


def turn(
    query: int | str,
    text: str,
    *,
    dataset: str = "set",
    model: str | None = "m",
    temperature: float | None = 1.0,
    sample: int = 0,
    perturbation: str = "none",
    setting: str = "self-generated",
) -> Turn:
    conversation = Conversation(dataset, str(query), (Message("user", f"{query}?"),))
    answer = Answer(conversation, "Yes.", model, temperature)
    return Turn(answer, text, setting, model, temperature, sample, perturbation)


def add(builder: StudyBuilder, turns: Iterable[Turn]) -> None:
    turns = list(turns)
    TurnStore(builder.pipeline).add_turns(Run("example", {"turns": len(turns)}), turns)


def judge_all(
    builder: StudyBuilder, verdict: Callable[[Item], str | None], run_index: int = 0
) -> None:
    store = JudgmentStore(builder.pipeline)
    prompt = render_prompt(builder.rubric, PACKAGED)
    judge = Judge("judge-a", {}, builder.rubric.version, prompt.prompt_hash)
    judge_id = store.add_judge(judge, prompt)
    for item_hash, item in TurnStore(builder.pipeline).items():
        label = verdict(item)
        said = (
            invalid_judgment("no label found", raw="I cannot say.")
            if label is None
            else valid_judgment(builder.rubric, label, "Because.", raw=label)
        )
        store.add_judgment(judge_id, item_hash, said, run_index=run_index)


def label_all(builder: StudyBuilder, truth: Callable[[Item], str]) -> None:
    builder.label("ann", {item_id: truth(item) for item_id, item in builder.items.items()})


def truth(item: Item) -> str:
    return GENUINE if item.turn.startswith("why") else OTHER


def rates(builder: StudyBuilder, **choices) -> StudyRates:
    return study_rates(builder.pipeline, builder.labels, builder.rubric, **choices)


def many(builder: StudyBuilder, n: int = 80, **made) -> None:
    """Of n turns a quarter is genuine."""
    add(builder, [turn(q, f"{'why' if q % 4 == 0 else 'next'} {q}", **made) for q in range(n)])


def wrong_on_some(item: Item) -> str | None:
    """Of five items of a kind the judge gets one wrong."""
    number = int(item.turn.split()[1])
    right = truth(item)
    wrong = OTHER if right == GENUINE else GENUINE
    return wrong if number // 4 % 5 == 0 else right


def test_a_whole_labelled_run_has_the_rate_that_people_see(builder) -> None:
    many(builder)
    builder.sample(80)
    judge_all(builder, wrong_on_some)
    label_all(builder, truth)
    whole = rates(builder).whole
    assert whole.method == POST_STRATIFIED
    assert whole.sigma.value == pytest.approx(0.25)
    assert whole.raw.value == pytest.approx(0.25 * 0.8 + 0.75 * 0.2)
    assert whole.turns == whole.labelled == whole.conversations == 80
    genuine = whole.labels[0]
    assert (genuine.category, genuine.corrected.value) == (GENUINE, whole.sigma.value)
    assert whole.representativeness.undefined == "every turn has a labelled item"


def test_a_turn_counts_as_often_as_it_was_said_though_labelled_once(builder) -> None:
    """Items are drawn; rates are over turns."""
    repeated = [turn(q, f"why {q}", sample=s) for q in range(10) for s in range(9)]
    single = [turn(q, f"next {q}") for q in range(10, 40)]
    add(builder, repeated + single)
    builder.sample(40)
    judge_all(builder, lambda item: OTHER)  # so that only the weights can tell
    label_all(builder, truth)
    found = rates(builder)
    assert found.whole.sigma.value == pytest.approx(90 / 120)
    (cell,) = found.cells
    assert (cell.method, cell.labelled) == (POST_STRATIFIED, 40)
    assert cell.sigma.value == pytest.approx(90 / 120)


def test_a_stratified_sample_is_weighted_back_to_the_run(builder) -> None:
    """Half of the sample is of a model with a twentieth of the turns, nearly all genuine."""
    add(builder, [turn(q, f"next {q}", model="large") for q in range(380)])
    add(builder, [turn(q, f"why {q}", model="small") for q in range(20)])
    draw_sample(builder.pipeline, builder.labels, n=30, by=(Feature.MODEL,))
    judge_all(builder, lambda item: OTHER)  # so that only the weights can tell
    label_all(builder, truth)
    whole = rates(builder).whole
    assert whole.sigma.value == pytest.approx(20 / 400)
    assert "stratified by model" in whole.reason
    assert "people's labels alone" in whole.reason


def test_a_cell_speaks_for_itself_only_with_labels_enough(builder) -> None:
    many(builder, 60, model="rich")
    many(builder, 20, model="poor")
    add(builder, [turn(q, f"next {1000 + q}", model="dull") for q in range(35)])
    builder.sample(95)
    judge_all(builder, lambda i: GENUINE if i.turn == "next 1000" else wrong_on_some(i))
    label_all(builder, truth)
    by_model = {rate.cell.model: rate for rate in rates(builder).cells}
    assert by_model["rich"].method == POST_STRATIFIED
    assert by_model["rich"].representativeness is not None
    assert by_model["poor"].method == INVERTED
    assert by_model["poor"].reason == "fewer than 30 of its items are labelled"
    assert by_model["poor"].representativeness is None


def test_a_cell_with_few_labelled_of_a_judged_sigma_is_inverted(builder) -> None:
    many(builder, 60, model="rich")
    add(builder, [turn(q, f"next {1000 + q}", model="dull") for q in range(35)])
    builder.sample(95)
    judge_all(builder, lambda i: GENUINE if i.turn == "next 1000" else truth(i))
    label_all(builder, truth)
    (dull,) = (rate for rate in rates(builder).cells if rate.cell.model == "dull")
    assert dull.method == INVERTED
    assert dull.reason == "fewer than 5 of its labelled items are judged sigma 1"


def test_a_cell_without_a_judged_follow_up_needs_no_labels_of_one(builder) -> None:
    many(builder, 60, model="rich")
    add(builder, [turn(q, f"next {1000 + q}", model="dull") for q in range(35)])
    builder.sample(95)
    judge_all(builder, truth)
    label_all(builder, truth)
    (dull,) = (rate for rate in rates(builder).cells if rate.cell.model == "dull")
    assert dull.method == POST_STRATIFIED
    assert dull.sigma.value == 0
    assert 0 < dull.sigma.interval.high < 0.1


def test_cells_with_items_that_came_after_the_drawing_are_inverted(builder) -> None:
    many(builder)
    builder.sample(60)
    judge_all(builder, wrong_on_some)
    label_all(builder, truth)
    (before,) = rates(builder).cells
    late = [turn(q, f"next {q}", model="late") for q in range(1000, 1030)]
    known = turn(1, "next 1", model="late")  # reads like one that could be drawn
    add(builder, [known, *late])
    assert rates(builder).cells[-1] == before
    assert rates(builder).whole.method == POST_STRATIFIED  # what is not judged is in no rate
    judge_all(builder, wrong_on_some)
    found = rates(builder)
    first, second = found.cells
    assert (first.cell.model, second.cell.model) == ("late", before.cell.model)
    assert first.method == found.whole.method == INVERTED
    assert first.reason == found.whole.reason == "30 turns of items that came after the sample"
    assert second == before
    assert second.method == POST_STRATIFIED
    se, sp = found.errors.sensitivity, found.errors.specificity
    expected = (found.whole.raw.value + sp - 1) / (se + sp - 1)
    assert found.whole.sigma.value == pytest.approx(expected)


def test_a_judge_that_tells_nothing_apart_leaves_cells_uncorrected(builder) -> None:
    many(builder, 60)
    many(builder, 20, model="poor")
    builder.sample(60)
    judge_all(builder, lambda i: GENUINE if int(i.turn.split()[1]) % 3 == 0 else OTHER)
    label_all(builder, truth)
    (poor,) = (rate for rate in rates(builder).cells if rate.cell.model == "poor")
    assert poor.method is None
    assert poor.sigma.value is None
    assert "may tell nothing apart" in poor.reason
    assert poor.raw.value > 0


def test_cells_are_told_apart_by_all_that_turns_were_made_with(builder) -> None:
    made = [
        {},
        {"model": "n"},
        {"dataset": "other"},
        {"temperature": 0.0},
        {"perturbation": "truncation"},
        {"setting": "held-out"},
        {"model": None, "temperature": None},
    ]
    for number, kind in enumerate(made):
        add(builder, [turn(f"{number}-{q}", f"why {q}", **kind) for q in range(number + 1)])
    builder.sample(10)
    judge_all(builder, truth)
    label_all(builder, truth)
    found = {rate.cell: rate.turns for rate in rates(builder).cells}
    assert len(found) == len(made)
    assert found[Cell("held-out", "m", "set", 1.0, "none")] == 6
    assert found[Cell("self-generated", None, "set", None, "none")] == 7


def test_equal_questions_of_two_data_sets_are_one_conversation(builder) -> None:
    add(builder, [turn(q, f"why {q}", dataset=d) for q in range(8) for d in ("a", "b")])
    builder.sample(8)
    judge_all(builder, truth)
    label_all(builder, truth)
    assert rates(builder).whole.conversations == 8


def test_the_spread_over_samples_is_that_of_their_own_rates(builder) -> None:
    def text(q: int, sample: int) -> str:
        return f"{'why' if q < 2 * sample else 'next'} {q} {sample}"

    add(builder, [turn(q, text(q, s), sample=s) for q in range(10) for s in range(4)])
    add(builder, [turn(q, f"next {q}", temperature=0.0) for q in range(10)])
    builder.sample(50)
    judge_all(builder, truth)
    label_all(builder, truth)
    single, several = (rate.samples for rate in rates(builder).cells)
    assert (several.k, several.low, several.high) == (4, 0.0, 0.6)
    assert several.mean == pytest.approx(0.3)
    assert several.sd == pytest.approx(np.std([0, 0.2, 0.4, 0.6], ddof=1))
    assert (single.k, single.sd) == (1, None)


def test_unreadable_verdicts_are_counted_and_are_no_follow_ups(builder) -> None:
    many(builder)
    builder.sample(80)
    judge_all(builder, lambda i: None if int(i.turn.split()[1]) < 20 else wrong_on_some(i))
    label_all(builder, truth)
    whole = rates(builder).whole
    assert whole.unreadable == 20
    assert whole.turns == 80
    assert whole.raw.value == pytest.approx(0.35 * 60 / 80)
    assert whole.sigma.value == pytest.approx(0.25)
    assert sum(label.raw.value for label in whole.labels) == pytest.approx(60 / 80)
    assert sum(label.corrected.value for label in whole.labels) == pytest.approx(1)


def test_turns_that_are_not_judged_are_counted_and_left_out(builder) -> None:
    many(builder, 60)
    builder.sample(60)
    judge_all(builder, truth)
    add(builder, [turn(q, f"next {q}") for q in range(100, 105)])
    label_all(builder, truth)
    whole = rates(builder).whole
    assert (whole.turns, whole.unjudged) == (60, 5)


def test_several_runs_count_by_the_reading(builder) -> None:
    many(builder, 60)
    builder.sample(60)
    for run_index in range(3):
        judge_all(
            builder,
            lambda i, r=run_index: GENUINE if int(i.turn.split()[1]) % 4 <= r else OTHER,
            run_index,
        )
    label_all(builder, truth)
    mean = rates(builder)
    most = rates(builder, reading=Reading.MAJORITY)
    first = rates(builder, runs=1)
    assert mean.reading is Reading.MEAN
    assert mean.whole.raw.value == pytest.approx((0.25 + 0.5 + 0.75) / 3)
    assert most.whole.raw.value == pytest.approx(0.5)
    assert first.whole.raw.value == pytest.approx(0.25)
    assert first.whole.turns == mean.whole.turns == 60
    for found in (mean, most, first):
        assert found.whole.sigma.value == pytest.approx(0.25)


def test_an_item_that_a_run_lacks_is_left_out_and_counted(builder) -> None:
    many(builder, 60)
    builder.sample(50)
    judge_all(builder, truth)
    ids = dict(list(builder.items.items())[:45])
    builder.judge({i: truth(item) for i, item in ids.items()}, run_index=1)
    label_all(builder, truth)
    whole = rates(builder).whole
    assert (whole.turns, whole.unjudged, whole.labelled) == (45, 15, 45)
    genuine = sum(truth(item) == GENUINE for item in ids.values())
    assert whole.raw.value == pytest.approx(genuine / 45)


def test_the_majority_in_numbers_is_the_majority() -> None:
    said = np.random.default_rng(2).integers(0, 4, (400, 5)).astype(np.int8)
    chosen = majority(said, unreadable=3)[:, 0]
    for row, winner in zip(said.tolist(), chosen.tolist(), strict=True):
        labels = [None if code == 3 else str(code) for code in row]
        assert row[majority_run(labels)] == winner


def test_labels_of_silent_repeats_are_no_further_items(builder) -> None:
    many(builder, 60)
    draw_sample(builder.pipeline, builder.labels, n=50, repeats=0.1)
    judge_all(builder, truth)
    label_all(builder, truth)
    assert len(builder.items) == 55
    found = rates(builder)
    assert found.whole.labelled == found.pairing.items == 50


def test_no_labels_no_correction_and_the_refusal_says_what_to_do(builder) -> None:
    many(builder, 40)
    builder.sample(10)
    judge_all(builder, truth)
    with pytest.raises(InputError, match=r"no item is labelled .* calibrate sample"):
        rates(builder)
    assert "no item is labelled" in failed(run(builder, "rates"))


@pytest.fixture
def told(builder) -> StudyBuilder:
    many(builder, 60, model="a-model-with-a-rather-long-name/of-an-organisation")
    add(builder, [turn(q, f"next {q}", perturbation="explicit question") for q in range(200, 220)])
    builder.sample(60)
    judge_all(builder, lambda i: None if i.turn == "next 1" else wrong_on_some(i))
    label_all(builder, truth)
    return builder


def test_the_report_fits_its_width_and_names_every_method(told) -> None:
    result = run(told, "rates")
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert "genuine follow-ups, whole run: " in result.stdout
    assert "correction: post-stratified: the labelled items are a sample" in result.stdout
    assert "1 unreadable verdict" in result.stdout
    assert "explicit question" in result.stdout
    assert "…" not in result.stdout
    assert "I inverted (Rogan and Gladen)" in result.stdout


def test_json_has_every_rate_twice_the_same(told) -> None:
    first, second = run(told, "rates", "--json"), run(told, "rates", "--json")
    assert first.stdout == second.stdout
    found = json.loads(first.stdout)
    assert len(found["cells"]) == 2
    for rate in (found["whole"], *found["cells"]):
        assert [label["category"] for label in rate["labels"]] == list(LABELS)
        assert {"value", "unclipped", "interval", "undefined"} <= rate["corrected"].keys()
        assert rate["method"] in (POST_STRATIFIED, INVERTED)
