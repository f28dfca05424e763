"""Answers in mathematics: is what an answer ends in equal to the reference, however written?"""

from generation.accuracy.checker_process import CheckerFailed, checker
from generation.accuracy.package import installed, missing
from generation.accuracy.score import NOT_CHECKABLE, RIGHT, WRONG, Score

PACKAGE = "math-verify"
CHECKER = "generation.accuracy.math_verify_checker"


def score_mathematics(reference: str, answer: str) -> Score:
    r"""`reference` is LaTeX or plain, such as '\frac{1}{2}' or '0.5'."""
    if installed(PACKAGE) is None:
        return Score(f"{PACKAGE}/none", NOT_CHECKABLE, {"why": missing(PACKAGE)})
    scorer = f"{PACKAGE}/{installed(PACKAGE)}"
    try:
        verdict = checker(CHECKER).ask({"reference": reference, "answer": answer})
    except CheckerFailed as error:
        return Score(scorer, NOT_CHECKABLE, {"why": str(error)})
    detail = {"reference": verdict["reference"], "found": verdict["found"]}
    return Score(scorer, RIGHT if verdict["equal"] else WRONG, detail)
