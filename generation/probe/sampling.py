"""The sampling of answers and turns: stops from the model, the rest from plan and cell."""

from generation.chat.chat_model import ChatModel
from generation.engines.engine import Sampling
from generation.plan.cells import Draw, row_seed
from generation.plan.plan import Plan


def answer_sampling(model: ChatModel, plan: Plan, draw: Draw, row_id: str) -> Sampling:
    """Ends of an answer alone stop it: a thinking model's thoughts may hold a turn's end."""
    return Sampling(
        draw.temperature,
        plan.answers.max_tokens,
        row_seed(draw, row_id),
        model.answer_stops,
        model.cut.answer_stop_strings,
        top_p=draw.top_p,
        top_k=draw.top_k,
    )


def turn_sampling(model: ChatModel, plan: Plan, draw: Draw, row_id: str) -> Sampling:
    cut = model.cut
    return Sampling(
        draw.temperature,
        plan.max_turn_tokens,
        row_seed(draw, row_id),
        tuple(stop.token_id for stop in cut.stops),
        cut.stop_strings,
        top_p=draw.top_p,
        top_k=draw.top_k,
    )
