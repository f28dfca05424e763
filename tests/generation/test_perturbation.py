"""Perturbations: how much of an answer stays, whatever its text and the tokens it is made of."""

from math import ceil

import pytest
from hostile_texts import HOSTILE_TEXTS
from hypothesis import given
from hypothesis import strategies as st

from generation.perturbation import (
    KNOWN,
    QUESTION,
    Perturbation,
    perturbation_from,
    tokens_meant,
)
from rubrics import InputError

TRUNCATE, DROP_LAST, ASK = map(Perturbation, KNOWN)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=400)


class Bytes:
    """A token per byte, as byte-level tokenizers have for what they do not know."""

    @staticmethod
    def encode(text):
        return list(text.encode())

    @staticmethod
    def decode(ids, skip_special_tokens):
        return bytes(ids).decode(errors="replace")


class ByteFallback(Bytes):
    """As SentencePiece's: a sign for each byte that makes no character."""

    @staticmethod
    def decode(ids, skip_special_tokens):
        data = bytes(ids)
        for short in range(4):
            whole = data[: len(data) - short]
            try:
                return whole.decode() + "\ufffd" * short
            except UnicodeDecodeError:
                continue
        raise AssertionError("more than three bytes of a character")


class Composing(Bytes):
    """Spells what it reads anew, as tokenizers do that normalise: every e becomes é."""

    @staticmethod
    def encode(text):
        return Bytes.encode(text.replace("e", "é"))


class Words:
    """A token per word with the blanks before it."""

    @staticmethod
    def encode(text):
        return text.split(" ")

    @staticmethod
    def decode(ids, skip_special_tokens):
        return " ".join(ids)


TOKENIZERS = pytest.mark.parametrize("tokens", [Bytes(), ByteFallback()])


@pytest.mark.parametrize(
    ("length", "meant"), [(0, 25), (25, 25), (100, 25), (101, 26), (104, 26), (105, 27)]
)
def test_a_truncation_is_about_a_quarter_of_the_tokens_and_at_least_25(length, meant):
    assert tokens_meant(length) == meant


@given(st.integers(0, 10**7))
def test_the_quarter_is_rounded_up_exactly(length):
    assert tokens_meant(length) == max(25, -(-length // 4)) == max(25, ceil(length / 4))


def test_the_first_tokens_stay_or_the_last_ones_go():
    answer = " ".join(map(str, range(200)))
    assert TRUNCATE.apply(answer, Words()) == " ".join(map(str, range(50)))
    assert DROP_LAST.apply(answer, Words()) == " ".join(map(str, range(150)))


def test_an_answer_of_up_to_25_tokens_stays_whole_or_goes_whole():
    answer = " ".join("abcdefghijklmnopqrstuvwxy")
    assert TRUNCATE.apply(answer, Words()) == answer
    assert DROP_LAST.apply(answer, Words()) == ""
    assert TRUNCATE.apply("", Words()) == ""


@TOKENIZERS
@given(text=TEXTS)
def test_a_truncated_answer_is_a_beginning_of_the_answer_with_no_broken_character(tokens, text):
    for perturbation in (TRUNCATE, DROP_LAST):
        left = perturbation.apply(text, tokens)
        assert text.startswith(left)
    kept = TRUNCATE.apply(text, tokens)
    assert tokens_meant(len(text.encode())) - len(kept.encode()) <= 3 or kept == text


@TOKENIZERS
@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_hostile_answers_are_truncated_too(tokens, text):
    assert (text * 20).startswith(TRUNCATE.apply(text * 20, tokens))


@TOKENIZERS
def test_replacement_signs_of_the_answer_itself_stay(tokens):
    # Of 25 kept bytes the eight signs have 24, and the smile one of its four.
    answer = "\ufffd" * 8 + "😀" + "x" * 50
    assert TRUNCATE.apply(answer, tokens) == "\ufffd" * 8


@TOKENIZERS
def test_a_character_is_never_cut_in_two(tokens):
    for lead in ("", "x", "xx", "xxx"):
        left = TRUNCATE.apply(lead + "😀" * 20, tokens)
        assert left == lead + "😀" * ((25 - len(lead)) // 4)


def test_a_tokenizer_that_spells_anew_loses_only_the_character_that_is_cut():
    # é takes two bytes: of 25 kept ones, twelve characters and half of one.
    assert TRUNCATE.apply("e" * 40, Composing()) == "é" * 12


@given(text=TEXTS)
def test_the_question_stands_alone_after_the_whole_answer(text):
    asked = ASK.apply(text, Bytes())
    assert asked == f"{text.rstrip()}\n\n{QUESTION}"


def test_names_are_checked_and_none_is_no_perturbation():
    assert perturbation_from("none") is None
    assert perturbation_from("ask") == ASK
    with pytest.raises(InputError, match="'shuffle': expected one of none, truncate, truncate-dr"):
        perturbation_from("shuffle")
