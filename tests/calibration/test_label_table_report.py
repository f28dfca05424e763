"""`calibrate agreement` and `calibrate table`: published tables through the real commands."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from judge.calibration.cli import calibrate
from judge.calibration.label_table.normalise import AGAIN, SINGLE

PANDALM = Path(__file__).parents[1] / "data" / "pandalm_long.csv"
COHEN = "[[88,14,18],[10,40,10],[2,6,12]]"  # Cohen 1960 (Educ Psychol Meas 20:37), p45


def run(*arguments: object):
    return CliRunner().invoke(calibrate, [str(argument) for argument in arguments])


def found(*arguments: object) -> dict:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} in the JSON")

    return json.loads(result.stdout, parse_constant=refuse)


def refusal(*arguments: object) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def file_of(tmp_path):
    def write(rows, columns="item,rater,label") -> Path:
        path = tmp_path / "t.csv"
        path.write_text("\n".join([columns, *(",".join(map(str, row)) for row in rows)]) + "\n")
        return path

    return write


def two_raters(pairs) -> list[tuple]:
    """Rows of two raters, a and b, from their labels of item after item."""
    return [(k, r, label) for k, pair in enumerate(pairs) for r, label in zip("ab", pair, strict=1)]


# Bare tables


def test_the_table_of_cohen_1960():
    report = found("table", COHEN)
    (pair,) = report["pairs"]
    assert (report["n_items"], pair["n"]) == (200, 200)
    assert pair["kappa"]["value"] == pytest.approx(0.491525, abs=1e-6)
    assert pair["kappa"]["se"] == pytest.approx(0.051002, abs=1e-6)  # Fleiss-Cohen-Everitt
    assert pair["kappa"]["reason"] is None
    assert pair["pi"] == pytest.approx(0.487179, abs=1e-6)
    assert pair["ac1"] == pytest.approx(0.575972, abs=1e-6)
    assert pair["brennan_prediger"] == pytest.approx(0.55)
    assert pair["kappa_max"] == pytest.approx(0.8305, abs=1e-4)
    assert report["alpha"]["value"] == pytest.approx(0.488462, abs=1e-6)
    assert pair["confusion"]["counts"] == json.loads(COHEN)
    for value, (low, high) in [
        (pair["kappa"]["value"], pair["kappa"]["ci"]),
        *((pair[name], ends) for name, ends in pair["intervals"].items()),
    ]:
        assert low < value < high
    labels = report["per_label"]
    assert [entry["precision"]["value"] for entry in labels] == pytest.approx([0.88, 2 / 3, 0.3])
    assert [entry["recall"]["value"] for entry in labels] == pytest.approx([0.7333333, 2 / 3, 0.6])
    assert [entry["f1"]["value"] for entry in labels] == pytest.approx([0.8, 2 / 3, 0.4])
    kappas = [entry["kappa"]["value"] for entry in labels]
    assert kappas == pytest.approx([0.56, 0.523810, 0.307692], abs=1e-6)


def test_a_last_column_that_only_the_judge_can_give():
    (pair,) = found("table", "[[2,0,0],[0,1,1]]")["pairs"]
    assert (pair["agreement"], pair["kappa"]["value"]) == (0.75, pytest.approx(0.6))
    assert pair["confusion"]["columns"] == ["1", "2", "invalid"]


def test_a_table_without_items_has_no_numbers():
    report = found("table", "[[0,0],[0,0]]")
    (pair,) = report["pairs"]
    assert pair["kappa"] == {"value": None, "ci": None, "reason": "no items", "se": None}
    assert (pair["agreement"], pair["pi"], report["alpha"]["value"]) == (None, None, None)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ("[[1,2],[3]]", "2 rows of 1 or 2 cells"),
        ("[[1,2]]", "1 rows of 2 cells"),
        ("[[1,2,3,4],[1,2,3,4]]", "2 rows of 4 cells"),
        ("[[1],[2]]", "2 rows of 1 cells"),
        ("[]", "0 rows of no cells"),
        ("[[1,-2],[3,4]]", "row 1 holds -2"),
        ("[[1,2],[3,4.0]]", "row 2 holds 4.0"),
        ("[[1,2],[3,true]]", "row 2 holds true"),
        ("[[1,2],[3,NaN]]", "row 2 holds NaN"),
        ('[[1,2],[3,"4"]]', 'row 2 holds "4"'),
        ("{}", "not a list of rows"),
        ("[1,2]", "not a list of rows"),
        ("1 2; 3 4", "not a table"),
        ("[" * 100_000, "not a table"),
        ("[[1000000000,1],[1,1]]", "more than 1,000,000,000 items"),
    ],
)
def test_what_is_no_table_of_counts_is_refused(counts, expected):
    assert expected in refusal("table", counts)


def test_large_tables_are_exact():
    (pair,) = found("table", "[[400000000,1],[1,500000000]]")["pairs"]
    assert pair["kappa"]["value"] == pytest.approx(1, abs=1e-7)


# Published labels


def test_people_of_pandalm():
    """Published .85, .88 and .86; recomputed from the labels."""
    report = found("agreement", PANDALM, "--categories", "0,1,2")
    kappas = {(p["rater_a"][-1], p["rater_b"][-1]): p["kappa"]["value"] for p in report["pairs"]}
    people = {pair: round(kappa, 4) for pair, kappa in kappas.items() if pair[1] in "123"}
    assert people == {("1", "2"): 0.8520, ("1", "3"): 0.8789, ("2", "3"): 0.8617}
    assert round(report["alpha"]["value"], 4) == 0.8642
    assert report["alpha"]["raters"] == ["annotator1", "annotator2", "annotator3"]
    assert report["n_items"] == 999
    assert report["excluded"] == []


def test_the_judge_of_pandalm_beyond_the_categories():
    """GPT-3.5 said "Tie" 38 times, and 25 times nothing that could be read."""
    report = found("agreement", PANDALM, "--categories", "0,1,2")
    assert report["invalid"] == {"gpt-3.5-turbo": 63}
    (pair,) = (p for p in report["pairs"] if {p["rater_a"], p["rater_b"]} ==
               {"annotator1", "gpt-3.5-turbo"})  # fmt: skip
    assert (pair["rater_a"], pair["n"]) == ("annotator1", 999)
    assert pair["confusion"]["columns"] == ["0", "1", "2", "invalid"]
    assert sum(row[3] for row in pair["confusion"]["counts"]) == 63
    scores = [e for e in report["per_label"] if e["rater_b"] == "gpt-3.5-turbo"]
    assert scores[0]["precision"] == {
        "value": None, "ci": None, "reason": "the judge never gave this label",
    }  # fmt: skip
    assert "precision" not in report["per_label"][0]  # two people: neither is the reference


def test_without_categories_those_found_are_taken_and_it_is_said():
    report = found("agreement", PANDALM)
    assert report["categories"] == ["0", "1", "2", "Tie", "garbage"]
    assert report["invalid"] == {}
    assert "5 labels found, sorted: 0, 1, 2, Tie, garbage" in report["notes"][0]


def test_alpha_of_krippendorffs_data_with_missing_labels(file_of):
    """Data "C" of Krippendorff 2004: nominal alpha 904/1216."""
    coders = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    rows = [(i, f"c{r}", "" if label == "." else label)
            for r, coder in enumerate(coders) for i, label in enumerate(coder)]  # fmt: skip
    report = found("agreement", file_of(rows))
    assert report["alpha"]["value"] == pytest.approx(904 / 1216)
    assert report["alpha"]["n"] == 11
    assert {e["reason"]: e["count"] for e in report["excluded"]} == {"no label": 7, SINGLE: 1}


# Where libraries disagree


def test_one_class_is_undefined_with_full_raw_agreement(file_of):
    report = found("agreement", file_of(two_raters(["xx"] * 5)), "--categories", "x,y")
    (pair,) = report["pairs"]
    assert pair["agreement"] == 1
    assert (pair["kappa"]["value"], pair["kappa"]["ci"]) == (None, None)
    assert pair["kappa"]["reason"].startswith("one class")
    assert (pair["ac1"], pair["brennan_prediger"]) == (1, 1)
    assert report["alpha"]["value"] is None
    assert "fewer than two labels in use" in report["alpha"]["reason"]


def test_a_single_agreeing_item(file_of):
    report = found("agreement", file_of(two_raters(["xx"])))
    assert (report["n_items"], report["pairs"][0]["kappa"]["value"]) == (1, None)
    assert report["alpha"]["value"] is None


def test_a_single_disagreeing_item_has_a_value_and_no_interval(file_of):
    report = found("agreement", file_of(two_raters(["xy"])))
    kappa = report["pairs"][0]["kappa"]
    assert (kappa["value"], kappa["ci"], kappa["se"]) == (0, None, None)
    assert kappa["reason"] == "no interval: a single item"
    assert (report["alpha"]["value"], report["alpha"]["ci"]) == (0, None)


def test_no_common_label(file_of):
    (pair,) = found("agreement", file_of(two_raters(["xy", "xz", "xy"])))["pairs"]
    assert pair["kappa"]["value"] == 0
    assert "no common label" in pair["notes"][0]


def test_a_constant_rater_has_kappa_0_and_error_0(file_of):
    (pair,) = found("agreement", file_of(two_raters(["xx"] * 5 + ["yx"] * 3)))["pairs"]
    assert (pair["kappa"]["value"], pair["kappa"]["se"]) == (0, 0)
    assert "single label" in pair["notes"][0]


def test_perfect_agreement_has_an_interval_that_ends_at_1(file_of):
    """Resampling can only repeat it; Wilson's bound of 40/40 stands in."""
    report = found("agreement", file_of(two_raters(["xx", "yy"] * 20)))
    kappa = report["pairs"][0]["kappa"]
    low = 40 / (40 + 1.959964**2)
    assert kappa["value"] == report["alpha"]["value"] == 1
    assert kappa["ci"] == pytest.approx([2 * low - 1, 1])
    assert report["alpha"]["ci"][0] == pytest.approx(1 - (1 - low) / (1600 * 2 / (80 * 79)))


def test_the_number_of_categories_is_that_of_the_rubric(file_of):
    """Brennan-Prediger's chance is 1/K of all categories, used or not."""
    path = file_of(two_raters(["xx", "xy", "yy", "yy"]))
    values = [
        found("agreement", path, "--categories", names)["pairs"][0]["brennan_prediger"]
        for names in ("x,y", "x,y,z,w")
    ]
    assert values == pytest.approx([0.5, (0.75 - 0.25) / 0.75])


def test_raters_of_unequal_numbers_of_items_are_compared_on_those_in_common(file_of):
    rows = [*two_raters(["xx", "yy", "xy"]), (7, "a", "x"), (0, "c", "x"), (9, "d", "y")]
    report = found("agreement", file_of(rows))
    sizes = {(p["rater_a"], p["rater_b"]): p["n"] for p in report["pairs"]}
    assert sizes == {("a", "b"): 3, ("a", "c"): 1, ("b", "c"): 1}
    assert {e["reason"]: e["count"] for e in report["excluded"]} == {SINGLE: 2}
    assert "3 pairs of raters without an item in common" in report["notes"][-1]
    assert "'d' rated '9'" in report["notes"][-1]


def test_doubled_rows_change_nothing(file_of):
    """nltk once gave a kappa of 1.43 for them."""
    rows = two_raters(["xx", "yy", "xy", "yy"])
    once, twice = found("agreement", file_of(rows)), found("agreement", file_of(rows * 2))
    assert twice["pairs"] == once["pairs"]
    assert twice["excluded"] == [{"reason": AGAIN, "count": 8}]
    assert twice["repeats"] == [
        {"rater": "a", "n": 4, "agreement": 1.0},
        {"rater": "b", "n": 4, "agreement": 1.0},
    ]


def test_how_far_a_rater_repeats_their_first_label(file_of):
    rows = [(0, "a", "y"), (0, "a", "x"), *two_raters(["xx", "yy"]), (1, "a", "y")]
    (repeats,) = found("agreement", file_of(rows))["repeats"]
    assert repeats == {"rater": "a", "n": 2, "agreement": 0.5}


def test_order_of_rows_does_not_matter(file_of):
    rows = two_raters(["xx", "yy", "xy", "yx", "xx", "zz"])
    one = found("agreement", file_of(rows))
    other = found("agreement", file_of(rows[::-1]))
    assert one | {"hash": None} == other | {"hash": None}


# Clusters and weights


def test_clusters_widen_the_interval(file_of):
    """Items of one cluster are alike here: 20 clusters tell less than 100 items."""
    labels = ["xx", "yy", "xx", "yx"] * 5
    rows = [(f"{c}-{i}", rater, label, c) for c, pair in enumerate(labels) for i in range(5)
            for rater, label in zip("ab", pair, strict=True)]  # fmt: skip
    alone = found("agreement", file_of(rows, "item,rater,label,group"))
    together = found("agreement", file_of(rows, "item,rater,label,cluster"))
    one, other = (report["pairs"][0] for report in (alone, together))
    assert one["kappa"]["value"] == other["kappa"]["value"]
    assert one["resampled"] == {"what": "items", "n": 100}
    assert other["resampled"] == {"what": "clusters", "n": 20}
    # √5 but for Q/(Q - 1)
    assert other["kappa"]["se"] / one["kappa"]["se"] == pytest.approx((5 * 20 / 19) ** 0.5)
    widths = [pair["kappa"]["ci"][1] - pair["kappa"]["ci"][0] for pair in (one, other)]
    assert widths[1] > 1.7 * widths[0]
    assert "fewer than 30 clusters" in other["notes"][0]
    assert "conversation" not in json.dumps(together)


def test_weights_count_as_so_many_items(file_of):
    labels = ["xx", "xy", "yy", "yx", "xx", "zz"]
    weights = [3, 1, 2, 1, 1, 2]
    rows = [(*row, weights[row[0]]) for row in two_raters(labels)]
    weighted = found("agreement", file_of(rows, "item,rater,label,weight"))
    many = [pair for pair, times in zip(labels, weights, strict=True) for _ in range(times)]
    repeated = found("agreement", file_of(two_raters(many)))
    one, other = weighted["pairs"][0], repeated["pairs"][0]
    for name in ("agreement", "pi", "ac1", "brennan_prediger"):
        assert one[name] == pytest.approx(other[name])
    assert one["kappa"]["value"] == pytest.approx(other["kappa"]["value"])
    assert (one["n"], other["n"]) == (6, 10)
    assert "weighted items" in " ".join(weighted["notes"])


# The commands


def test_text_of_both_commands_fits_and_says_it_all(file_of):
    rows = [(*row, "human" if row[1] == "a" else "judge")
            for row in two_raters(["xx", "yy", "xq", "yy"])]  # fmt: skip
    path = file_of([*rows, (9, "a", "x", "human"), (8, "a", "", "human")], "item,rater,label,kind")
    text = run("agreement", path, "--categories", "x,y").stdout
    for said in ("5 items", "1 person and 1 judge", "a – b", "alpha over all raters", "invalid",
                 "no label", SINGLE, "precision", "seed", "1 label outside"):  # fmt: skip
        assert said in text
    bare = run("table", COHEN).stdout
    for said in ("200 items", "0.492", "0.0510", "0.487", "0.576", "0.550", "alpha"):
        assert said in bare
    assert max(map(len, (text + bare).splitlines())) <= 100


def test_names_in_a_table_cannot_act_on_a_terminal(file_of):
    names = ["a\x1b[31m", "[red]b"]
    text = run("agreement", file_of([(1, r, f"x{r}") for r in names] + [(2, names[0], "y"),
                                    (2, names[1], "y")])).stdout  # fmt: skip
    assert "\x1b" not in text
    assert "[red]b" in text


def test_long_lists_of_raters_print_their_first_matrices(file_of, monkeypatch):
    monkeypatch.setattr("judge.calibration.label_table.terminal.MATRICES", 2)
    rows = [(i, r, label) for i, label in enumerate("xy") for r in "abc"]
    text = run("agreement", file_of(rows)).stdout
    assert text.count("↓") == 2
    assert "matrices of 1 more pair: see --json" in text


def test_the_same_command_gives_the_same_bytes(file_of):
    path = file_of(two_raters(["xx", "xy", "yy"] * 4))
    first, again, other = (
        run("agreement", path, "--json", "--seed", seed).stdout for seed in (1, 1, 2)
    )
    assert first == again != other


def test_categories_of_a_rubric(file_of):
    path = file_of(two_raters([("generic_reply", "malformed"), ("Malformed", "malformed")]))
    message = refusal("agreement", path, "--rubric", "v3")
    assert "t.csv: row 4: 'Malformed' of 'a': unknown label" in message
    assert "did you mean 'malformed'?" in message
    mended = file_of(two_raters([("generic_reply", "malformed"), ("malformed", "malformed")]))
    assert len(found("agreement", mended, "--rubric", "v3")["categories"]) == 7


def test_two_sources_of_categories_are_one_too_many():
    result = run("agreement", PANDALM, "--categories", "0,1,2", "--rubric", "v3")
    assert result.exit_code == 2


def test_a_file_of_one_column_per_rater_is_refused_in_one_line(file_of):
    path = file_of([(1, "x", "y")], "item,rater_1,rater_2")
    assert "one row per rating, not one column per rater" in refusal("agreement", path)
