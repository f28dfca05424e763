"""The form of a run on the dev half, and the `judge` command that it makes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from generation.study import Study
from judge.calibration.workbench.field import number, text
from judge.config import MAX_CONCURRENCY, MAX_RUNS, MAX_TEMPERATURE, JudgeConfig, checked
from judge.judge import LEXICAL
from judge.prompts.prompt_template import PACKAGED_NAME
from rubrics import InputError


@dataclass(frozen=True)
class RunForm:
    """What is to judge the dev half; "" stands for a command's own default."""

    model: str = LEXICAL
    base_url: str = ""
    prompt: str = PACKAGED_NAME
    rubric: str = ""
    runs: str = ""
    temperature: str = ""
    concurrency: str = ""
    draw: str = ""
    prices: str = ""
    max_cost: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class DevRun:
    """A checked form."""

    config: JudgeConfig
    draw: int | None
    prices: Path | None
    max_cost: float | None

    def command(self, study: Study) -> tuple[str, ...]:
        """`judge … --on dev` with all that differs from its defaults."""
        config = self.config
        given = {
            "--model": config.model,
            "--base-url": config.base_url,
            "--rubric": config.rubric,
            "--prompt": config.prompt,
            "--runs": config.runs,
            "--temperature": None if config.temperature is None else f"{config.temperature:g}",
            "--concurrency": config.concurrency,
            "--draw": self.draw,
            "--prices": self.prices,
            "--max-cost": None if self.max_cost is None else f"{self.max_cost:g}",
        }
        words = ["judge", "--on", "dev"]
        if config.model is None:
            words += ["--judge", LEXICAL]
        for option, value in given.items():
            if value is not None:
                words += [option, str(value)]
        return (*words, "--study", str(study.folder))


def run_form(fields: Mapping[str, object]) -> RunForm:
    """The form in what a page sent, which may be stored.

    Raises InputError for a field that is no short text, and for a server's URL with a secret.
    """
    plain = RunForm().as_dict()
    form = RunForm(**{name: text(fields, name, limit=1_000) or plain[name] for name in plain})
    refuse_secret(form.base_url)
    return form


def dev_run(form: RunForm) -> DevRun:
    """The run that a form asks for; raises InputError naming the field that is wrong."""
    lexical = form.model == LEXICAL
    config = JudgeConfig(
        model=None if lexical else form.model,
        base_url=None if lexical else form.base_url or None,
        rubric=form.rubric or None,
        prompt=None if lexical or form.prompt == PACKAGED_NAME else form.prompt,
        runs=None if lexical else number(form.runs, "runs", int, 1, MAX_RUNS),
        temperature=None
        if lexical
        else number(form.temperature, "temperature", float, 0, MAX_TEMPERATURE),
        concurrency=None
        if lexical
        else number(form.concurrency, "concurrency", int, 1, MAX_CONCURRENCY),
    )
    prices = Path(form.prices) if form.prices and not lexical else None
    max_cost = None if lexical else number(form.max_cost, "max cost", float, 0, 1e9)
    if max_cost is not None and prices is None:
        raise InputError("max cost: what does a token cost? name a file of prices")
    draw = number(form.draw, "drawn items", int, 1, 10**9)
    return DevRun(checked(config, "the form"), draw, prices, max_cost)


def refuse_secret(base_url: str) -> None:
    """The form is stored and shown; a key belongs into the environment.

    A URL that cannot be read is none that could be used, and may hide one: as long as its end is
    not typed yet, a password stands where a port does.
    """
    try:
        readable = urlsplit(base_url).port != 0
    except ValueError:
        readable = False
    if not readable or any(mark in base_url for mark in "@?#"):
        raise InputError(
            "the server's URL cannot be read, or holds a user name, password or query, which would "
            "be stored; give the URL alone, and the key in OPENAI_API_KEY before you start "
            "calibrate serve"
        )
