"""What a prompt may not quote: the test split, and in an export what is never to be published."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlite_utils import Database

from generation.canary import canary_conversations
from generation.item import Item
from generation.store import item_from
from judge.calibration.quotation import Quoting, words
from judge.calibration.splits.frozen_split import FrozenSplit, frozen_split, part_of
from judge.plural import counted
from judge.prompts.prompt import JudgePrompt
from judge.prompts.prompt_template import PACKAGED_NAME
from rubrics import InputError

SHOWN_WORDS = 8  # of what a prompt quotes; enough to find it


@dataclass(frozen=True)
class Leak:
    """An item that a text quotes: which of its parts, and the words."""

    item_id: str
    part: str
    quoted: tuple[str, ...]

    @property
    def head(self) -> str:
        return _head(self.quoted)


def refuse_leak(pipeline_db: Database, prompt: JudgePrompt, option: str = "") -> None:
    """Raises InputError when a prompt quotes a sampled item of the test split, naming it.

    Quoted is: 12 words in a row of the query, the answer or the turn, whatever their case and
    punctuation, or the whole of one of 5 to 11 words. A text of fewer than 5 words cannot be told
    from a common phrase and is not looked for; nor is a paraphrase. Items that nobody is to label
    are free, so a prompt is to be checked again when a sample is drawn after it.

    `option` is what names the study in the command to type next.
    """
    frozen = frozen_split(pipeline_db)
    leaks = leaked_items(Quoting(prompt.text), labelling_items(pipeline_db), frozen)
    first = next(leaks, None)
    if first is None:
        return
    others = sum(1 for _ in leaks)
    more = f" (and {counted(others, 'more item')})" if others else ""
    raise InputError(
        f"judge prompt {prompt.template} × rubric {prompt.rubric_version} quotes the {first.part} "
        f"of item {first.item_id}, which is of the test split{more}: {first.head!r}; a judge that "
        f"has read it cannot be tested on it; {_mend(prompt, option)}"
    )


def refuse_canary(pipeline_db: Database, prompt: JudgePrompt) -> None:
    """Raises InputError when a prompt or its rubric quotes what is never to be published.

    That is any message of any conversation of such a data set, sampled or not; quoted is what
    `refuse_leak` says. What a model answered to it is free, for it may be a common phrase.
    """
    quoting = Quoting(f"{prompt.text}\n\n{prompt.rubric_text}")
    for conversation in canary_conversations(pipeline_db):
        if conversation.root:  # grown by generated turns; what it grew out of is looked at itself
            continue
        for message in conversation.messages:
            if quoted := quoting.quotes(words(message.content)):
                raise InputError(
                    f"judge prompt {prompt.template} × rubric {prompt.rubric_version} quotes "
                    f"{conversation.dataset} {conversation.source_id}, which its authors ask "
                    f"never to publish (canary): {_head(quoted)!r}; an export would; "
                    f"{_mend(prompt)}"
                )


def leaked_items(
    quoting: Quoting, items: Iterable[tuple[str, Item]], frozen: FrozenSplit | None = None
) -> Iterator[Leak]:
    """Each item of the test split that the text quotes, with the first part that it quotes."""
    return quoted_items(
        quoting, ((item_id, item) for item_id, item in items if part_of(item, frozen) == "test")
    )


def quoted_items(quoting: Quoting, items: Iterable[tuple[str, Item]]) -> Iterator[Leak]:
    """Each item that the text quotes, of whatever split, with the first part that it quotes."""
    for item_id, item in items:
        for part, text in _parts(item):
            quoted = quoting.quotes(words(text))
            if quoted:
                yield Leak(item_id, part, quoted)
                break


def labelling_items(pipeline_db: Database) -> Iterator[tuple[str, Item]]:
    """The items that people label with their opaque ids, read by index: a study may be large."""
    rows = pipeline_db.conn.execute(
        """SELECT sample_items.item_id, conversations.messages, answers.text, turns.text
           FROM sample_items JOIN turns USING (item_hash) JOIN answers USING (answer_id)
           JOIN conversations USING (conversation_id)
           GROUP BY sample_items.item_id ORDER BY sample_items.item_id"""
    )
    for item_id, *texts in rows:
        yield item_id, item_from(*texts)


def _mend(prompt: JudgePrompt, option: str = "") -> str:
    name = prompt.template.partition("@")[0]
    return (
        f"write the rubric without it, as a version of its own: calibrate rubric new FILE{option}"
        if name == PACKAGED_NAME  # which quotes nobody
        else f"take it out: judge prompt edit {name} --note TEXT --file FILE.md{option}"
    )


def _head(quoted: tuple[str, ...]) -> str:
    shown = " ".join(quoted[:SHOWN_WORDS])
    return f"{shown} …" if len(quoted) > SHOWN_WORDS else shown


def _parts(item: Item) -> Iterator[tuple[str, str]]:
    yield "query", item.messages[-1].content
    yield "answer", item.answer
    yield "turn", item.turn
