"""No prompt that quotes an item of the test split: caught wherever and however it is quoted."""

import time
from dataclasses import replace

import pytest
from click.testing import CliRunner
from hash_halves import split_of

from annotator.labels import open_labels
from generation.example_bundle import add_example
from generation.item import Item, Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.leak import labelling_items, leaked_items, refuse_leak
from judge.calibration.quotation import Quoting, words
from judge.calibration.sampling.sample import draw_sample
from judge.prompts.cli import prompt as commands
from judge.prompts.prompt import JudgePrompt, render_prompt
from judge.prompts.prompt_template import PACKAGED, Shot
from judge.store import open_pipeline
from rubrics import InputError, available_versions, load_rubric

LONG_QUERY = (
    "Natalia sold clips to forty-eight of her friends in April, and then she sold half as many "
    "clips in May. How many did she sell altogether?"
)
ANSWER = "She sold 48 in April\nand 24 in May, which makes 72 altogether in those two months."
TURN = "Why is it half of forty-eight?"


def of_split(wanted: str, query: str = LONG_QUERY) -> Item:
    """An item of this half; a sign after the query moves it, and quoting does not mind the sign."""
    for sign in range(100):
        item = Item((Message("user", query + "!" * sign),), ANSWER, TURN)
        if split_of(item) == wanted:
            return item
    raise AssertionError("no sign puts it there")


def prompt(text: str, name: str = "strict@2") -> JudgePrompt:
    """A judge prompt with this text in its static part."""
    template = replace(PACKAGED, text=f"{{% raw %}}{text}{{% endraw %}}\n\n{PACKAGED.text}")
    return replace(render_prompt(load_rubric("v3"), template), template=name)


def hold(builder, *items: Item) -> None:
    """Put these items into the study and its sample."""
    turns = [
        Turn(Answer(Conversation("test", "1", item.messages), item.answer), item.turn, "held-out")
        for item in items
    ]
    TurnStore(builder.pipeline).add_turns(Run("import", {"n": len(items)}), turns)
    builder.sample()


def leaks_in(pipeline, prompt: JudgePrompt) -> list:
    return list(leaked_items(Quoting(prompt.text), labelling_items(pipeline)))


@pytest.fixture
def pipeline(builder):
    hold(builder, of_split("test"))
    return builder.pipeline


@pytest.mark.parametrize(
    ("quoted", "part"),
    [
        (LONG_QUERY, "query"),
        ("An example: " + " ".join(LONG_QUERY.split()[3:15]), "query"),
        (ANSWER, "answer"),
        (ANSWER.replace("\n", "\\n"), "answer"),
        (f"u was “{TURN.upper()}”", "turn"),
        ("why is\nit – **half** of\n> forty-eight", "turn"),
        ("Why is it ha\u00adlf of for\u200bty-eight", "turn"),
    ],
)
def test_a_quote_is_caught_however_it_is_laid_out(pipeline, quoted, part):
    with pytest.raises(InputError, match=f"quotes the {part} of item [0-9a-f]{{12}}") as refused:
        refuse_leak(pipeline, prompt(quoted), " --study s")
    assert "judge prompt strict@2 × rubric v3" in str(refused.value)
    assert str(refused.value).endswith(
        "take it out: judge prompt edit strict --note TEXT --file FILE.md --study s"
    )


def test_the_refusal_shows_the_words_and_counts_the_items(builder):
    item = of_split("test")
    hold(builder, item, replace(item, turn="More, please, of these sums."))
    with pytest.raises(InputError, match=r"and 1 more item\): 'natalia sold clips to forty eight"):
        refuse_leak(builder.pipeline, prompt(LONG_QUERY))


@pytest.mark.parametrize(
    "free",
    [
        " ".join(LONG_QUERY.split()[3:13]),  # 11 words of a longer text
        "Why is it half of fifty-eight?",
        "Half of it is why, forty-eight",
    ],
)
def test_less_than_a_quote_passes(pipeline, free):
    refuse_leak(pipeline, prompt(free))
    assert leaks_in(pipeline, prompt(free)) == []
    assert leaks_in(pipeline, prompt(f"{free} {TURN}"))  # the item is looked for


def test_a_text_of_under_five_words_is_no_quote(builder):
    item = replace(of_split("test"), turn="Are you sure?")
    hold(builder, item)
    refuse_leak(builder.pipeline, prompt("Are you sure?"))
    assert leaks_in(builder.pipeline, prompt("Are you sure?")) == []


def test_an_item_of_the_development_split_may_be_quoted(builder):
    hold(builder, of_split("dev"))
    quoting = prompt(f"{LONG_QUERY}\n{ANSWER}\n{TURN}")
    refuse_leak(builder.pipeline, quoting)
    assert leaks_in(builder.pipeline, quoting) == []
    assert len(list(labelling_items(builder.pipeline))) == 1  # it is looked at, and free


def test_what_stands_below_the_item_counts_too(pipeline):
    template = replace(PACKAGED, text=f"{PACKAGED.text}\n{TURN}\n")
    with pytest.raises(InputError, match="quotes the turn"):
        refuse_leak(pipeline, render_prompt(load_rubric("v3"), template))


def test_only_what_people_are_to_label_is_held_back(builder):
    builder.add(["What is all this about then?"] * 3)
    assert not list(labelling_items(builder.pipeline))
    refuse_leak(builder.pipeline, prompt("What is all this about then?"))


def test_a_shot_that_quotes_the_test_split_is_caught_through_its_quotes(pipeline):
    earlier = Message("user", of_split("test").messages[0].content)
    messages = (earlier, Message("assistant", "72\n"), Message("user", "Sure?"))
    shot = Shot(Item(messages, "Yes", "Ok"), "generic_reply", None, "v3")
    template = replace(PACKAGED, name="strict", version=1, shots=(shot,))
    with pytest.raises(InputError, match="quotes the query"):
        refuse_leak(pipeline, render_prompt(load_rubric("v3"), template))


def test_a_quote_in_an_examples_json_is_caught_across_lines_and_quotes(builder):
    turn = 'He said:\n"no\tmore\\than that"\nand left'
    hold(builder, replace(of_split("test"), turn=turn))
    shot = Shot(Item((Message("user", "Sure?"),), "Yes", turn), "generic_reply", None, "v3")
    template = replace(PACKAGED, name="strict", version=1, shots=(shot,))
    with pytest.raises(InputError, match="quotes the turn"):
        refuse_leak(builder.pipeline, render_prompt(load_rubric("v3"), template))


def test_chinese_is_compared_by_its_characters():
    query = "请问娜塔莉亚在四月和五月一共卖了多少个发夹呢"
    assert Quoting(f"例如：{query}？").quotes(words(query))
    assert not Quoting("请问娜塔莉亚在六月一共卖了几个发夹").quotes(words(query))


@pytest.mark.parametrize("act", ["new", "edit"])
def test_a_file_that_quotes_the_test_split_writes_nothing(builder, tmp_path, act):
    hold(builder, of_split("test"))
    study, file = ["--study", str(builder.study.folder)], tmp_path / "my.md"
    if act == "edit":
        CliRunner().invoke(commands, ["new", "strict", "--note", "x", *study])
    before = list(builder.pipeline["prompt_templates"].rows)
    file.write_text(f"For example:\n\n> {LONG_QUERY}\n\n{PACKAGED.text}")
    options = ["--note", "y", "--file", str(file), *study]
    result = CliRunner().invoke(commands, [act, "strict", *options])
    assert isinstance(result.exception, InputError)
    version = 2 if act == "edit" else 1
    assert f"judge prompt strict@{version} × rubric v3 quotes the query of item" in str(
        result.exception
    )
    assert list(builder.pipeline["prompt_templates"].rows) == before


@pytest.mark.parametrize("version", available_versions())
def test_the_packaged_prompt_quotes_nothing_of_the_example_study(tmp_path, version):
    study = Study(tmp_path / "study")
    database = open_pipeline(study.pipeline, create=True)
    add_example(TurnStore(database))
    draw_sample(database, open_labels(study.labels, create=True))
    halves = {split_of(item) for _, item in labelling_items(database)}
    assert halves == {"dev", "test"}
    refuse_leak(database, render_prompt(load_rubric(version)))


def test_five_thousand_items_take_seconds():
    letters = [f"word{i}" for i in range(997)]
    items = [
        (str(i), Item((Message("user", f"Question {i}?"),), " ".join(letters[i % 500 :]), "Why?"))
        for i in range(5000)
    ]
    started = time.monotonic()
    quoting = Quoting(render_prompt(load_rubric("v3")).text)
    assert not list(leaked_items(quoting, items))
    assert time.monotonic() - started < 20  # 2 s on an idle machine
