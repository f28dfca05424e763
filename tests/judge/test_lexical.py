"""The lexical baseline on the hard kinds of turns, and where this floor is known to be wrong."""

import pytest

from judge.lexical.baseline import judge_lexically, lexical_parameters
from judge.lexical.readable import read_turn
from rubrics import load_rubric

CLIPS_Q = "Natalia sold clips to 48 friends in April, and half as many in May. How many in total?"
CLIPS_A = "Natalia sold 48/2 = 24 clips in May. Altogether she sold 48 + 24 = 72 clips."
EXAM = "Question: A train travels 60 km in 40 minutes. How fast is it in km per hour?\nAnswer:"
ZERO_WIDTH = "\u200b\u200d\u2060\ufeff"
ASKS_BACK = "That depends. Do you need it for work or for games?"

HARD = [
    ("end mark after a good turn", CLIPS_Q, CLIPS_A, "Why 24?<|im_end|>", "genuine_followup"),
    ("lone closing think tag", CLIPS_Q, CLIPS_A, "</think>\n\nWhy 48/2?", "genuine_followup"),
    ("glued role word, nothing after", CLIPS_Q, CLIPS_A, "Can you check your sum?assistant",
     "genuine_followup"),
    ("glued role word, then a reply", CLIPS_Q, CLIPS_A,
     "Can you check your sum?assistant\nOf course! 48 + 24 is 72.", "assistant_continuation"),
    ("role on its own line, then a reply", CLIPS_Q, CLIPS_A,
     "And in June?\n\nassistant\n\nShe sold 10 in June.", "assistant_continuation"),
    ("q byte for byte", CLIPS_Q, CLIPS_A, CLIPS_Q, "previous_turn_restate"),
    ("q as an exam item", CLIPS_Q, CLIPS_A, f"Question: {CLIPS_Q}\nAnswer:",
     "previous_turn_restate"),
    ("last sentence of q", CLIPS_Q, CLIPS_A, "and half as many in May. How many in total?",
     "previous_turn_restate"),
    ("a byte for byte", CLIPS_Q, CLIPS_A, CLIPS_A, "assistant_turn_restate"),
    ("a in the first person", CLIPS_Q, CLIPS_A, "So the total is 72.", "assistant_turn_restate"),
    ("the same as a question", CLIPS_Q, CLIPS_A, "So the total is 72?", "genuine_followup"),
    ("new exam item", CLIPS_Q, CLIPS_A, EXAM, "new_task_prompt"),
    ("new exam item, worked out", CLIPS_Q, CLIPS_A,
     f"{EXAM} 40 minutes are 2/3 of an hour. We divide 60 by 2/3 and get 90 km per hour.",
     "assistant_continuation"),
    ("empty", CLIPS_Q, CLIPS_A, "", "malformed"),
    ("whitespace", CLIPS_Q, CLIPS_A, " \n\t\u00a0", "malformed"),
    ("zero-width", CLIPS_Q, CLIPS_A, ZERO_WIDTH, "malformed"),
    ("emoji", CLIPS_Q, CLIPS_A, "👍🏽❤️", "malformed"),
    ("marks", CLIPS_Q, CLIPS_A, "... ?! --", "malformed"),
    ("template tokens", CLIPS_Q, CLIPS_A, "<|im_end|>\n<|im_start|>", "malformed"),
    ("role word alone", CLIPS_Q, CLIPS_A, "assistant", "malformed"),
    ("stop mark alone", CLIPS_Q, CLIPS_A, "[END]", "malformed"),
    ("one line looped", CLIPS_Q, CLIPS_A, "Why 24?\n" * 40 + "Why", "malformed"),
    ("a phrase looped in one line", CLIPS_Q, CLIPS_A, "the total of the total of " * 30,
     "malformed"),
    ("salad of scripts", CLIPS_Q, CLIPS_A, "the слово 24 の λόγος under كلمة clips if",
     "malformed"),
    ("stop mark and a good request", CLIPS_Q, CLIPS_A, "[END] Could you make it shorter?",
     "genuine_followup"),
    ("reply to the assistant's question", "Which laptop?", ASKS_BACK, "Both.", "genuine_followup"),
    ("go on, though equal to q", "Go on.", "The fox listened. Shall I go on?", "Go on.",
     "genuine_followup"),
    ("agreement and a new wish", "Pancakes for 2?", "Take 2 eggs.", "Thanks, now for 5 people.",
     "genuine_followup"),
    ("do the same for May", "Sum April: 40, 25.", "That is 65.", "Now do the same for May: 3, 4.",
     "genuine_followup"),
    ("thanks", CLIPS_Q, CLIPS_A, "Thank you so much!", "generic_reply"),
    ("thanks, then another topic", CLIPS_Q, CLIPS_A, "Thanks, now a joke about cats.",
     "new_task_prompt"),
    ("no more after a polite close", CLIPS_Q, "It is 72. Anything else?", "No, thanks!",
     "generic_reply"),
    ("offer of help", CLIPS_Q, CLIPS_A, "Let me know if you have any other questions!",
     "assistant_continuation"),
    ("fresh task", CLIPS_Q, CLIPS_A, "Write a short poem about the sea.", "new_task_prompt"),
    ("doubt", CLIPS_Q, CLIPS_A, "I get 70, not 72.", "genuine_followup"),
    ("end of a broken-off answer", "How do I reset my router?",
     "Hold the button for ten seconds, then wait until", "the light on the front turns green.",
     "assistant_continuation"),
]  # fmt: skip

# Where surface cues cannot see it: (what is right, what the floor says). A change here is news.
BEYOND = [
    ("q in another language", "How do I boil an egg?", "For seven minutes.",
     "Wie koche ich ein Ei?", "previous_turn_restate", "new_task_prompt"),
    ("follow-up in another language", "How do I boil an egg?", "Boil it for seven minutes.",
     "Und wie lange direkt aus dem Kühlschrank?", "genuine_followup", "new_task_prompt"),
    ("the assistant asks on", "Which laptop should I buy?", ASKS_BACK,
     "Do you need it for travel too?", "assistant_continuation", "genuine_followup"),
    ("typing errors", "Paint or paper?", "Paint. You save 7 euros.", "wher dos teh 7 com frm",
     "genuine_followup", "assistant_turn_restate"),
    ("salad of plain words", "Paint or paper?", "Paint. You save 7 euros.",
     "where the the 7 || of under com 7 7 paint =", "malformed", "new_task_prompt"),
    ("paraphrase in fresh words", "How do I boil an egg?", "For seven minutes.",
     "What is the way to cook eggs in water?", "previous_turn_restate", "new_task_prompt"),
]  # fmt: skip


def label(rubric, item, q, a, u):
    judgment = judge_lexically(item(q, a, u), rubric)
    assert judgment.valid
    assert judgment.rationale == " ".join(judgment.rationale.split())
    return judgment.label


@pytest.mark.parametrize(("q", "a", "u", "right"), [case[1:] for case in HARD],
                         ids=[case[0] for case in HARD])  # fmt: skip
def test_hard_kinds(rubric, item, q, a, u, right):
    assert label(rubric, item, q, a, u) == right


@pytest.mark.parametrize(("q", "a", "u", "right", "floor"), [case[1:] for case in BEYOND],
                         ids=[case[0] for case in BEYOND])  # fmt: skip
def test_known_errors_of_the_floor(rubric, item, q, a, u, right, floor):
    assert right != floor
    assert label(rubric, item, q, a, u) == floor


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_runs_under_every_rubric_with_the_rubrics_sigma(version, item):
    rubric = load_rubric(version)
    for _name, q, a, u, _label in HARD:
        judgment = judge_lexically(item(q, a, u), rubric)
        assert judgment.sigma == rubric.category(judgment.label).sigma


def test_the_rationale_names_the_evidence(rubric, item):
    judgment = judge_lexically(item(CLIPS_Q, CLIPS_A, CLIPS_Q), rubric)
    assert judgment.rationale == "1.00 of its n-grams stand in q and cover 1.00 of q"
    judgment = judge_lexically(item(CLIPS_Q, CLIPS_A, ZERO_WIDTH), rubric)
    assert judgment.rationale == "nothing but 4 blank or invisible characters"


@pytest.mark.parametrize(
    "u", ["²", "_", "a", "\x00", "\u0301", "😀 a", "x" * 100_000, "?" * 10_000, "a\n" * 10_000]
)
def test_odd_turns_get_a_label(rubric, item, u):
    assert label(rubric, item, "", "", u) in rubric.category_ids


def test_readable_part():
    assert read_turn("<|im_end|> Why?</s>").text == "Why?"
    assert read_turn("a < b and b > c").tokens == 0
    assert read_turn("Fine.\u200b").text == "Fine."


def test_parameters_hold_every_threshold():
    from judge.lexical import baseline, evidence

    thresholds = {
        name.lower()
        for module in (baseline, evidence)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, int | float | tuple) and name != "RULES"
    }
    assert thresholds == set(lexical_parameters())
