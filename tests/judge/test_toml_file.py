"""TOML from people: what no one writes is refused in one line, in prices and in judges."""

import pytest

from judge.judges_file import read_judges
from judge.server.usage import read_price
from rubrics import InputError

HOSTILE = [
    (b"[" * 5000 + b"]" * 5000, "nested too deep"),
    (b"{a." + b"a." * 500 + b"a = 1}", "nested too deep"),
    (b"1" * 5000, "a number of too many digits"),
    (b"0x" + b"f" * 9000, "a number of too many digits"),
    (b"1" + b"0" * 400, "a number of too many digits"),
    (b"-9223372036854775809", "a number of too many digits"),
    (b"[{a = [0x" + b"f" * 9000 + b"]}]", "a number of too many digits"),
    (b"1 #" + b"x" * 1_000_000, "has more than 1,000,000 bytes"),
    (b"\xff", "is no TOML"),
]


@pytest.mark.parametrize(("value", "found"), HOSTILE)
def test_a_price(tmp_path, value, found):
    path = tmp_path / "prices.toml"
    path.write_bytes(b"[m]\noutput = 1\ninput = " + value)
    with pytest.raises(InputError) as refused:
        read_price(path, "m")
    assert str(refused.value).startswith(f"{path} ")
    assert found in str(refused.value)
    assert "dollars per million tokens" in str(refused.value)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize(("value", "found"), HOSTILE)
def test_an_entry_of_a_judge(tmp_path, value, found):
    path = tmp_path / "judges.toml"
    path.write_bytes(b'[[judge]]\nmodel = "m"\ntemperature = ' + value)
    with pytest.raises(InputError) as refused:
        read_judges(path)
    assert str(refused.value).startswith(f"{path} ")
    assert found in str(refused.value)
    assert "[[judge]] tables" in str(refused.value)
    assert len(str(refused.value)) < 600


def test_what_people_write_is_read(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text("[m]\ninput = 9223372036854775807\noutput = 1e-3\n")
    assert read_price(path, "m").input == 2**63 - 1


def test_a_long_value_is_shown_by_its_beginning(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(f'[m]\noutput = 1\ninput = "{"x" * 100_000}"\n')
    with pytest.raises(InputError, match="xxx …") as refused:
        read_price(path, "m")
    assert len(str(refused.value)) < 600
