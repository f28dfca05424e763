"""The numbers of arXiv 2604.02315 as they are packaged, and how they are found."""

import pytest

from generation.datasets.open_dataset import KNOWN_SOURCES
from generation.perturbation import ASK, DROP_LAST, TRUNCATE, UNPERTURBED
from generation.plan.plan import HELD_OUT
from judge.calibration.main_run.model_facts import BASE, RL, SFT
from judge.calibration.main_run.reported.reported import (
    NOTHING,
    Numbers,
    Place,
    Reported,
    reported_by,
)
from rubrics import InputError


@pytest.fixture(scope="module")
def paper() -> Reported:
    return reported_by("paper")


def test_each_table_has_all_of_its_numbers(paper):
    """6 models on 3 data sets; 6 sweeps of 4 and 5 at T = 1; 6 and 5; 3 stages on 5 data sets."""
    sizes = {"accuracy": 18, "temperature": 29, "perturbation": 11, "checkpoints": 15}
    assert {name: len(paper.places(name)) for name in sizes} == sizes
    assert len(paper.numbers) == sum(sizes.values())


def test_numbers_are_shares_of_what_we_name_alike(paper):
    for place, numbers in paper.numbers.items():
        values = (numbers.accuracy, numbers.rate, numbers.before, numbers.changed)
        given = [value for value in values if value is not None]
        assert given
        assert all(0 <= value <= 1 for value in given)
        assert place.dataset in KNOWN_SOURCES
        assert place.perturbation in (UNPERTURBED, TRUNCATE, ASK)
        assert place.stage in (None, BASE, SFT, RL)


@pytest.mark.parametrize(
    ("place", "numbers"),
    [
        (Place("accuracy", "gsm8k", "Qwen3.5-397B-A17B"), Numbers(0.968, 0.008)),
        (Place("accuracy", "gpqa_diamond", "gpt-oss-20b"), Numbers(0.378, 0.167)),
        (Place("accuracy", "ifbench", "GLM-4.7"), Numbers(0.4, 0.047)),
        (Place("temperature", "gsm8k", "GLM-4.7", temperature=0.7), Numbers(rate=0.077)),
        (Place("temperature", "ifbench", "Qwen3.5-0.8B", temperature=1.0), Numbers(rate=0.277)),
        (
            Place("perturbation", "gpqa_diamond", "gpt-oss-120b", perturbation=TRUNCATE),
            Numbers(before=0.207, rate=0.657),
        ),
        (
            Place("perturbation", "ifbench", "gpt-oss-120b", perturbation=ASK),
            Numbers(before=0.013, rate=0.257, changed=0.99),
        ),
        (Place("checkpoints", "gsm8k", "Qwen3.5-2B", stage=RL), Numbers(accuracy=0.674)),
        (Place("checkpoints", "coval", "Qwen3.5-2B", HELD_OUT, stage=SFT), Numbers(rate=0.452)),
    ],
)
def test_a_number_is_found_where_it_is_reported(paper, place, numbers):
    assert paper.at(place) == numbers


def test_tables_that_differ_on_one_setting_keep_their_own_numbers(paper):
    """As the paper has them, not as they would agree."""
    swept = paper.at(Place("temperature", "gpqa_diamond", "Qwen3.5-27B"))
    assert (paper.at(Place("accuracy", "gpqa_diamond", "Qwen3.5-27B")).rate, swept.rate) == (
        0.01,
        0.015,
    )
    cut = paper.at(Place("perturbation", "gpqa_diamond", "GLM-4.7", perturbation=TRUNCATE))
    assert (paper.at(Place("accuracy", "gpqa_diamond", "GLM-4.7")).rate, cut.before) == (
        0.015,
        0.02,
    )
    asked = paper.at(Place("perturbation", "ifbench", "Qwen3.5-397B-A17B", perturbation=ASK))
    assert (paper.at(Place("accuracy", "ifbench", "Qwen3.5-397B-A17B")).rate, asked.before) == (
        0.097,
        0.077,
    )


@pytest.mark.parametrize("name", ["openai/gpt-oss-20b", "models/GPT-OSS-20B/", "gpt-oss-20b"])
def test_a_models_owner_folder_and_case_are_no_part_of_its_name(paper, name):
    assert paper.at(Place("accuracy", "gsm8k", name)).accuracy == 0.786


def test_truncation_is_reported_without_saying_which_end_was_cut(paper):
    for perturbation in (TRUNCATE, DROP_LAST):
        place = Place("perturbation", "gsm8k", "GLM-4.7", perturbation=perturbation)
        assert paper.at(place).rate == 0.55


@pytest.mark.parametrize(
    "place",
    [
        Place("accuracy", "gsm8k", "GLM-4.6"),
        Place("accuracy", "gsm8k", "GLM-4.7", HELD_OUT),
        Place("temperature", "gsm8k", "GLM-4.7", temperature=0.5),
        Place("temperature", "gsm8k", "GLM-4.7", temperature=None),
        Place("checkpoints", "gsm8k", "Qwen3.5-2B"),
        Place("accuracy", "gsm8k", ""),
    ],
)
def test_nothing_is_reported_elsewhere(paper, place):
    assert paper.at(place) == NOTHING


def test_the_source_is_named_and_others_are_refused(paper):
    assert paper.source == "arXiv 2604.02315"
    with pytest.raises(InputError, match=r"no reported numbers named '\.\./paper'; expected paper"):
        reported_by("../paper")
