"""A model folder read from disk: template, ends, checks of ids, hashes, what changes the setup."""

from dataclasses import replace
from datetime import date

import chat_templates as families
import pytest
from byte_model import write_folder

from generation.chat.chat_model import load_chat_model
from generation.chat.context import question_prompt, turn_prompt
from generation.chat.model_files import file_hashes, revision
from generation.chat.model_tokenizer import check_token_ids
from generation.item import Message
from generation.turn import Answer, Conversation
from rubrics import InputError

DAY = date(2026, 11, 29)


def load(folder, *, template_file=None, **kwargs):
    return load_chat_model(
        folder, name="m", day=DAY, template_kwargs=kwargs, template_file=template_file
    )


def test_role_tokens_that_are_not_flagged_as_special_are_control_tokens_too(tmp_path):
    tokenizer = write_folder(tmp_path, families.DEEPSEEK)
    model = load(tmp_path)
    assert model.cut.terminator == "<｜Assistant｜>"
    stops = {stop.token_id for stop in model.cut.stops}
    assert {tokenizer.token_to_id(token) for token in ("<｜Assistant｜>", "<｜User｜>")} <= stops
    with pytest.raises(InputError, match="control token"):
        question_prompt(model, [Message("user", "<｜User｜>")])
    conversation = Conversation("d", "1", (Message("user", "q"),))
    prompt = turn_prompt(model, Answer(conversation, "a"), "history")
    assert prompt.token_ids[0] == tokenizer.token_to_id("<｜begin▁of▁sentence｜>")
    assert prompt.token_ids[-1] == tokenizer.token_to_id("<｜User｜>")


def test_role_tokens_that_the_template_puts_together_are_found_in_what_it_writes(tmp_path):
    family = families.GLM47
    roles = ("<|user|>", "<|assistant|>")
    rest = tuple(token for token in family.tokens if token not in roles)
    write_folder(tmp_path, replace(family, tokens=rest, unflagged=roles, eos=rest[:1]))
    cut = load(tmp_path, enable_thinking=False).cut
    assert cut.terminator == "<|assistant|>"
    assert cut.stop_strings == ()


def test_ends_come_from_every_file_that_names_them(tmp_path):
    tokenizer = write_folder(
        tmp_path,
        families.QWEN35,
        config={"text_config": {"eos_token_id": 256, "max_position_embeddings": 77}},
        generation_config={"eos_token_id": [258, 256]},
    )
    assert tokenizer.token_to_id("<|endoftext|>") == 256
    model = load(tmp_path, enable_thinking=False)
    why = {stop.token: stop.why for stop in model.cut.stops}
    assert why["<|endoftext|>"] == ("generation_config.eos", "config.eos")
    assert why["<|im_end|>"] == ("generation_config.eos", "tokenizer.eos", "ends the user turn")
    assert model.context_length == 77
    assert model.warnings == ()


def test_end_of_sequence_that_is_an_ordinary_token_stops_nothing_and_is_told(tmp_path):
    write_folder(tmp_path, families.PHI4, config={"eos_token_id": 2})
    model = load(tmp_path)
    assert 2 not in model.answer_stops
    assert model.warnings == (
        "config.json names 2 as end of sequence, which is no special token of the tokenizer; it "
        "stops nothing",
    )


def test_unset_thinking_switch_is_told_with_its_default(tmp_path):
    write_folder(tmp_path, families.QWEN35)
    (warning,) = load(tmp_path).warnings
    assert "enable_thinking, which is not set: thinking is on by its own default" in warning
    assert load(tmp_path, enable_thinking=True).warnings == ()


def test_variable_that_the_template_does_not_read_is_refused_with_those_it_reads(tmp_path):
    write_folder(tmp_path, families.HARMONY)
    with pytest.raises(
        InputError, match="no variable 'enable_thinking'; it reads reasoning_effort"
    ):
        load(tmp_path, enable_thinking=False)
    with pytest.raises(InputError, match="'tools' is what the probe itself gives"):
        load(tmp_path, tools=[])
    assert "Reasoning: low" in load(tmp_path, reasoning_effort="low").cut.checked.head


def test_folder_without_a_template_takes_one_from_a_file(tmp_path):
    folder = tmp_path / "model"
    write_folder(folder, families.PHI4, template=False)
    with pytest.raises(InputError, match=r"has no chat template.*--template-file FILE"):
        load(folder)
    with pytest.raises(InputError, match=r"--template-file .* cannot be read"):
        load(folder, template_file=tmp_path / "missing.jinja")
    (tmp_path / "own.jinja").write_text(families.PHI4.source)
    model = load(folder, template_file=tmp_path / "own.jinja")
    assert model.provenance()["template"]["text"] == families.PHI4.source


def test_default_one_of_several_templates_is_taken(tmp_path):
    write_folder(tmp_path, families.PHI4)
    named = tmp_path / "additional_chat_templates"
    named.mkdir()
    (named / "tool_use.jinja").write_text("{{ raise_exception('not this one') }}")
    assert load(tmp_path).cut.header == "<|im_end|><|im_start|>user<|im_sep|>"
    (tmp_path / "chat_template.jinja").unlink()
    with pytest.raises(InputError, match="named tool_use and no 'default'"):
        load(tmp_path)


def test_begin_of_sequence_that_only_plain_text_gets_is_told(tmp_path):
    write_folder(tmp_path, families.PHI4, bos="<|endoftext|>")
    model = load(tmp_path)
    assert "begins plain text with '<|endoftext|>'" in model.warnings[0]
    prompt = question_prompt(model, [Message("user", "2+2?")])
    assert "<|endoftext|>" not in model.decode(prompt.token_ids, False)


def test_begin_of_sequence_added_to_that_of_the_template_is_refused():
    ids = {"<s>": 1, "</s>": 2}
    check_token_ids("<s>a</s>", [1, 9, 2], ids)
    with pytest.raises(InputError, match=r"makes 2 tokens '<s>' .* writes 1"):
        check_token_ids("<s>a</s>", [1, 1, 9, 2], ids)
    with pytest.raises(InputError, match="makes 0 tokens '</s>'"):
        check_token_ids("<s>a</s>", [1, 9], ids)


def test_folder_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no config\.json"):
        load(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(InputError, match="expected a JSON object"):
        load(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        load(tmp_path)


def test_weights_in_the_cache_of_the_hub_are_not_read(tmp_path):
    """Their blobs are named by their sha256, and the snapshot by its commit."""
    commit, digest = "c" * 40, "d" * 64
    snapshot = tmp_path / "models--a--b" / "snapshots" / commit
    blobs = tmp_path / "models--a--b" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for name, blob in (("model.safetensors", digest), ("config.json", "e" * 40)):
        (blobs / blob).write_text("{}")
        (snapshot / name).symlink_to(f"../../blobs/{blob}")
    hashes = file_hashes(snapshot)
    assert hashes["model.safetensors"] == f"sha256:{digest}"
    assert hashes["config.json"].startswith("sha256:44136fa3")  # of '{}'
    assert revision(snapshot) == commit
    assert revision(tmp_path) is None


def test_setup_depends_on_what_decides_rows_and_on_no_path(tmp_path):
    for place in ("here", "there"):
        write_folder(tmp_path / place, families.QWEN35)
    here, there = (load(tmp_path / place, enable_thinking=False) for place in ("here", "there"))
    assert here.setup_hash == there.setup_hash
    others = [
        load(tmp_path / "here", enable_thinking=True),
        replace(here, name="other"),
        replace(here, answer_stops=(1,)),
        replace(here, file_hashes={**here.file_hashes, "model.safetensors": "sha256:1"}),
    ]
    assert len({model.setup_hash for model in (here, *others)}) == 5


def test_commit_stands_for_weights_that_only_an_engine_here_fetches(tmp_path):
    """The same model on a server, whose weights are not fetched, gives the same rows."""
    commits = [letter * 40 for letter in "ab"]
    for commit in commits:
        write_folder(tmp_path / "snapshots" / commit, families.PHI4)
    first, second = (load(tmp_path / "snapshots" / commit) for commit in commits)
    (tmp_path / "snapshots" / commits[0] / "model.safetensors").write_text("weights")
    fetched = load(tmp_path / "snapshots" / commits[0])
    assert fetched.setup_hash == first.setup_hash != second.setup_hash
    assert "model.safetensors" in fetched.provenance()["files"]
    other = replace(first, file_hashes={**first.file_hashes, "tokenizer.json": "sha256:1"})
    assert other.setup_hash != first.setup_hash


def test_date_is_part_of_the_setup_only_where_the_template_asks_for_it(tmp_path):
    for family, differ in ((families.HARMONY, True), (families.PHI4, False)):
        folder = tmp_path / str(differ)
        write_folder(folder, family)
        hashes = {
            load_chat_model(folder, name="m", day=day, template_kwargs={}).setup_hash
            for day in (DAY, date(2026, 11, 30))
        }
        assert (len(hashes) == 2) == differ


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("tokenizer_config.json", "[]", "transformers reads no tokenizer there"),
        ("tokenizer.json", "{}", "transformers reads no tokenizer there"),
        ("generation_config.json", '{"eos_token_id": "x"}', "eos_token_id is 'x'; expected"),
        ("generation_config.json", '{"eos_token_id": -1}', "eos_token_id is -1; expected"),
        ("config.json", "{", "not JSON"),
    ],
)
def test_damaged_file_of_a_model_is_one_clear_line(tmp_path, file, content, reason):
    write_folder(tmp_path, families.QWEN25)
    (tmp_path / file).write_text(content)
    with pytest.raises(InputError, match=reason):
        load(tmp_path)
