"""Every text of the labelling page can be said in its other languages, with the same blanks."""

import ast
import re
from pathlib import Path

import pytest

import annotator.labelling
import annotator.training
from annotator.labelling.app import script as labelling_script
from annotator.labelling.choice import CONFIDENCES, SKIP_REASONS
from annotator.labelling.rubric_view import LANGUAGES, words_in
from annotator.served_labels import MOVED, STORE_REFUSES
from annotator.training.session import OUT_OF_TURN

LABELLING = Path(annotator.labelling.__file__).parent
TRAINING = Path(annotator.training.__file__).parent
ANY_WORDS = {"{error}"}  # a sentence of the store's, in its own words


def said_by_the_server() -> set[str]:
    """First arguments of replies, in the labelling session, its desk and training."""
    found = set()
    for path in [*LABELLING.glob("*.py"), TRAINING / "session.py"]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"Reply", "_stopped"}:
                found |= {c.value for c in node.args[:1] if isinstance(c, ast.Constant)}
    named = {MOVED, STORE_REFUSES, OUT_OF_TURN}
    return {text for text in found if isinstance(text, str)} - {""} - ANY_WORDS | named


def said_by_the_page() -> set[str]:
    script = labelling_script()
    html = (LABELLING / "page" / "page.html").read_text()
    found = set(re.findall(r'\b(?:say|tell)\(\s*"([^"]+)"', script + html))
    found |= set(re.findall(r'\? "([^"]+)" : "([^"]+)", values', script).pop())
    for table in ("ROLES", "ENDS"):
        block = re.search(rf"const {table} = {{(.*?)\n}};", script, re.S).group(1)
        found |= {text for text in re.findall(r'"([^"]+)"', block) if text != "none left"}
    found |= set(re.findall(r'data-say(?:-label)?="([^"{]+)"', html))
    found |= set(re.findall(r'says: "([^"]+)"', script))
    return found | set(CONFIDENCES) | set(SKIP_REASONS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_left_unsaid_in_another_language(language):
    said = said_by_the_server() | said_by_the_page()
    assert len(said) > 80  # the search sees the texts at all
    assert said - set(words_in(language)) == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_fills_the_same_blanks(language):
    for english, translated in words_in(language).items():
        assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", translated))
