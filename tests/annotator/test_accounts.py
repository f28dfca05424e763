"""Accounts, passwords, invitations, logins, the throttle and the log of refusals, by themselves."""

from datetime import timedelta

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner

from annotator.accounts import account as accounts
from annotator.accounts import throttle
from annotator.accounts.account import add_account, find_account, set_password
from annotator.accounts.invitation import invite, invited, take_up
from annotator.accounts.login import LASTING, end_login, logged_in, start_login
from annotator.accounts.password import MIN_LENGTH, checked_password, fits, hashed, outdated
from annotator.accounts.person import Person, Role
from annotator.accounts.refusal import PER_MINUTE, TEXT_LIMIT, RefusalLog
from annotator.accounts.register import Register
from annotator.cli import annotate
from annotator.labels import open_labels
from annotator.served_labels import ServedLabels
from annotator.study_option import option_of
from generation.clock import later, now
from rubrics import InputError

PASSWORD = "correct horse battery"
WEEK = timedelta(days=7)
OLDER_COSTS = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
START = "2026-03-01T10:00:00.000+00:00"


@pytest.fixture
def ann(labels):
    return add_account(labels, "ann", Role.ANNOTATOR)


@pytest.fixture
def register(labels, tmp_path):
    found = Register(tmp_path / "labels.db")
    yield found
    found.close()


def everything_stored(database) -> str:
    return "\n".join(database.iterdump())


def test_an_account_takes_a_name_that_has_labels_and_keeps_one_role(labels):
    labels["annotators"].insert({"annotator": "Zoë", "first_seen_at": START})
    assert add_account(labels, " Zoe\u0308 ", Role.ANNOTATOR).name == "Zoë"
    with pytest.raises(InputError, match="an account already, as annotator"):
        add_account(labels, "Zoë", Role.OWNER)
    assert find_account(labels, "Zoë").role is Role.ANNOTATOR
    assert labels["annotators"].get("Zoë")["first_seen_at"] == START


@pytest.mark.parametrize("name", ["", "a" * 41, "<b>", "ann\n", "../ann"])
def test_a_name_that_cannot_be_stored_gets_no_account(labels, name):
    if name == "ann\n":  # blanks around a name are not part of it
        assert add_account(labels, name, Role.OWNER).name == "ann"
        return
    with pytest.raises(InputError, match="cannot be used"):
        add_account(labels, name, Role.OWNER)


def test_states(labels, ann):
    assert ann.state == "invited"
    set_password(labels, "ann", PASSWORD)
    assert find_account(labels, "ann").state == "active"
    accounts.disable(labels, "ann")
    assert find_account(labels, "ann").state == "disabled"
    with pytest.raises(InputError, match="annotate user enable 'ann'"):
        accounts.reset(labels, "ann")
    accounts.enable(labels, "ann")
    assert find_account(labels, "ann").state == "active"
    with pytest.raises(InputError, match="annotate user list"):
        accounts.disable(labels, "nobody")


def test_passwords():
    known = hashed("Zoe\u0308 likes passwords")
    assert fits(known, "Zoë likes passwords")  # however the keyboard composes it
    assert not fits(known, "Zoë likes passwords ")
    assert not fits(None, PASSWORD)
    assert not fits("no hash", PASSWORD)
    assert not outdated(known)
    assert outdated(OLDER_COSTS.hash(PASSWORD))
    for wrong in ("", "a" * (MIN_LENGTH - 1), "a" * 257):
        with pytest.raises(InputError, match=f"{len(wrong)} characters"):
            checked_password(wrong)


def test_an_unknown_name_costs_a_hash_like_a_known_one(labels, ann, register, monkeypatch):
    set_password(labels, "ann", PASSWORD)
    checked = []

    def count(known, password):
        checked.append(known is not None)
        return fits(known, password)

    monkeypatch.setattr("annotator.accounts.register.fits", count)
    for name in ("ann", "nobody", "<b>", ""):
        assert register.log_in(name, "wrong", "192.0.2.1").secret is None
    assert checked == [True, False, False, False]


def test_an_invitation_holds_once_and_for_a_while(labels, ann):
    secret = invite(labels, "ann", timedelta(hours=1))
    assert invited(labels, secret, at=later(now(), 59 * 60)).name == "ann"
    assert invited(labels, secret, at=later(now(), 61 * 60)) is None
    other = invite(labels, "ann", WEEK)
    with pytest.raises(InputError, match="characters"):
        take_up(labels, secret, "short")
    take_up(labels, secret, PASSWORD)
    for used in (secret, other, "made up", ""):
        with pytest.raises(InputError, match="expired or was used"):
            take_up(labels, used, "another password")
    assert fits(find_account(labels, "ann").password_hash, PASSWORD)


def test_an_invitation_to_a_disabled_account_holds_no_more(labels, ann):
    secret = invite(labels, "ann", WEEK)
    accounts.disable(labels, "ann")
    accounts.enable(labels, "ann")
    assert invited(labels, secret, at=now()) is None


def test_a_login_ends_when_ended_expired_disabled_or_reset(labels, ann):
    secrets = [start_login(labels, "ann") for _ in range(4)]
    assert {logged_in(labels, secret, at=now()) for secret in secrets} == {
        Person("ann", Role.ANNOTATOR)
    }
    assert logged_in(labels, secrets[0], at=later(now(), LASTING.total_seconds())) is None
    end_login(labels, secrets[0])
    assert logged_in(labels, secrets[0], at=now()) is None
    assert logged_in(labels, secrets[1], at=now())
    accounts.disable(labels, "ann")
    accounts.enable(labels, "ann")
    assert logged_in(labels, secrets[1], at=now()) is None
    again = start_login(labels, "ann")
    accounts.reset(labels, "ann")
    assert logged_in(labels, again, at=now()) is None
    assert logged_in(labels, "made up", at=now()) is None


def test_no_secret_and_no_password_is_in_the_store(labels, ann, register):
    invitation = invite(labels, "ann", WEEK)
    register.take_up(invitation, PASSWORD, "192.0.2.1")
    login = register.log_in("ann", PASSWORD, "192.0.2.1").secret
    assert register.person(login) == Person("ann", Role.ANNOTATOR)
    stored = everything_stored(labels)
    for secret in (invitation, login, PASSWORD):
        assert secret not in stored


def test_a_hash_of_older_costs_is_made_anew_at_the_next_login(labels, ann, register):
    old = OLDER_COSTS.hash(PASSWORD)
    labels["accounts"].update("ann", {"password_hash": old})
    assert register.log_in("ann", PASSWORD, "192.0.2.1").secret
    new = find_account(labels, "ann").password_hash
    assert new != old
    assert not outdated(new)


def fail(database, name, address, times, at=START):
    for _ in range(times):
        throttle.record_attempt(database, name, address, succeeded=False, at=at)


def test_failures_make_the_next_try_wait_longer_and_longer_and_are_forgiven(labels):
    waits = []
    for _ in range(13):
        fail(labels, "ann", "192.0.2.1", 1)
        waits.append(throttle.seconds_to_wait(labels, "ann", "192.0.2.1", at=START))
    assert waits == [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    for seconds, left in ((59, 1), (60, 0)):
        at = later(START, seconds)
        assert throttle.seconds_to_wait(labels, "ann", "192.0.2.1", at=at) == left
    assert throttle.seconds_to_wait(labels, "ben", "192.0.2.1", at=START) == 0
    much_later = later(START, 7_200)
    fail(labels, "ann", "192.0.2.1", 1, at=much_later)
    assert throttle.seconds_to_wait(labels, "ann", "192.0.2.1", at=much_later) == 0
    assert labels["login_attempts"].count == 1


def test_a_name_is_slowed_down_from_everywhere_but_where_its_owner_is_known(labels):
    throttle.record_attempt(labels, "ann", "192.0.2.1", succeeded=True, at=START)
    for n in range(40):  # strangers all over the world, some in the same house
        fail(labels, "ann", f"198.51.100.{n}", 1)
    fail(labels, "ben", "192.0.2.1", 40)
    assert throttle.seconds_to_wait(labels, "ann", "203.0.113.9", at=START) == 60
    assert throttle.seconds_to_wait(labels, "ann", "192.0.2.1", at=START) == 0
    fail(labels, "ann", "192.0.2.1", 6)
    assert throttle.seconds_to_wait(labels, "ann", "192.0.2.1", at=START) == 2


def test_an_address_that_tries_many_names_waits(labels):
    for n in range(30):
        fail(labels, f"name {n}", f"2001:db8::{n}", 1)
    assert throttle.seconds_to_wait(labels, "ann", "2001:db8::ffff", at=START) == 900
    assert throttle.seconds_to_wait(labels, "ann", "2001:db8:0:1::1", at=START) == 0


def test_a_restart_forgets_no_failure_and_a_refused_try_is_none(labels, ann, tmp_path):
    set_password(labels, "ann", PASSWORD)
    fail(labels, "ann", "192.0.2.1", 12, at=now())
    for _ in range(3):
        register = Register(tmp_path / "labels.db")
        entry = register.log_in("ann", PASSWORD, "192.0.2.1")
        assert entry.secret is None
        assert 0 < entry.wait <= 60
        register.close()
    assert labels["login_attempts"].count == 12


def test_refusals_are_kept_short_and_by_shares_and_what_is_left_out_is_counted(labels, tmp_path):
    log = RefusalLog(ServedLabels(tmp_path / "labels.db"))
    flood = PER_MINUTE + 100
    for _ in range(flood):
        log.record(None, "GET /" + "\x1b[31m" + "a" * 9_000, "b" * 9_000, at=START)
    log.record("ann", "GET /dashboard/", "not for annotators", at=START)
    log.record(None, "GET /next", "why", at=later(START, 60))
    rows = list(labels["refusals"].rows)
    assert [row["name"] for row in rows].count("ann") == 1
    assert len(rows) == PER_MINUTE + 3
    assert all(len(row["what"]) <= TEXT_LIMIT and len(row["why"]) <= TEXT_LIMIT for row in rows)
    assert all(row["what"].isprintable() for row in rows)
    assert rows[-2]["what"] == "100 more in the minute 2026-03-01T10:00"
    for _ in range(PER_MINUTE + 5):
        log.record("ann", "POST /x", "why", at=START)
    log.close(at=START)
    assert list(labels["refusals"].rows)[-1]["what"].startswith("6 more")


def test_a_refusal_that_cannot_be_written_is_left_out_and_counted(labels, tmp_path):
    store = ServedLabels(tmp_path / "labels.db")
    log = RefusalLog(store)
    for switch in ("ON", "OFF"):
        with store.use() as database:
            database.conn.execute(f"PRAGMA query_only = {switch}")
        if switch == "ON":
            log.record("ann", "GET /x", "why", at=START)
    log.close(at=START)
    [row] = labels["refusals"].rows
    assert row["what"] == "1 more in the minute 2026-03-01T10:00"


def test_who_is_enabled_without_a_password_needs_an_invitation(labels, ann, tmp_path):
    def run(*words):
        return CliRunner().invoke(annotate, ["user", *words, "--study", str(tmp_path)]).output

    secret = invite(labels, "ann", WEEK)
    run("disable", "ann")
    assert f"annotate user reset 'ann' --study {tmp_path}" in run("enable", "ann")
    assert invited(labels, secret, at=now()) is None
    set_password(labels, "ann", PASSWORD)
    run("disable", "ann")
    assert run("enable", "ann") == "ann can log in again\n"


def test_what_to_type_next_names_the_study(labels, ann, tmp_path):
    option = f"--study {tmp_path}"
    with pytest.raises(InputError, match=f"annotate user list {option}"):
        accounts.account(labels, "nobody")
    with pytest.raises(InputError, match=f"annotate user reset 'ann' {option}"):
        add_account(labels, "ann", Role.OWNER)
    accounts.disable(labels, "ann")
    with pytest.raises(InputError, match=f"annotate user enable 'ann' {option}"):
        accounts.reset(labels, "ann")


def test_the_study_of_a_store_is_named_as_somebody_there_would_type_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder, option in (("study", ""), ("my study", " --study 'my study'")):
        with open_labels(tmp_path / folder / "labels.db", create=True) as database:
            assert option_of(database) == option
