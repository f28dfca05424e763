"""Rubrics: one immutable TOML file per version, read into frozen dataclasses."""

import re
import tomllib
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from rubrics.errors import InputError
from rubrics.fingerprint import fingerprint

CATEGORY_COUNT = 7  # FOLLOWUPEVAL labels a turn with one of seven categories (arXiv 2604.02315)
RESERVED = ("invalid", "unreadable")  # outcomes of a judge beside the labels
ID = r"[a-z][a-z0-9_]*"  # what judges answer and reports print: nothing to normalise or escape
KEY = r"[1-9]"  # letters are the page's own shortcuts


@dataclass(frozen=True)
class Example:
    """One boundary case of a category, written for the rubric; it is nobody's annotation."""

    q: str
    a: str
    u: str
    why: str


@dataclass(frozen=True)
class Category:
    """One nominal class. `sigma` is 1 for a genuine follow-up; `key` is its keyboard shortcut."""

    id: str
    name: str
    sigma: int
    key: str
    definition: str
    decision_rules: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class Heir:
    """What a category of an earlier version means in this one.

    A category without an heir was split, or means something else now.
    """

    earlier: str
    category: str
    becomes: str


@dataclass(frozen=True)
class Rubric:
    """One version of the label definitions that annotators and judge read.

    `text` is the TOML source as it was read, `hash` the fingerprint of its parsed content, so
    that a change of layout or comments is no change of the rubric.
    """

    version: str
    changed: str
    why: str
    instructions: str
    precedence: tuple[str, ...]
    categories: tuple[Category, ...]
    text: str
    hash: str
    heirs: tuple[Heir, ...] = ()

    @property
    def category_ids(self) -> tuple[str, ...]:
        return tuple(category.id for category in self.categories)

    def category(self, category_id: str) -> Category:
        """The category with this id.

        Raises InputError when the rubric has none, naming the ids that it has.
        """
        for category in self.categories:
            if category.id == category_id:
                return category
        raise InputError(
            f"unknown category {category_id!r}: rubric {self.version} has "
            f"{', '.join(self.category_ids)}"
        )

    def heir(self, earlier: str, category_id: str) -> str | None:
        """What a label of an earlier version means here, where this rubric declares it."""
        found = (h.becomes for h in self.heirs if (h.earlier, h.category) == (earlier, category_id))
        return next(found, None)


def check_heirs(rubric: Rubric, earlier: Rubric) -> None:
    """Raises InputError where the rubric maps a category that the earlier one does not have."""
    for heir in rubric.heirs:
        if heir.earlier == earlier.version and heir.category not in earlier.category_ids:
            raise InputError(
                f"rubric {rubric.version}: [mapping.{earlier.version}] names {heir.category!r}; "
                f"{earlier.version} has {', '.join(earlier.category_ids)}"
            )


def available_versions(folder: Path | None = None) -> tuple[str, ...]:
    """Versions of the packaged rubrics, oldest first, then those of a study's `folder`."""
    ours = _versions([path.name for path in resources.files("rubrics").iterdir()])
    if folder is None or not folder.is_dir():
        return ours
    theirs = _versions([path.name for path in folder.iterdir()])
    return (*ours, *(version for version in theirs if version not in ours))


def _versions(names: list[str]) -> tuple[str, ...]:
    stems = [name.removesuffix(".toml") for name in names if name.endswith(".toml")]
    return tuple(sorted(stems, key=lambda stem: (len(stem), stem)))


def latest_version() -> str:
    return available_versions()[-1]


def load_rubric(version: str, folder: Path | None = None) -> Rubric:
    """The rubric of this version that a study keeps in `folder`, else the packaged one.

    A study's own is never named like a packaged one; should a later package bring one of its
    name, the study goes on with its own. Raises InputError for an unknown version, naming the
    known ones, and for a file that cannot be read, is no rubric or says another version.
    """
    known = available_versions(folder)
    if version not in known:
        raise InputError(f"unknown rubric {version!r}: the versions are {', '.join(known)}")
    name = f"{version}.toml"
    own = folder is not None and (folder / name).is_file()
    where = folder if own else resources.files("rubrics")
    source = str(folder / name) if own else f"rubrics/{name}"
    try:
        text = (where / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source} cannot be read: {error}") from None
    rubric = parse_rubric(text, source=source)
    if rubric.version != version:
        raise InputError(f"{source} says version {rubric.version!r}, expected {version!r}")
    return rubric


def parse_rubric(text: str, *, source: str) -> Rubric:
    """Read a rubric from TOML; `source` names the file in messages.

    Raises InputError on TOML that does not parse, unknown or missing keys, a value of the wrong
    type or empty, an id or shortcut key that cannot serve as one, duplicate ids, names, shortcut
    keys or rules, another number of categories than seven, or not exactly one with sigma = 1.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: not TOML: {error}") from None
    _check_keys(
        data,
        {"version", "changed", "why", "instructions", "categories"},
        {"precedence", "mapping"},
        source,
    )
    prose = {
        field: _text(data, field, source) for field in ("version", "changed", "why", "instructions")
    }
    precedence = _texts(data, "precedence", source)
    categories = tuple(
        _category(entry, f"{source}: category {position}")
        for position, entry in enumerate(_tables(data, "categories", source), start=1)
    )
    _check_categories(categories, source)
    heirs = _heirs(data, categories, source)
    content = {**prose, "precedence": precedence, "categories": [asdict(c) for c in categories]}
    if heirs:  # rubrics that declare none keep the fingerprint that they always had
        content["mapping"] = data["mapping"]
    return Rubric(
        **prose,
        precedence=precedence,
        categories=categories,
        text=text,
        hash=fingerprint(content),
        heirs=heirs,
    )


def _heirs(data: dict[str, Any], categories: tuple[Category, ...], source: str) -> tuple[Heir, ...]:
    declared = data.get("mapping", {})
    known = {category.id for category in categories}
    if not isinstance(declared, dict) or not all(isinstance(m, dict) for m in declared.values()):
        raise InputError(f"{source}: mapping is no table; expected [mapping.VERSION]")
    heirs = [
        Heir(earlier, old, new) for earlier, pairs in declared.items() for old, new in pairs.items()
    ]
    for heir in heirs:
        if not isinstance(heir.becomes, str) or heir.becomes not in known:
            raise InputError(
                f"{source}: mapping.{heir.earlier} has {heir.category} = {heir.becomes!r}; "
                f"expected a category of this rubric: {', '.join(sorted(known))}"
            )
    return tuple(heirs)


def _category(entry: dict[str, Any], where: str) -> Category:
    _check_keys(
        entry, {"id", "name", "sigma", "key", "definition"}, {"decision_rules", "examples"}, where
    )
    sigma = entry["sigma"]
    if type(sigma) is not int or sigma not in (0, 1):  # True and 1.0 equal 1, yet are not meant
        raise InputError(f"{where}: sigma is {sigma!r}, expected 0 or 1")
    identity = _word(entry, "id", where, ID, "lower-case letters, digits and _")
    if identity in RESERVED:
        raise InputError(
            f"{where}: id is {identity!r}, which stands for verdicts that cannot be read; expected "
            "another"
        )
    return Category(
        id=identity,
        name=_text(entry, "name", where),
        sigma=sigma,
        key=_word(entry, "key", where, KEY, "one digit from 1 to 9, in quotes"),
        definition=_text(entry, "definition", where),
        decision_rules=_texts(entry, "decision_rules", where),
        examples=tuple(
            _example(example, f"{where}, example {position}")
            for position, example in enumerate(_tables(entry, "examples", where), start=1)
        ),
    )


def _example(entry: dict[str, Any], where: str) -> Example:
    _check_keys(entry, {"q", "a", "u", "why"}, set(), where)
    # q, a and u stay as they are: an empty turn or a blank at its end may be the point.
    material = {field: _string(entry, field, where) for field in ("q", "a", "u")}
    return Example(**material, why=_text(entry, "why", where))


def _string(entry: dict[str, Any], key: str, where: str) -> str:
    if not isinstance(entry[key], str):
        raise InputError(f"{where}: {key} is {entry[key]!r}, expected text in quotes")
    return entry[key]


def _text(entry: dict[str, Any], key: str, where: str) -> str:
    text = _string(entry, key, where).strip()
    if not text:
        raise InputError(f"{where}: {key} is empty, expected text")
    return text


def _word(entry: dict[str, Any], key: str, where: str, pattern: str, expected: str) -> str:
    word = _string(entry, key, where)
    if not re.fullmatch(pattern, word):
        raise InputError(f"{where}: {key} is {word!r}, expected {expected}")
    return word


def _texts(entry: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    texts = tuple(text.strip() for text in _list(entry, key, str, "texts in quotes", where))
    if "" in texts:
        raise InputError(f"{where}: {key} holds an empty text")
    if doubled := [text for text in texts if texts.count(text) > 1]:
        raise InputError(f"{where}: {key} holds {doubled[0]!r} twice")
    return texts


def _tables(entry: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    return _list(entry, key, dict, "tables", where)


def _list(entry: dict[str, Any], key: str, kind: type, kinds: str, where: str) -> list[Any]:
    values = entry.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, kind) for value in values):
        raise InputError(f"{where}: {key} is not a list of {kinds}")
    return values


def _check_keys(entry: dict[str, Any], required: set[str], optional: set[str], where: str) -> None:
    missing = sorted(required - entry.keys())
    unknown = sorted(entry.keys() - required - optional)
    if missing:
        raise InputError(f"{where}: missing {', '.join(missing)}")
    if unknown:
        allowed = ", ".join(sorted(required | optional))
        raise InputError(f"{where}: unknown key {', '.join(unknown)}; the keys are {allowed}")


def _check_categories(categories: tuple[Category, ...], source: str) -> None:
    if len(categories) != CATEGORY_COUNT:
        raise InputError(f"{source}: {len(categories)} categories, expected {CATEGORY_COUNT}")
    for field in ("id", "name", "key"):
        values = [getattr(category, field) for category in categories]
        doubled = sorted({value for value in values if values.count(value) > 1})
        if doubled:
            raise InputError(f"{source}: duplicate {field} {', '.join(doubled)}")
    genuine = [category.id for category in categories if category.sigma == 1]
    if len(genuine) != 1:
        raise InputError(
            f"{source}: sigma = 1 for {', '.join(genuine) or 'no category'}, expected exactly one"
        )
