"""`calibrate cause`: why judge and people differ, item by item and counted."""

import json

import click

from annotator.reference_rule import ReferenceRule
from generation.command import study_option
from generation.study import Study
from judge.calibration.options import judge_option, reference_option, rubric_option


@click.command()
@click.argument("item", required=False)
@click.option(
    "--cause",
    "causes",
    multiple=True,
    metavar="NAME",
    help="judge error, rubric gap, label slip, truly ambiguous, or one of your own; repeatable.",
)
@click.option("--memo", metavar="TEXT", help='What you saw; "" alone empties the note.')
@click.option("--owner", metavar="NAME", help="Who notes it.  [default: owner]")
@rubric_option
@judge_option
@reference_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@study_option
def cause(
    study: Study,
    item: str | None,
    causes: tuple[str, ...],
    memo: str | None,
    owner: str | None,
    version: str | None,
    judge: str | None,
    rule: ReferenceRule,
    as_json: bool,
) -> None:
    """Count the causes of a judge's disagreements with people, or note those of one ITEM.

    A note takes the place of the item's earlier one, which is kept. "label slip" sends the item
    to blind adjudication; people's labels stay as they are until it is decided.
    """
    from annotator.adjudication.adjudication import is_requested
    from annotator.labels import open_labels
    from judge.calibration.causes.study_causes import note_item, study_causes
    from judge.calibration.causes.terminal import causes_text, noted_text
    from judge.calibration.study_calibration import calibrate_study
    from judge.store import open_pipeline

    if item is None and (causes or (memo, owner) != (None, None)):
        raise click.UsageError("--cause, --memo and --owner are of one ITEM; name it")
    if item is not None and not causes and memo is None:
        raise click.UsageError("what of it? add --cause NAME or --memo TEXT to ITEM")
    rubric = study.rubric(version)
    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        if item is None:
            calibration = calibrate_study(pipeline_db, labels_db, rubric, judge=judge, rule=rule)
            found = study_causes(pipeline_db, calibration)
            result, text = found.as_dict(), causes_text(found, study.option)
        else:
            note = note_item(
                pipeline_db,
                labels_db,
                rubric,
                judge,
                item,
                causes=causes,
                memo=memo or "",
                owner=owner,
            )
            sent = is_requested(labels_db, item, rubric.version)
            result = note.as_dict()
            text = noted_text(note, rubric.version, study.option, sent=sent)
    click.echo(json.dumps(result, indent=2) if as_json else text.rstrip("\n"))
