"""Dollars: the price file, --max-cost from one run to the next, and what is printed."""

import pytest
from judged_study import judgments, make_study
from stub_http import Answer, Drop
from stub_server import StubServer, any_verdict, completion, verdict

from judge.server.usage import Price, estimated_usage, read_price
from rubrics import InputError

TOML = '["m"]\ninput = 2\noutput = 8.0\ncached_input = 0.5\n'
ITEMS = 60


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(TOML)
    return path


@pytest.fixture
def big(tmp_path):
    """A study of 60 distinct items."""
    return make_study(tmp_path / "big", (f"Turn {n}?" for n in range(ITEMS)))


def cost_of(study) -> float:
    """Worked out from the stored tokens, by a sum of our own."""
    return (
        sum(
            (row["prompt_tokens"] - row["cached_tokens"]) * 2.0
            + row["cached_tokens"] * 0.5
            + row["completion_tokens"] * 8.0
            for row in judgments(study)
        )
        / 1e6
    )


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize("longer", [1, 3])
def test_max_cost_stops_before_it_and_a_higher_one_goes_on(
    big, judge_by, prices, concurrency, longer
):
    """Also where the server counts three times the tokens that a prompt's size lets expect."""

    def behave(request):
        reply = any_verdict(request)
        usage = reply.body["usage"]
        usage["prompt_tokens"] *= longer
        return reply

    options = ("--prices", prices, "--concurrency", concurrency)
    with StubServer(behave) as server:
        code, out, err = judge_by(server, *options, "--max-cost", 0.1 * longer, of=big)
        first = cost_of(big)
        done = len(judgments(big))
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert 0 < done < ITEMS
        assert 0 < first <= 0.1 * longer
        assert f"stopped before --max-cost {0.1 * longer:g}: ${first:.4f} spent" in err
        code, out, err = judge_by(server, *options, "--max-cost", 10, of=big)
        assert (code, err) == (0, "")
        assert out.startswith(f"{ITEMS - done} items judged by m under rubric v3, {done} judged")
        assert f"\ncost: ${cost_of(big) - first:.4f}\n" in out
        assert (len(server.requests), server.counts["duplicates"]) == (ITEMS, 0)
    assert len(judgments(big)) == ITEMS


@pytest.mark.usefixtures("quick")
def test_a_limit_below_one_request_asks_nothing(big, judge_by, prices):
    with StubServer() as server:
        code, _out, err = judge_by(server, "--prices", prices, "--max-cost", 1e-6, of=big)
        assert not server.requests
    assert (code, err.count("\n")) == (1, 1)
    assert "$0.0000 spent" in err


@pytest.mark.usefixtures("quick")
def test_without_usage_the_estimate_counts(study, judge_by, prices):
    with StubServer(lambda request: Answer(body=completion(verdict()))) as server:
        code, out, _err = judge_by(server, "--prices", prices)
        sizes = [
            estimated_usage(request.body["messages"], 1024).prompt_tokens
            for request in server.requests
        ]
    expected = (sum(sizes) * 2.0 + len(sizes) * 1024 * 8.0) / 1e6
    assert (code, f"\ncost: ${expected:.4f}\n" in out) == (0, True)
    assert {row["prompt_tokens"] for row in judgments(study)} == {None}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("input = 1", "has no price of m (it has: none)"),
        ('["other"]\ninput = 1\noutput = 2', "has no price of m (it has: other)"),
        ('["m"]\ninput = 1', "found no output"),
        ('["m"]\noutput = 1', "found no input"),
        ('["m"]\ninput = -1\noutput = 2', "found input = -1"),
        ('["m"]\ninput = "1"\noutput = 2', "found input = '1'"),
        ('["m"]\ninput = true\noutput = 2', "found input = True"),
        ('["m"]\ninput = nan\noutput = inf', "found input = nan, output = inf"),
        ('["m"]\ninput = 1\noutput = 2\nhour = 3', "found hour = 3"),
        ("m = 1", "has no price of m"),
        ("[", "is no TOML"),
        (b"\xff", "is no TOML"),
    ],
)
def test_a_price_file_that_is_none_is_refused(tmp_path, text, found):
    path = tmp_path / "prices.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as refused:
        read_price(path, "m")
    assert found in str(refused.value)
    assert "dollars per million tokens" in str(refused.value)


def test_a_price_without_cached_input_is_that_of_fresh_input(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text('["a/b:c"]\ninput = 2\noutput = 8')
    assert read_price(path, "a/b:c") == Price(2, 8, 2)
    with pytest.raises(InputError, match="No such file"):
        read_price(tmp_path / "none.toml", "m")


@pytest.mark.usefixtures("quick")
def test_answers_that_are_lost_cost_no_more_than_is_allowed(study, judge_by, tmp_path):
    """Each attempt may be billed, and there are up to eight of them for one verdict."""
    prices = tmp_path / "prices.toml"
    prices.write_text("m = {input = 0, output = 1_000_000}")  # a dollar a token
    lost = [Drop(), Answer(body=b'{"choices": [')]
    with StubServer(
        lambda r: (
            lost[r.number % 2] if r.number else Answer(body=completion(verdict(), usage=(9, 0, 1)))
        )
    ) as server:
        options = ("--prices", prices, "--max-cost", 5, "--max-tokens", 1, "--concurrency", 1)
        code, _out, err = judge_by(server, *options)
        assert code == 1
        assert "stopped before --max-cost 5" in err
        assert len(server.requests) <= 5
