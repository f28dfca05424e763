"""The commands that do what a view does, ready to copy."""

import shlex

from annotator.reference_rule import ReferenceRule
from generation.study import Study
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.roster import Contender


def calibrate_command(study: Study, act: str, *options: str) -> str:
    """`calibrate ACT OPTIONS` of a study, quoted for a shell."""
    words = ["calibrate", *filter(None, [act]), *options]
    return f"{shlex.join(words)}{study.option}"


def judge_options(contender: Contender, place: Place) -> tuple[str, ...]:
    """The options that name a judge, its rubric and the reference rule."""
    rule = () if place.rule == ReferenceRule.MAJORITY else ("--reference", place.rule)
    return ("--rubric", contender.rubric_version, "--judge", contender.head, *rule)
