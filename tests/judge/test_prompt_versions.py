"""`judge prompt` as typed: versions of a template, which never change once a judge ran."""

import json
import sys

import click
import pytest

from generation.command import Verb
from judge.judge import LEXICAL, Judge
from judge.prompts.cli import prompt
from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import PACKAGED
from judge.prompts.template_store import TemplateStore, read_template
from judge.store import JudgmentStore, open_pipeline
from rubrics import InputError, load_rubric

RENDERED = render_prompt(load_rubric("v3")).text  # what `show` prints without --source


@pytest.fixture
def run(study, capsys, monkeypatch, tmp_path):
    """Runs `judge prompt …` on the study; returns exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    root = Verb("judge", commands={"prompt": prompt})

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            root.main(["prompt", *map(str, arguments)])
        streams = capsys.readouterr()
        return stopped.value.code, streams.out, streams.err

    return run


@pytest.fixture
def refused(run):
    """Runs a command that must be refused in one line; returns the line."""

    def refused(*arguments: object) -> str:
        code, out, err = run(*arguments)
        assert (code, out, err.count("\n")) == (1, "", 1)
        return err

    return refused


@pytest.fixture
def file(tmp_path):
    """Writes a template file: the packaged text with a line before it; returns its path."""

    def write(line: str):
        path = tmp_path / "my.md"
        path.write_text(f"{line}\n{PACKAGED.text}")
        return path

    return write


def judge_with(study, reference: str, model: str = "m", version: str = "v3") -> None:
    """Record, as a run does, that a judge has run with this template."""
    made = render_prompt(load_rubric(version), read_template(study, reference))
    database = open_pipeline(study.pipeline)
    used = {"prompt_hash": made.prompt_hash, "rubric_version": version, "first_used_at": "now"}
    texts = {"rubric_hash": made.rubric_hash, "rubric_text": made.rubric_text, "text": made.text}
    database["judge_prompts"].insert({**used, **texts, "template": made.template})
    judge = {"judge_id": f"{model} {reference} {version}", "model": model, "parameters": "{}"}
    database["judges"].insert({**used, **judge})
    database.close()


def add_judge(study, reference: str) -> None:
    """Record, as a run does, a judge whose prompt the study may hold already."""
    made = render_prompt(load_rubric("v3"), read_template(study, reference))
    with open_pipeline(study.pipeline) as database:
        JudgmentStore(database).add_judge(Judge("m", {}, "v3", made.prompt_hash), made)


def test_a_new_template_takes_the_packaged_text_unless_it_has_its_own(run, study, file):
    code, out, _ = run("new", "strict", "--note", "to be stricter")
    assert (code, out.splitlines()[-1]) == (0, "next: judge --prompt strict@1 --model NAME")
    strict = read_template(study, "strict")
    assert (strict.label, strict.text, strict.parent) == ("strict@1", PACKAGED.text, "followupeval")
    run("new", "own", "--note", "mine", "--file", file("# Mine"))
    own = read_template(study, "own")
    assert (own.text, own.parent) == (f"# Mine\n{PACKAGED.text}", "")
    run("new", "third", "--note", "from own", "--from", "own@1")
    assert read_template(study, "third@1").text == own.text
    assert read_template(study, "third@1").parent == "own@1"


def test_a_version_may_be_edited_from_any_and_each_edit_is_a_new_one(run, study, file):
    run("new", "strict", "--note", "first")
    run("edit", "strict", "--note", "shorter", "--file", file("Be brief."))
    code, out, _ = run("edit", "strict@1", "--note", "longer", "--file", file("Be verbose."))
    assert code == 0
    assert "strict@3 written" in out
    assert read_template(study, "strict@1").text == PACKAGED.text
    second, third = read_template(study, "strict@2"), read_template(study, "strict")
    assert (second.note, second.parent) == ("shorter", "strict@1")
    assert (third.label, third.note, third.parent) == ("strict@3", "longer", "strict@1")
    assert third.text.startswith("Be verbose.\n")


@pytest.mark.parametrize("version", ["v1", "v3"])
def test_a_version_that_a_judge_ran_with_stays_as_it_is(run, study, file, version):
    run("new", "strict", "--note", "first", "--file", file("Be strict."))
    before = read_template(study, "strict@1")
    judge_with(study, "strict@1", version=version)
    _, out, _ = run("edit", "strict", "--note", "shorter", "--file", file("Be brief."))
    assert "prompt template strict@2 written" in out
    assert out.endswith("next: judge --prompt strict@2 --model NAME\n")
    assert read_template(study, "strict@1") == before
    newest = read_template(study, "strict")
    assert (newest.label, newest.note, newest.parent) == ("strict@2", "shorter", "strict@1")


def test_a_version_that_reads_like_the_packaged_one_is_used_when_a_judge_ran(run, study):
    """The study holds their common prompt once, under the name that a judge first ran with."""
    run("new", "strict", "--note", "first")
    judge_with(study, "followupeval", LEXICAL)
    assert json.loads(run("list", "--json")[1])[1]["judges"] == 0  # the baseline reads no prompt
    add_judge(study, "strict@1")
    assert [row["judges"] for row in json.loads(run("list", "--json")[1])] == [1, 1]


def test_a_judge_of_a_rubric_that_a_template_cannot_be_rendered_under_is_none_of_its(run, study):
    judge_with(study, "followupeval", version="v2")
    database = open_pipeline(study.pipeline)
    database.execute("UPDATE judge_prompts SET rubric_text = 'not a rubric'")
    database.close()
    run("new", "strict", "--note", "first")
    rows = json.loads(run("list", "--json")[1])
    assert [row["judges"] for row in rows] == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["new", "strict", "--note", "x"], "has a prompt template strict already: choose another"),
        (["new", "followupeval", "--note", "x"], "is the packaged template, which cannot be"),
        (["new", "Strict", "--note", "x"], "'Strict' cannot be a template's name: expected lower"),
        (["new", "-x", "--note", "x"], None),
        (["new", "a/b", "--note", "x"], "'a/b' cannot be a template's name"),
        (["new", "a\nb", "--note", "x"], r"'a\nb' cannot be a template's name"),
        (["new", "b", "--note", " "], "the note is blank"),
        (["new", "b", "--note", "x", "--from", "nobody"], "no prompt template nobody in"),
        (["new", "b", "--note", "x", "--from", "strict@2"], "no version 2 of strict: it has 1"),
        (["new", "b", "--note", "x", "--from", "strict@x"], "'strict@x' names no prompt template"),
        (["new", "b", "--note", "x", "--from", "followupeval@1"], "has no versions"),
        (["new", "b", "--note", "x", "--file", "none.md"], "none.md: No such file"),
        (["new", "b", "--note", "x", "--rubric", "v9"], "unknown rubric 'v9'"),
        (["new", "b", "--note", "x", "--shots", "2"], "labels.db does not exist"),
        (["edit", "strict", "--note", "x"], "strict@1 would stay as it is: give another text"),
        (["edit", "strict@2", "--note", "x"], "no version 2 of strict: it has 1"),
        (["edit", "followupeval", "--note", "x"], "never edited; make one of your own from it"),
        (["edit", "nobody", "--note", "x"], "followupeval, strict; write it: judge prompt new"),
        (["show", "nobody"], "no prompt template nobody"),
        (["show", "strict", "--rubric", "v9"], "unknown rubric 'v9'"),
        (["diff", "strict", "nobody"], "no prompt template nobody"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line_and_changes_nothing(
    run, refused, study, arguments, message
):
    run("new", "strict", "--note", "first")
    before = list(open_pipeline(study.pipeline)["prompt_templates"].rows)
    if message is None:
        assert run(*arguments)[0] == 2
    else:
        assert message in refused(*arguments)
    assert list(open_pipeline(study.pipeline)["prompt_templates"].rows) == before


def test_a_note_is_always_asked_for(run):
    code, _, err = run("new", "strict")
    assert code == 2
    assert "--note" in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the template is blank"),
        (b" \n\t", "the template is blank"),
        (b"a\xff", "byte 1 is not UTF-8"),
        (b"a\0b", "holds a NUL"),
        (b"Judge {{ nobody }}.", "template strict@1, line 1: nobody is unknown"),
        (b"Judge.\n{% for %}", "template strict@1, line 2: "),
        (b"Judge.", "found <!-- The item follows"),
        (RENDERED.encode(), "names no {{ rubric … }}, so that it is the same under every rubric"),
    ],
)
def test_a_file_that_makes_no_prompt_is_refused(refused, study, tmp_path, content, message):
    path = tmp_path / "bad.md"
    path.write_bytes(content)
    assert message in refused("new", "strict", "--note", "x", "--file", path)
    assert not open_pipeline(study.pipeline)["prompt_templates"].count


def test_a_file_from_windows_is_read_as_the_same_text(run, study, tmp_path):
    path = tmp_path / "windows.md"
    path.write_bytes(b"\xef\xbb\xbf" + PACKAGED.text.replace("\n", "\r\n").encode())
    run("new", "strict", "--note", "x", "--file", path)
    assert read_template(study, "strict").text == PACKAGED.text


def test_list_says_who_reads_what(run, study, file):
    run("new", "strict", "--note", "first", "--file", file("Be strict."))
    judge_with(study, "strict@1", "m")
    judge_with(study, "strict@1", "n", version="v2")
    judge_with(study, "followupeval", LEXICAL)  # it reads no prompt
    run("edit", "strict", "--note", "sec\x1b[31mond", "--file", file("Be brief."))
    code, out, _ = run("list")
    lines = out.splitlines()
    assert code == 0
    assert [line.split()[0] for line in lines] == ["followupeval", "strict@1", "strict@2", "next:"]
    assert ["0 judges" in lines[0], "2 judges" in lines[1], "0 judges" in lines[2]] == [True] * 3
    assert lines[2].endswith(r"sec\x1b[31mond")
    assert lines[3] == "next: judge prompt show strict@2"
    rows = json.loads(run("list", "--json")[1])
    assert [row["template"] for row in rows] == ["followupeval", "strict@1", "strict@2"]
    assert [row["judges"] for row in rows] == [0, 2, 0]
    assert rows[2]["parent"] == "strict@1"


def test_show_prints_the_prompt_alone_to_a_pipe(run, study, file):
    run("new", "strict", "--note", "x", "--file", file("Be strict."))
    code, out, err = run("show", "strict", "--rubric", "v2")
    expected = render_prompt(load_rubric("v2"), read_template(study, "strict@1")).text
    assert (code, out) == (0, expected)
    assert f"strict@1 × rubric v2: {len(expected):,} characters" in err
    assert err.endswith("next: judge --prompt strict@1 --model NAME\n")
    assert run("show", "followupeval")[1] == render_prompt(load_rubric("v3")).text
    assert run("show", "strict", "--source")[1] == read_template(study, "strict").text


def test_the_packaged_template_is_shown_without_a_study(run, study, tmp_path):
    assert run("show", "followupeval", "--study", tmp_path / "none")[0] == 0


def test_diff_of_the_texts_or_of_the_prompts(run, file):
    run("new", "strict", "--note", "x", "--file", file("Under {{ rubric.version }}."))
    _, out, err = run("diff", "followupeval", "strict")
    assert out.startswith("--- followupeval\n+++ strict@1\n@@")
    assert "\n+Under {{ rubric.version }}.\n" in out
    assert err == "next: judge --prompt strict@1 --model NAME\n"
    _, out, _ = run("diff", "followupeval", "strict", "--rubric", "v2")
    assert out.startswith("--- followupeval × rubric v2\n+++ strict@1 × rubric v2\n@@")
    assert "\n+Under v2.\n" in out
    assert "do not differ" in run("diff", "strict", "strict@1")[2]


def test_at_a_terminal_the_text_opens_in_the_editor(run, study, monkeypatch):
    seen = []

    def edit(text: str, extension: str) -> str:
        seen.append(text)
        return f"Edited.\n{text}"

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "edit", edit)
    run("new", "strict", "--note", "x")
    run("edit", "strict", "--note", "y")
    assert seen == [PACKAGED.text, f"Edited.\n{PACKAGED.text}"]
    assert read_template(study, "strict").text == f"Edited.\nEdited.\n{PACKAGED.text}"
    assert read_template(study, "strict").parent == "strict@1"


def test_a_refused_text_from_the_editor_is_kept(refused, monkeypatch):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "edit", lambda text, extension: "Hours of work {{ nobody }}")
    line = refused("new", "strict", "--note", "x")
    path = line.rpartition("kept in ")[2].rstrip(")\n")
    with open(path) as kept:
        assert kept.read() == "Hours of work {{ nobody }}"


def test_the_name_is_refused_before_the_editor_opens(refused, monkeypatch):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "edit", None)
    assert "cannot be a template's name" in refused("new", "Bad", "--note", "x")


def test_a_name_taken_since_is_refused_when_it_is_drafted(study):
    database = open_pipeline(study.pipeline)
    store = TemplateStore(database)
    store.put(store.first("strict", text=PACKAGED.text, shots=(), note="x", parent=""))
    with pytest.raises(InputError, match="already"):
        store.first("strict", text=PACKAGED.text, shots=(), note="x", parent="")
