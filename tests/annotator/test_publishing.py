"""A rubric that changes while people label: nothing is mixed up, nothing shifts under a finger."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from annotator.annotation import annotation_history
from annotator.assignment.plan import Plan, put_plan
from annotator.cli import annotate
from annotator.labelling.choice import Choice
from annotator.labelling.session import LabellingSession
from annotator.publishing.in_force import published_version
from annotator.publishing.publication import publish
from annotator.publishing.relabelling import old_labels
from rubrics import InputError, load_rubric, parse_rubric


@pytest.fixture
def session(labels):
    publish(labels, load_rubric("v2"))
    return LabellingSession(labels, load_rubric("v2"))


def save(session, screen, category="malformed"):
    return session.save(screen.nonce, screen.shown.item_id, Choice(category))


def own_rubric(rubric, mapping, version="v9"):
    """The packaged rubric under another version, with a mapping declared."""
    lines = rubric.text.replace(f'version = "{rubric.version}"', f'version = "{version}"')
    table = "\n".join(f'{old} = "{new}"' for old, new in mapping.items())
    return parse_rubric(f"{lines}\n[mapping.v2]\n{table}\n", source="own")


def test_open_pages_finish_under_the_old_version_and_the_next_item_is_under_the_new(
    session, labels, rubric
):
    screen = session.open("ann").screen
    publish(labels, rubric)
    reply = save(session, screen)
    assert not reply.refused
    assert reply.screen.rubric.version == "v3"
    assert [event.rubric_version for event in annotation_history(labels)] == ["v2"]
    save(session, reply.screen)
    assert [event.rubric_version for event in annotation_history(labels)] == ["v2", "v3"]


def test_what_was_labelled_before_comes_first_under_the_new_version(session, labels, rubric):
    done = set()
    screen = session.open("ann").screen
    for _ in range(2):
        done.add(screen.shown.item_id)
        screen = save(session, screen).screen
    publish(labels, rubric)
    screen = session.open("ben").screen
    seen = []
    for _ in range(2):
        seen.append(screen.shown.item_id)
        screen = save(session, screen).screen
    assert set(seen) == done


def test_a_key_never_comes_to_mean_another_category(session, labels, rubric):
    save(session, session.open("ann").screen)
    first, second, *others = rubric.categories
    swapped = (replace(first, key=second.key), replace(second, key=first.key), *others)
    with pytest.raises(InputError, match=rf"key {second.key}, which people know as {second.id}"):
        publish(labels, replace(rubric, version="v9", categories=swapped, hash="sha256:9"))
    assert published_version(labels) == "v2"


def test_a_version_that_changed_its_text_is_refused(session, labels):
    changed = replace(load_rubric("v2"), text="# other", hash="sha256:other")
    with pytest.raises(InputError, match="has changed since"):
        publish(labels, changed)


def test_the_worklist_has_what_the_new_version_leaves_open(session, labels, rubric):
    screen = session.open("ann").screen
    kinds = {}
    for category in ("malformed", "genuine_followup", "generic_reply"):
        kinds[category] = screen.shown.item_id
        screen = save(session, screen, category).screen
    new = own_rubric(rubric, {"malformed": "malformed", "generic_reply": "generic_reply"})
    publish(labels, new)
    heirs = {label.item_id: label.heir for label in old_labels(labels, new)}
    assert heirs == {
        kinds["malformed"]: "malformed",
        kinds["genuine_followup"]: None,
        kinds["generic_reply"]: "generic_reply",
    }
    screen = session.open("ann").screen
    assert (screen.rubric.version, screen.shown.item_id) == ("v9", kinds["genuine_followup"])
    save(session, screen)
    assert kinds["genuine_followup"] not in {o.item_id for o in old_labels(labels, new)}


@pytest.mark.parametrize(
    ("mapping", "said"),
    [({"malformed": "no_such"}, "expected a category of this rubric"), ({"gone": "malformed"}, "")],
)
def test_a_mapping_names_categories_that_exist(session, labels, rubric, mapping, said):
    save(session, session.open("ann").screen)
    with pytest.raises(InputError, match=said or r"\[mapping.v2\] names 'gone'; v2 has"):
        publish(labels, own_rubric(rubric, mapping))


def test_a_rubric_that_was_refused_may_be_mended_under_its_own_name(session, labels, rubric):
    save(session, session.open("ann").screen)
    first, second, *others = rubric.categories
    swapped = (replace(first, key=second.key), replace(second, key=first.key), *others)
    with pytest.raises(InputError):
        publish(labels, replace(rubric, version="v9", categories=swapped, hash="sha256:9"))
    publish(labels, replace(rubric, version="v9"))
    assert published_version(labels) == "v9"


def test_a_second_tab_under_the_old_version_is_told_in_the_old_words(session, labels, rubric):
    one, two = session.open("ann").screen, session.open("ann").screen
    save(session, one, "malformed")
    text = rubric.text.replace('version = "v3"', 'version = "v9"')
    text = text.replace('id = "malformed"', 'id = "broken"').replace('key = "7"', 'key = "8"')
    publish(labels, parse_rubric(text, source="own"))
    reply = save(session, two, "malformed")
    assert "another tab as “Malformed”" in reply.message
    assert reply.screen.choice.category is None  # the new version has no such category


def test_a_page_under_the_old_version_holds_no_item_of_the_new_one(session, labels, rubric):
    put_plan(labels, Plan(labels_per_item=1))
    screen = session.open("ann").screen
    publish(labels, rubric)
    assert not session.renew(screen.nonce).refused
    under = [row["rubric_version"] for row in labels["leases"].rows]
    assert under == ["v2"]


def test_labels_that_still_come_under_the_old_version_are_to_be_given_again(
    session, labels, rubric
):
    late = session.open("ann").screen
    publish(labels, rubric)
    session.open("ben")  # the new version is in use
    save(session, late)
    assert session.open("cyd").screen.shown.item_id == late.shown.item_id


def test_shared_items_with_all_their_labels_need_none_again(session, labels, rubric):
    put_plan(labels, Plan(labels_per_item=1))
    screen = session.open("ann").screen
    while screen.shown:
        screen = save(session, screen).screen
    publish(labels, rubric)
    assert len(old_labels(labels, rubric)) == 5
    screen = session.open("ben").screen
    while screen.shown:
        screen = save(session, screen).screen
    assert old_labels(labels, rubric) == []


def test_a_page_that_may_not_be_served_publishes_nothing(tmp_path, labels):
    command = ["serve", "--rubric", "v2", "--host", "0.0.0.0", "--study", str(tmp_path)]
    assert CliRunner().invoke(annotate, command).exit_code == 1
    assert published_version(labels) is None


def test_the_commands(tmp_path, labels):
    def run(*arguments):
        return CliRunner().invoke(annotate, [*arguments, "--study", str(tmp_path)])

    assert "everybody labels all" in run("assign").output
    assert "5 items, 2 labels each" in run("assign", "--labels-per-item", "2").output
    assert "stays with one person for 5 min" in run("assign", "--lease-minutes", "5").output
    assert "5 items, 2 labels each" in run("assign").output
    assert "everybody labels all" in run("assign", "--everyone").output
    assert run("assign", "--everyone", "--labels-per-item", "2").exit_code == 2
    assert "under rubric v2" in run("publish", "v2").output
    session = LabellingSession(labels, load_rubric("v2"))
    save(session, session.open("ann").screen)
    published = run("publish", "v3").output
    assert "v3 instead of v2" in published
    assert "to give again: 1, of 1 people" in published
    listed = json.loads(run("relabel", "--json").output)
    assert listed["rubric"] == "v3"
    assert [label["category"] for label in listed["labels"]] == ["malformed"]
    assert "v2 malformed -> label again" in run("relabel").output
    assert "nobody trains" not in published
    run("training", "set", "--pass-mark", "1", "--rubric", "v3")
    assert "nobody trains under v2" in run("publish", "v2").output


def test_assigning_without_options_only_shows(tmp_path, labels):
    def run(*words):
        done = CliRunner().invoke(annotate, ["assign", *words, "--study", str(tmp_path)])
        assert done.exit_code == 0, done.output
        return done

    before = list(labels["settings"].rows)
    assert "everybody labels all of them" in run().output
    assert list(labels["settings"].rows) == before
    assert "no effect while everybody labels every item" in run("--gold-every", "5").stderr
    assert run("--labels-per-item", "2").stderr == ""
