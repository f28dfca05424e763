"""Which judges `calibrate compare` takes for the prompts, rubrics and judges that it is given."""

import pytest

from judge.calibration.comparison.contestants import by_prompt, by_rubric, one_each
from judge.calibration.comparison.open_comparison import compare_opened
from judge.calibration.comparison.study_comparison import compare_study
from judge.calibration.comparison.text import study_text
from judge.prompts.prompt_template import PACKAGED, PromptTemplate
from judge.store import JudgmentStore
from rubrics import InputError, load_rubric

V2, V3 = load_rubric("v2"), load_rubric("v3")
LABELS = V3.category_ids


def strict(version: int) -> PromptTemplate:
    text = PACKAGED.text.replace("\n", "\n" * (version + 1), 1)
    return PromptTemplate("strict", version, text)


@pytest.fixture
def study(builder):
    """Twenty labelled items, not judged yet."""
    builder.turns(20)
    builder.sample(20, repeats=0)
    builder.truth = {item: LABELS[k % 7] for k, item in enumerate(builder.items)}
    builder.label("ann", builder.truth)
    return builder


def chosen(study, *prompts: str, judges: tuple[str, ...] = ()) -> list[str]:
    entrants = by_prompt(JudgmentStore(study.pipeline), V3, prompts, judges)
    return [f"{entrant.prompt.template} {entrant.judge.judge.model}" for entrant in entrants]


def test_a_bare_name_is_the_newest_version_that_judged(study):
    """The tenth is newer than the second, though not in the order of letters."""
    study.judge(study.truth)
    for version in (1, 10, 2):
        study.judge(study.truth, template=strict(version))
    assert chosen(study, "followupeval", "strict") == ["followupeval judge-a", "strict@10 judge-a"]
    assert chosen(study, "strict@2", "strict@1") == ["strict@2 judge-a", "strict@1 judge-a"]
    entrants = by_prompt(JudgmentStore(study.pipeline), V3, ["strict", "strict@2"])
    assert [entrant.name for entrant in entrants] == ["strict@10, judge-a", "strict@2, judge-a"]


def test_the_model_that_judged_with_every_prompt_is_taken(study):
    study.judge(study.truth, model="judge-a")
    study.judge(study.truth, model="judge-b")
    study.judge(study.truth, model="judge-b", template=strict(1))
    study.judge(study.truth, model="judge-c", template=strict(1))
    assert chosen(study, "followupeval", "strict") == ["followupeval judge-b", "strict@1 judge-b"]
    named = chosen(study, "followupeval", "strict", judges=("judge-a", "judge-c"))
    assert named == ["followupeval judge-a", "strict@1 judge-c"]


def test_several_models_with_every_prompt_are_a_choice_to_make(study):
    for model in ("judge-a", "judge-b"):
        study.judge(study.truth, model=model)
        study.judge(study.truth, model=model, template=strict(1))
    with pytest.raises(InputError, match=r"2 judges have the prompt 'followupeval'.*judge-b"):
        chosen(study, "followupeval", "strict")
    assert chosen(study, "followupeval", "strict", judges=("judge-b",)) == [
        "followupeval judge-b",
        "strict@1 judge-b",
    ]


def test_other_models_are_remarked_on(study):
    study.judge(study.truth, model="judge-a")
    study.judge(study.truth, model="judge-b", template=strict(1))
    entrants = by_prompt(JudgmentStore(study.pipeline), V3, ["followupeval", "strict"])
    found = compare_study(study.pipeline, study.labels, entrants, seed=1)
    assert found.remarks == (
        "models differ too (judge-a, judge-b): a difference is not the prompts' alone",
    )


def test_two_judges_of_one_rubric_can_be_named(study):
    study.judge(study.truth, model="judge-a")
    study.judge(study.truth, model="judge-b")
    found = compare_opened(study.study, ["v3"], [], judges=["judge-b", "judge-a"], seed=1)
    assert [entrant.name for entrant in found.entrants] == ["v3, judge-b", "v3, judge-a"]
    assert found.remarks[-1].startswith("the split")  # one prompt: the models are what is compared


def test_a_judge_is_named_for_each_rubric_or_for_all(study):
    store = JudgmentStore(study.pipeline)
    for model in ("judge-a", "judge-b"):
        study.judge(study.truth, model=model)
        study.judge(study.truth, model=model, rubric=V2)
    models = {
        judges: [entrant.judge.judge.model for entrant in by_rubric(store, [V2, V3], judges)]
        for judges in ((), ("judge-a",), ("judge-a", "judge-b"))
    }
    assert models == {
        (): ["judge-b", "judge-b"],
        ("judge-a",): ["judge-a", "judge-a"],
        ("judge-a", "judge-b"): ["judge-a", "judge-b"],
    }
    with pytest.raises(InputError, match="found 3 --judge for 2 to compare"):
        one_each(["a", "b", "c"], 2)


def test_the_same_judge_twice_is_refused_and_like_names_are_told_apart(study):
    study.judge(study.truth, temperature=0.0)
    study.judge(study.truth, temperature=1.0)
    store = JudgmentStore(study.pipeline)
    ids = [judge.judge_id.removeprefix("sha256:") for judge in store.judges("v3")]
    with pytest.raises(InputError, match="are the same judge"):
        by_rubric(store, [V3, V3])
    names = [entrant.name for entrant in by_rubric(store, [V3, V3], ids)]
    assert names == [f"v3, judge-a ({digits[:8]})" for digits in ids]


def test_a_hostile_rationale_cannot_act_on_a_terminal(study):
    study.judge(dict.fromkeys(study.truth, LABELS[0]))
    study.judge(study.truth, template=strict(1), rationale="\x1b[2J[red]wrong\u202e")
    entrants = by_prompt(JudgmentStore(study.pipeline), V3, ["followupeval", "strict"])
    found = compare_study(study.pipeline, study.labels, entrants, seed=1)
    assert "wrong" not in study_text(found)
    shown = study_text(found, items=True)
    assert "<U+001B>[2J[red]wrong<U+202E>" in shown
    assert "\x1b" not in shown
    assert "strict@1, judge-a is better" in shown


def test_shared_conversations_have_a_test_of_their_own_beside_mcnemars(builder):
    builder.add([f"Why {k}?" for k in range(30)], per_question=2)
    builder.sample(30, repeats=0)
    truth = {item: LABELS[k % 7] for k, item in enumerate(builder.items)}
    builder.label("ann", truth)
    builder.judge({item: LABELS[-1] if k % 3 else t for k, (item, t) in enumerate(truth.items())})
    builder.judge(truth, template=strict(1))
    entrants = by_prompt(JudgmentStore(builder.pipeline), V3, ["followupeval", "strict"])
    found = compare_study(builder.pipeline, builder.labels, entrants, seed=1)
    (challenge,) = found.comparison.challenges
    right = challenge.right_labels
    assert found.comparison.clustered
    assert right.swapped.discordant < right.test.only_b
    assert right.test.p < right.swapped.p < 0.05  # fewer conversations than items changed
    sigma = challenge.as_dict()["mcnemar"]["sigma"]
    assert sigma["clustered_permutation"]["p"] == challenge.right_sigma.swapped.p
    assert "takes items for independent; exchanging whole" in " ".join(study_text(found).split())
