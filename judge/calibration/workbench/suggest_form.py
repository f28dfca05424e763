"""The form of a suggestion, and the `calibrate suggest` command that it makes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from generation.study import Study
from judge.calibration.workbench.field import number, text
from judge.calibration.workbench.roster import Contender
from judge.calibration.workbench.run_form import refuse_secret

MOST_CALLS = 100_000


@dataclass(frozen=True)
class SuggestForm:
    """`judge` is whose prompt is to be revised, `model` who reflects on it; "" is the default."""

    judge: str = ""
    model: str = ""
    base_url: str = ""
    calls: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def suggest_form(fields: Mapping[str, object]) -> SuggestForm:
    """The form in what a page sent; raises InputError as `run_form` does."""
    form = SuggestForm(
        **{name: text(fields, name, limit=1_000) for name in SuggestForm().as_dict()}
    )
    refuse_secret(form.base_url)
    return form


def suggest_command(study: Study, form: SuggestForm, judge: Contender) -> tuple[str, ...]:
    """Raises InputError naming the field that is wrong."""
    calls = number(form.calls, "calls", int, 1, MOST_CALLS)
    given = {"--model": form.model, "--base-url": form.base_url, "--calls": calls}
    words = ["calibrate", "suggest", "--rubric", judge.rubric_version, "--judge", judge.head]
    for option, value in given.items():
        if value:
            words += [option, str(value)]
    return (*words, "--json", "--study", str(study.folder))
