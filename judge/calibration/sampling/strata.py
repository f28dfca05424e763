"""Strata: which items are alike in what the draw is to be spread over."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from sqlite_utils import Database

from judge.calibration.judge_choice import choose_judge
from judge.reading import majority_run
from judge.store import JudgmentStore
from judge.verdict_runs import labels_by_run
from rubrics import InputError, latest_version, load_rubric

WHOLE = ""  # name of the one stratum of a simple random sample
UNJUDGED, UNREADABLE, UNKNOWN = "unjudged", "unreadable", "unknown"


class Feature(StrEnum):
    """What strata can be made of.

    `label` is what the judge that judged last under the newest rubric said of the item in most of
    its runs; `disagreement`, whether anything judged it differently under that rubric: another
    judge, or another run of the same.
    """

    MODEL = "model"
    DATASET = "dataset"
    TEMPERATURE = "temperature"
    PERTURBATION = "perturbation"
    LABEL = "label"
    DISAGREEMENT = "disagreement"


# What turns bring along: equal texts may have several values.
_OF_TURNS = {
    Feature.MODEL: "SELECT DISTINCT item_hash, model FROM turns",
    Feature.DATASET: """SELECT DISTINCT item_hash, dataset FROM turns
        JOIN answers USING (answer_id) JOIN conversations USING (conversation_id)""",
    Feature.TEMPERATURE: "SELECT DISTINCT item_hash, temperature FROM turns",
    Feature.PERTURBATION: "SELECT DISTINCT item_hash, perturbation FROM turns",
}


def parse_features(text: str) -> tuple[Feature, ...]:
    """The features of a list with commas, each once and in a fixed order.

    Raises InputError for a name that is none, and for an empty list.

    >>> [str(feature) for feature in parse_features("label, model,label")]
    ['model', 'label']
    """
    names = {name.strip() for name in text.split(",")}
    unknown = sorted(names - set(Feature))
    if unknown:
        raise InputError(
            f"cannot sample by {unknown[0]!r}; expected some of {', '.join(Feature)}: "
            "calibrate sample --by model,label"
        )
    return tuple(feature for feature in Feature if feature in names)


def strata(pipeline_db: Database, features: Sequence[Feature]) -> dict[str, str]:
    """The stratum of every distinct item by its hash, ordered by hash; of no features one for all.

    An item whose turns come from several models, data sets and so on (their texts are equal) is
    in the stratum of that set, "a+b", and in no other.

    Raises InputError when a judge's labels are asked for and there is none.
    """
    hashes = pipeline_db.conn.execute("SELECT DISTINCT item_hash FROM turns ORDER BY item_hash")
    values = [(feature, features_of(pipeline_db, feature)) for feature in features]
    return {
        item_hash: ", ".join(f"{feature}={of.get(item_hash, UNJUDGED)}" for feature, of in values)
        for (item_hash,) in hashes.fetchall()
    }


def features_of(pipeline_db: Database, feature: Feature) -> Mapping[str, str]:
    """The feature of every distinct item that has it, by the item's hash."""
    if feature in _OF_TURNS:
        return _of_turns(pipeline_db, _OF_TURNS[feature])
    if feature is Feature.LABEL:
        return _judged_labels(pipeline_db)
    return _disagreements(pipeline_db)


def _of_turns(pipeline_db: Database, query: str) -> dict[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for item_hash, value in pipeline_db.conn.execute(query):
        found[item_hash].add(_spelt(value))
    return {item_hash: "+".join(sorted(values)) for item_hash, values in found.items()}


def _spelt(value: str | float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:g}" if isinstance(value, float) else value


def _judged_labels(pipeline_db: Database) -> dict[str, str]:
    rubric = load_rubric(latest_version())
    judge = choose_judge(JudgmentStore(pipeline_db).judges(rubric.version), rubric)
    said = _by_item(labels_by_run(pipeline_db, judge.judge_id).values())
    return {i: labels[majority_run(labels)] or UNREADABLE for i, labels in said.items()}


def _disagreements(pipeline_db: Database) -> dict[str, str]:
    rubric = load_rubric(latest_version())
    judges = JudgmentStore(pipeline_db).judges(rubric.version)
    choose_judge(judges, rubric)  # for its refusal where nothing is judged
    runs = [run for judge in judges for run in labels_by_run(pipeline_db, judge.judge_id).values()]
    said = _by_item(runs)
    return {i: "yes" if len(set(labels)) > 1 else "no" for i, labels in said.items()}


def _by_item(runs: Iterable[Mapping[str, str | None]]) -> dict[str, list[str | None]]:
    """What was said of each item, in order of the runs."""
    found: dict[str, list[str | None]] = defaultdict(list)
    for run in runs:
        for item_hash, label in run.items():
            found[item_hash].append(label)
    return found
