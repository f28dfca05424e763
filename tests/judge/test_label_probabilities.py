"""Label distributions from logprobs: known answers, each worked out beside it."""

import json
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_study import judgments
from stub_http import Answer
from stub_server import StubServer, completion, verdict

from judge.label_probabilities import label_probabilities

START = '{"rationale": "Fits.", "label": "'
END = '", "sigma": 0}'


def token(text, probability=1.0, others=(), *, raw=None):
    """An entry as OpenAI writes it; `others` are (text, probability) of alternatives."""
    own = {"token": text, "logprob": log(probability), "bytes": list(raw or text.encode())}
    alternatives = [
        {"token": other, "logprob": log(chance), "bytes": list(other.encode())}
        for other, chance in others
    ]
    return own | {"top_logprobs": [{k: own[k] for k in own}, *alternatives]}


def found(rubric, *tokens, content=None):
    spelt = "".join(entry["token"] for entry in tokens)
    return label_probabilities({"content": list(tokens)}, content or spelt, rubric)


def test_labels_of_one_token(rubric):
    others = [("malformed", 0.25), ("new_task_prompt", 0.125), ("nonsense", 0.1)]
    tokens = (token(START), token("generic_reply", 0.5, others), token(END))
    # What is no label counts for nothing: the sum is 0.875.
    assert found(rubric, *tokens) == {
        "new_task_prompt": 0.125,
        "generic_reply": 0.5,
        "malformed": 0.25,
    }


def test_labels_that_share_their_first_token_part_at_the_second(rubric):
    tokens = (
        token(START),
        token("assistant", 0.8, [("mal", 0.15)]),
        token("_", 1.0),
        token("turn", 0.75, [("continuation", 0.25)]),
        token("_restate", 0.9, [("_nonsense", 0.1)]),
        token(END),
    )
    # "assistant" is two labels yet, "mal" only one: 0.15. Then 0.8 × 0.75 and 0.8 × 0.25, and with
    # "turn" it is decided.
    assert found(rubric, *tokens) == {
        "assistant_turn_restate": 0.6,
        "assistant_continuation": 0.2,
        "malformed": 0.15,
    }


def test_an_alternative_that_could_still_be_two_labels_counts_for_neither(rubric):
    tokens = (token(START), token("malformed", 0.6, [("assistant_", 0.3), ("g", 0.1)]), token(END))
    # "assistant_" is two labels, and so is "g": genuine_followup, generic_reply.
    assert found(rubric, *tokens) == {"malformed": 0.6}


def test_a_quotation_mark_glued_to_the_label(rubric):
    others = [(' "new', 0.25), ("\n", 0.05), (' "prev', 0.1), (" 'mal", 0.1)]
    tokens = (token('{"rationale": "Fits.", "label":'), token(' "mal', 0.5, others))
    tokens += (token("formed", 1.0), token('", "sigma": 0}'))
    # The alternatives start with the same blank and mark, or they are not a label's beginning.
    assert found(rubric, *tokens) == {
        "previous_turn_restate": 0.1,
        "new_task_prompt": 0.25,
        "malformed": 0.5,
    }


def test_a_quotation_mark_that_ends_the_label_in_the_same_token(rubric):
    tokens = (token(START), token('malformed",', 0.5, [('generic_reply"', 0.5)]))
    tokens += (token(' "sigma": 0}'),)
    assert found(rubric, *tokens) == {"generic_reply": 0.5, "malformed": 0.5}


def test_bytes_of_a_character_that_two_tokens_share(rubric):
    first, second = "é".encode()[:1], "é".encode()[1:]
    tokens = (
        token('{"rationale": "Caf'),
        token("\\xc3", raw=first),
        token("\\xa9", raw=second),
        token('", "label": "'),
        token("malformed", 0.7, [("generic", 0.2)]),
        token(END),
    )
    content = '{"rationale": "Café", "label": "malformed", "sigma": 0}'
    assert found(rubric, *tokens, content=content) == {"generic_reply": 0.2, "malformed": 0.7}


def test_the_last_verdict_counts(rubric):
    first = (token(START), token("generic_reply", 0.9, [("malformed", 0.1)]), token(END))
    last = (token(START), token("malformed", 0.6, [("generic_reply", 0.4)]), token(END))
    assert found(rubric, *first, *last) == {"generic_reply": 0.4, "malformed": 0.6}


def test_without_bytes_the_tokens_text_is_taken(rubric):
    tokens = [token(START), token("malformed", 0.5, [("generic_reply", 0.5)]), token(END)]
    for entry in tokens:
        for one in (entry, *entry["top_logprobs"]):
            one["bytes"] = None
    assert found(rubric, *tokens) == {"generic_reply": 0.5, "malformed": 0.5}


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        [],
        "odd",
        {"content": None},
        {"content": []},
        {"content": [None]},
        {"content": [{"token": "a"}]},
        {"content": [{"token": "a", "logprob": "b", "top_logprobs": []}]},
        {"content": [{"token": "a", "logprob": 0.0, "top_logprobs": None}]},
        {"content": [{"token": "a", "logprob": 0.0, "bytes": [999], "top_logprobs": []}]},
        {"content": [{"token": 7, "logprob": 0.0, "top_logprobs": []}]},
        {"content": [{"token": "a", "logprob": 0.0, "top_logprobs": [["a", 0.0]]}]},
        {"content": [{"token": "a", "logprob": 1e9, "top_logprobs": []}]},
    ],
)
def test_logprobs_that_are_none(rubric, logprobs):
    assert label_probabilities(logprobs, f"{START}malformed{END}", rubric) is None


def test_logprobs_that_do_not_spell_the_content(rubric):
    tokens = (token(START), token("malformed", 0.5), token(END))
    assert found(rubric, *tokens, content=f"{START}generic_reply{END}") is None


def test_a_verdict_with_half_a_character_has_none(rubric):
    tokens = (token(START), token("malformed", 0.5), token(END))
    assert found(rubric, *tokens, content=f"{START}malformed{END}\ud800") is None


@given(data=st.data())
def test_the_sum_is_never_above_one(rubric, data):
    """Whatever the label is cut into, and whatever a server gives as alternatives."""
    label = data.draw(st.sampled_from(rubric.category_ids))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(label) - 1), max_size=4)))
    pieces = [label[a:b] for a, b in zip([0, *cuts], [*cuts, len(label)], strict=True)]
    begun = [name[:n] for name in rubric.category_ids for n in range(1, len(name) + 1)]
    tokens = [token(START)]
    for piece in pieces:
        chance = data.draw(st.floats(0.01, 1.0))
        others = data.draw(st.lists(st.sampled_from([*begun, "x", '"']), max_size=4, unique=True))
        others = [other for other in others if other != piece]
        share = (1 - chance) / max(1, len(others))
        tokens.append(token(piece, chance, [(o, share) for o in others if share > 0]))
    probabilities = found(rubric, *tokens, token(END))
    assert sum(probabilities.values()) <= 1 + 1e-5
    assert label in probabilities
    assert set(probabilities) <= set(rubric.category_ids)


@pytest.mark.usefixtures("quick")
def test_they_are_stored_with_their_verdict(study, judge_by):
    """One verdict without logprobs, one that cannot be read: these two have none."""
    tokens = [token(START), token("malformed", 0.75, [("generic_reply", 0.25)]), token(END)]
    content = "".join(entry["token"] for entry in tokens)

    def behave(request):
        if request.number == 1:
            return Answer(body=completion(verdict("malformed")))
        spelt = content.replace("malformed", "nonsense") if request.number == 2 else content
        return Answer(body=completion(spelt, logprobs={"content": tokens}))

    with StubServer(behave) as server:
        assert judge_by(server, "--concurrency", 1)[0] == 0
        assert {(r.body["logprobs"], r.body["top_logprobs"]) for r in server.requests} == {
            (True, 5)
        }
    stored = [row["label_probabilities"] for row in judgments(study)]
    assert (stored.count(None), len(stored)) == (2, 8)
    assert [json.loads(text) for text in stored if text] == [
        {"generic_reply": 0.25, "malformed": 0.75}
    ] * 6
