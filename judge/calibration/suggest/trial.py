"""The judge at work under candidate texts; nothing of it goes into the study."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from judge.calibration.suggest.optimizer import Example, Outcome
from judge.chat_judge import ChatJudge
from judge.judge import Judge
from judge.judgment import Judgment
from judge.prompts.prompt import JudgePrompt
from judge.reply import Reply
from judge.runs.ask import Ask
from judge.server.parameters import Parameters
from rubrics import InputError

Say = Callable[[str], None]
# What a run that stores says when it stops; here the verdicts are gone.
_KEPT = ("; verdicts so far are kept", "; the others are kept")


@dataclass
class Trial:
    """Evaluates texts with the very judge, its model and parameters as they are stored.

    `admit` makes a prompt of a text or says why it is none. A verdict is asked for once, however
    often it is needed. `progressed` is called after each.
    """

    chat: ChatJudge
    admit: Callable[[str], JudgePrompt]
    say: Say
    progressed: Callable[[], None] = lambda: None
    _agreed: Parameters | None = None
    _prompts: dict[str, JudgePrompt] = field(default_factory=dict)
    _known: dict[tuple[str, str], Judgment] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def evaluate(self, text: str, examples: Sequence[Example]) -> list[Outcome]:
        """The outcomes of these examples under a text; wrong for one that is not admitted.

        Raises InputError when the judge's server refuses or cannot be reached.
        """
        try:
            if text not in self._prompts:
                self._prompts[text] = self.admit(text)
        except InputError as refusal:
            return [Outcome(False, problem=str(refusal), asked=False) for _ in examples]
        prompt = self._prompts[text]
        ledger = _TrialLedger(self, prompt.prompt_hash, examples)
        new = {ask.item_hash for ask in ledger.waiting()}
        if new:
            try:
                replace(self.chat, prompt=prompt).label(ledger)
            except InputError as error:
                raise InputError(_without_kept(str(error))) from error
        outcomes = []
        for example in examples:
            item_hash = example.item.hash
            said = self._known[prompt.prompt_hash, item_hash]
            right, asked = said.label == example.reference, item_hash in new
            outcomes.append(
                Outcome(right, said.label, said.rationale, said.invalid_reason, asked=asked)
            )
            new.discard(item_hash)
        return outcomes


@dataclass
class _TrialLedger:
    """A Ledger of a trial: it remembers verdicts as long as the command runs."""

    trial: Trial
    prompt_hash: str
    examples: Sequence[Example]

    def agreed(self, model: str, wanted: Parameters, server: str) -> Parameters | None:
        return self.trial._agreed

    def agree(self, model: str, wanted: Parameters, server: str, agreed: Parameters) -> None:
        self.trial._agreed = agreed

    def notice(self, line: str) -> None:
        if line not in self.trial._told:
            self.trial._told.add(line)
            self.trial.say(line)

    def waiting(self, judge: Judge | None = None) -> Iterator[Ask]:
        hashes = set()
        for example in self.examples:
            item_hash = example.item.hash
            if item_hash not in hashes and (self.prompt_hash, item_hash) not in self.trial._known:
                hashes.add(item_hash)
                yield Ask(item_hash, 0, example.item)

    def keep(self, judge: Judge, ask: Ask, reply: Reply) -> None:
        self.trial._known[self.prompt_hash, ask.item_hash] = reply.judgment
        self.trial.progressed()

    def sync(self) -> None:
        """Nothing is kept on disk."""


def _without_kept(line: str) -> str:
    for said in _KEPT:
        line = line.partition(said)[0]
    return f"{line}; nothing is kept of a suggestion, run the command again"
