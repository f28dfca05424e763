"""The tables of a published data set's card, in Markdown."""

from collections import Counter
from collections.abc import Iterable, Sequence

from annotator.measures.confusion import INVALID
from judge.calibration.main_run.tables.markdown import escaped
from judge.calibration.published.published import Published
from judge.calibration.published.verdicts import JudgeVerdicts
from rubrics import Rubric, canonical_json, short

UNSAID = "not said"  # by whoever imported the turns


def origins(done: Published) -> str:
    """Turns by data set, setting and model."""
    found: Counter[tuple[str, ...]] = Counter()
    for cell, count in done.turns.cells.items():
        found[cell.dataset, cell.setting, cell.model or UNSAID] += count
    return _counts(("data set", "setting", "who wrote u", "turns"), found)


def sampling(done: Published) -> str:
    """Turns by how u was drawn and what was done to a before."""
    found: Counter[tuple[str, ...]] = Counter()
    for cell, count in done.turns.cells.items():
        heat = UNSAID if cell.temperature is None else f"{cell.temperature:g}"
        found[heat, cell.perturbation, cell.condition or "none"] += count
    return _counts(("temperature", "perturbation of a", "condition", "turns"), found)


def judges(done: Published) -> str:
    """Every judge with its verdicts and its kappas."""
    header = ("judge", "id", "rubric", "parameters", "verdicts", "unreadable",
              "kappa over labels", "kappa over sigma", "people's label")  # fmt: skip
    rows = []
    for of in done.judges:
        made, quality = of.judge.judge, done.qualities[of.judge.judge_id]
        known = quality.labels.value is not None
        rows.append(
            (
                made.model,
                short(of.judge.judge_id),
                made.rubric_version,
                canonical_json(made.parameters),
                f"{of.written:,}",
                f"{of.outcomes[INVALID]:,}",
                quality.labels.text,
                quality.sigma.text,
                quality.source if known else "",
            )
        )
    return _table(header, rows)


def people(done: Published) -> str:
    """Labels and skips by rubric and annotator."""
    found: Counter[tuple[str, str]] = Counter()
    labels: Counter[tuple[str, str]] = Counter()
    for row in done.labels.labels:
        key = (str(row["rubric"]), str(row["annotator"]))
        found[key] += 1
        labels[key] += row["act"] == "label"
    rows = [
        (*key, f"{labels[key]:,}", f"{count - labels[key]:,}")
        for key, count in sorted(found.items())
    ]
    return _table(("rubric", "annotator", "labels", "skips"), rows)


def distribution(done: Published, rubric: Rubric) -> str:
    """How often each label of a rubric was given: by people, and by each judge under it."""
    people = Counter(
        row["category"] for row in done.labels.labels if row["rubric"] == rubric.version
    )
    judges = judges_under(done, rubric)
    header = ["label", "sigma"]
    header += ["people"] * bool(people)
    header += [f"{of.judge.judge.model} ({short(of.judge.judge_id)})" for of in judges]
    columns = [people] * bool(people) + [of.outcomes for of in judges]
    rows = [
        (of.id, str(of.sigma), *(f"{column[of.id]:,}" for column in columns))
        for of in rubric.categories
    ]
    unreadable = [column[INVALID] for column in columns]
    if any(unreadable):
        rows.append(("unreadable", "", *(f"{count:,}" for count in unreadable)))
    return _table(header, rows)


def judges_under(done: Published, rubric: Rubric) -> list[JudgeVerdicts]:
    return [of for of in done.judges if of.judge.judge.rubric_version == rubric.version]


def runs(done: Published) -> str:
    return _table(("run", "id", "kind"), [(of.name, short(of.run_id), of.kind) for of in done.runs])


def rubrics(done: Published) -> str:
    return _table(("rubric", "hash"), [(of.version, of.hash) for of in done.rubrics])


def _counts(header: Sequence[str], found: Counter[tuple[str, ...]]) -> str:
    return _table(header, [(*key, f"{count:,}") for key, count in sorted(found.items())])


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(escaped, line))} |" for line in lines)
