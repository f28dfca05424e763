"""The card of a published data set: what it is and is not, counted, in YAML and in words."""

import json

from annotator.exchange.who import Who
from generation.version import tool_state
from judge.calibration.published import card_tables
from judge.calibration.published.published import Published
from judge.plural import counted

TITLE = "User turns after an assistant's answer"
SIZES = {
    1_000: "n<1K",
    10_000: "1K<n<10K",
    100_000: "10K<n<100K",
    1_000_000: "100K<n<1M",
    10_000_000: "1M<n<10M",
}  # the hub's words, by the first number of rows that is too many
LARGEST = "10M<n<100M"


def size_category(rows: int) -> str:
    """
    >>> size_category(999), size_category(1_000), size_category(2_000_000)
    ('n<1K', '1K<n<10K', '1M<n<10M')
    """
    return next((name for below, name in SIZES.items() if rows < below), LARGEST)


def card(done: Published) -> str:
    """The README.md; the same data set gives the same text."""
    sections = {
        "": _about(done),
        "Turns": _turns(done),
        "Judges": _judges(done),
        "People": _people(done),
        "Labels given": _distribution(done),
        "Left out": _left_out(done),
        "Limits": _LIMITS,
        "Licences": _LICENCES,
        "Loading": _loading(done),
        "Made from": _made_from(done),
    }
    parts = [f"## {title}\n\n{text}" if title else text for title, text in sections.items() if text]
    return "\n\n".join([_head(done), f"# {TITLE}", *parts]) + "\n"


def _head(done: Published) -> str:
    said = bool(done.verdicts or done.labels.labels)
    tags = ["user-turns", "chat", *["llm-as-a-judge"] * bool(done.verdicts)]
    tags += ["human-labels"] * bool(done.labels.labels)
    lines = [
        f"pretty_name: {json.dumps(TITLE)}",
        "license: other",
        "license_name: licences-of-the-data-sets-and-models",
        "task_categories:",
        *(f"- {task}" for task in ["text-generation", *["text-classification"] * said]),
        "tags:",
        *(f"- {tag}" for tag in tags),
        "size_categories:",
        f"- {size_category(done.turns.count)}",
        "configs:",
    ]
    for table in done.tables:
        lines.append(f"- config_name: {table}")
        lines += ["  default: true"] * (table == "turns")
        lines.append(f"  data_files: data/{table}.parquet")
    return "\n".join(["---", *lines, "---"])


def _about(done: Published) -> str:
    tables = {
        "turns": f"{counted(done.turns.count, 'user turn')}, "
        f"{counted(done.items, 'different item')}. A row is a conversation that ends in a question "
        "(`q`, messages as JSON), an answer to it (`a`) and the user turn after that (`u`), with "
        "all that is known of how they were made.",
        "judgments": f"{counted(done.verdicts, 'verdict')} on these items, by judge and run.",
        "labels": f"{counted(len(done.labels.labels), 'annotation')} of these items by people, "
        "labels and skips; of several by one person on one item the last.",
        "references": f"{counted(len(done.labels.references), 'item')} with the label that most "
        "people gave; an item on which two labels tie is not there.",
    }
    listed = "\n".join(f"- `{table}`: {tables[table]}" for table in done.tables)
    return f"""{listed}
- `messages.jsonl`: each conversation up to u as chat messages, in the order of `turns`.
- `rubrics/`: what the labels mean, as judges and people read it.

The tables share `item_hash`, which covers the text of q, a and u and nothing else: turns that read
alike have one verdict and one label. A label says what u does, and sigma is 1 where u is a genuine
follow-up, grounded in the conversation."""


def _turns(done: Published) -> str:
    flagged = ", ".join(f"{flag} {n:,}" for flag, n in sorted(done.turns.flagged.items()))
    samples = counted(done.turns.most_samples, "sample")
    return f"""{card_tables.origins(done)}

{card_tables.sampling(done)}

At most {samples} of one answer under one setting.

- Where a model is named, **that model wrote u under the user role** of its own chat template; no
  person did. It shows what the model does there, and is no sample of what people say.
- `self-generated`: the same model wrote a. `held-out`: a comes from the data set.
- Nothing was chosen by what it says. Turns that hit their token limit or ran into another role are
  among the rest, with `flags`: {flagged or "none has any here"}.
- Where `answer_perturbation` is not `none`, a was changed before u was made; its model did not say
  that."""


def _judges(done: Published) -> str:
    if not done.judges:
        return "None: the turns are not judged."
    return f"""{card_tables.judges(done)}

Kappa is Cohen's, between the judge and what people say of this study's items, published here or
not, with its 95% interval; an unreadable verdict counts as a disagreement and has an
`invalid_reason` in place of a label. Where kappa is not known, nobody has checked the judge."""


def _people(done: Published) -> str:
    if not done.labels.labels:
        return "No label by a person is here."
    called = "numbers" if done.who is Who.PSEUDONYMS else "their names"
    repeats = sum(bool(row["repeat"]) for row in done.labels.labels)
    again = (
        f"\n\n{counted(repeats, 'row')} with `repeat` are of items shown a second time, to see how "
        "far people agree with themselves; `references` leaves them out."
        if repeats
        else ""
    )
    return f"""{card_tables.people(done)}

Annotators are called by {called}. The labelling page shows q, a and u alone: no verdict,
no model, nobody else's label.{again}"""


def _distribution(done: Published) -> str:
    return "\n\n".join(
        f"Under rubric {rubric.version}:\n\n{card_tables.distribution(done, rubric)}"
        for rubric in done.rubrics
    )


def _left_out(done: Published) -> str:
    canary = sorted(done.turns.left_out.items())
    lines = [f"{counted(count, 'turn')} of {name}" for name, count in canary]
    on_canary = sum(of.canary for of in done.judges)
    if on_canary:
        lines.append(f"{counted(on_canary, 'verdict')} on them")
    why = "data sets that ask that their text never be published"
    listed = [f"- Of {why}: {', '.join(lines)}."] if lines else []
    elsewhere = sum(of.elsewhere for of in done.judges)
    if elsewhere:
        listed.append(f"- {counted(elsewhere, 'verdict')} on turns of other runs.")
    for reason, count in sorted(done.labels.left_out.items()):
        listed.append(f"- {counted(count, 'annotation')} {reason}.")
    listed.append(
        "- What annotators noted beside their labels, what judges wrote around their verdicts, and "
        "rows of a plan that failed."
    )
    return "\n".join(listed)


_LIMITS = """- Answers may be false; whether they are right was not checked for this data set.
- Judges err, and not evenly over labels: a rate counted from `judgments` has their errors in it.
- T = 0 gives one turn per answer; turns of one conversation resemble each other and are not
  independent.
- `condition` names what is unusual about a turn (context, nucleus, top-k, a later user turn):
  compare turns of one condition.
- The languages are those of the source data sets, and were not identified."""

_LICENCES = """The text of `q` comes from the data sets named above and stays under their licences,
which this folder does not change; a and u are also under the terms of the models that wrote them.
Hence `license: other`: whoever publishes the folder names what holds for theirs."""


def _loading(done: Published) -> str:
    loads = "\n".join(
        f'{table} = load_dataset("this folder", "{table}", split="train")' for table in done.tables
    )
    return f"""```python
from datasets import load_dataset
{loads}
```

`generate import data/turns.parquet` reads the turns into a study again. The hub makes Croissant
metadata of Parquet files by itself, so there is none here."""


def _made_from(done: Published) -> str:
    state = tool_state()
    commit = f", commit {state['commit']}" if state["commit"] else ""
    changed = ", with changes" if state["dirty"] else ""
    tables = [card_tables.runs(done), *[card_tables.rubrics(done)] * bool(done.rubrics)]
    return "\n\n".join([f"{state['tool']}{commit}{changed}.", *tables])
