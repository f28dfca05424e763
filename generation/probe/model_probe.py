"""The probe of one model: answers, perturbed answers, user turns, and on; each row made once."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from generation.probe.maker import Maker
from generation.probe.row_store import StoredAnswer
from generation.probe.start import Start
from generation.probe.tally import ModelTally, Tally
from generation.probe.turn_stage import TurnStage


@dataclass(frozen=True)
class ModelProbe:
    """One model over its starts, level by level: what a level makes, the next goes on from."""

    maker: Maker
    stage: TurnStage
    sharded: bool = False
    retry_errors: bool = False

    def probe(self, starts: Iterable[Start]) -> ModelTally:
        """Make every missing row of these starts and of what grows out of them.

        Raises EngineDied where the engine cannot go on; what it gave is stored.
        """
        store, run = self.stage.store, self.maker.run
        store.keep_run(run)
        tally = ModelTally(self.maker.model, run.run_id)
        failed = set() if self.retry_errors else store.failed_rows()
        level, rows = list(starts), []
        try:
            while level:
                self._answer(level, failed, tally)
                answers = self.stage.answers_of(level, run)
                rows.append(partial(self.stage.row_ids, level, answers))
                level = self._turn(level, answers, failed, tally)
        finally:
            self.maker.close()
        # Equal runs have equal rows, so as many links are all of them; but a shard has its part.
        stored = tally.turns.known + tally.turns.new
        if self.sharded or store.links(run) < stored:
            store.link(run, chain.from_iterable(of_level() for of_level in rows))
        return tally

    def _answer(self, level: Sequence[Start], failed: set[str], tally: ModelTally) -> None:
        answers, stored = self.stage.answers, self.stage.store.answers()
        planned = answers.rows(level)
        missing = {
            row_id: start
            for row_id, start in planned.items()
            if row_id not in stored and row_id not in failed
        }
        known = sum(row_id in stored for row_id in planned)
        stage = Tally(planned=len(planned), known=known)
        stage.failed_before = len(planned) - known - len(missing)
        if missing:
            self.maker.make("answer", level[0].number, answers.jobs(missing), stage)
        tally.answers.add(stage)
        if level[0].number == 1:  # later ones answer a generated turn, which has no right answer
            made = self.stage.store.answers() if missing else stored
            ids = [made[row_id].answer_id for row_id in planned if row_id in made]
            self.stage.store.score(ids, again=self.retry_errors)

    def _turn(
        self,
        level: Sequence[Start],
        answers: Mapping[str, StoredAnswer],
        failed: set[str],
        tally: ModelTally,
    ) -> list[Start]:
        """Make the level's turns; returns where the conversations go on."""
        stage = self.stage
        planned = stage.planned(level, answers, failed)
        tally.unusable = dict(Counter(tally.unusable) + planned.unusable)
        if planned.missing:
            self.maker.make("turn", level[0].number, stage.jobs(planned.missing), planned.tally)
        tally.turns.add(planned.tally)
        grown = list(stage.grown(planned.going_on))
        tally.ended += planned.lines - len(grown)
        return grown
