"""The instruments that can be asked by batch: judge models, with or without a server at hand."""

from dataclasses import replace

from generation.study import Study
from judge.chat_judge import ChatJudge
from judge.config import JudgeConfig
from judge.instrument import Instrument, choose_instrument
from judge.server.endpoint import find_endpoint
from rubrics import InputError

NOWHERE = "http://nowhere.invalid/v1"  # a name that no server can ever have


def chat_judge(instrument: Instrument, study: Study) -> ChatJudge:
    """The instrument's judge model; raises InputError for the lexical baseline."""
    if not isinstance(instrument.labeller, ChatJudge):
        raise InputError(
            "the lexical baseline needs no batch: name a model, --model NAME, or run the baseline: "
            f"judge{study.option}"
        )
    return instrument.labeller


def offline_instrument(config: JudgeConfig, study: Study) -> Instrument:
    """The instrument of this config, which need not say where a server is: none is asked.

    Raises InputError as `choose_instrument` does, and for the lexical baseline.
    """
    if config.base_url is None:
        try:
            find_endpoint(None, config.key_variable)
        except InputError:
            # An instrument has an endpoint, come what may; of this one nothing but the key is
            # used, which is kept out of what is stored.
            config = replace(config, base_url=NOWHERE)
    instrument = choose_instrument(config, study)
    chat_judge(instrument, study)
    return instrument
