"""A study built through the real stores, small enough to count by hand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings

from annotator.annotation import append_event
from annotator.labelling.display import put_display
from annotator.labels import blind_items, open_labels, record_rubric
from generation.item import Item, Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.calibration.sampling.sample import Drawing, draw_sample
from judge.judge import Judge
from judge.judgment import Judgment, invalid_judgment, valid_judgment
from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import PACKAGED, PromptTemplate
from judge.store import JudgmentStore, open_pipeline
from rubrics import Rubric, load_rubric

# A pause of the machine is no failure of a property.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

LABELS = load_rubric("v3").category_ids


@dataclass
class StudyBuilder:
    """Writes a study the way the commands do: turns, a sample, labels, judgments."""

    study: Study
    rubric: Rubric = field(default_factory=lambda: load_rubric("v3"))

    def __post_init__(self) -> None:
        self.pipeline = open_pipeline(self.study.pipeline, create=True)

    @property
    def labels(self):
        return open_labels(self.study.labels, create=True)

    def turns(self, n: int, turn: str = "Why {}?") -> None:
        self.add([turn.replace("{}", str(i)) for i in range(n)])

    def add(self, texts: list[str], *, per_question: int = 1) -> None:
        """One user turn per text; so many in a row come after the same question."""
        turns = []
        for i, text in enumerate(texts):
            q = i // per_question
            conversation = Conversation("test", str(q), (Message("user", f"{q} + {q}?"),))
            turns.append(Turn(Answer(conversation, str(2 * q)), text, "self-generated"))
        TurnStore(self.pipeline).add_turns(Run("example", {"texts": texts}), turns)

    def sample(self, n: int | None = None, seed: int | None = None, **choices: object) -> Drawing:
        return draw_sample(self.pipeline, self.labels, n=n, seed=seed, **choices)

    @property
    def items(self) -> dict[str, Item]:
        """Blind items by opaque id, in order of id."""
        return blind_items(self.labels)

    def label(
        self,
        annotator: str,
        labels: Mapping[str, str],
        *,
        rubric: Rubric | None = None,
        confidence: str | None = None,
        note: str = "",
        flagged: bool = False,
    ) -> None:
        """Save labels by item id; one spelt 'skip: …' is a skip for that reason."""
        rubric, database = rubric or self.rubric, self.labels
        record_rubric(database, rubric)
        now = datetime.now(UTC).isoformat()
        database["annotators"].insert({"annotator": annotator, "first_seen_at": now}, ignore=True)
        for item_id, label in labels.items():
            display = put_display(
                database,
                annotator=annotator,
                item_id=item_id,
                rubric_version=rubric.version,
                last_event_id=None,
            )
            skip = label.removeprefix("skip: ") if label.startswith("skip: ") else None
            append_event(
                database,
                nonce=display.nonce,
                annotator=annotator,
                item_id=item_id,
                rubric_version=rubric.version,
                category=None if skip else label,
                skip_reason=skip,
                confidence=confidence,
                note=note,
                flagged=flagged,
                saved_at=now,
            )

    def judge(
        self,
        verdicts: Mapping[str, str | None],
        *,
        model: str = "judge-a",
        rubric: Rubric | None = None,
        rationale: str = "Because.",
        run_index: int = 0,
        template: PromptTemplate = PACKAGED,
        **parameters: object,
    ) -> str:
        """Store verdicts by item id; None is an unreadable one. Returns the judge's id."""
        rubric = rubric or self.rubric
        prompt = render_prompt(rubric, template)
        store = JudgmentStore(self.pipeline)
        judge_id = store.add_judge(
            Judge(model, parameters, rubric.version, prompt.prompt_hash), prompt
        )
        items = self.items
        for item_id, label in verdicts.items():
            verdict = _verdict(rubric, label, rationale)
            store.add_judgment(judge_id, items[item_id].hash, verdict, run_index=run_index)
        return judge_id

    def judge_runs(self, runs: Mapping[str, Sequence[str | None]], **options: object) -> str:
        """Store several runs: by item id what each run said. Returns the judge's id."""
        judge_id = self.judge({}, **options)
        for run in range(max(map(len, runs.values()))):
            of_run = {item_id: said[run] for item_id, said in runs.items() if run < len(said)}
            self.judge(of_run, run_index=run, **options)
        return judge_id

    def from_pairs(self, pairs: Iterable[tuple[str, str | None]]) -> None:
        """A whole study: one item per (reference, judged) pair, labelled by one person."""
        pairs = list(pairs)
        self.turns(len(pairs))
        self.sample(len(pairs), repeats=0)
        ids = list(self.items)
        self.label("ann", {i: ref for i, (ref, _) in zip(ids, pairs, strict=True)})
        self.judge({i: out for i, (_, out) in zip(ids, pairs, strict=True)})


def _verdict(rubric: Rubric, label: str | None, rationale: str) -> Judgment:
    if label is None:
        return invalid_judgment("no label found", raw="I cannot say.")
    return valid_judgment(rubric, label, rationale, raw=f"label: {label}")


@pytest.fixture
def builder(tmp_path: Path) -> StudyBuilder:
    return StudyBuilder(Study(tmp_path / "study"))


@pytest.fixture
def small_study(builder: StudyBuilder) -> StudyBuilder:
    """Forty items in all seven categories: 30 agree, 8 disagree, 2 verdicts are unreadable."""
    pairs = [(LABELS[i % 7], LABELS[i % 7]) for i in range(30)]
    pairs += [(LABELS[i % 7], LABELS[(i + 1) % 7]) for i in range(8)]
    pairs += [(LABELS[0], None), (LABELS[1], None)]
    builder.from_pairs(pairs)
    return builder
