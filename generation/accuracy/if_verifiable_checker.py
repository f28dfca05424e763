"""Checks one instruction of IFEval or IFBench; the only file that imports if-verifiable.

Runs in a process of its own (checker_process).
"""

import re
from importlib.metadata import version
from typing import Any

import langdetect
import nltk

from generation.accuracy.checker_loop import described

# It draws at random unless it is seeded, and the same answer would pass today and fail tomorrow.
langdetect.DetectorFactory.seed = 0
# if-verifiable downloads what NLTK lacks as soon as it is imported; a scorer downloads nothing.
nltk.download = lambda *_args, **_kwargs: False

from if_verifiable import IFEvalSample, evaluate_output_for_sample  # noqa: E402
from if_verifiable.ifbench.instructions_registry import INSTRUCTION_DICT as IFBENCH  # noqa: E402
from if_verifiable.ifeval.instructions_registry import INSTRUCTION_DICT as IFEVAL  # noqa: E402

# Data that some kinds need, by where NLTK looks for it.
NLTK_DATA = {
    "punkt_tab": "tokenizers/punkt_tab",
    "stopwords": "corpora/stopwords",
    "averaged_perceptron_tagger_eng": "taggers/averaged_perceptron_tagger_eng",
}


def about() -> dict[str, Any]:
    """Another scorer with NLTK's data than without: it decides more."""
    lacking = sum(not _is_there(path) for path in NLTK_DATA.values())
    without = f" without {'some of ' if lacking < len(NLTK_DATA) else ''}NLTK data"
    return {"scorer": f"if-verifiable/{version('if-verifiable')}{without if lacking else ''}"}


def check(request: dict[str, Any]) -> dict[str, Any]:
    """`instruction`, `kwargs`, `prompt` and `answer` to `strict`, `loose` and `why`."""
    name, answer = request["instruction"], request["answer"]
    given = {key: value for key, value in request["kwargs"].items() if value is not None}
    benchmark = "ifeval" if name in IFEVAL else "ifbench"
    kind = IFEVAL.get(name) or IFBENCH.get(name)
    if kind is None:
        return _not_checkable("if-verifiable knows no instruction of this kind")
    lacking = [key for key in kind(name).get_instruction_args_keys() if key not in given]
    if lacking:  # it would make one up at random
        return _not_checkable(f"the row does not say {', '.join(lacking)}")
    sample = IFEvalSample(0, request["prompt"], [name], [given])
    try:
        results, _ = evaluate_output_for_sample(benchmark, sample, answer)
    except Exception as error:
        return _not_checkable(_reason(error))
    if not results:  # an answer without text follows nothing
        return {"strict": False, "loose": False, "why": None}
    return {"strict": results[0].strict_pass, "loose": results[0].loose_pass, "why": None}


def _reason(error: Exception) -> str:
    resource = re.search(r"nltk\.download\('(\w+)'\)", str(error))
    if isinstance(error, LookupError) and resource:
        name = resource[1]
        return f"needs NLTK data: python -m nltk.downloader {name}, or NLTK_DATA=FOLDER"
    return f"the check failed: {described(error)}"


def _not_checkable(why: str) -> dict[str, Any]:
    return {"strict": None, "loose": None, "why": why}


def _is_there(path: str) -> bool:
    try:
        nltk.data.find(path)
    except LookupError:
        return False
    return True
