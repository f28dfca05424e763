"""What `annotate serve` serves: the labelling page, and with accounts a page for every role."""

from pathlib import Path

import click

from annotator.accounts.refusal import RefusalLog
from annotator.accounts.register import Register
from annotator.labelling.app import page as labelling_page
from annotator.labelling.desk import Desk
from annotator.labels import open_labels, record_rubric
from annotator.name import checked_name
from annotator.publishing.in_force import rubric_of
from annotator.publishing.publication import publish
from annotator.served_labels import ServedLabels
from annotator.web.page import Page
from annotator.web.server import listening, serve_pages
from annotator.web.web_site import EVERY_HOST, Site
from generation.study import Study
from rubrics import InputError, Rubric


def serve(
    study: Study, version: str | None, site: Site, *, annotator: str | None, port: int
) -> None:
    """Serve until interrupted: on this machine for anybody, or for those who have accounts.

    A rubric version that is named is published. Raises InputError when labels.db cannot be opened,
    holds no items, knows another text of this rubric version, the site is open to others without
    accounts, or no port is free.
    """
    annotator = checked_name(annotator) if annotator else None
    labels, option = study.labels, study.option
    with open_labels(labels) as database:
        if not database["items"].count:
            raise InputError(
                f"{labels} holds no items; choose some first: calibrate sample{option}"
            )
        rubric = rubric_of(database, study, version)
        record_rubric(database, rubric)
    register = Register(labels)
    accounts = register.in_use()
    _check_open_to(site, accounts, annotator, option)
    listener = listening(site, port, "annotate")
    if version is not None:
        with open_labels(labels) as database:
            publish(database, rubric)
    pages = pages_of(labels, rubric, register.refusals, accounts=accounts, annotator=annotator)
    who = f" as {annotator}" if annotator else ""
    serve_pages(pages, site, listener, f"label{who} under rubric {rubric.version}", register)


def pages_of(
    labels: Path,
    rubric: Rubric,
    refusals: RefusalLog,
    *,
    accounts: bool,
    annotator: str | None = None,
) -> list[Page]:
    """The labelling page alone, or with accounts the page of each role."""
    desk = Desk(ServedLabels(labels), rubric, refusals, annotator=annotator, accounts=accounts)
    pages = [labelling_page(desk, rubric, annotator, accounts=accounts)]
    if accounts:
        from annotator.adjudication.app import page as adjudication_page
        from annotator.dashboard.app import page as dashboard_page

        pages += [
            adjudication_page(labels, rubric, refusals),
            dashboard_page(labels, rubric, refusals),
        ]
    return pages


def _check_open_to(site: Site, accounts: bool, annotator: str | None, option: str) -> None:
    if accounts and annotator:
        raise InputError("this study has accounts, so that people log in; leave out --annotator")
    if not accounts and not site.is_local:
        raise InputError(
            f"{site.address or site.host} is open to others, and this study has no accounts; add "
            f"some first: annotate user add NAME --role annotator{option}"
        )
    if site.host in EVERY_HOST and not site.public:
        raise InputError(
            f"--host {site.host} is every address of this machine; say which one people type: "
            "--public-url URL"
        )
    if accounts and not site.is_local and not site.is_secure:
        click.echo("no TLS: passwords travel in the clear (annotator/HOSTING.md)", err=True)
