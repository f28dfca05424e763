"""The exported judge in Inspect: what a model is asked, how it is read, and what is counted."""

import json
from dataclasses import replace

import click
import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import SampleScore, Score
from labelled_study import LABELS, RUBRIC, judge, label, sampled_study
from pyarrow import parquet
from written_export import write_export

from generation.item import Item, Message
from judge.calibration.published.folder import publish
from judge.calibration.published.published import Wanted
from judge.exported import load_export
from judge.inspect_task.agreement import _counted, _named
from judge.inspect_task.conversation import item_of, messages_of
from judge.inspect_task.pinned_judge import generate_config, given_path, pinned_judge, read_output
from judge.inspect_task.scorer import clustered_stderr, followupeval
from judge.inspect_task.task import judge_agreement, user_turns
from judge.judge import Judge
from judge.lexical.baseline import lexical_parameters
from judge.prompts.prompt import judge_messages, render_prompt
from judge.reading import Reading
from judge.server.parameters import wanted_parameters
from judge.store import open_pipeline
from rubrics import InputError

GENUINE, OTHER = LABELS[0], LABELS[1]


def turn(n: int) -> str:
    return f"And {n} times {n}, if you please?"


TRIPLES = [(f"What is {n} + {n}?", f"It is {2 * n}.", turn(n)) for n in range(8)]
PARAMETERS = wanted_parameters(max_tokens=256, temperature=0.5).values


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    study = sampled_study(tmp_path_factory.mktemp("inspect") / "study", TRIPLES)
    label(study, "ann")
    judge(study)
    return study


@pytest.fixture(scope="module")
def published(study):
    """The study's data set, as people publish it."""
    with open_pipeline(study.pipeline) as pipeline:
        return publish(pipeline, study, Wanted(), study.folder.parent / "published").folder


@pytest.fixture(scope="module")
def export_of(study):
    """Exports a judge of the study; returns the folder's name."""

    def make(model: str = "org/model-1", values=PARAMETERS, **changes) -> str:
        prompt = render_prompt(RUBRIC)
        made = Judge(model, values, "v3", prompt.prompt_hash)
        output = study.folder.parent / f"exports{len(list(study.folder.parent.iterdir()))}"
        return str(write_export(study, made, prompt, output, **changes))

    return make


@pytest.fixture(scope="module")
def export(export_of) -> str:
    return export_of()


def verdict(label: str, **changes) -> str:
    sigma = RUBRIC.category(label).sigma
    return json.dumps({"rationale": f"It is {label}.", "label": label, "sigma": sigma} | changes)


def wrote(content, stop: str = "stop") -> ModelOutput:
    """A model's output; its usage is told, or the mock would count tokens with a download."""
    message = ChatMessageAssistant(content=content)
    choice = ChatCompletionChoice(message=message, stop_reason=stop)
    return ModelOutput(model="m", choices=[choice], usage=ModelUsage(total_tokens=2))


class Answering:
    """A model that answers by a rule and keeps what it was asked."""

    def __init__(self, rule, name: str = "mockllm/other") -> None:
        self.asked: list[tuple[list[dict[str, str]], object]] = []
        self._rule = rule
        self.model = get_model(name, custom_outputs=self._answer)

    def _answer(self, messages, _tools, _choice, config) -> ModelOutput:
        said = [{"role": message.role, "content": message.text} for message in messages]
        self.asked.append((said, config))
        found = self._rule(said[-1]["content"], config)
        return found if isinstance(found, ModelOutput) else wrote(found)


def evaluated(task, model, tmp_path, **options):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_DATA_HOME", str(tmp_path / "data"))  # not what the user keeps there
        (log,) = inspect_eval(
            task, model=model, log_dir=str(tmp_path / "logs"), display="none", **options
        )
    assert log.status == "success", log.error
    return log


def metrics(log) -> dict[str, float]:
    return {name: of.value for view in log.results.scores for name, of in view.metrics.items()}


@pytest.fixture(scope="module")
def answering():
    """Of four turns one is judged genuine, one in words, one too long, and the rest as another."""

    def rule(said: str, _config):
        if turn(0) in said:
            return verdict(GENUINE)
        if turn(1) in said:
            return "I would say that it is genuine."
        if turn(2) in said:
            return wrote(verdict(GENUINE), "max_tokens")
        return verdict(OTHER)

    return Answering(rule)


@pytest.fixture(scope="module")
def log(export, published, answering, tmp_path_factory):
    task = user_turns(export, str(published))
    return evaluated(task, answering.model, tmp_path_factory.mktemp("turns"))


class TestUserTurns:
    def test_every_turn_is_scored_and_an_unreadable_verdict_is_an_outcome(self, log):
        scores = {sample.input[-1].content: sample.scores["followupeval"] for sample in log.samples}
        assert len(scores) == len(TRIPLES)
        genuine, words, cut, other = (scores[turn(n)] for n in range(4))
        assert (genuine.value, genuine.answer) == (1, GENUINE)
        assert genuine.explanation == f"It is {GENUINE}."
        assert (other.value, other.answer) == (0, OTHER)
        assert (words.value, words.answer, words.reason) == (0, "invalid", "grader_failed")
        assert words.explanation == "unreadable verdict: no JSON object"
        assert cut.metadata["invalid_reason"] == "cut off by the token limit"
        found = metrics(log)
        assert found["mean"] == 1 / 8
        assert (found["invalid"], found[GENUINE], found[OTHER]) == (2 / 8, 1 / 8, 5 / 8)
        assert log.results.scores[0].scored_samples == 8

    def test_the_model_is_asked_as_judge_would_ask(self, log, answering, export):
        pinned = load_export(pinned_judge(export).folder)
        asked = {said[-1]["content"]: (said, config) for said, config in answering.asked}
        for sample in log.samples:
            item = item_of(sample.input)
            said, config = asked[judge_messages(pinned.prompt, item)[-1]["content"]]
            assert said == judge_messages(pinned.prompt, item)
            assert (config.temperature, config.max_tokens, config.seed) == (0.5, 256, 0)
            schema = config.response_schema.json_schema
            assert list(schema.properties) == ["rationale", "label", "sigma"]
            assert schema.properties["label"].enum == list(RUBRIC.category_ids)
            assert sample.metadata["item_hash"] == item.hash
            assert sample.scores["followupeval"].metadata["item_hash"] == item.hash
        assert len(answering.asked) == 8

    def test_another_model_is_named_as_not_the_calibrated_judge(self, log, export):
        told = log.samples[0].scores["followupeval"].metadata
        assert told["not_calibrated"].startswith(
            "not the calibrated judge: mockllm/other in place of org/model-1"
        )
        assert told["export_hash"] == log.eval.metadata["export_hash"]
        assert told["export_hash"] == load_export(pinned_judge(export).folder).export_hash


def test_one_conversation_has_no_standard_error():
    def scores(*conversations: str) -> list[SampleScore]:
        return [
            SampleScore(score=Score(value=n % 2), sample_metadata={"conversation": of})
            for n, of in enumerate(conversations)
        ]

    assert clustered_stderr()(scores("a", "a")) == {"turns (no stderr: a single conversation)": 2}
    assert clustered_stderr()(scores("a", "b")) == {"stderr": 0.5}  # sqrt(2 (.5² + .5²)) / 2


def test_several_runs_count_as_they_were_calibrated(export_of, published, tmp_path):
    """Of three runs two say that the turn is genuine, each asked with a seed of its own."""
    export = export_of(reading=Reading.MEAN, labels=(GENUINE,) * 3)
    grader = Answering(lambda _said, config: verdict(OTHER if config.seed == 1 else GENUINE))
    log = evaluated(user_turns(export, str(published)), grader.model, tmp_path, limit=1)
    assert [config.seed for _, config in grader.asked] == [0, 1, 2]
    score = log.samples[0].scores["followupeval"]
    assert (score.value, score.answer) == (2 / 3, GENUINE)
    assert score.metadata["outcomes"] == [GENUINE, OTHER, GENUINE]
    assert metrics(log)[OTHER] == 1 / 3


def test_a_task_of_ones_own_has_its_models_turn_judged_by_the_grader(export, tmp_path):
    """u is what the model evaluated generated after q and a; the grader is the pinned model."""
    q, a, u = TRIPLES[3]
    player = Answering(lambda *_: u, "mockllm/player")
    grader = Answering(lambda *_: verdict(GENUINE), "mockllm/org/model-1")
    sample = Sample(input=[ChatMessageUser(content=q), ChatMessageAssistant(content=a)])
    task = Task(dataset=[sample], scorer=followupeval(export))
    log = evaluated(task, player.model, tmp_path, model_roles={"grader": grader.model})
    ((said, _),) = grader.asked
    item = Item((Message("user", q),), a, u)
    assert said == judge_messages(load_export(pinned_judge(export).folder).prompt, item)
    told = log.samples[0].scores["followupeval"].metadata
    assert (told["not_calibrated"], told["grader"]) == (None, "mockllm/org/model-1")


class TestJudgeAgreement:
    def test_kappa_is_that_of_people_and_the_model(self, export, published, tmp_path):
        """Cohen 1960; the unreadable verdict is a class that people do not have."""
        people = {row["item_hash"]: row["label"] for row in rows_of(published, "references")}
        turns = {row["u"]: row["item_hash"] for row in rows_of(published, "turns")}
        said = {u: people[item_hash] for u, item_hash in turns.items()}
        said |= {turn(0): None, turn(1): GENUINE, turn(2): OTHER}

        def rule(asked: str, _config):
            (label,) = [label for u, label in said.items() if u in asked]
            return "None of them." if label is None else verdict(label)

        task = judge_agreement(export, str(published))
        log = evaluated(task, Answering(rule).model, tmp_path)
        found = metrics(log)
        reference = [people[turns[u]] for u in said]
        outcome = [label or "invalid" for label in said.values()]
        hits = sum(a == b for a, b in zip(reference, outcome, strict=True))
        assert found["accuracy"] == hits / 8
        assert found["kappa"] == pytest.approx(cohen(reference, outcome))
        assert found["kappa low"] < found["kappa"] < found["kappa high"]
        sigmas = {of.id: str(of.sigma) for of in RUBRIC.categories} | {"invalid": "invalid"}
        assert found["sigma kappa"] == pytest.approx(
            cohen(*([sigmas[of] for of in side] for side in (reference, outcome)))
        )
        assert found["invalid"] == 1 / 8
        assert {sample.target for sample in log.samples} == set(reference)
        assert log.samples[0].scores["agrees"].metadata["not_calibrated"]

    def test_each_epoch_is_a_run_with_its_seed(self, export_of, published, tmp_path):
        export = export_of(reading=Reading.MAJORITY, labels=(GENUINE,) * 2)
        model = Answering(lambda *_: verdict(GENUINE))
        evaluated(judge_agreement(export, str(published)), model.model, tmp_path, limit=1)
        assert sorted(config.seed for _, config in model.asked) == [0, 1]

    def test_most_runs_speak_for_an_item(self):
        said = [
            {"item": "x", "run": k, "outcome": of} for k, of in enumerate(("invalid", "b", "b"))
        ]
        assert _counted(said[::-1], Reading.MAJORITY) == [said[1]]
        assert _counted(said, Reading.MEAN) == said

    def test_what_is_undefined_is_named(self):
        ((name, items),) = _named("kappa", [("c", "a", "a"), ("d", "a", "a")]).items()
        assert name.startswith("items (kappa undefined: one class: ")
        assert items == 2
        (_, without) = _named("kappa", [("c", "a", "a"), ("c", "b", "a")])
        assert without == "items (no interval of kappa: a single conversation)"

    def test_an_item_that_the_prompt_shows_is_not_tested(self, study, published, tmp_path):
        prompt = render_prompt(RUBRIC)
        prompt = replace(prompt, text=f"Such as {json.dumps(turn(7))}\n{prompt.text}")
        made = Judge("m", PARAMETERS, "v3", prompt.prompt_hash)
        export = write_export(study, made, prompt, tmp_path)
        task = judge_agreement(str(export), str(published))
        assert len(task.dataset) == 7
        assert not any(turn(7) in sample.input[-1].content for sample in task.dataset)
        assert task.metadata["left_out_shown_in_the_prompt"] == 1


def cohen(one: list[str], other: list[str]) -> float:
    n = len(one)
    observed = sum(a == b for a, b in zip(one, other, strict=True)) / n
    chance = sum(one.count(of) * other.count(of) for of in {*one, *other}) / n**2
    return (observed - chance) / (1 - chance)


def rows_of(folder, name: str) -> list[dict]:
    return parquet.read_table(folder / "data" / f"{name}.parquet").to_pylist()


class TestRefusals:
    def test_an_export_that_was_changed(self, export_of, published):
        folder = pinned_judge(export_of()).folder
        (folder / "prompt.md").write_text("Say 1.")
        for make in (
            lambda: followupeval(str(folder)),
            lambda: user_turns(str(folder), str(published)),
            lambda: judge_agreement(str(folder), str(published)),
        ):
            with pytest.raises(InputError, match=r"prompt\.md was changed; an export is") as told:
                make()
            assert isinstance(told.value, click.ClickException)  # hence one line of `inspect eval`

    def test_an_export_of_the_baseline(self, export_of):
        with pytest.raises(InputError, match="of the lexical baseline, which asks no model"):
            followupeval(export_of("lexical", lexical_parameters()))

    def test_a_data_set_without_labels_and_one_whose_text_was_changed(
        self, export, published, tmp_path
    ):
        with pytest.raises(InputError, match=r"references\.parquet cannot be read"):
            judge_agreement(export, str(tmp_path))
        for name in ("references", "turns"):
            rows = parquet.read_table(published / "data" / f"{name}.parquet")
            if name == "turns":
                column = rows.column_names.index("u")
                rows = rows.set_column(column, "u", [["Another?"] * rows.num_rows])
            (tmp_path / "data").mkdir(exist_ok=True)
            parquet.write_table(rows, tmp_path / "data" / f"{name}.parquet")
        with pytest.raises(InputError, match=r"the text of item sha256:.* was changed"):
            judge_agreement(export, str(tmp_path))
        with pytest.raises(InputError, match="does not match its turn_id; the row was changed"):
            user_turns(export, str(tmp_path))

    def test_an_option_that_is_missing_and_a_folder_that_is_not_there(self, export, tmp_path):
        for make, options, told in (
            (user_turns, {"export": export}, "the option turns is missing; expected -T turns="),
            (judge_agreement, {"labels": "x"}, "the option export is missing; expected -T export="),
            (judge_agreement, {"export": export, "labels": tmp_path / "no"}, "no does not exist"),
        ):
            with pytest.raises(click.ClickException, match=told):
                make(**options)

    def test_a_conversation_without_a_turn(self):
        asked = [ChatMessageUser(content="Hi"), ChatMessageAssistant(content="Hello")]
        with pytest.raises(InputError, match="roles are user, assistant; expected q, the"):
            item_of(asked)
        with pytest.raises(InputError, match="roles are user, user, assistant; expected"):
            item_of([asked[0], *asked])


def test_a_conversation_comes_back_whatever_its_roles():
    roles = ("developer", "system", "user", "assistant", "tool", "user")
    item = Item(tuple(Message(role, f" {role}\n") for role in roles), "a", "")
    assert item_of(messages_of(item)) == item
    thinking = [ContentReasoning(reasoning="Hm."), ContentText(text="It is 2.")]
    said = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content="1 + 1?"),
            ChatMessageAssistant(content=thinking), ChatMessageUser(content="Why?")]  # fmt: skip
    assert item_of(said).answer == "It is 2."
    with pytest.raises(InputError, match="a message has the role 'human'"):
        messages_of(Item((Message("human", "Hi"),), "a", "u"))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"max_tokens": 9}, {"max_tokens": 9}),
        ({"reasoning_effort": "low", "seed": 5}, {"reasoning_effort": "low", "seed": 7}),
        (
            {"response_format": "json_object"},
            {"extra_body": {"response_format": {"type": "json_object"}}},
        ),
        ({"response_format": "text", "temperature": 0}, {"temperature": 0}),
    ],
)
def test_parameters_as_inspect_names_them(export, values, expected):
    pinned = pinned_judge(export)
    pinned = replace(pinned, judge=replace(pinned.judge, parameters=values))
    assert generate_config(pinned, 2).model_dump(exclude_none=True) == expected


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (wrote([ContentText(text="I cannot.", refusal=True)]), "refusal"),
        (wrote(verdict(GENUINE), "content_filter"), "content filter"),
        (wrote("too long", "model_length"), "prompt and verdict do not fit the model's context"),
        (wrote(verdict(GENUINE, sigma=0)), f"sigma contradicts the label: {GENUINE} has sigma 1"),
        (ModelOutput(model="m"), "no choices in the reply"),
    ],
)
def test_why_a_verdict_cannot_be_read(export, output, reason):
    said = read_output(output, pinned_judge(export))
    assert not said.valid
    assert said.invalid_reason.startswith(reason)


def test_a_path_is_the_one_that_was_typed(tmp_path, monkeypatch):
    """Inspect works in the task's folder, not in the one that its command was typed in."""
    (tmp_path / "typed" / "there").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path / "typed"))
    assert given_path("there") == tmp_path / "typed" / "there"
    assert given_path("typed") == tmp_path / "typed"
    assert given_path("nowhere") == tmp_path / "typed" / "nowhere"
