"""Anchors: what an export keeps of a judge, and when a judge counts as having drifted."""

import pytest
from hostile_texts import HOSTILE_TEXTS
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from generation.item import Item, Message, is_storable
from judge.anchors import (
    Anchor,
    anchor_lines,
    drift,
    expected_flip_rate,
    read_anchors,
    upper_tail,
)
from rubrics import InputError


def anchors(n: int, *labels: str | None) -> tuple[Anchor, ...]:
    """n anchors with the same labels, run by run."""
    items = [Item((Message("user", f"q{k}"),), "a", "u") for k in range(n)]
    return tuple(Anchor(item, labels) for item in items)


class TestLines:
    def test_every_text_comes_back(self):
        texts = [text for text in HOSTILE_TEXTS.values() if is_storable(text)]
        texts += ["one\u2028two\u2029three\x85four\x0b\x1c", "\r", "\n"]
        written = tuple(
            Anchor(Item((Message("user", text), Message("assistant", text)), text, text), ("x",))
            for text in texts
        )
        assert read_anchors(anchor_lines(written)) == written
        assert [a.item.hash for a in read_anchors(anchor_lines(written))] == [
            a.item.hash for a in written
        ]

    def test_unreadable_verdicts_and_every_run_are_kept(self):
        written = anchors(2, "x", None, "y")
        assert read_anchors(anchor_lines(written)) == written
        assert anchor_lines(written[:1]) == (
            b'{"answer":"a","labels":["x",null,"y"],'
            b'"messages":[{"content":"q0","role":"user"}],"turn":"u"}\n'
        )

    def test_none_is_an_empty_file(self):
        assert anchor_lines(()) == b""
        assert read_anchors(b"") == ()

    @pytest.mark.parametrize(
        "line",
        [
            b"", b"null", b"[]", b"{", b"\xff", b'"x"', b"[" * 100_000,
            b'{"answer":"a","turn":"u","messages":[{"role":"user","content":"q"}]}',
            b'{"answer":1,"turn":"u","labels":["x"],"messages":[{"role":"user","content":"q"}]}',
            b'{"answer":"a","turn":"u","labels":[1],"messages":[{"role":"user","content":"q"}]}',
            b'{"answer":"a","turn":"u","labels":"x","messages":[{"role":"user","content":"q"}]}',
            b'{"answer":"a","turn":"u","labels":["x"],"messages":"q"}',
            b'{"answer":"\\ud800","turn":"u","labels":["x"],'
            b'"messages":[{"role":"user","content":"q"}]}',
        ],
    )  # fmt: skip
    def test_a_line_that_is_none_is_named(self, line):
        good = anchor_lines(anchors(1, "x"))
        with pytest.raises(InputError, match=r"^line 2 is no anchor; expected messages, answer"):
            read_anchors(good + line + b"\n")


class TestDrift:
    def test_a_known_binomial_tail(self):
        # P(X >= 2) of 3 with 1/5: 3·(1/25)·(4/5) + 1/125 = 12/125 + 1/125 = 13/125 = 0.104.
        assert upper_tail(2, 3, 0.2) == pytest.approx(0.104, abs=1e-15)

    @given(st.integers(1, 50), st.integers(0, 50), st.floats(0.001, 0.999))
    def test_the_tail_is_scipys(self, n, changed, rate):
        changed = min(n, changed)
        expected = binom.sf(changed - 1, n, rate)
        assert upper_tail(changed, n, rate) == pytest.approx(expected, rel=1e-9, abs=1e-300)

    @pytest.mark.parametrize(
        ("changed", "rate", "p_value", "drifted"),
        [
            # scipy.stats.binom.sf(changed - 1, 50, rate)
            (0, 0.05, 1.0, False),
            (6, 0.05, 0.037776, False),
            (7, 0.05, 0.011786, False),
            (8, 0.05, 0.003188, True),
            (3, 0.01, 0.013817, False),
            (4, 0.01, 0.001596, True),
            (50, 0.05, 0.05**50, True),
        ],
    )
    def test_drifted_below_one_percent(self, changed, rate, p_value, drifted):
        fresh = ["other"] * changed + ["x"] * (50 - changed)
        found = drift(anchors(50, "x"), fresh, rate)
        assert (found.n, found.changed, found.expected_rate) == (50, changed, rate)
        assert found.p_value == pytest.approx(p_value, abs=5e-7)
        assert found.drifted is drifted

    def test_it_is_the_first_run_that_is_compared(self):
        assert drift(anchors(3, "x", "y"), ["x", "x", "y"], 0.05).changed == 1

    def test_unreadable_is_like_unreadable_and_unlike_a_label(self):
        assert drift(anchors(2, None), [None, "x"], 0.05).changed == 1
        assert drift(anchors(1, "x"), [None], 0.05).changed == 1

    def test_the_rate_is_the_measured_one_but_never_nought(self):
        assert expected_flip_rate(None) == 0.05
        assert expected_flip_rate(0.0) == 0.01
        assert expected_flip_rate(0.12) == 0.12

    def test_false_alarms_are_rare_at_every_rate(self):
        """Over all counts of changed anchors the chance of an alarm stays below 1 %."""
        for rate in (0.01, 0.05, 0.12, 0.5):
            alarms = [c for c in range(51) if upper_tail(c, 50, rate) < 0.01]
            assert binom.sf(alarms[0] - 1, 50, rate) < 0.01
            assert binom.sf(alarms[0] - 2, 50, rate) >= 0.01

    def test_one_line_for_people(self):
        found = drift(anchors(50, "x"), ["y"] * 8 + ["x"] * 42, 0.05)
        assert found.describe() == (
            "8 of 50 anchors got another label; about 2.5 were expected (5 %); p = 0.003"
        )
        assert drift(anchors(1, "x"), ["x"], 0.125).describe() == (
            "0 of 1 anchor got another label; about 0.1 were expected (12.5 %); p = 1.000"
        )
        assert "were expected (100 %)" in drift(anchors(9, "x"), ["y"] * 9, 1.0).describe()
        assert "were expected (66.7 %)" in drift(anchors(9, "x"), ["y"] * 9, 2 / 3).describe()
        assert drift(anchors(9, "x"), ["y"] * 9, 0.05).describe().endswith("; p < 0.001")

    def test_nothing_to_compare_is_no_all_clear(self):
        with pytest.raises(InputError, match=r"no anchors to judge again; make a new one: calibr"):
            drift((), [], 0.05)
        with pytest.raises(ValueError, match="zip"):
            drift(anchors(2, "x"), ["x"], 0.05)
