"""A folder of turns that `datasets.load_dataset(FOLDER)` reads.

README.md           the card: what the rows are and are not, in YAML and in words
data/turns.parquet  one row per user turn
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from generation.exchange.exported import Exported
from generation.exchange.parquet_file import write_rows
from generation.exchange.turn_table import COLUMNS


def write_folder(rows: Iterable[Mapping[str, Any]], folder: Path, done: Exported) -> None:
    """Write the rows, then the card from what `done` has counted of them."""
    (folder / "data").mkdir(parents=True)
    write_rows(rows, COLUMNS, folder / "data" / "turns.parquet")
    (folder / "README.md").write_text(card(done), encoding="utf-8")


def card(done: Exported) -> str:
    counts = "".join(
        f"| {_cell(dataset)} | {setting} | {_cell(model)} | {count} |\n"
        for (dataset, setting, model), count in sorted(done.origins.items())
    )
    flagged = ", ".join(f"{flag} {count}" for flag, count in sorted(done.flagged.items()))
    return f"""---
pretty_name: {json.dumps("User turns after an assistant's answer")}
task_categories:
- text-generation
configs:
- config_name: default
  data_files: data/turns.parquet
---

# User turns after an assistant's answer

{done.written} rows. Each is a conversation that ends in a question (`q`, messages as JSON), an
answer to it (`a`) and the user turn after that (`u`).

| data set | setting | who wrote u | rows |
|---|---|---|---|
{counts}
- Where a model is named, **u was written by that model under the user role**, not by a person. It
  tells what the model does there; it is no sample of what people say.
- `self-generated`: the same model wrote a. `held-out`: a comes from the data set.
- An answer may be false, and was not checked here. Where `answer_perturbation` is not `none`, a was
  changed before u was made: do not read it as what its model said.
- Nothing was chosen by what it says. Rows that hit their token limit or ran into another role are
  among them and flagged in `flags`: {flagged or "none is flagged here"}.
- `condition` names what is unusual about a row (context, nucleus, top-k, a later user turn):
  compare rows of one condition.
{_left_out(done)}
The text of `q` comes from the data sets named above and stays under their licences, which this
folder does not change; a and u also under the terms of the models that wrote them.

```python
from datasets import load_dataset
turns = load_dataset("this folder", split="train")
```

`generate import data/turns.parquet` reads the rows into a study again.
"""


def _left_out(done: Exported) -> str:
    if not done.left_out_canary:
        return ""
    names = ", ".join(f"{name} {count}" for name, count in sorted(done.left_out_canary.items()))
    why = "their data sets ask that their text never be published"
    return f"- Left out, since {why}: {names}.\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
