"""A small study made in this process: sampled, labelled by scripts and judged, all at one go."""

from collections.abc import Callable, Sequence
from pathlib import Path

from annotator.labelling.choice import Choice
from annotator.labelling.session import LabellingSession
from annotator.labels import blind_items, open_labels, record_rubric
from generation.item import Item, Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.sampling.sample import draw_sample
from judge.calibration.splits.study_split import split_study
from judge.judge import Judge
from judge.judgment import Judgment, valid_judgment
from judge.prompts.prompt import render_prompt
from judge.store import JudgmentStore, open_pipeline
from rubrics import load_rubric

RUBRIC = load_rubric("v3")
LABELS = RUBRIC.category_ids
PLAIN = tuple((f"What is {n} + {n}?", f"It is {2 * n}.", f"And {n} times {n}?") for n in range(24))


def sampled_study(folder: Path, triples: Sequence[tuple[str, str, str]] = PLAIN) -> Study:
    """A study whose items are these (q, a, u), all of them to be labelled."""
    study = Study(folder)
    turns = [
        Turn(Answer(Conversation("test", str(n), (Message("user", q),)), a), u, "held-out")
        for n, (q, a, u) in enumerate(triples)
    ]
    with (
        open_pipeline(study.pipeline, create=True) as pipeline,
        open_labels(study.labels, create=True) as labels,
    ):
        TurnStore(pipeline).add_turns(Run("import", {"file": "test"}), turns)
        draw_sample(pipeline, labels, n=len(turns), repeats=0)
    return study


def label(
    study: Study,
    annotator: str,
    choice: Callable[[Item], Choice] = lambda item: Choice(by_item(item)),
    count: int | None = None,
) -> None:
    """Label as many items, by default all."""
    with open_labels(study.labels) as labels:
        record_rubric(labels, RUBRIC)
        session = LabellingSession(labels, RUBRIC)
        screen = session.open(annotator).screen
        n = 0
        while screen.shown and n != count:
            said = choice(screen.shown.item)
            screen = session.save(screen.nonce, screen.shown.item_id, said).screen
            n += 1


def by_item(item: Item) -> str:
    """The label that everybody gives to an item, as it were."""
    return LABELS[int(item.hash[-6:], 16) % len(LABELS)]


def judge(
    study: Study,
    model: str = "judge-a",
    verdict: Callable[[Item], Judgment] = lambda item: off_by_one(item),
) -> str:
    """Judge every labelled item; returns the judge's id."""
    prompt = render_prompt(RUBRIC)
    with open_pipeline(study.pipeline) as pipeline, open_labels(study.labels) as labels:
        store = JudgmentStore(pipeline)
        judge_id = store.add_judge(Judge(model, {}, RUBRIC.version, prompt.prompt_hash), prompt)
        for item in blind_items(labels).values():
            store.add_judgment(judge_id, item.hash, verdict(item))
    return judge_id


def off_by_one(item: Item, rationale: str = "Because.") -> Judgment:
    """A verdict beside what everybody says."""
    wrong = LABELS[(LABELS.index(by_item(item)) + 1) % len(LABELS)]
    return valid_judgment(RUBRIC, wrong, rationale, raw=rationale)


def split(study: Study) -> None:
    with open_pipeline(study.pipeline) as pipeline, open_labels(study.labels) as labels:
        split_study(pipeline, labels, RUBRIC.version)
