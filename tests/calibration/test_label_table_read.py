"""Files of other projects: what is read of them, and what is refused. All labels are made up."""

import json
from pathlib import Path

import pytest

from judge.calibration.label_table.label_studio import CANCELLED
from judge.calibration.label_table.normalise import label_table
from judge.calibration.label_table.potato import UNANSWERED
from judge.calibration.label_table.raw_rating import SEVERAL
from judge.calibration.label_table.read import read_ratings
from rubrics import InputError

LONG = "item,rater,label\ni1,r1,x\ni1,r2,y\ni2,r1,y\ni2,r2,y\n"
# What every export below says: two raters, two items.
SAID = {("i1", "r1"): "x", ("i1", "r2"): "y", ("i2", "r1"): "y", ("i2", "r2"): "y"}


@pytest.fixture
def written(tmp_path):
    def write(name: str, content: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    return write


def lines(records) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def said(path: Path, question: str | None = None) -> dict[tuple[str, str], str]:
    table = label_table(read_ratings(path, question), path.name)
    return {(rating.item, rating.rater): rating.label for rating in table.ratings}


def excluded(path: Path, question: str | None = None) -> dict[str, int]:
    return {e.reason: e.count for e in read_ratings(path, question).excluded}


def refused(path: Path, question: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        read_ratings(path, question)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", LONG),
        ("t.csv", "\ufeff" + LONG.replace("\n", "\r\n")),
        ("t.csv", LONG.replace(",", ";")),
        ("t.CSV", LONG + "\n"),
        ("t.tsv", LONG.replace(",", "\t")),
    ],
)
def test_long_tables_as_text(written, name, content):
    assert said(written(name, content)) == SAID


def test_long_tables_as_records(written):
    records = [{"item": i, "rater": r, "label": label} for (i, r), label in SAID.items()]
    assert said(written("t.jsonl", lines(records))) == SAID
    assert said(written("t.json", records)) == SAID


def test_long_tables_as_parquet(tmp_path):
    import pandas as pd

    path = tmp_path / "t.parquet"
    pd.DataFrame([(*key, label) for key, label in SAID.items()], columns=["item", "rater", "label"]
                 ).to_parquet(path)  # fmt: skip
    assert said(path) == SAID


def test_all_columns_of_a_long_table(written):
    text = "rater,weight,label,note,kind,cluster,item\nr1,2,x,?,judge,c,i1\n"
    (rating,) = read_ratings(written("t.csv", text)).ratings
    assert (rating.item, rating.rater, rating.label) == ("i1", "r1", "x")
    assert (rating.kind, rating.cluster, rating.weight) == ("judge", "c", "2")
    assert rating.where == "row 2"


def test_words_that_pandas_takes_for_missing_are_labels(written):
    words = ["NA", "null", "None", "nan", "NaN", "N/A", "n/a", ""]
    text = "item,rater,label\n" + "".join(f"{k},r,{word}\n" for k, word in enumerate(words))
    labels = [rating.label for rating in read_ratings(written("t.csv", text)).ratings]
    assert labels == [*words[:-1], None]


def test_cells_may_hold_delimiters_quotes_and_line_feeds(written):
    text = 'item,rater,label\n"i,1",r1,"a ""b""\nc"\n"i,1",r2,d\n'
    found = read_ratings(written("t.csv", text)).ratings
    assert [(r.item, r.label, r.where) for r in found] == [
        ("i,1", 'a "b"\nc', "row 3"),
        ("i,1", "d", "row 4"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("item,annotator_1,annotator_2\n1,x,y\n", "no column 'rater', 'label'"),
        ("item,annotator_1,annotator_2\n1,x,y\n", "one row per rating"),
        ("rater,i1,i2\nr1,x,y\n", "found 'rater', 'i1', 'i2'"),
        ("item,rater,Label\n1,r,x\n", "rename 'Label' to 'label'"),
        ("items,rater,label\n1,r,x\n", "rename 'items' to 'item'"),
        ("item,rater,label\n1,r\n", "row 2 has 2 cells, expected 3"),
        ("item,rater,label\n1,r,a,b\n", "row 2 has 4 cells, expected 3"),
        ("item,label,rater,label\n1,x,r,y\n", "two columns share a name"),
        ('item,rater,label\n1,r,"x\n', "not CSV"),
        ("", "found none"),
        ('[{"item": 1}]', "holds JSON"),
    ],
)
def test_tables_that_are_not_long_are_refused(written, text, expected):
    assert expected in refused(written("t.csv", text))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("t.xlsx", "x", "unknown suffix '.xlsx'"),
        ("t.csv", b"PAR1\0\0", "holds Parquet"),
        ("t.csv", "item,rater,label\n1,r,caf\xe9\n".encode("latin-1"), "not UTF-8"),
        ("t.parquet", b"no", "not Parquet"),
        ("t.jsonl", '{"item": 1}\n{', "line 2: not JSON"),
        ("t.jsonl", "[]\n", "line 1 is list, expected an object"),
        ("t.jsonl", "", "nothing in it"),
        ("t.json", "{", "one per line name it .jsonl"),
        ("t.json", [1], "record 1 is int"),
        ("t.json", [{"item": 1, "rater": 2, "labels": 3}], "rename 'labels' to 'label'"),
        ("t.json", [{"annotations": 0, "id": 1}], "no column"),
        ("t.json", [{"id": 1, "annotations": [3]}], "malformed"),
        ("t.json", [{"fields": {}, "responses": [3]}], "malformed"),
        ("t.json", [{"id": 1, "annotation_id": 2, "annotator": 3}], "JSON_MIN"),
        ("t.json", [{"instance_id_to_label_to_value": 7}], "malformed"),
    ],
)
def test_contents_that_are_not_what_they_are_said_to_be(written, name, content, expected):
    assert expected in refused(written(name, content))


def test_a_file_that_is_not_there(tmp_path):
    assert "no such file" in refused(tmp_path / "none.csv")


# Label Studio: labelstud.io/guide/task_format


def choice(label, question="mood"):
    labels = label if isinstance(label, list) else [label]
    return {
        "id": "abc",
        "type": "choices",
        "from_name": question,
        "to_name": "text",
        "value": {"choices": labels},
    }


def annotation(user, *results, **more):
    return {"completed_by": user, "was_cancelled": False, "result": list(results)} | more


def task(number, *annotations, predictions=()):
    return {
        "id": number,
        "data": {"text": "made up"},
        "annotations": list(annotations),
        "predictions": list(predictions),
    }


def test_label_studio(written):
    tasks = [
        task(
            "i1", annotation("r1", choice("x")), annotation({"id": 7, "email": "r2"}, choice("y"))
        ),
        task(
            "i2", annotation("r1", choice("y")), annotation({"id": 7, "email": "r2"}, choice("y"))
        ),
    ]
    assert said(written("t.json", tasks)) == SAID


def test_label_studio_of_the_first_version_calls_them_completions(written):
    tasks = [{"id": 1, "completions": [annotation(5, choice("x")), annotation(6, choice("x"))]}]
    assert said(written("t.json", tasks)) == {("1", "5"): "x", ("1", "6"): "x"}


def test_predictions_of_label_studio_are_a_judges(written):
    prediction = {"model_version": "m1", "score": 0.5, "result": [choice("y")]}
    path = written("t.json", [task(1, annotation(5, choice("x")), predictions=[prediction])])
    kinds = {rating.rater: rating.kind for rating in read_ratings(path).ratings}
    assert kinds == {5: "human", "m1": "judge"}


def test_predictions_of_label_studio_given_as_ids_are_not_read(written):
    path = written("t.json", [task(1, annotation(5, choice("x")), predictions=[12, 13])])
    assert len(read_ratings(path).ratings) == 1


def test_cancelled_annotations_and_other_results_of_label_studio_are_counted(written):
    other = {"type": "textarea", "from_name": "why", "value": {"text": ["made up"]}}
    path = written(
        "t.json",
        [
            task(1, annotation(5, choice("x"), other), annotation(6, was_cancelled=True)),
            task(2, annotation(5, other)),
        ],
    )
    assert [rating.label for rating in read_ratings(path).ratings] == ["x"]
    assert excluded(path) == {CANCELLED: 1, UNANSWERED: 1}


def test_the_latest_annotation_of_label_studio_stands(written):
    old, new = "2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"
    tasks = [
        task(
            1,
            annotation(5, choice("new"), updated_at=new),
            annotation(5, choice("old"), updated_at=old),
            annotation(6, choice("old"), updated_at=old),
        )
    ]
    assert said(written("t.json", tasks)) == {("1", "5"): "new", ("1", "6"): "old"}


def test_one_of_several_questions_is_chosen(written):
    path = written(
        "t.json", [task(1, annotation(5, choice("x"), choice("long", "length"), choice("y", "z")))]
    )
    assert "3 questions: 'length', 'mood', 'z'; choose one: --question length" in refused(path)
    assert [rating.label for rating in read_ratings(path, "length").ratings] == ["long"]
    assert "no question 'size': it has 'length', 'mood', 'z'" in refused(path, "size")


def test_an_answer_of_several_labels_is_counted_or_if_all_are_refused(written):
    both = annotation(5, choice(["x", "y"]))
    tasks = [task(1, both, annotation(6, choice("x")), annotation(7, choice("y")))]
    path = written("t.json", tasks)
    table = label_table(read_ratings(path), path.name)
    assert table.raters == ("6", "7")
    assert [(e.reason, e.count) for e in table.excluded] == [(SEVERAL, 1)]
    with pytest.raises(InputError, match="one label per answer"):
        label_table(read_ratings(written("all.json", [task(1, both)])), "all.json")


# Argilla: records of versions 1 (FeedbackRecord) and 2 (Record.to_dict)


def test_argilla_version_1(written):
    def record(item, *labels):
        responses = [
            {"user_id": f"r{n}", "values": {"mood": {"value": label}}, "status": "submitted"}
            for n, label in enumerate(labels, start=1)
        ]
        return {"id": "u", "external_id": item, "fields": {"text": "-"}, "responses": responses}

    assert said(written("t.json", [record("i1", "x", "y"), record("i2", "y", "y")])) == SAID


def test_argilla_version_2(written):
    def record(item, *labels):
        answers = [{"value": label, "user_id": f"r{n}"} for n, label in enumerate(labels, start=1)]
        return {
            "id": item,
            "fields": {"text": "-"},
            "metadata": {},
            "suggestions": {},
            "responses": {"mood": answers},
            "vectors": {},
            "_server_id": "u",
        }

    assert said(written("t.json", [record("i1", "x", "y"), record("i2", "y", "y")])) == SAID


@pytest.mark.parametrize(
    "suggestions",
    [
        [{"question_name": "mood", "value": "x", "agent": "m1", "type": "model"}],
        {"mood": {"value": "x", "score": None, "agent": "m1"}},
    ],
)
def test_suggestions_of_argilla_are_a_judges(written, suggestions):
    records = [{"id": "i", "fields": {}, "responses": [], "suggestions": suggestions}]
    (rating,) = read_ratings(written("t.jsonl", lines(records))).ratings
    assert (rating.rater, rating.label, rating.kind) == ("m1", "x", "judge")


def test_responses_of_argilla_that_were_not_submitted_are_counted(written):
    responses = [
        {"user_id": status, "values": {"mood": {"value": "x"}}, "status": status}
        for status in ("submitted", "draft", "discarded", "discarded")
    ]
    path = written("t.json", [{"id": "i", "fields": {}, "responses": responses}])
    assert [rating.rater for rating in read_ratings(path).ratings] == ["submitted"]
    assert excluded(path) == {
        "response draft, not submitted": 1,
        "response discarded, not submitted": 2,
    }


# Prodigy: db-out


def prodigy(item, rater, **more):
    hashes = {"_input_hash": item, "_task_hash": f"{item}-task"}
    return {"text": "-", "answer": "accept", "_annotator_id": rater} | hashes | more


OPTIONS = [{"id": "x", "text": "X"}, {"id": "y", "text": "Y"}]


def test_choices_of_prodigy(written):
    tasks = [prodigy(i, r, options=OPTIONS, accept=[label]) for (i, r), label in SAID.items()]
    assert said(written("t.jsonl", lines(tasks))) == SAID


def test_binary_tasks_of_prodigy_are_accepted_or_rejected(written):
    tasks = [
        prodigy("i", "r1", label="x"),
        prodigy("i", "r2", label="x", answer="reject"),
    ]
    found = said(written("t.jsonl", lines(tasks)))
    assert found == {("i-task", "r1"): "accept", ("i-task", "r2"): "reject"}


def test_older_prodigy_names_the_session_alone(written):
    tasks = [prodigy("i", None, _session_id=s, options=OPTIONS, accept=["x"]) for s in "ab"]
    assert said(written("t.jsonl", lines(tasks))) == {("i", "a"): "x", ("i", "b"): "x"}


def test_the_latest_answer_of_prodigy_stands(written):
    tasks = [
        prodigy("i", "r", options=OPTIONS, accept=["y"], _timestamp=2),
        prodigy("i", "r", options=OPTIONS, accept=["x"], _timestamp=1),
        prodigy("i", "s", options=OPTIONS, accept=["x"], _timestamp=1),
    ]
    assert said(written("t.jsonl", lines(tasks)))["i", "r"] == "y"


def test_what_prodigy_did_not_accept_is_counted(written):
    tasks = [
        prodigy("i", "r", options=OPTIONS, accept=["x"], answer=answer)
        for answer in ("accept", "ignore", "reject")
    ]
    path = written("t.jsonl", lines(tasks))
    assert len(read_ratings(path).ratings) == 1
    assert excluded(path) == {
        "task ignored by the annotator": 1,
        "task rejected by the annotator": 1,
    }


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"answer": "yes", "label": "x"}, "answer 'yes'; expected accept, reject or ignore"),
        ({"spans": []}, "neither a choice in 'accept' nor a 'label'"),
    ],
)
def test_other_tasks_of_prodigy_are_refused(written, more, expected):
    assert expected in refused(written("t.jsonl", lines([prodigy("i", "r", **more)])))


def test_choices_and_binary_tasks_do_not_mix(written):
    tasks = [prodigy("i", "r", options=OPTIONS, accept=["x"]), prodigy("i", "r", label="x")]
    assert "in one file" in refused(written("t.jsonl", lines(tasks)))


# Potato: potatoannotator.readthedocs.io, export formats


@pytest.mark.parametrize(
    "stored",
    [
        lambda label: {"mood": {label: "true"}},
        lambda label: {"mood": {"labels": {label: True}}},
        lambda label: {"mood": {label: label}},
        lambda label: {"mood": {label: "1", "z": "0", "free_response": "a remark"}},
        lambda label: {"mood": {"select-one": label}},
        lambda label: [[{"schema": "mood", "name": label}, True]],
    ],
)
def test_state_files_of_potato(written, tmp_path, stored):
    for rater in ("r1", "r2"):
        labels = {item: stored(label) for (item, r), label in SAID.items() if r == rater}
        state = {"user_id": rater, "instance_id_to_label_to_value": labels}
        written(f"annotation_output/{rater}/user_state.json", state)
    assert said(tmp_path / "annotation_output") == SAID


def test_folders_of_potato_version_1_name_the_annotator(written, tmp_path):
    for rater in ("r1", "r2"):
        records = [
            {"id": item, "displayed_text": "-", "label_annotations": {"mood": {label: label}}}
            for (item, r), label in SAID.items()
            if r == rater
        ]
        written(f"out/{rater}/annotated_instances.jsonl", lines(records))
    assert said(tmp_path / "out") == SAID


def test_a_folder_of_something_else(tmp_path):
    assert "expected Potato's annotation_output" in refused(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "instance_id,user_id,mood\ni1,r1,x\ni1,r2,y\ni2,r1,y\ni2,r2,y\n",
        "instance_id,user_id,mood.x,mood.y\ni1,r1,x,\ni1,r2,,y\ni2,r1,,y\ni2,r2,,y\n",
        "user,instance_id,displayed_text,mood:::x,mood:::y\n"
        "r1,i1,-,1,\nr2,i1,-,,1\nr1,i2,-,,1\nr2,i2,-,,1\n",
        "instance_id,user_id,mood.x,mood.y,mood\ni1,r1,x,y,x\ni1,r2,,y,\ni2,r1,,y,\ni2,r2,,y,\n",
    ],
)
def test_tables_of_potato(written, text):
    assert said(written("annotations.csv", text)) == SAID


def test_records_of_potato_with_a_machine_annotator(written):
    records = [
        {"instance_id": "i", "user_id": "r", "labels": {"mood": {"x": "true"}}},
        {
            "instance_id": "i",
            "user_id": "m",
            "annotator_origin": {"kind": "llm"},
            "labels": {"mood": {"y": "true"}},
        },
        {"instance_id": "j", "user_id": "r", "labels": {}},
    ]
    path = written("annotations.jsonl", lines(records))
    found = {r.rater: (r.label, r.kind) for r in read_ratings(path).ratings}
    assert found == {"r": ("x", "human"), "m": ("y", "judge")}
    assert excluded(path) == {UNANSWERED: 1}


def test_an_option_of_potato_may_be_called_0(written):
    records = [{"instance_id": "i", "user_id": "r", "labels": {"mood": {"0": "0", "1": "0"}}}]
    (rating,) = read_ratings(written("annotations.jsonl", lines(records))).ratings
    assert rating.label == "0"
