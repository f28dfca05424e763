"""The house rules that a machine can hold: imports, heavy packages, names, help texts."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import click
import pytest

from annotator.cli import annotate
from generation.cli import generate
from judge.calibration.cli import calibrate
from judge.cli import judge

ROOT = Path(__file__).parents[1]
PACKAGES = ("rubrics", "generation", "annotator", "judge")  # imports point to the left only
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
VERBS = {"generate": generate, "annotate": annotate, "judge": judge, "calibrate": calibrate}

# Each of these packages is imported by one file of ours, so that it can be replaced there.
ONE_IMPORTER = {
    "gradio": "annotator/web/gradio_app.py",
    "openai": "judge/server/client.py",
    "vllm": "generation/engines/vllm_engine.py",
    "krippendorff": "annotator/measures/alpha.py",
    "ray": "generation/engines/ray_engine.py",
    "huggingface_hub": "generation/hub.py",
    "if_verifiable": "generation/accuracy/if_verifiable_checker.py",
    "math_verify": "generation/accuracy/math_verify_checker.py",
    "tomli_w": "generation/plan/plan_file.py",
    "gepa": "judge/calibration/suggest/gepa_optimizer.py",
}
# A framework that comes with its own types, and pictures: each has one folder of ours.
ONE_FOLDER = {
    "inspect_ai": "judge/inspect_task",
    "matplotlib": "judge/calibration/main_run/figures",
}
HEAVY = {
    "gradio", "openai", "vllm", "sklearn", "pandas", "matplotlib", "scipy", "numpy", "ray", "httpx",
    "transformers", "huggingface_hub", "inspect_ai",
}  # fmt: skip


@cache
def imported_by(path: Path) -> frozenset[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module)
    return frozenset(found)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_data(path):
    allowed = PACKAGES[: PACKAGES.index(path.relative_to(ROOT).parts[0]) + 1]
    ours = {name.split(".")[0] for name in imported_by(path)} & set(PACKAGES)
    assert ours <= set(allowed)


def test_some_packages_have_one_importer():
    importers = {
        package: [
            str(path.relative_to(ROOT))
            for path in MODULES
            if package in {name.split(".")[0] for name in imported_by(path)}
        ]
        for package in ONE_IMPORTER
    }
    assert importers == {package: [path] for package, path in ONE_IMPORTER.items()}


def test_some_packages_have_one_folder_that_imports_them():
    for package, folder in ONE_FOLDER.items():
        importers = {
            str(path.relative_to(ROOT).parent)
            for path in MODULES
            if package in {name.split(".")[0] for name in imported_by(path)}
        }
        assert importers == {folder}


def test_files_have_names_that_say_something():
    vague = {"utils", "util", "helpers", "helper", "common", "constants", "misc"}
    for path in MODULES:
        assert path.stem not in vague | sys.stdlib_module_names, path


@pytest.mark.parametrize("package", PACKAGES)
def test_our_package_names_are_ours_alone(package):
    # Old distributions of the same names exist and would overwrite ours in one environment.
    assert set(packages_distributions()[package]) == {"followupeval"}


@pytest.mark.parametrize("name", VERBS)
def test_help_needs_no_heavy_package(name):
    module = "judge.calibration.cli" if name == "calibrate" else VERBS[name].callback.__module__
    code = f"import sys, {module}; print(*sorted({HEAVY!r} & sys.modules.keys()))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert loaded.stdout.strip() == "", loaded.stderr


def commands(command: click.Command, name: str):
    yield name, command
    for sub, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from commands(child, f"{name} {sub}")


ALL_COMMANDS = dict(entry for name, verb in VERBS.items() for entry in commands(verb, name))


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_every_command_and_option_says_what_it_does(name):
    command = ALL_COMMANDS[name]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.name}"


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_the_readme_names_every_command(name):
    assert f"`{name}" in (ROOT / "README.md").read_text()


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_folder_of_pages_is_packaged():
    folders = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for package in PACKAGES
        for path in (ROOT / package).rglob("page")
        if path.is_dir() and any(path.iterdir())
    }
    packaged = PROJECT["tool"]["setuptools"]["package-data"]
    assert folders == {name for name, files in packaged.items() if "page/*" in files}


def test_whatever_we_import_is_declared():
    extras = PROJECT["project"]["optional-dependencies"]
    declared = chain(PROJECT["project"]["dependencies"], *extras.values())
    names = {re.match(r"[\w.-]+", line)[0].lower() for line in declared}
    imported = {name.split(".")[0] for path in MODULES for name in imported_by(path)}
    imported -= sys.stdlib_module_names | set(PACKAGES)
    distributions = packages_distributions()
    missing = {
        name
        for name in imported & distributions.keys()
        if not {of.lower().replace("_", "-") for of in distributions[name]} & names
    }
    assert missing == set()


def test_make_test_finds_every_test_in_the_browser():
    named = re.search(r"^IN_BROWSER := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    places = [ROOT / place for place in named.split()]
    marked = [
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"mark\.browser\b", path.read_text())
    ]
    assert marked
    assert [p for p in marked if not any(p.is_relative_to(place) for place in places)] == []
