"""The second stage: perturbed answers, and every user turn that is not there yet."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, cached_property, partial

from generation.chat.chat_model import ChatModel
from generation.chat.context import Prompt, turn_prompt
from generation.chat.reading import read_turn
from generation.engines.engine import Completion
from generation.perturbation import UNPERTURBED, perturbation_from
from generation.plan.cells import Cell, perturbed_row_suffix, turn_row_suffix
from generation.plan.plan import Plan
from generation.probe.answer_stage import AnswerStage
from generation.probe.job import Job
from generation.probe.row_store import RowStore, StoredAnswer
from generation.probe.sampling import turn_sampling
from generation.probe.start import Start, next_start
from generation.probe.tally import Tally
from generation.turn import Answer, Run, Turn
from rubrics import fingerprint

STORED_AT_ONCE = 256  # perturbed answers
NOTHING_LEFT = "nothing is left of it"  # of an answer, once perturbed


@dataclass(frozen=True)
class TurnRow:
    """A turn to be made, or to go on from."""

    start: Start
    cell: Cell
    answer_id: str
    row_id: str


@dataclass(frozen=True)
class _Keyed:
    """A cell at one level: what ends its row ids, and that of the perturbed answer it follows.

    `goes_on`: the model is to answer its turn, and a next user turn to follow.
    """

    cell: Cell
    suffix: str
    perturbed: str | None
    goes_on: bool


@dataclass
class Planned:
    """A level's turns: those to be made, those that go on once they are, and how many are not.

    `unusable` counts by reason those whose answer none can follow; `lines` all that should go on.
    """

    missing: list[TurnRow] = field(default_factory=list)
    going_on: list[TurnRow] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    unusable: Counter[str] = field(default_factory=Counter)
    lines: int = 0


@dataclass(frozen=True)
class TurnStage:
    """The rows of the turns of one model under one plan."""

    store: RowStore
    model: ChatModel
    plan: Plan

    @cached_property
    def answers(self) -> AnswerStage:
        return AnswerStage(self.model, self.plan)

    def planned(
        self, level: Iterable[Start], answers: Mapping[str, StoredAnswer], failed: Set[str]
    ) -> Planned:
        """Every turn of a level, conversation by conversation: equal prefixes are neighbours."""
        stored, planned = self.store.turn_rows(), Planned()
        tally = planned.tally
        for start, keyed, answer in self._cells(level, answers):
            tally.planned += 1
            planned.lines += keyed.goes_on
            if answer is None:
                tally.waiting += 1
                continue
            if answer.unusable:
                tally.unusable += 1
                planned.unusable[answer.unusable] += 1
                continue
            row_id = answer.answer_id + keyed.suffix
            known = row_id in stored
            if known:
                tally.known += 1
                if not keyed.goes_on:
                    continue  # of most of a million rows there is nothing more to be said
            elif row_id in failed:
                tally.failed_before += 1
                continue
            row = TurnRow(start, keyed.cell, answer.answer_id, row_id)
            if not known:
                planned.missing.append(row)
            if keyed.goes_on:
                planned.going_on.append(row)
        return planned

    def row_ids(self, level: Iterable[Start], answers: Mapping[str, StoredAnswer]) -> Iterator[str]:
        """The row_id of every turn of a level that has an answer to follow."""
        for _start, keyed, answer in self._cells(level, answers):
            if answer is not None and not answer.unusable:
                yield answer.answer_id + keyed.suffix

    def _cells(
        self, level: Iterable[Start], answers: Mapping[str, StoredAnswer]
    ) -> Iterator[tuple[Start, _Keyed, StoredAnswer | None]]:
        """Every cell of every start, with the answer that its turn would follow, if it is there."""
        cells, keyed = None, []
        for start in level:
            if start.cells is not cells:
                cells, keyed = start.cells, [self._keyed(start, cell) for cell in start.cells]
            answer = self.answers.answer_of(start, answers)
            if answer is None or answer.unusable:
                for each in keyed:
                    yield start, each, answer
                continue
            for each in keyed:
                of_cell = answer
                if each.perturbed:
                    of_cell = answers[answer.answer_id + each.perturbed]
                yield start, each, of_cell

    def _keyed(self, start: Start, cell: Cell) -> _Keyed:
        # The first answer alone is perturbed; what grows from it is said in its light.
        perturbed = start.number == 1 and cell.perturbation != UNPERTURBED
        return _Keyed(
            cell,
            turn_row_suffix(self.plan, self.model.setup_hash, cell),
            perturbed_row_suffix(self.model.setup_hash, cell.perturbation) if perturbed else None,
            start.cells[cell] > start.number,
        )

    def answers_of(self, level: Sequence[Start], run: Run) -> Mapping[str, StoredAnswer]:
        """What a level's turns follow, by row_id; perturbed answers that are missing are made."""
        answers = self.store.answers()
        made: list[Answer] = []
        cells, suffixes = None, {}
        for start in level:
            if start.cells is not cells:
                cells, suffixes = start.cells, self._perturbations(start)
            parent = self.answers.answer_of(start, answers)
            for name, suffix in suffixes.items() if parent and not parent.unusable else ():
                row_id = parent.answer_id + suffix
                if row_id not in answers:
                    answer = self._perturbed_answer(start, parent.answer_id, name, row_id)
                    answers[row_id] = StoredAnswer(answer.answer_id, answer.unusable)
                    made += [start.given, answer] if start.given else [answer]
        for first in range(0, len(made), STORED_AT_ONCE):
            self.store.turns.add_answers(run, made[first : first + STORED_AT_ONCE])
        return answers

    def _perturbations(self, start: Start) -> dict[str, str]:
        """What perturbed answers a start needs: names with what ends their row ids."""
        names = {cell.perturbation for cell in start.cells if start.number == 1} - {UNPERTURBED}
        return {name: perturbed_row_suffix(self.model.setup_hash, name) for name in sorted(names)}

    def _perturbed_answer(self, start: Start, parent_id: str, name: str, row_id: str) -> Answer:
        parent = start.given or self.store.turns.answer(parent_id)
        text = perturbation_from(name).apply(parent.text, self.model)
        return Answer(
            parent.conversation,
            text,
            model=parent.model,
            temperature=parent.temperature,
            seed=parent.seed,
            row_id=row_id,
            thinking=parent.thinking,
            unusable=None if text.strip() else NOTHING_LEFT,
            perturbation=name,
            parent_id=parent_id,
        )

    def jobs(self, rows: Iterable[TurnRow]) -> Iterator[Job]:
        read: Answer | None = None  # rows of one answer are neighbours
        for row in rows:
            if read is None or read.answer_id != row.answer_id:
                given = row.start.given
                is_given = given is not None and given.answer_id == row.answer_id
                read = given if is_given else self.store.turns.answer(row.answer_id)
                prompt_of = cache(partial(turn_prompt, self.model, read))
            yield self._job(row, read, prompt_of)

    def _job(self, row: TurnRow, answer: Answer, prompt_of: Callable[[str], Prompt]) -> Job:
        start, cell, draw = row.start, row.cell, row.cell.draw
        sampling = turn_sampling(self.model, self.plan, draw, row.row_id)

        def made(prompt: Prompt, completion: Completion) -> Turn:
            reading = read_turn(self.model, completion)
            return Turn(
                answer,
                reading.text,
                start.setting,
                model=self.model.name,
                temperature=draw.temperature,
                sample_index=draw.sample_index,
                perturbation=cell.perturbation,
                context_mode=cell.context,
                seed=sampling.seed,
                text_raw=reading.text_raw,
                token_ids=completion.token_ids,
                prompt_token_hash=fingerprint(list(prompt.token_ids)),
                finish_reason=completion.finish_reason,
                stop_token_id=reading.stop_token_id,
                meta=prompt.notes,
                row_id=row.row_id,
                top_p=draw.top_p,
                top_k=draw.top_k,
                number=start.number,
                follows=start.follows.turn_id if start.follows else None,
                flags=reading.flags,
            )

        prompt = partial(prompt_of, cell.context)
        return Job(row.row_id, "turn", answer.conversation, sampling, prompt, made)

    def grown(self, rows: Sequence[TurnRow]) -> Iterator[Start]:
        """The conversations that go on; one whose turn failed or says nothing ends there."""
        turns = self.store.turns.turns_of_rows([row.row_id for row in rows])
        by_row = {row.row_id: row for row in rows}
        for turn in turns:
            row = by_row[turn.row_id]
            if turn.text.strip():
                yield next_start(turn, row.cell, row.start.setting, row.start.cells[row.cell])
