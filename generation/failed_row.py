"""A row of a plan that has no text: what was to be made, and why it was not."""

from dataclasses import dataclass

from generation.turn import Conversation


@dataclass(frozen=True)
class FailedRow:
    """Kept so that nothing is missing in silence; tried again on request alone.

    `act` is 'answer' or 'turn'; `kind` is a word to count by, `message` one line.
    """

    row_id: str
    act: str
    conversation: Conversation
    kind: str
    message: str
