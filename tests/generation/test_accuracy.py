"""Task accuracy without a library: GSM8K's final number, GPQA's letter, and who scores what."""

import pytest
from hostile_texts import HOSTILE_TEXTS
from hypothesis import given
from hypothesis import strategies as st

from generation.accuracy import instructions, mathematics
from generation.accuracy.score import NOT_CHECKABLE, RIGHT, WRONG, scores
from generation.item import Message
from generation.turn import Conversation

LENGTH = 300_000  # characters; what is not linear in them outlives the time limit of a test
# Each makes a careless pattern, or a careless conversion, take hours.
ENDLESS = {
    "digits": "1",
    "thousands": "1,000,",
    "dots": "1.",
    "slashes": "1/",
    "signs": "-$",
    "marks": "#### ",
    "boxes": "\\boxed{",
    "fractions": "\\frac{1",
    "answers": "answer is ",
    "the word alone": "answer ",
    "colons": "Answer: (",
    "answer lines": "\nthe final answer",
    "operations": "answer is 1 + ",
    "blanks": "answer is" + " " * 50,
    "lines": "\n",
    "asterisks": "*",
    "parentheses": "(",
    "articles": "A ",
    "letters": "A",
    "quotes": "'\"",
    "arabic digits": "٣",
}


def conversation(dataset="a", **meta):
    return Conversation(dataset, "1", (Message("user", "How many?"),), meta)


def score(answer, **meta):
    (only,) = scores(conversation(**meta), answer)
    return only


def number(answer, reference="18"):
    return score(answer, reference=f"9 + 9 = <<9+9=18>>18\n#### {reference}")


def letter(answer, reference="C"):
    return score(answer, reference_letter=reference)


@pytest.mark.parametrize(
    ("answer", "by"),
    [
        ("9 + 9 = 18\n#### 18", "####"),
        ("#### $18.00 per day", "####"),
        ("####18", "####"),
        ("#### 17\nWait.\n#### 18\nThat took 3 steps.", "####"),
        ("so \\boxed{18}, in 2 days", "boxed"),
        ("\\boxed{\\$18\\text{ in } 2}", "boxed"),
        ("\\boxed{x = 18}", "boxed"),
        ("\\boxed{\\frac{36}{2}}", "boxed"),
        ("\\boxed{17}, no, \\boxed{18} = 20 less 2", "boxed"),
        ("\\boxed{} is 18", "last number"),
        ("The answer is 18. It took 2 steps.", "answer is"),
        ("The final answer is: **18** dollars (2 steps).", "answer is"),
        ("**Answer:** 9 * 2 = 18", "answer is"),
        ("The answer to the question is\n18 in 2 ways", "answer is"),
        ("The answer is 17. No: the answer is 18, not 3", "answer is"),
        ("#### 2. Add them up\nShe makes $18", "last number"),
        ("The answer is simple: she makes 9 + 9 = 18.", "answer is"),
        ("The answer is 2 more than 16, i.e. 18.", "answer is"),
        ("The answer is 18, 2 more than 16.", "answer is"),
        ("The answer is 2 + 3 + 13, which is 18 in 1 day.", "answer is"),
        ("The answer is 30% of 60: 18", "answer is"),
        ("The answer is half of it, 36 minus 18", "answer is"),
        ("#### 2 * 9, so 18", "####"),
        ("She makes 18.0", "last number"),
        ("She makes 18%", "last number"),
        ("10-5 is 5, 20−2 is 18", "last number"),
        ("3 dozen less 36/2", "last number"),
    ],
)
def test_the_final_number_is_found_where_an_answer_gives_it(answer, by):
    found = number(answer)
    assert (found.outcome, found.detail["by"]) == (RIGHT, by), found


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("-5", "-5"),
        ("−5", "-5"),
        ("It fell to -$5", "-5"),
        ("$-5", "-5"),
        ("x-5", "5"),
        ("1,234,567", "1234567"),
        ("1{,}234", "1,234"),
        ("1234", "1,234"),
        (".5", "0.5"),
        ("1/2", "0.50"),
        ("-\\dfrac{1}{2}", "-0.5"),
        ("5, 18,", "18"),
        ("0018", "18"),
        ("£18", "18"),
    ],
)
def test_numbers_are_compared_by_value(answer, reference):
    assert number(answer, reference).outcome == RIGHT


@pytest.mark.parametrize(
    "answer",
    [
        "19",
        "1.8",
        "-18",
        "180",
        "18/0",
        "#### 19 or 18",
        "\\boxed{19} 18",
        "18th is 19",
        "1" * 5000,
    ],
)
def test_another_number_is_wrong(answer):
    assert number(answer).outcome == WRONG


@pytest.mark.parametrize(
    "answer", ["", "none", "eighteen", "١٨", "１８", "¹⁸", "####", "\\boxed{}"]
)
def test_no_number_is_wrong_and_said_to_be_missing(answer):
    found = number(answer)
    assert (found.outcome, found.detail["found"]) == (WRONG, None)


@pytest.mark.parametrize(
    ("answer", "strict", "flexible"),
    [
        ("#### 18", True, True),
        ("#### 1\n#### 18", False, True),
        ("so 18.", False, True),
        ("$18.00", False, False),
        ("####18", False, True),
        ("18 and 2", False, False),
        ("#### 18\n5 more", True, False),
        ("", False, False),
    ],
)
def test_the_readings_of_lm_eval_stand_beside_ours(answer, strict, flexible):
    detail = number(answer).detail
    assert (detail["strict"], detail["flexible"]) == (strict, flexible)


def test_a_reference_without_a_number_is_not_checkable():
    found = score("18", reference="#### none")
    assert (found.outcome, found.detail) == (NOT_CHECKABLE, {"why": "no number in '#### none'"})


@pytest.mark.parametrize(
    ("answer", "by"),
    [
        ("\\boxed{C}, not D", "boxed"),
        ("$\\boxed{\\text{(C)}}$ D", "boxed"),
        ("Answer: C", "answer line"),
        ("**Answer: C**\n\n(D) is too large.", "answer line"),
        ("Answer: **C**\n\nThe wrong choice is: A", "answer line"),
        ("**Final answer**: C\n\nOf some the answer is A.", "answer line"),
        ("Answer: B\nNo.\nAnswer: C", "answer line"),
        ("The answer is C. The tempting choice is A.", "answer"),
        ("The answer is C. The wrong answer is A.", "answer"),
        ("The correct choice is C. The incorrect option is A.", "choice"),
        ("The correct answer is **(C)**, not (D).", "answer"),
        ("The answer is option C. D is not.", "answer"),
        ("The correct option is $\\mathbf{C}$; (D) no", "choice"),
        ("The answer is A. No, the answer is C, not D", "answer"),
        ("The answer, after all of this, is: C", "answer"),
        ("I weighed (A) and (B).\n\n**C**\n", "line"),
        ("Neither (A) nor (B), so (C)", "parentheses"),
        ("C) 5 eV, since D is too large", "option"),
        ("It must be C", "letter"),
        ("C is right. A photon has no mass.", "letter"),
    ],
)
def test_the_letter_is_found_where_an_answer_gives_it(answer, by):
    found = letter(answer)
    assert (found.outcome, found.detail["by"]) == (RIGHT, by), found


@pytest.mark.parametrize(
    "answer",
    ["", "A photon", "none of them", "E", "the answer is in the cell", "CC", "C's", "ABCD", "Ⅽ"],
)
def test_no_letter_is_wrong_and_said_to_be_missing(answer):
    found = letter(answer)
    assert (found.outcome, found.detail["found"]) == (WRONG, None)


def test_an_article_after_the_answer_is_an_option():
    assert letter("The answer is A because it is.", "A").outcome == RIGHT


@pytest.mark.parametrize("reference", ["C", "(C)"])
def test_a_reference_that_is_one_letter_is_an_option(reference):
    assert score("Answer: C", reference=reference).outcome == RIGHT
    assert score("Answer: B", reference=reference).outcome == WRONG


@pytest.mark.parametrize("reference", ["E", "", "c", "AB", 3])
def test_a_reference_that_is_no_option_is_not_checkable(reference):
    assert letter("C", reference).outcome == NOT_CHECKABLE


@pytest.mark.parametrize("piece", ENDLESS.values(), ids=ENDLESS)
def test_a_very_long_answer_is_scored_and_little_of_it_kept(piece):
    text = (piece * LENGTH)[:LENGTH]
    for found in (number(text), letter(text)):
        assert found.outcome in (RIGHT, WRONG)
        assert len(str(found.detail)) < 400


@given(st.text(max_size=60))
def test_any_text_is_scored(text):
    for found in (number(text), letter(text)):
        assert found.outcome in (RIGHT, WRONG)


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_hostile_answers_and_references_are_scored(text):
    assert number(text).outcome == WRONG
    assert score("18", reference=f"{text}#### {text}").outcome in (WRONG, NOT_CHECKABLE)


def test_what_has_no_reference_has_no_score():
    assert scores(conversation(), "18") == []
    assert scores(conversation(reference="a long text"), "18") == []
    assert scores(conversation(canary=True), "18") == []
    assert scores(conversation(reference=["A", "B"], source="math"), "A") == []


def test_a_scorer_carries_its_version():
    assert (number("1").scorer, letter("A").scorer) == ("final-number/2", "option-letter/2")


@pytest.mark.parametrize(
    ("meta", "package"),
    [
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}, "if-verifiable"),
        ({"reference_math": "1/2"}, "math-verify"),
        ({"dataset": "MATH-500", "reference": "1/2"}, "math-verify"),
        ({"source": "hendrycks_math", "reference": "1/2"}, "math-verify"),
    ],
)
def test_without_its_package_a_task_is_not_checkable_and_says_what_to_install(
    meta, package, monkeypatch
):
    for module in (instructions, mathematics):
        monkeypatch.setattr(module, "installed", lambda _: None)
    found = score("0.5", **meta)
    assert (found.scorer, found.outcome) == (f"{package}/none", NOT_CHECKABLE)
    assert found.detail["why"] == (
        f"{package} is not installed: pip install 'followupeval[accuracy]'"
    )
