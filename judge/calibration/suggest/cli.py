"""`calibrate suggest`: a revised prompt template from tagged disagreements."""

import json
import sys

import click

from annotator.reference_rule import ReferenceRule
from generation.command import one_line, study_option
from generation.study import DEFAULT_SEED, Study
from judge.calibration.options import SEED, judge_option, reference_option, rubric_option
from judge.config import MAX_TOKENS
from judge.options import base_url_option


@click.command()
@click.option(
    "--prompt",
    metavar="NAME[@N]",
    help="The prompt template to improve.  [default: the one that the judge read]",
)
@rubric_option
@judge_option
@reference_option
@click.option("--model", metavar="NAME", help="The model that revises.  [default: the judge's own]")
@click.option(
    "--max-tokens",
    type=click.IntRange(1, MAX_TOKENS),
    help="Tokens of one revision, reasoning included.  [default: what its server gives]",
)
@base_url_option
@click.option(
    "--calls",
    type=click.IntRange(min=1),
    metavar="N",
    help="Verdicts of the judge, at most.  [default: 150]",
)
@click.option("--seed", type=SEED, help="Seed of the search.  [default: a fixed one]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the bare text.")
@study_option
def suggest(
    study: Study,
    prompt: str | None,
    version: str | None,
    judge: str | None,
    rule: ReferenceRule,
    model: str | None,
    max_tokens: int | None,
    base_url: str | None,
    calls: int | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Propose a revised prompt template from the dev disagreements tagged by `calibrate cause`.

    It needs the extra `optimize` (GEPA) and the judge's server. The text goes to stdout, as a
    draft for you to read: nothing is adopted or stored.

    \b
      calibrate suggest --base-url http://localhost:8000/v1 > draft.md
      judge prompt edit strict --file draft.md --note TEXT
    """
    from judge.calibration.suggest.gepa_optimizer import GepaOptimizer
    from judge.calibration.suggest.suggest import DEFAULT_CALLS, Wish
    from judge.calibration.suggest.suggest import suggest as suggested
    from judge.calibration.suggest.terminal import bar, suggestion_text
    from judge.plain_text import visible

    wish = Wish(
        prompt=prompt,
        rubric=version,
        judge=judge,
        rule=rule,
        model=model,
        max_tokens=max_tokens,
        base_url=base_url,
        calls=calls or DEFAULT_CALLS,
        seed=DEFAULT_SEED if seed is None else seed,
    )
    with bar(wish.calls) as progressed:
        found = suggested(study, GepaOptimizer(), wish, _say, progressed)
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2))
    else:
        text = found.proposal.text  # exactly as it is, but nothing in it acts on a terminal
        click.echo(visible(text) if sys.stdout.isatty() else text, nl=False)
    click.echo(suggestion_text(found, study.option), err=True, nl=False)


def _say(message: str) -> None:
    click.echo(one_line(message), err=True)
