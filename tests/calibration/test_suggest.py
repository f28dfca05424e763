"""Suggest: what is proposed is checked on other items, by the judge itself, and never adopted."""

import itertools
import json
import re
import shutil
import sys
from dataclasses import replace

import pytest
from calibrate_command import failed, run
from stub_server import Answer, StubServer, completion, error, verdict

from annotator.measures.estimate import estimates
from generation.item import Item, Message
from generation.study import Study
from judge.calibration.causes.cause_store import current_notes, note_cause
from judge.calibration.splits.frozen_split import frozen_split, part_of
from judge.calibration.splits.split import query_hash
from judge.calibration.suggest.guard import Guard
from judge.calibration.suggest.optimizer import Proposal
from judge.calibration.suggest.reflection import proposed_text
from judge.calibration.suggest.suggest import Wish, suggest
from judge.prompts.prompt import ITEM_MARK
from judge.prompts.prompt_template import PACKAGED, PromptTemplate
from judge.prompts.template_store import TemplateStore
from judge.store import JudgmentStore
from rubrics import InputError, load_rubric

ASKS, OTHER = "genuine_followup", "generic_reply"
RULE = "One more than a multiple of three asks."  # what the stub's judge needs to be told
PARAMETERS = {"temperature": 0, "max_completion_tokens": 256, "seed": 0, "response_format": "text"}
BASE = f"""# Task

Label the turn as one of {{% for category in rubric.categories %}}
`{{{{ category.id }}}}`{{{{ "" if loop.last else "," }}}}
{{% endfor %}}

# Verdict

One JSON object with rationale, label and sigma.

{ITEM_MARK}

{{{{ messages }}}}
{{{{ answer }}}}
{{{{ turn }}}}
"""
SHORT = PromptTemplate("short", 1, BASE)  # the packaged one takes longer to render
BETTER = BASE.replace("# Verdict\n", f"{RULE}\n\n# Verdict\n")
MEMO = "It overlooks what the numbers mean."


def turn(i: int) -> str:
    return f"Turn number {i} is about thing {i} of {i}."


def number_of(text: str) -> int:
    return int(re.search(r"Turn number (\d+)", text)[1])


def right_label(i: int) -> str:
    return ASKS if i % 3 == 1 else OTHER


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("judge.server.patience.FIRST_WAIT_SECONDS", 0.001)
    monkeypatch.setattr("judge.server.patience.LONGEST_WAIT_SECONDS", 0.01)
    # Of no matter here, and slow: certificates on loopback, resamples for the intervals of kappa.
    monkeypatch.setattr("ssl.SSLContext.load_verify_locations", lambda *_, **__: None)
    monkeypatch.setitem(estimates.__kwdefaults__, "resamples", 200)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Where the study lies that every test gets a copy of, once the first has built it."""
    return tmp_path_factory.mktemp("built") / "study"


@pytest.fixture
def study(builder, built, quick, tmp_path, monkeypatch):
    """Sixty items; the judge takes them all for generic. The split is frozen, nothing tagged."""
    monkeypatch.chdir(tmp_path)
    if not built.exists():
        first = type(builder)(Study(built))
        first.add([turn(i) for i in range(60)])
        first.sample(repeats=0)
        number = {i: number_of(item.turn) for i, item in first.items.items()}
        first.label("ann", {i: right_label(n) for i, n in number.items()})
        TemplateStore(first.pipeline).put(SHORT)
        first.judge(dict.fromkeys(number, OTHER), template=SHORT, **PARAMETERS)
        assert run(first, "split").exit_code == 0
        first.pipeline.close()
    shutil.copytree(built, tmp_path / "copy")
    copy = type(builder)(Study(tmp_path / "copy"))
    copy.judge_id = JudgmentStore(copy.pipeline).judges("v3")[-1].judge_id
    return copy


def half(study, part: str) -> dict:
    frozen = frozen_split(study.pipeline)
    return {i: item for i, item in study.items.items() if part_of(item, frozen) == part}


def tag(study, cause: str = "judge error", n: int | None = None) -> None:
    """Note the cause of disagreements of dev that have none yet, of all or of the first n."""
    dev = half(study, "dev")
    wrong = [i for i, item in dev.items() if right_label(number_of(item.turn)) == ASKS]
    noted = current_notes(study.pipeline, study.judge_id)
    judge = JudgmentStore(study.pipeline).judge(study.judge_id)
    for item_id in [i for i in wrong if i not in noted][:n]:
        stores = (study.pipeline, study.labels)
        note_cause(*stores, study.judge_id, judge, item_id, causes=[cause], memo=MEMO)


@pytest.fixture(scope="module")
def rubric():
    return load_rubric("v3")


@pytest.fixture
def tagged(study):
    tag(study)
    return study


class Model:
    """A judge that is right of all once it is told the rule; as a reviser, it says `replies`."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)  # of the reflection, the last one again and again
        self.reflections: list[list[dict]] = []
        self.verdicts = 0

    def __call__(self, request) -> Answer:
        messages = request.body["messages"]
        if messages[0]["role"] == "user":
            self.reflections.append(messages)
            return Answer(body=completion(self.reflected()))
        self.verdicts += 1
        return Answer(body=completion(self.judged(messages)))

    def reflected(self) -> str:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def judged(self, messages: list[dict]) -> str:
        told = RULE in messages[0]["content"]
        label = right_label(number_of(messages[1]["content"])) if told else OTHER
        return verdict(label, rationale="By its number.")


def whole(text: str) -> str:
    return f"I add a rule.\n<template>\n{text}</template>\n"


def suggested(study, model, *options: str) -> tuple[dict, str]:
    """What the command printed, as JSON and on stderr."""
    with StubServer(model) as server:
        result = run(study, "suggest", "--base-url", server.url, "--json", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), result.stderr


def stored(study) -> list[str]:
    return list(study.pipeline.conn.iterdump()) + list(study.labels.conn.iterdump())


def test_a_text_that_does_better_on_held_out_items_is_proposed_and_nothing_is_stored(
    tagged, tmp_path
):
    before, files = stored(tagged), {path.name for path in tmp_path.rglob("*")}
    model = Model(whole(BETTER))
    found, said = suggested(tagged, model)
    assert found["text"] == BETTER
    assert (found["improved"], found["proposed_score"]) == (True, 1)
    assert found["base_score"] == 0.5  # as many agreed items as disagreements
    assert (found["base"], found["rubric"], found["unusable"]) == ("short@1", "v3", [])
    assert found["calls"] == model.verdicts <= 150
    held_out = found["validation"]
    assert found["note"] == (
        f"GEPA from {found['tagged']} tagged disagreements of short@1; "
        f"on {held_out} held-out items right {held_out // 2} → {held_out}"
    )
    assert f"next: judge prompt edit short@1 --file FILE --note '{found['note']}' --study" in said
    assert stored(tagged) == before
    stores = {f"{name}.db-{kind}" for name in ("pipeline", "labels") for kind in ("wal", "shm")}
    assert {path.name for path in tmp_path.rglob("*")} - files <= stores


def test_stdout_is_the_bare_text_so_that_it_can_be_written_to_a_file(tagged):
    with StubServer(Model(whole(BETTER))) as server:
        result = run(tagged, "suggest", "--base-url", server.url)
    assert (result.exit_code, result.stdout) == (0, BETTER)


def test_the_same_replies_and_seed_give_the_same_suggestion(tagged):
    twice = [suggested(tagged, Model(whole(BETTER)), "--seed", "7")[0] for _ in range(2)]
    assert twice[0] == twice[1]
    assert twice[0]["seed"] == 7


def test_the_judge_is_asked_with_its_stored_model_and_parameters(tagged):
    with StubServer(Model(whole(BETTER))) as server:
        run(tagged, "suggest", "--model", "reviser", "--base-url", server.url)
        bodies = [request.body for request in server.requests]
    asked = {body["model"]: body for body in bodies}
    assert asked.keys() == {"judge-a", "reviser"}
    sent = {name: value for name, value in PARAMETERS.items() if name != "response_format"}
    assert asked["judge-a"].items() >= sent.items()
    assert asked["judge-a"].keys() == {"model", "messages", *sent}


def test_neither_test_half_nor_validation_part_is_shown_to_the_model_that_revises(tagged):
    model = Model(whole(BASE), whole(BETTER))
    with StubServer(model) as server:
        run(tagged, "suggest", "--base-url", server.url)
        sent = "".join(request.raw.decode() for request in server.requests)
    train, validation = parts(tagged)
    test = half(tagged, "test").values()
    assert len(test) == 30
    assert not [item for item in test if item.turn in sent]
    reflected = json.dumps(model.reflections)
    assert [example for example in train if example.item.turn in reflected]
    assert not [example for example in validation if example.item.turn in reflected]
    assert all(example.item.turn in sent for example in validation)
    assert MEMO in reflected


def test_train_and_validation_share_no_query_and_agreed_items_balance_the_tagged(tagged):
    found = parts(tagged)
    train, validation = ({query_hash(example.item) for example in part} for part in found)
    assert not train & validation
    for part in found:
        assert sum(example.tagged for example in part) * 2 == len(part) >= 4
        for example in part:
            assert example.tagged == (example.label != example.reference)
    assert {example.item_id for part in found for example in part} <= half(tagged, "dev").keys()


def test_a_query_stays_in_its_part_when_more_is_tagged(study):
    tag(study, n=8)
    few = parts(study)
    tag(study, "rubric gap")
    for before, after in zip(few, parts(study), strict=True):
        assert tagged_ids(before) <= tagged_ids(after)
    assert len(tagged_ids(before)) + len(tagged_ids(few[0])) == 8


@pytest.mark.parametrize("cause", ["label slip", "truly ambiguous"])
def test_what_no_prompt_can_mend_is_nothing_to_learn_from(study, cause):
    tag(study, cause)
    assert "found 0 disagreements of dev tagged" in refused(study)


def test_causes_of_the_owners_own_count(study):
    tag(study, "reads too fast")
    assert tagged_ids(parts(study)[0])


def test_without_tags_it_says_how_to_tag(study):
    said = refused(study)
    assert "found 0 disagreements of dev tagged" in said
    assert "expected at least 2 of each" in said
    assert "calibrate cause ITEM --cause 'judge error' --study" in said


def test_without_a_frozen_split_it_says_how_to_freeze(small_study, quick):
    assert "no split is frozen" in refused(small_study)


def test_the_baseline_reads_no_prompt_that_could_be_revised(builder, quick):
    builder.turns(8)
    builder.sample()
    builder.label("ann", dict.fromkeys(builder.items, ASKS))
    builder.judge(dict.fromkeys(builder.items, OTHER), model="lexical")
    run(builder, "split")
    assert "no judge model has judged with any prompt under rubric v3 yet" in refused(builder)


def test_without_gepa_the_extra_is_named(tagged, monkeypatch):
    monkeypatch.setitem(sys.modules, "gepa", None)
    assert "pip install 'followupeval[optimize]'" in refused(tagged)


def test_the_packaged_template_is_named_as_what_to_write_a_new_one_from(study):
    verdicts = dict.fromkeys(study.items, OTHER)
    study.judge_id = study.judge(verdicts, **PARAMETERS)
    study.judge(verdicts, model="judged-last", template=SHORT, **PARAMETERS)
    tag(study)
    better = PACKAGED.text.replace("# Verdict\n", f"{RULE}\n\n# Verdict\n")
    found, said = suggested(study, Model(whole(better)), "--prompt", "followupeval")
    assert (found["base"], found["model"], found["text"]) == ("followupeval", "judge-a", better)
    assert "next: judge prompt new NAME --from followupeval --file FILE --note" in said


def test_a_judge_names_the_template_that_it_read(tagged):
    other = replace(SHORT, name="other", text=f"Hm. {BASE}")
    TemplateStore(tagged.pipeline).put(other)
    tagged.judge(dict.fromkeys(tagged.items, OTHER), model="last", template=other, **PARAMETERS)
    assert "found 0 disagreements of dev tagged" in refused(tagged)  # of the last one
    found, _ = suggested(tagged, Model(whole(BETTER)), "--judge", "judge-a")
    assert (found["base"], found["text"]) == ("short@1", BETTER)


def test_a_template_that_no_judge_has_read_has_no_disagreements(tagged):
    TemplateStore(tagged.pipeline).put(replace(PACKAGED, name="new", version=1, text=BETTER))
    said = refused(tagged, "--prompt", "new")
    assert "no judge model has judged with new@1" in said
    assert "judge --prompt new@1 --model NAME --rubric v3 --on dev --study" in said


def test_a_proposal_without_its_places_leaves_the_base_and_says_why(tagged):
    model = Model(whole(BETTER.replace("{{ turn }}", "")))
    found, said = suggested(tagged, model)
    assert (found["text"], found["improved"]) == (BASE, False)
    assert found["proposed_score"] == found["base_score"] == 0.5
    reason = "found {{turn}} 0 times, expected once"
    assert all(reason in told for told in found["unusable"])
    assert f"{len(found['unusable'])} proposed texts could not be used" in said
    assert "nothing better than short@1 was found" in said
    assert reason in model.reflections[1][-1]["content"]  # the model is told, too
    assert len(model.reflections) < 20  # it gives up


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda text: text.replace(ITEM_MARK, ""), f"found {ITEM_MARK} 0 times"),
        (lambda text: text + "{{ answer }}", "found {{answer}} 2 times"),
        (lambda text: text.replace("{% endfor %}", "", 1), "Unexpected end of template"),
        (lambda text: text + "{% for i in range(9) %}{% endfor %}", "found template code {% for i"),
        (lambda text: text + "{{ 2 ** 99 }}", "found template code {{ 2 ** 99, expected only"),
        (lambda text: text + "{{ item", "unexpected end of template"),
        (lambda text: text + "x" * 4 * len(text), "expected at most 4 times the"),
        (lambda text: text + "\0", "NUL"),
        (lambda text: " ", "the template is blank"),
    ],
)
def test_the_guard_says_why_a_text_is_no_template(rubric, spoil, reason):
    guard = Guard(SHORT, rubric, (), ())
    guard.admit(BETTER)
    with pytest.raises(InputError, match=re.escape(reason)):
        guard.admit(spoil(BETTER))


def test_a_template_may_be_spaced_otherwise_and_leave_parts_out(rubric):
    text = PACKAGED.text.replace("{{ turn }}", "{{turn}}").replace("{% if sh", "{%- if  sh")
    start, end = text.index("{% if examples %}"), text.index("{%- if  shots %}")
    admitted = Guard(PACKAGED, rubric, (), ()).admit(text[:start] + text[end:])
    assert "{{turn}}" in admitted.text
    assert "# Examples" not in admitted.text


def test_what_the_base_quotes_already_a_proposal_may_quote_too(rubric):
    item = Item((Message("user", "1 + 1?"),), "2", "Please tell me why that is so.")
    held_out = (("a", item),)
    quoting = replace(SHORT, text=BASE + item.turn)
    Guard(quoting, rubric, (), held_out).admit(quoting.text + RULE)
    with pytest.raises(InputError, match="quotes an item of the validation part"):
        Guard(SHORT, rubric, (), held_out).admit(quoting.text)


def test_the_model_may_mend_its_text_once_it_is_told(tagged):
    found, _ = suggested(tagged, Model("I would add a rule.", whole(BETTER)))
    assert (found["improved"], len(found["unusable"])) == (True, 1)
    assert "found no text between <template> and </template>" in found["unusable"][0]


@pytest.mark.parametrize("held_out", ["test split", "validation part"])
def test_a_proposal_that_quotes_what_it_is_checked_on_is_refused_without_repeating_it(
    tagged, held_out
):
    validation = [example.item for example in parts(tagged)[1]]
    items = list(half(tagged, "test").values()) if held_out == "test split" else validation
    quoting = BETTER.replace("# Verdict\n", f"E.g. {items[0].turn.upper()}!\n\n# Verdict\n")
    found, said = suggested(tagged, Model(whole(quoting)))
    assert (found["improved"], found["text"]) == (False, BASE)
    (reason,) = set(found["unusable"])
    assert f"it quotes an item of the {held_out}" in reason
    assert items[0].turn.lower() not in (reason + said).lower()


def test_a_text_that_cannot_be_used_is_wrong_on_all_and_takes_no_verdict(tagged):
    looker = Looker()
    with StubServer(Model("")) as server:
        suggest(tagged.study, looker, Wish(base_url=server.url), print)
        outcomes = looker.evaluate("no template", looker.train)
        assert [(o.right, o.asked) for o in outcomes] == [(False, False)] * len(looker.train)
        assert all("found" in outcome.problem for outcome in outcomes)
        assert server.requests == []


def test_a_verdict_is_asked_for_once_however_often_it_is_needed(tagged):
    looker, model = Looker(), Model("")
    with StubServer(model) as server:
        suggest(tagged.study, looker, Wish(base_url=server.url), print)
        doubled = [*looker.train, *looker.train]
        first, second = (looker.evaluate(BASE, doubled) for _ in range(2))
    asked = len(looker.train)
    assert sum(o.asked for o in first) == asked == model.verdicts
    assert not any(o.asked for o in second)
    assert [o.right for o in first] == [o.right for o in second]


def test_a_text_that_breaks_what_was_right_is_not_proposed(tagged):
    """It is right of all tagged items, which alone would look like a gain."""

    class Contrary(Model):
        def judged(self, messages):
            return verdict(ASKS if RULE in messages[0]["content"] else OTHER)

    found, said = suggested(tagged, Contrary(whole(BETTER)))
    assert (found["improved"], found["text"]) == (False, BASE)
    assert "nothing better than short@1 was found" in said
    assert "next: tag more disagreements: calibrate cause --study" in said


def test_the_budget_is_never_exceeded_and_one_too_small_says_what_it_takes(tagged):
    """Each reply is a new text that is a little better, so that the search goes on."""

    class Endless(Model):
        def reflected(self):
            n = len(self.reflections)
            return whole(BETTER.replace(RULE, f"Rule {n}: odd ones below {n * 8} ask."))

        def judged(self, messages):
            told = re.search(r"ask\w* below (\d+)|below (\d+) ask", messages[0]["content"])
            number = number_of(messages[1]["content"])
            known = told and number < int(told[1] or told[2])
            return verdict(right_label(number) if known else OTHER)

    least = 2 * len(parts(tagged)[1]) + 8
    for calls in (least, least + 30):
        model = Endless()
        found, _ = suggested(tagged, model, "--calls", str(calls))
        assert found["calls"] == model.verdicts <= calls
    said = refused(tagged, "--calls", str(least - 1))
    assert f"found a budget of {least - 1} verdicts, expected at least {least}" in said


def test_a_server_that_is_down_is_one_line(tagged):
    with StubServer() as server:
        url = server.url
    said = refused(tagged, "--base-url", url)
    assert f"cannot reach {url}" in said
    assert "verdicts so far are kept" not in said


def test_a_model_that_cannot_revise_ends_the_search_in_one_line(tagged):
    class Missing(Model):
        def __call__(self, request):
            reviser = request.body["model"] == "reviser"
            return error(404, "no such model") if reviser else super().__call__(request)

    model = Missing("")
    with StubServer(model) as server:
        said = refused(tagged, "--base-url", server.url, "--model", "reviser")
    assert "answered 404 for model reviser: no such model" in said
    assert model.verdicts <= len(parts(tagged)[1]) + 4  # it ended at the first revision


def test_a_request_that_is_too_long_to_revise_is_told_and_is_no_failure(tagged):
    class Short(Model):
        def __call__(self, request):
            if request.body["messages"][0]["role"] == "user":
                return error(400, "maximum context length is 9", code="context_length_exceeded")
            return super().__call__(request)

    found, _ = suggested(tagged, Short(""))
    assert not found["improved"]
    assert "do not fit the model's context" in found["unusable"][0]


def test_garbage_in_the_middle_is_a_wrong_outcome_or_no_proposal(tagged):
    garbage = itertools.cycle(
        [
            completion("no verdict at all"),
            completion(None),
            completion([{"type": "image"}]),
            completion("{" * 500, finish="length"),
            {"choices": []},
            {"choices": [17]},
        ]
    )

    class Flaky(Model):
        seen = 0

        def __call__(self, request):
            self.seen += 1
            answer = super().__call__(request)
            return Answer(body=next(garbage)) if self.seen % 4 == 3 else answer

    found, _ = suggested(tagged, Flaky(whole(BETTER)))
    assert 0 < found["base_score"] < found["proposed_score"] < 1
    assert found["text"] == BETTER


def test_a_bound_on_replies_goes_by_the_name_that_the_server_knows(tagged):
    class Older(Model):
        def __call__(self, request):
            of_the_reviser = request.body["messages"][0]["role"] == "user"
            if of_the_reviser and "max_completion_tokens" in request.body:
                return error(400, "unknown field max_completion_tokens")
            return super().__call__(request)

    with StubServer(Older(whole(BETTER))) as server:
        url = ("--base-url", server.url)
        assert run(tagged, "suggest", *url, "--max-tokens", "5000").exit_code == 0
        bounds = [request.body.get("max_tokens") for request in server.requests]
    assert set(bounds) == {None, 5000}


def test_an_answer_that_is_none_is_asked_for_again(tagged):
    class Stumbling(Model):
        seen = 0

        def __call__(self, request):
            self.seen += 1
            if self.seen % 5 == 2:
                return Answer(body="<html>busy</html>")
            return super().__call__(request)

    found, _ = suggested(tagged, Stumbling(whole(BETTER)))
    assert found["improved"]


def test_what_a_server_takes_less_than_the_judges_parameters_is_told(tagged):
    class Picky(Model):
        refusals = 0

        def __call__(self, request):
            if "seed" in request.body:
                self.refusals += 1
                return error(400, "seed is not supported", param="seed")
            return super().__call__(request)

    model = Picky(whole(BETTER))
    found, said = suggested(tagged, model)
    assert (found["improved"], model.refusals) == (True, 1)
    assert said.count("the server of judge-a takes less than was asked: seed 0 was not taken") == 1


@pytest.mark.parametrize(
    "reply",
    [
        "<template>\n# T\n</template>",
        "<think><template>draft</template></think>Here:\n<template># T</template> Done.",
        "<template>\n```markdown\n# T\n```\n</template>",
    ],
)
def test_a_template_is_found_in_a_reply(reply):
    assert proposed_text(reply) == "# T\n"


@pytest.mark.parametrize("reply", ["", "# T", "<template>\n# T", "</template><template>"])
def test_half_a_template_is_none(reply):
    with pytest.raises(InputError, match="expected the whole template"):
        proposed_text(reply)


class Looker:
    """An optimizer that only looks at what it is given."""

    def propose(self, base_text, train, validation, evaluate, reflect, budget, seed):
        self.train, self.validation, self.evaluate = train, validation, evaluate
        return Proposal(base_text, 0, 0, 0, 0)


def parts(study) -> tuple:
    looker = Looker()
    suggest(study.study, looker, Wish(base_url="http://127.0.0.1:9/v1"), print)
    return looker.train, looker.validation


def tagged_ids(part) -> set[str]:
    return {example.item_id for example in part if example.tagged}


def refused(study, *options: str) -> str:
    url = () if "--base-url" in options else ("--base-url", "http://127.0.0.1:9/v1")
    return failed(run(study, "suggest", *url, *options))
