"""Rubrics of a study's own: written once from a checked file, and used wherever a version is."""

import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from calibrate_command import failed, run
from click.testing import CliRunner
from hash_halves import split_of

import annotator.app
from annotator.cli import annotate
from generation.item import Item, Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.cli import calibrate
from judge.calibration.rubric_authoring import new_rubric
from judge.cli import judge
from rubrics import InputError, Rubric, available_versions, latest_version, load_rubric
from tests.calibration.conftest import StudyBuilder

V3 = load_rubric("v3")
START = "The turn reacts to this answer"  # of the first definition
KEYS = [category.key for category in V3.categories]
QUERY = (
    "Natalia sold clips to forty-eight of her friends in April, and then she sold half as many "
    "clips in May. How many did she sell altogether?"
)


def changed(text: str = V3.text, *changes: tuple[str, str], version: str = "v4") -> str:
    """A rubric's text under another version, with other changes; each must be one."""
    for old, new in ((f'version = "{V3.version}"', f"version = {json.dumps(version)}"), *changes):
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def write(builder, tmp_path: Path, text: str | bytes):
    """The command on a file of this text."""
    file = tmp_path / "mine.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return run(builder, "rubric", "new", str(file))


def judged(builder, *arguments: str):
    folder = str(builder.study.folder)
    return CliRunner().invoke(judge, [*arguments, "--study", folder])


def stored(builder) -> list[Path]:
    """Everything in the study's folder of rubrics."""
    folder = builder.study.rubrics
    return sorted(folder.iterdir()) if folder.exists() else []


@pytest.fixture
def own(builder, tmp_path) -> Rubric:
    """Rubric v4 in the study: v3 with another wording of the first category."""
    text = changed(V3.text, (START, f"Mine. {START}"))
    assert write(builder, tmp_path, text).exit_code == 0
    return builder.study.rubric("v4")


class TestShowAndNew:
    def test_show_prints_the_file_as_it_is(self, builder):
        packaged = Path(sys.modules["rubrics"].__file__).with_name("v3.toml")
        assert run(builder, "rubric", "show", "v3").stdout == packaged.read_text()

    def test_what_show_prints_becomes_a_new_one_under_another_version(self, builder, tmp_path):
        shown = run(builder, "rubric", "show", "v3").stdout
        done = write(builder, tmp_path, changed(shown))
        path, option = builder.study.rubrics / "v4.toml", builder.study.option
        first, copied, unmapped, *following = done.stdout.splitlines()
        assert first == f"rubric v4 is {path}"
        assert copied.startswith("note: `changed` and `why` are still those of v3")
        assert unmapped.startswith("note: it has no [mapping.VERSION] table")
        assert following == [
            f"next: judge --rubric v4{option}",
            f"or have people label under it: annotate publish v4{option}",
        ]
        assert stored(builder) == [path]
        assert path.read_text() == changed(shown)
        assert run(builder, "rubric", "show", "v4").stdout == changed(shown)
        mine = builder.study.rubric("v4")
        assert mine.categories == V3.categories
        assert mine.hash != V3.hash

    @pytest.mark.parametrize("ending", ["\r\n", "\n"])
    def test_a_byte_order_mark_and_other_line_ends_change_no_meaning(
        self, builder, tmp_path, ending
    ):
        text = changed().replace("\n", ending)
        assert write(builder, tmp_path, b"\xef\xbb\xbf" + text.encode()).exit_code == 0
        path = builder.study.rubrics / "v4.toml"
        assert path.read_bytes() == text.encode()
        assert builder.study.rubric("v4").categories == V3.categories

    def test_it_can_be_read_by_all_who_can_read_the_study(self, builder, own):
        modes = [
            stat.S_IMODE(path.stat().st_mode)
            for path in (builder.study.rubrics / "v4.toml", builder.study.pipeline)
        ]
        assert modes[0] == modes[1]

    def test_what_differs_from_the_packaged_one_is_shown(self, builder, own):
        text = run(builder, "rubric", "diff", "v3", "v4").stdout
        assert text.startswith("Rubric v3 -> v4\n")
        assert "    + Mine. " in text

    def test_the_default_stays_the_newest_packaged_one(self, builder, own):
        assert builder.study.rubric() == load_rubric(latest_version())
        assert latest_version() == available_versions()[-1] == "v3"
        assert available_versions(builder.study.rubrics) == (*available_versions(), "v4")

    def test_no_text_of_a_rubric_can_act_on_the_terminal(self, builder, tmp_path, monkeypatch):
        write(builder, tmp_path, changed(V3.text, (START, f"a\u009b31m\u202eb {START}")))
        assert "a\u009b31m\u202eb" in run(builder, "rubric", "show", "v4").stdout  # to a file
        monkeypatch.setattr(sys, "stdout", terminal := Terminal())
        for words in (["show", "v4"], ["diff", "v3", "v4"]):
            calibrate(["rubric", *words, *builder.study.option.split()], standalone_mode=False)
        text = terminal.getvalue()
        assert "a<U+009B>31m<U+202E>b" in text
        assert not {"\u009b", "\u202e"} & set(text)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestRefused:
    """Nothing of a refused text is written."""

    @pytest.mark.parametrize("version", ["v1", "v3"])
    def test_a_packaged_version(self, builder, tmp_path, version):
        line = failed(write(builder, tmp_path, changed(version=version)))
        assert f"rubric {version} is there already and never changes (there are v1, v2, v3)" in line
        assert stored(builder) == []

    def test_a_version_that_the_study_has(self, builder, tmp_path, own):
        before = (builder.study.rubrics / "v4.toml").read_bytes()
        line = failed(write(builder, tmp_path, changed()))
        assert "rubric v4 is there already" in line
        assert "v1, v2, v3, v4" in line
        assert (builder.study.rubrics / "v4.toml").read_bytes() == before

    def test_one_that_somebody_else_writes_at_the_same_moment(self, builder, monkeypatch):
        """Both find the version free; the later one must not overwrite the earlier."""
        new_rubric(builder.study, changed())
        known = lambda folder=None: ("v1", "v2", "v3")  # noqa: E731
        monkeypatch.setattr("judge.calibration.rubric_authoring.available_versions", known)
        with pytest.raises(InputError, match=r"v4\.toml was written meanwhile and never changes"):
            new_rubric(builder.study, changed(V3.text, ("Adds", "Deletes")))
        assert stored(builder) == [builder.study.rubrics / "v4.toml"]
        assert stored(builder)[0].read_text() == changed()

    @pytest.mark.parametrize(
        "version",
        ["../x", "/x", "a/b", "..", ".hid", "V4", "v 4", "v4\u202e", "x" * 41, "-v", "v4\\x"],
    )
    def test_a_version_that_cannot_name_a_file(self, builder, tmp_path, version):
        line = failed(write(builder, tmp_path, changed(version=version)))
        assert "cannot name a rubric; expected lower-case letters" in line
        assert stored(builder) == []
        assert not list(tmp_path.rglob("x.toml"))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (changed(V3.text, (f'key = "{KEYS[1]}"', f'key = "{KEYS[0]}"')), "duplicate key 1"),
            (changed(V3.text, ("sigma = 0", "sigma = 1")), "expected exactly one"),
            (changed(V3.text.rpartition("[[categories]]")[0]), "6 categories, expected 7"),
            (changed(V3.text, ("changed = ", "altered = ")), "missing changed"),
            ("version = \n", "not TOML"),
            ("", "missing categories"),
            (changed().encode("utf-16"), "mine.toml: byte 0 is not UTF-8; save the file as UTF-8"),
            (changed(V3.text, ("Adds", "Äöü")).encode("latin-1", "replace"), "is not UTF-8"),
            (changed(V3.text, ("Adds", "a\0b")), "not TOML"),
            (changed(V3.text, (START, f"{{{{turn}}}} {START}")), "found {{turn}} 2 times"),
            (changed(V3.text, (START, f"a\\u0000b {START}")), r"holds a NUL, which no store keeps"),
            (changed(V3.text, ("Adds", "a\\u0000b")), "holds a NUL"),
        ],
        ids=range(12),
    )
    def test_what_is_no_rubric(self, builder, tmp_path, text, message):
        assert message in failed(write(builder, tmp_path, text))
        assert stored(builder) == []

    def test_a_file_that_is_not_there(self, builder, tmp_path):
        line = failed(run(builder, "rubric", "new", str(tmp_path / "none.toml")))
        assert "none.toml: No such file or directory" in line

    def test_what_is_in_the_way_of_the_folder(self, builder, tmp_path):
        builder.study.rubrics.write_text("")
        assert "rubrics: File exists" in failed(write(builder, tmp_path, changed()))

    def test_a_study_that_is_not_there(self, builder, tmp_path):
        (tmp_path / "mine.toml").write_text(changed())
        nowhere = Study(tmp_path / "none")
        line = failed(run(nowhere, "rubric", "new", str(tmp_path / "mine.toml")))
        assert "pipeline.db does not exist" in line
        assert not (tmp_path / "none").exists()

    @pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="needs setpriv")
    def test_a_folder_that_cannot_be_written(self, builder, tmp_path):
        (tmp_path / "mine.toml").write_text(changed())
        folder = builder.study.rubrics
        folder.mkdir()
        folder.chmod(0o555)
        drop = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
        words = [Path(sys.executable).with_name("calibrate"), "rubric", "new", "mine.toml"]
        done = subprocess.run(
            [*(drop if os.geteuid() == 0 else ()), *words, *builder.study.option.split()],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        folder.chmod(0o755)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert "Permission denied" in done.stderr
        assert stored(builder) == []


def of_half(wanted: str) -> Item:
    """An item of this half of the unfrozen split; a sign after the query moves it."""
    items = (Item((Message("user", QUERY + "!" * n),), "72, I think.", "Why?") for n in range(100))
    return next(item for item in items if split_of(item) == wanted)


def hold(builder, item: Item) -> None:
    turn = Turn(
        Answer(Conversation("test", "q", item.messages), item.answer), item.turn, "held-out"
    )
    TurnStore(builder.pipeline).add_turns(Run("import", {"n": 1}), [turn])
    builder.sample(repeats=0)


QUOTING = changed(V3.text, ('instructions = """', f'instructions = """\n{QUERY}\n'))


class TestLeak:
    def test_one_that_quotes_the_test_split_is_refused(self, builder, tmp_path):
        hold(builder, of_half("test"))
        line = failed(write(builder, tmp_path, QUOTING))
        assert "× rubric v4 quotes the query of item" in line
        assert f"calibrate rubric new FILE{builder.study.option}" in line
        assert stored(builder) == []

    def test_one_that_quotes_the_dev_split_is_not(self, builder, tmp_path):
        hold(builder, of_half("dev"))
        assert write(builder, tmp_path, QUOTING).exit_code == 0

    def test_no_model_is_asked_under_one_that_quotes_an_item_drawn_later(self, builder, tmp_path):
        assert write(builder, tmp_path, QUOTING).exit_code == 0
        hold(builder, of_half("test"))
        line = failed(judged(builder, "--rubric", "v4"))
        assert "× rubric v4 quotes the query of item" in line
        assert judged(builder, "--rubric", "v3").exit_code == 0


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """A study whose thirty items ann has labelled under v3."""
    builder = StudyBuilder(Study(tmp_path_factory.mktemp("labelled") / "study"))
    builder.turns(30)
    builder.sample(repeats=0)
    builder.label("ann", {i: V3.category_ids[k % 3] for k, i in enumerate(builder.items)})
    return builder.study.folder


class TestMapping:
    @pytest.mark.parametrize(
        ("table", "said"),
        [
            ('[mapping.v3]\nnonsense = "malformed"', r"\[mapping.v3\] names 'nonsense'; v3 has"),
            ('[mapping.v8]\nmalformed = "malformed"', "maps v8, which is no rubric here"),
        ],
    )
    def test_what_it_maps_has_to_be_there(self, builder, tmp_path, table, said):
        done = write(builder, tmp_path, f"{changed(V3.text)}\n{table}\n")
        assert done.exit_code == 1
        assert re.search(said, done.output)
        assert stored(builder) == []

    def test_one_that_maps_is_told_nothing_of_it(self, builder, tmp_path):
        table = '[mapping.v3]\nmalformed = "malformed"'
        done = write(builder, tmp_path, f"{changed(V3.text)}\n{table}\n")
        assert done.exit_code == 0
        assert "mapping" not in done.stdout


class TestUse:
    @pytest.fixture
    def builder(self, labelled, tmp_path):
        """A copy of that study for every test."""
        return StudyBuilder(Study(shutil.copytree(labelled, tmp_path / "study")))

    @pytest.fixture
    def study(self, builder, own):
        return builder

    def test_a_judge_labels_under_it(self, study, own):
        done = judged(study, "--rubric", "v4")
        assert done.exit_code == 0, done.output
        assert "under rubric v4" in done.stdout
        assert f"next: calibrate --rubric v4{study.study.option}" in done.stdout
        (prompt,) = study.pipeline["judge_prompts"].rows
        assert (prompt["rubric_version"], prompt["rubric_hash"]) == ("v4", own.hash)
        assert prompt["rubric_text"] == own.text
        assert "Mine. " in prompt["text"]

    def test_people_label_under_it(self, study, own, monkeypatch):
        served = []
        monkeypatch.setattr(annotator.app, "serve", lambda *said, **_: served.append(said[:2]))
        option = ["--study", str(study.study.folder)]
        assert CliRunner().invoke(annotate, ["--rubric", "v4", *option]).exit_code == 0
        assert CliRunner().invoke(annotate, option).exit_code == 0
        assert served == [(study.study, "v4"), (study.study, None)]
        assert study.study.rubric("v4") == own

    def test_it_can_be_adjudicated_and_calibrated(self, study, own):
        ids = list(study.items)
        labels = {i: own.category_ids[k % 3] for k, i in enumerate(ids)}
        study.label("ann", labels, rubric=own)
        study.label("bo", labels | {ids[0]: own.category_ids[5]}, rubric=own)
        study.judge(labels, rubric=own)
        option = ["--study", str(study.study.folder)]
        listed = CliRunner().invoke(annotate, ["adjudicate", "--rubric", "v4", *option]).output
        assert listed.startswith("items to decide under rubric v4")
        found = json.loads(run(study, "--rubric", "v4", "--json").stdout)
        assert found["rubric"] == {"version": "v4", "hash": own.hash}
        assert found["n"]["paired"] == len(ids) - 1  # one is a tie
        assert found["kappa"]["labels"]["kappa"] == 1
        assert found["labels_under_other_rubrics"] == {"v3": 30}

    def test_it_is_compared_with_the_packaged_one_that_alone_is_labelled(self, study, own):
        truth = {i: V3.category_ids[k % 3] for k, i in enumerate(study.items)}
        wrong = {i: V3.category_ids[(k + (k % 4 == 0)) % 3] for k, i in enumerate(study.items)}
        study.judge(wrong)
        study.judge(truth, rubric=own)
        result = run(study, "compare", "--rubric", "v3", "--rubric", "v4", "--json")
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert 10 <= found["n"] <= 20  # the dev half
        (challenger,) = found["challengers"]
        assert challenger["name"].startswith("v4")
        assert not challenger["items"]["broken"]
        assert challenger["items"]["fixed"]

    def test_an_export_of_it_judges_where_it_is_not_known(self, study, own, tmp_path):
        labels = {i: own.category_ids[k % 3] for k, i in enumerate(study.items)}
        study.label("ann", labels, rubric=own)
        assert judged(study, "--rubric", "v4").exit_code == 0
        out = tmp_path / "out"
        result = run(study, "export", "--rubric", "v4", "--output", str(out))
        assert result.exit_code == 0, result.output
        shutil.rmtree(study.study.rubrics)
        study.turns(3, "Other {}?")
        (folder,) = out.iterdir()
        done = judged(study, "--prompt", str(folder))
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith("3 items judged by lexical under rubric v4")

    def test_an_unknown_version_is_refused_with_those_of_the_study(self, study):
        for line in (failed(judged(study, "--rubric", "v5")), failed(run(study, "--rubric", "v5"))):
            assert "unknown rubric 'v5': the versions are v1, v2, v3, v4" in line

    @pytest.mark.parametrize("version", ["../v4", "rubrics/v4", "", "v4.toml"])
    def test_no_path_is_a_version(self, study, own, version):
        (study.study.folder / "v4.toml").write_text(own.text)
        if version:
            with pytest.raises(InputError, match="unknown rubric"):
                study.study.rubric(version)
        else:
            assert study.study.rubric(version) == V3

    def test_one_that_is_changed_after_a_judge_used_it_is_refused(self, study, own):
        assert judged(study, "--rubric", "v4").exit_code == 0
        (study.study.rubrics / "v4.toml").write_text(own.text.replace("Mine. ", "Ours. "))
        assert "is not what it was when this study first used it" in failed(
            judged(study, "--rubric", "v4")
        )


class TestByHand:
    """Files that a study's folder holds without `calibrate rubric new`."""

    @pytest.fixture
    def folder(self, builder):
        builder.study.rubrics.mkdir()
        return builder.study.rubrics

    def test_one_of_a_name_that_a_package_has_too_is_the_studys_own(self, builder, folder):
        """As when the package brought that version after the study wrote its own."""
        (folder / "v3.toml").write_text(V3.text.replace("Adds", "Hides"))
        assert builder.study.rubric("v3").changed == V3.changed.replace("Adds", "Hides")
        assert available_versions(folder) == ("v1", "v2", "v3")

    def test_one_that_says_another_version_is_refused(self, builder, folder):
        (folder / "v5.toml").write_text(changed())
        with pytest.raises(InputError, match=r"v5\.toml says version 'v4', expected 'v5'"):
            builder.study.rubric("v5")

    def test_one_that_cannot_be_read_is_refused_and_the_others_stay(self, builder, folder):
        (folder / "v5.toml").write_bytes(b"\xff")
        (folder / "v6.toml").mkdir()
        (folder / "v7.toml").write_text("version = ")
        for version in ("v5", "v6"):
            with pytest.raises(InputError, match=rf"{version}\.toml cannot be read"):
                builder.study.rubric(version)
        with pytest.raises(InputError, match=r"v7\.toml: not TOML"):
            builder.study.rubric("v7")
        assert builder.study.rubric() == V3
