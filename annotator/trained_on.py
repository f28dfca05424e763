"""Items of the study that people train on: there are to be none, for training tells the answer."""

from sqlite_utils import Database


def trained_on(database: Database) -> dict[str, str]:
    """The training id by the item's, where both have one text.

    A training item that was taken out of use counts where somebody has answered it.
    """
    rows = database.conn.execute(
        """SELECT item_id, training_id FROM training_items JOIN items USING (messages, answer, turn)
           WHERE retired_at IS NULL OR EXISTS (
               SELECT 1 FROM training_answers
               WHERE training_answers.training_id = training_items.training_id)
           ORDER BY items.rowid, training_id DESC"""
    )
    return dict(rows.fetchall())
