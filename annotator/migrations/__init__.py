"""The schema of labels.db, one step after the other; a store is brought up to the last one."""

from sqlite_utils import Migrations

from annotator.migrations.adjudications import m002_adjudications, m003_adjudication_requests
from annotator.migrations.blind_labels import m001_blind_labels
from annotator.migrations.many_people import m004_many_people

annotator_migrations = Migrations("annotator")
for _step in (
    m001_blind_labels,
    m002_adjudications,
    m003_adjudication_requests,
    m004_many_people,
):
    annotator_migrations()(_step)
