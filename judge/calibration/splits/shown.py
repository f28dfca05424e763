"""Queries that a judge was shown: quoted by a prompt that ran, or by a template yet to run."""

from collections.abc import Iterator

from sqlite_utils import Database

from judge.calibration.few_shot import shown_text
from judge.calibration.leak import labelling_items, quoted_items
from judge.calibration.quotation import Quoting
from judge.calibration.splits.split import query_hash
from judge.prompts.template_store import TemplateStore


def shown_queries(pipeline_db: Database) -> frozenset[str]:
    """Hashes of the queries of sampled items that any prompt or template shows or quotes.

    An item shown as an example counts whatever its length; quoting is what `refuse_leak` says.
    """
    to_label = dict(labelling_items(pipeline_db))
    quoted = {
        leak.item_id
        for text in _texts(pipeline_db)
        for leak in quoted_items(Quoting(text), to_label.items())
    }
    templates = TemplateStore(pipeline_db).templates()
    shown = {shot.item.hash for stored in templates for shot in stored.template.shots}
    return frozenset(
        query_hash(item)
        for item_id, item in to_label.items()
        if item_id in quoted or item.hash in shown
    )


def _texts(pipeline_db: Database) -> Iterator[str]:
    for row in pipeline_db["judge_prompts"].rows_where(order_by="prompt_hash"):
        yield row["text"]
    for stored in TemplateStore(pipeline_db).templates():
        yield "\n\n".join([stored.template.text, *map(shown_text, stored.template.shots)])
