"""The calibrate command as typed, on a study."""

from click.testing import CliRunner

from generation.study import Study
from judge.calibration.cli import calibrate


def run(builder_or_study, *arguments: str):
    study: Study = getattr(builder_or_study, "study", builder_or_study)
    return CliRunner().invoke(calibrate, [*arguments, "--study", str(study.folder)])


def failed(result) -> str:
    """The one line of a refusal."""
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr
