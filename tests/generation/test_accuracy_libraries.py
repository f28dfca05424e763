"""Task accuracy by other people's checkers, each in a process of its own."""

import importlib.util
import os
import signal
import threading

import pytest

from generation.accuracy import checker_process
from generation.accuracy.checker_process import CheckerFailed, CheckerProcess, checker
from generation.accuracy.instructions import CHECKER as INSTRUCTIONS
from generation.accuracy.mathematics import CHECKER as MATHEMATICS
from generation.accuracy.score import NOT_CHECKABLE, RIGHT, WRONG, scores
from generation.item import Message
from generation.turn import Conversation

SCRIPTED = """
import os, sys, time
print("noise")
def about():
    return {"scorer": "scripted/1"}
def check(request):
    print("more noise")
    if request["do"] == "hang":
        time.sleep(600)
    if request["do"] == "die":
        os._exit(1)
    if request["do"] == "raise":
        raise IndexError("two\\nlines")
    return {"said": request["do"], "pid": os.getpid()}
"""
NO_COMMA = ("punctuation:no_comma", {})
TWO_SENTENCES = ("length_constraints:number_sentences",
                 {"relation": "at least", "num_sentences": 2})  # fmt: skip
STOP_WORDS = ("ratio:stop_words", {"percentage": 50.0})
UNKNOWN = ("made:up", {})
WITHOUT_ARGUMENT = ("keywords:existence", {"keywords": None})


@pytest.fixture
def scripted(tmp_path, monkeypatch):
    (tmp_path / "scripted_checker.py").write_text(SCRIPTED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    process = CheckerProcess("scripted_checker", seconds=60)
    yield process
    process.close()


def test_a_checker_is_asked_in_one_process_and_its_printing_is_no_verdict(scripted):
    assert scripted.about() == {"scorer": "scripted/1"}
    texts = ["a\nb", "\u2028", "é" * 200_000, ""]
    replies = [scripted.ask({"do": text}) for text in texts]
    assert [reply["said"] for reply in replies] == texts
    assert len({reply["pid"] for reply in replies}) == 1
    assert replies[0]["pid"] != os.getpid()


@pytest.mark.parametrize(
    ("act", "reason"),
    [("die", "the checker ended"), ("raise", "the checker failed: IndexError: two lines")],
)
def test_a_checker_that_breaks_gives_a_reason_and_answers_the_next(scripted, act, reason):
    with pytest.raises(CheckerFailed, match=f"^{reason}$"):
        scripted.ask({"do": act})
    assert scripted.ask({"do": "next"})["said"] == "next"


def test_a_checker_that_takes_too_long_is_ended_and_answers_the_next(scripted, monkeypatch):
    first = scripted.ask({"do": "first"})["pid"]
    with monkeypatch.context() as patch:
        patch.setattr(scripted, "_seconds", 0.1)
        with pytest.raises(CheckerFailed, match=r"^no verdict within 0\.1 seconds$"):
            scripted.ask({"do": "hang"})
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert scripted.ask({"do": "next"})["pid"] != first


def test_a_checker_that_was_killed_meanwhile_is_started_again(scripted):
    pid = scripted.ask({"do": "first"})["pid"]
    os.kill(pid, signal.SIGKILL)
    scripted._process.wait()
    with pytest.raises(CheckerFailed, match="the checker ended"):
        scripted.ask({"do": "x" * 200_000})
    assert scripted.ask({"do": "next"})["pid"] != pid


def test_a_checker_can_be_asked_from_any_thread(scripted):
    said = []
    threads = [
        threading.Thread(target=lambda n=n: said.append(scripted.ask({"do": str(n)})["said"]))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == ["0", "1", "2", "3"]


def test_a_checker_that_cannot_start_is_not_started_again(monkeypatch):
    process = CheckerProcess("no_such_module")
    with pytest.raises(CheckerFailed, match="cannot start: ModuleNotFoundError: No module named"):
        process.about()
    monkeypatch.setattr(checker_process.subprocess, "Popen", None)
    with pytest.raises(CheckerFailed, match="cannot start"):
        process.ask({})


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The real checkers, where NLTK has an untrained splitter of sentences and nothing else."""
    data = tmp_path_factory.mktemp("nltk_data")
    english = data / "tokenizers" / "punkt_tab" / "english"
    english.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        (english / name).touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NLTK_DATA", str(data))
        patch.setenv("HOME", str(data))
        checker.cache_clear()
        yield
        for module in (INSTRUCTIONS, MATHEMATICS):
            checker(module).close()
        checker.cache_clear()


def needs(package):
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"needs {package}: the extra 'accuracy'")


def score_of(answer, **meta):
    (score,) = scores(Conversation("any", "1", (Message("user", "Say it."),), meta), answer)
    return score


def instructed(answer, *instructions):
    names, arguments = zip(*instructions, strict=True)
    return score_of(answer, instruction_id_list=list(names), kwargs=list(arguments))


def verdicts(score):
    return [(row["strict"], row["loose"]) for row in score.detail["instructions"]]


@needs("if_verifiable")
@pytest.mark.usefixtures("library")
class TestInstructions:
    def test_each_instruction_is_checked_strictly_and_loosely(self):
        # Without its first line, which holds the comma, the answer follows the instruction.
        found = instructed("Sure, here it is:\nOne. Two.", NO_COMMA, TWO_SENTENCES)
        assert (found.outcome, found.detail["loose"]) == (WRONG, RIGHT)
        assert verdicts(found) == [(False, True), (True, True)]
        assert instructed("One. Two.", NO_COMMA, TWO_SENTENCES).outcome == RIGHT

    def test_the_scorer_names_the_library_its_version_and_what_it_lacks(self):
        name = instructed("x", NO_COMMA).scorer
        assert name.startswith("if-verifiable/0.")
        assert name.endswith(" without some of NLTK data")

    @pytest.mark.parametrize(
        ("instruction", "why"),
        [
            (STOP_WORDS, "needs NLTK data: python -m nltk.downloader stopwords, or NLTK_DATA="),
            (UNKNOWN, "if-verifiable knows no instruction of this kind"),
            (WITHOUT_ARGUMENT, "the row does not say keywords"),
            (("keywords:existence", {"keywords": 3}), "the check failed: "),
        ],
    )
    def test_what_cannot_be_checked_is_not_failed(self, instruction, why):
        found = instructed("One two.", NO_COMMA, instruction)
        assert found.outcome == found.detail["loose"] == NOT_CHECKABLE
        assert verdicts(found) == [(True, True), (None, None)]
        assert found.detail["instructions"][1]["why"].startswith(why)

    def test_one_instruction_that_fails_decides_though_another_cannot_be_checked(self):
        assert instructed("One, two.", STOP_WORDS, NO_COMMA).outcome == WRONG

    def test_an_empty_answer_follows_nothing(self):
        assert verdicts(instructed(" \n", NO_COMMA, UNKNOWN)) == [(False, False), (None, None)]

    def test_the_language_of_an_answer_is_the_same_every_time(self):
        # Unseeded, the package says German or Catalan, as the dice fall.
        german = ("language:response_language", {"language": "de"})
        found = {instructed("Hotel Taxi Bus", german).outcome for _ in range(20)}
        assert found in ({RIGHT}, {WRONG})

    def test_an_answer_that_a_pattern_would_take_hours_over_is_not_checkable(self, monkeypatch):
        monkeypatch.setattr(checker(INSTRUCTIONS), "_seconds", 0.3)
        bullets = ("detectable_format:number_bullet_lists", {"num_bullets": 2})
        found = instructed("x" + "\n" * 200_000 + "x", bullets)
        assert found.outcome == NOT_CHECKABLE
        assert found.detail["instructions"][0]["why"] == "no verdict within 0.3 seconds"

    @pytest.mark.parametrize(
        ("names", "arguments"),
        [
            ([], []),
            (["punctuation:no_comma"], []),
            (["a"], [3]),
            ([3], [{}]),
            ("a", "b"),
            (None, 1),
        ],
    )
    def test_a_row_that_is_not_as_the_data_sets_have_it_is_not_checkable(self, names, arguments):
        found = score_of("x", instruction_id_list=names, kwargs=arguments)
        assert found.outcome == NOT_CHECKABLE
        assert "two lists of equal length" in found.detail["why"]


@needs("math_verify")
@pytest.mark.usefixtures("library")
class TestMathematics:
    @pytest.mark.parametrize(
        ("reference", "answer", "outcome"),
        [
            ("\\frac{1}{2}", "So it is $0.5$.", RIGHT),
            ("$\\frac{1}{2}$", "\\boxed{\\frac{2}{4}}", RIGHT),
            ("x^2+1", "Thus $1+x^2$.", RIGHT),
            ("18", "She has 18 left", RIGHT),
            ("18", "She has 19 left", WRONG),
            ("18", "", WRONG),
            ("", "18", NOT_CHECKABLE),
        ],
    )
    def test_answers_are_compared_as_mathematics(self, reference, answer, outcome):
        found = score_of(answer, reference_math=reference)
        assert found.outcome == outcome
        assert found.scorer.startswith("math-verify/")

    def test_an_answer_that_would_take_for_ever_is_not_checkable(self, monkeypatch):
        monkeypatch.setattr(checker(MATHEMATICS), "_seconds", 0.3)
        found = score_of("$9^{9^{9^{9}}}$", reference_math="9")
        assert (found.outcome, found.detail) == (
            NOT_CHECKABLE,
            {"why": "no verdict within 0.3 seconds"},
        )
