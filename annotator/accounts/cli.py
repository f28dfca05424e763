"""The `annotate user` commands: who may come in to the served pages."""

import json
import re
import sys
from datetime import timedelta
from typing import Any

import click

from generation.command import study_option
from generation.study import Study

UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class Lasting(click.ParamType):
    """A stretch of time: 30m, 12h or 7d."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"([1-9][0-9]{0,3})([mhd])", value)
        if not found:
            self.fail(f"{value!r} is no stretch of time; give 30m, 12h or 7d.", param, ctx)
        return timedelta(**{UNITS[found[2]]: int(found[1])})


expires_option = click.option(
    "--expires",
    type=Lasting(),
    default="7d",
    show_default=True,
    metavar="TIME",
    help="How long the invitation holds: 30m, 12h, 7d.",
)
url_option = click.option(
    "--public-url",
    metavar="URL",
    envvar="FOLLOWUPEVAL_PUBLIC_URL",
    show_envvar=True,
    default="http://127.0.0.1:7860",
    show_default=True,
    help="Where people reach `annotate serve`; the invitation starts with it.",
)


@click.group()
def user() -> None:
    """Accounts: with the first one, everybody must log in.

    \b
      annotate user add ann --role annotator
      annotate user add zoe --role adjudicator
      annotate user add lab --role owner
    """


@user.command()
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["annotator", "adjudicator", "owner"]),
    required=True,
    help="What they are to do; nobody has two.",
)
@click.option("--password-stdin", is_flag=True, help="Take the password from stdin; no invitation.")
@expires_option
@url_option
@study_option
def add(study: Study, name, role, password_stdin, expires, public_url) -> None:
    """Add an account and print an invitation to set its password.

    Labels given under this name before belong to the account.
    """
    from annotator.accounts.admission import add_person

    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
    _tell(add_person(study, name, role, password=password, lasting=expires), public_url)


@user.command()
@click.argument("name")
@expires_option
@url_option
@study_option
def reset(study: Study, name, expires, public_url) -> None:
    """Take a password away, log its person out, and print a new invitation."""
    from annotator.accounts.admission import reset_person

    _tell(reset_person(study, name, lasting=expires), public_url)


@user.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@study_option
def list_(study: Study, as_json) -> None:
    """Who has an account, as what, and when they last logged in."""
    from annotator.accounts.account import accounts
    from annotator.accounts.listing import account_dict, last_logins, listing
    from annotator.labels import open_labels

    with open_labels(study.labels) as labels_db:
        found, last = accounts(labels_db), last_logins(labels_db)
    text = listing(found, last, study.option)
    if as_json:
        dicts = [account_dict(account, last.get(account.name)) for account in found]
        text = json.dumps({"accounts": dicts})
    click.echo(text)


@user.command()
@click.argument("name")
@study_option
def disable(study: Study, name) -> None:
    """Log somebody out and let them in no more; what they did stays."""
    from annotator.accounts import account
    from annotator.labels import open_labels

    with open_labels(study.labels) as labels_db:
        account.disable(labels_db, name)
    click.echo(f"{name} is disabled; undo: annotate user enable {name!r}{study.option}")


@user.command()
@click.argument("name")
@study_option
def enable(study: Study, name) -> None:
    """Let somebody in again, with the password they had."""
    from annotator.accounts.admission import enable_person

    click.echo(enable_person(study, name).text)


def _tell(admission, public_url: str) -> None:
    """The address alone on stdout, what it is on stderr."""
    click.echo(admission.text, err=True)
    if admission.invitation:
        click.echo(f"{public_url.rstrip('/')}/invite/{admission.invitation}")
