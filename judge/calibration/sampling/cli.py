"""`calibrate sample`: which items people label, and how many it takes."""

import json

import click

from generation.command import FiniteRange, study_option
from generation.study import Study
from judge.calibration.options import SEED


@click.command()
@click.option(
    "--n",
    type=click.IntRange(min=1),
    help="How many items; more than there are drawn extends the sample.  [default: 200, or all]",
)
@click.option("--seed", type=SEED, help="Seed of the draw.  [default: a fixed one]")
@click.option(
    "--by",
    metavar="FEATURES",
    help="Draw as many of each kind of item: some of model, dataset, temperature, perturbation, "
    "label, disagreement, with commas.  [default: all items alike]",
)
@click.option(
    "--repeats",
    type=FiniteRange(0, 0.10),
    metavar="SHARE",
    help="Share of the items that annotators get twice.  [default: 0.05 from 100 items on]",
)
@click.option("--plan", is_flag=True, help="Print how many labels a result takes; draw nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@study_option
def sample(
    study: Study,
    n: int | None,
    seed: int | None,
    by: str | None,
    repeats: float | None,
    plan: bool,
    as_json: bool,
) -> None:
    """Draw the items that people label, at random, and put them blind into labels.db.

    \b
      calibrate sample --plan
      calibrate sample --n 400
      calibrate sample --by model,label
    """
    if plan:
        if any(choice is not None for choice in (n, seed, by, repeats)):
            raise click.UsageError("--plan draws nothing: leave --n, --seed, --by, --repeats out.")
        _print_plan(as_json)
        return
    from annotator.labels import open_labels
    from judge.calibration.sampling.sample import draw_sample
    from judge.calibration.sampling.strata import parse_features
    from judge.calibration.sampling.terminal import strata_text
    from judge.store import open_pipeline

    features = None if by is None else parse_features(by)
    with (
        open_pipeline(study.pipeline) as pipeline_db,
        open_labels(study.labels, create=True) as labels_db,
    ):
        drawing = draw_sample(pipeline_db, labels_db, n=n, seed=seed, by=features, repeats=repeats)
    if as_json:
        click.echo(json.dumps(drawing.as_dict(), indent=2, allow_nan=False))
        return
    click.echo(drawing.as_text())
    click.echo(strata_text(drawing.sample), nl=False)
    click.echo(f"next: annotate{study.option}")


def _print_plan(as_json: bool) -> None:
    from judge.calibration.sampling.plan import plan_sample
    from judge.calibration.sampling.terminal import plan_text

    plan = plan_sample()
    if as_json:
        click.echo(json.dumps(plan.as_dict(), indent=2, allow_nan=False))
    else:
        click.echo(plan_text(plan), nl=False)
