"""The HTML report: self-contained, verbatim, readable, and written whole or not at all."""

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from hostile_texts import HOSTILE_TEXTS

from judge.calibration.calibration import Calibration
from judge.calibration.cli import calibrate
from judge.calibration.comparison.rivals import compare_rivals
from judge.calibration.report.html_report import render_report, write_report
from judge.calibration.report.wording import interval_text
from judge.calibration.study_calibration import calibrate_study
from rubrics import InputError, load_rubric

LABELS = load_rubric("v3").category_ids


def calibrated(builder, **choices) -> Calibration:
    return calibrate_study(builder.pipeline, builder.labels, builder.rubric, **choices)


@pytest.fixture
def hostile(builder) -> Calibration:
    """Every hostile text as a turn and as a rationale, and hostile names of everybody."""
    texts = list(HOSTILE_TEXTS.values())
    builder.add(texts)
    builder.sample()
    ids = list(builder.items)
    labels = [LABELS[k % 7] for k in range(len(ids))]
    builder.label("ann", dict(zip(ids, labels, strict=True)))
    builder.label("<b>bo</b>", dict(zip(ids[1:], labels[:-1], strict=True)))
    builder.label("cy", dict(zip(ids, labels, strict=True)))
    for item_id, text in zip(ids[:-1], texts[:-1], strict=True):
        builder.judge({item_id: LABELS[6]}, model="<i>m</i>", rationale=text, note="<u>")
    builder.judge({ids[-1]: None}, model="<i>m</i>", note="<u>")
    return calibrated(builder)


class Page(HTMLParser):
    """Tags, attributes, and the text of every pre."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self._inside = False
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag == "pre":
            self.texts.append("")
            self._inside = True

    def handle_endtag(self, tag):
        if tag == "pre":
            self._inside = False

    def handle_data(self, data):
        if self._inside:
            self.texts[-1] += data


def test_nothing_of_it_comes_from_elsewhere_or_runs(hostile):
    source = render_report(hostile)
    page = Page(source)
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(page.tags)
    names = {name for name, _ in page.attributes}
    assert not [name for name in names if name.startswith("on") or name in ("src", "href")]
    assert "url(" not in source
    assert "@import" not in source
    assert "default-src 'none'; style-src 'unsafe-inline'" in source
    assert source.index("Content-Security-Policy") < source.index("<style>")


def test_texts_of_the_study_are_verbatim(hostile):
    page = Page(render_report(hostile))
    texts = [text for text in page.texts if text != "(empty)"]
    assert len(hostile.disagreements) > 18
    for pair in hostile.disagreements:
        for text in (pair.item.turn, pair.item.answer, pair.judgment.rationale):
            assert not text or text in texts
    assert page.texts.count("(empty)") == len(
        [p for p in hostile.disagreements for t in (p.item.turn, p.judgment.rationale) if t == ""]
    )


def test_names_are_escaped(hostile):
    source = render_report(hostile)
    assert "<title>Calibration of &lt;i&gt;m&lt;/i&gt;, rubric v3</title>" in source
    assert "&lt;b&gt;bo&lt;/b&gt;" in source
    assert "<u>" not in source


def test_the_page_says_what_the_terminal_says(small_study):
    found = calibrated(small_study)
    source = re.sub(r"\s+", " ", render_report(found))
    for said in (
        "0.710", interval_text(found.kappas.labels.interval), "n = 40 in 40 conversations",
        "2 of 40 verdicts could not be read", "10 disagreements",
        "What became of 40 items", found.rubric.hash, found.judge_id,
        "only one person has labelled", "10,000 resamples of the conversations, seed 20260402",
        'lang="en"',
    ):  # fmt: skip
        assert said in source
    counts = re.findall(r'<td class="cell[^>]*>(\d+)</td>', source)
    assert len(counts) == 7 * 8
    assert sum(map(int, counts)) == 40


def test_what_people_said_of_a_disagreement_is_on_the_page(builder):
    builder.from_pairs([(LABELS[0], LABELS[1])])
    (item_id,) = builder.items
    builder.label(
        "<i>bo", {item_id: LABELS[0]}, confidence="guessing", note="<b>Hm\u202e", flagged=True
    )
    source = re.sub(r"\s+", " ", render_report(calibrated(builder)))
    assert "<li>&lt;i&gt;bo: genuine_followup, guessing, flagged" in source
    assert "&lt;b&gt;Hm<span" in source
    assert "<li>ann: genuine_followup</li>" in source
    assert "<dd>labels per item compared: 2 labels on 1; left out as ties: 0; flagged" in source
    assert "1 disagreement<" in source


def test_an_undefined_kappa_is_named(builder):
    builder.from_pairs([(LABELS[0], LABELS[0])] * 3)
    source = render_report(calibrated(builder))
    assert "kappa (7 labels): undefined, one class" in source
    assert not re.search(r"\bnan\b", source.lower())
    assert "0 disagreements" in source


def test_the_same_study_gives_the_same_bytes(small_study, tmp_path):
    for name in ("one.html", "two.html"):
        write_report(calibrated(small_study), tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert sorted(path.name for path in tmp_path.glob("*.*")) == ["one.html", "two.html"]


def test_a_report_is_replaced_whole_or_left_as_it_was(small_study, tmp_path, monkeypatch):
    path = tmp_path / "r.html"
    path.write_text("<!doctype html>earlier")

    def fail(self, data):
        with open(self, "wb") as file:
            file.write(data[:100])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", fail)
        with pytest.raises(InputError, match=r"cannot write the report to .*r.html: No space left"):
            write_report(calibrated(small_study), path)
    assert path.read_text() == "<!doctype html>earlier"
    assert [entry.name for entry in tmp_path.glob("*.part")] == []
    assert [entry.name for entry in tmp_path.glob(".*")] == []
    write_report(calibrated(small_study), path)
    assert path.read_text().startswith("<!doctype html>")


def test_what_is_no_report_is_not_overwritten(small_study):
    store = small_study.study.labels
    before = store.read_bytes()
    with pytest.raises(InputError, match="is no report, so it is not overwritten"):
        write_report(calibrated(small_study), store)
    assert store.read_bytes() == before


def test_a_link_is_written_through(small_study, tmp_path):
    target, link = tmp_path / "target.html", tmp_path / "link.html"
    link.symlink_to(target)
    write_report(calibrated(small_study), link)
    assert link.is_symlink()
    assert target.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("path", ["none/r.html", "/dev/full"])
def test_an_unwritable_place_is_one_line(small_study, tmp_path, path):
    if path.startswith("/dev") and not os.path.exists(path):
        pytest.skip("this system has no /dev/full")
    arguments = ["--html", str(tmp_path / path), "--study", str(small_study.study.folder)]
    result = CliRunner().invoke(calibrate, arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith("error: cannot write the report to ")
    assert result.stderr.count("\n") == 1
    assert not os.path.isfile("/dev/full")


# ---------------------------------------------------------------------------- in the browser


# Every element with text of its own: its colour against the nearest opaque background.
CONTRASTS = """() => {
  const luminance = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .04045
    ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const ground = e => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor);
    if (c[3] === 255) return c; } return rgba('Canvas'); };
  const low = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const style = getComputedStyle(e);
    const ink = luminance(rgba(e.namespaceURI.endsWith('svg') ? style.fill : style.color));
    const paper = luminance(ground(e));
    const ratio = (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05);
    if (ratio < 4.5) low.push([e.tagName, e.className, ratio.toFixed(2)]);
  }
  return low;
}"""  # noqa: E501


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1100])
def test_reads_well(hostile, browser, tmp_path, scheme, width):
    path = tmp_path / "r.html"
    write_report(hostile, path)
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    assert asked == [path.as_uri()]
    assert said == []
    assert page.title() == "Calibration of <i>m</i>, rubric v3"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("body").is_visible()
    assert page.evaluate(CONTRASTS) == []
    shown = page.locator("pre").all_text_contents()
    turns = [pair.item.turn or "(empty)" for pair in hostile.disagreements]
    assert [turn for turn in turns if turn not in shown] == []
    page.close()


@pytest.mark.browser
def test_the_matrix_scrolls_inside_its_own_box(hostile, browser, tmp_path):
    path = tmp_path / "r.html"
    write_report(hostile, path)
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(path.as_uri())
    box = page.get_by_role("region", name="Who said what").last
    assert box.evaluate("e => e.scrollWidth > e.clientWidth")
    box.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("e => e.scrollLeft > 0", arg=box.element_handle())
    page.close()


def test_other_judges_are_compared_and_those_with_other_items_named(small_study):
    labels = {item: LABELS[0] for item in small_study.items}
    small_study.judge(labels, model="constant")
    small_study.judge(dict(list(labels.items())[:5]), model="barely-begun")
    found = calibrated(small_study, judge="judge-a")
    source = render_report(found, compare_rivals(small_study.pipeline, small_study.labels, found))
    section = source.split('id="rivals"')[1].split("</section>")[0]
    assert "on the 40 items that all of them judged" in section
    assert "followupeval, constant" in section
    assert section.count('<circle class="point"') == 2  # labels and sigma
    assert "the other is worse" in section
    assert re.search(
        r"Not compared: followupeval, barely-begun \(\w+\): judged 5 of these 40", section
    )


def test_a_judge_alone_has_nobody_to_be_compared_with(small_study):
    found = calibrated(small_study)
    rivals = compare_rivals(small_study.pipeline, small_study.labels, found)
    assert 'id="rivals"' not in render_report(found, rivals)
