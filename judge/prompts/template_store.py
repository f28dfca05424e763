"""pipeline.db, the prompt templates: a version, once written, never changes."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlite_utils import Database

from generation.clock import now
from generation.study import Study
from judge.judge import LEXICAL
from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import (
    PACKAGED,
    PACKAGED_NAME,
    PromptTemplate,
    Shot,
    check_new_name,
    checked_note,
    checked_text,
    parse_reference,
    shots_from,
    shots_json,
)
from judge.store import open_pipeline
from rubrics import InputError, parse_rubric


@dataclass(frozen=True)
class StoredTemplate:
    """A template as stored, with how many judges read it; `written_at` is "" for the packaged."""

    template: PromptTemplate
    judges: int
    written_at: str

    def as_dict(self) -> dict[str, Any]:
        template = self.template
        return {
            "template": template.label,
            "hash": template.hash,
            "shots": len(template.shots),
            "shots_rubric": template.shots_rubric,
            "judges": self.judges,
            "written_at": self.written_at or None,
            "parent": template.parent or None,
            "note": template.note,
        }


class TemplateStore:
    """Reads and writes the prompt templates of an open pipeline.db.

    `first` and `successor` only draft; what they give is written by `put`, in the caller's one
    transaction. `option` names the study in what its refusals say to type next.
    """

    def __init__(self, database: Database, option: str = "") -> None:
        self._db, self._option = database, option

    def template(self, reference: str) -> PromptTemplate:
        """The template NAME@N, or the newest version of NAME.

        Raises InputError when the study has none of that name or version.
        """
        name, version = parse_reference(reference)
        if name == PACKAGED_NAME:
            return PACKAGED
        versions = {row["version"]: row for row in self._rows("name = ?", [name])}
        if not versions:
            known = sorted({PACKAGED_NAME} | {row["name"] for row in self._rows()})
            raise InputError(
                f"no prompt template {name} in this study, which has {', '.join(known)}; write "
                f"it: judge prompt new {name} --note TEXT{self._option}"
            )
        if version is not None and version not in versions:
            raise InputError(
                f"no version {version} of {name}: it has {', '.join(map(str, versions))}; see "
                f"them: judge prompt list{self._option}"
            )
        return _template(versions[version or max(versions)])

    def templates(self) -> list[StoredTemplate]:
        """The packaged template, then every version by name and number."""
        mine = [StoredTemplate(t, self._judges(t), row["written_at"]) for t, row in self._all()]
        return [StoredTemplate(PACKAGED, self._judges(PACKAGED), ""), *mine]

    def shown_items(self, label: str) -> frozenset[str]:
        """Hashes of the items that the template with this label shows as examples.

        Empty where the study has no such template, as after judging with another study's export.
        """
        rows = self._rows("name || '@' || version = ?", [label])
        return frozenset(shot.item.hash for row in rows for shot in _template(row).shots)

    def check_free(self, name: str) -> None:
        """Raises InputError unless a new template may be called `name`."""
        check_new_name(name)
        if any(self._rows("name = ?", [name])):
            raise InputError(
                f"the study has a prompt template {name} already: choose another name, or change "
                f"it: judge prompt edit {name} --note TEXT{self._option}"
            )

    def editable(self, reference: str) -> PromptTemplate:
        """The template to start from; raises InputError for the packaged one, or an unknown."""
        if parse_reference(reference)[0] == PACKAGED_NAME:
            raise InputError(
                f"{PACKAGED_NAME} is the packaged template, which is never edited; make one of "
                f"your own from it: judge prompt new NAME --note TEXT{self._option}"
            )
        return self.template(reference)

    def first(
        self, name: str, *, text: str, shots: tuple[Shot, ...], note: str, parent: str
    ) -> PromptTemplate:
        """A draft of a new template; raises InputError for a taken name, blank note or text."""
        self.check_free(name)
        return PromptTemplate(name, 1, checked_text(text), shots, checked_note(note), parent)

    def successor(
        self, base: PromptTemplate, *, text: str, shots: tuple[Shot, ...], note: str
    ) -> PromptTemplate:
        """A draft of the next version of a template, made from its version `base`.

        Raises InputError when nothing changes or the note is blank.
        """
        if (text, shots) == (base.text, base.shots):
            raise InputError(
                f"{base.label} would stay as it is: give another text, --file FILE.md, or other "
                "examples, --shots N"
            )
        newest = self.template(base.name)
        return replace(
            base,
            version=newest.version + 1,
            text=checked_text(text),
            shots=shots,
            note=checked_note(note),
            parent=base.label,
        )

    def put(self, draft: PromptTemplate) -> None:
        """Write a draft."""
        self._db["prompt_templates"].insert(
            {
                "name": draft.name,
                "version": draft.version,
                "text": draft.text,
                "shots": shots_json(draft.shots),
                "note": draft.note,
                "parent": draft.parent,
                "written_at": now(),
            }
        )

    def _judges(self, template: PromptTemplate) -> int:
        """How many judges have read it.

        A prompt is stored once, under the template that was first to make it; so it counts, too,
        when a prompt is what its rubric makes of this template.
        """
        rows = self._db.conn.execute(
            """SELECT template, prompt_hash, rubric_text
               FROM judges JOIN judge_prompts USING (prompt_hash) WHERE model != ?""",
            [LEXICAL],  # the baseline reads no prompt
        ).fetchall()
        made = {_prompt_hash(text, template) for text in {text for *_, text in rows}}
        return sum(label == template.label or digest in made for label, digest, _ in rows)

    def _all(self) -> list[tuple[PromptTemplate, dict[str, Any]]]:
        return [(_template(row), row) for row in self._rows()]

    def _rows(self, where: str | None = None, values: list[str] | None = None) -> Any:
        return self._db["prompt_templates"].rows_where(where, values, order_by="name, version")


def read_template(study: Study, reference: str) -> PromptTemplate:
    """The template NAME or NAME@N of a study; the packaged one needs no study.

    Raises InputError for a study that is missing and a template that it does not have.
    """
    if parse_reference(reference)[0] == PACKAGED_NAME:
        return PACKAGED
    with open_pipeline(study.pipeline) as database:
        return TemplateStore(database, study.option).template(reference)


@lru_cache(maxsize=256)  # a prompt takes 20 ms to render, and a page asks for all of them each time
def _prompt_hash(rubric_text: str, template: PromptTemplate) -> str | None:
    """Hash of the prompt that this rubric makes of a template; None where it can make none."""
    try:
        rubric = parse_rubric(rubric_text, source="the study's rubric")
        return render_prompt(rubric, template).prompt_hash
    except InputError:
        return None


def _template(row: dict[str, Any]) -> PromptTemplate:
    label = f"{row['name']}@{row['version']}"
    shots = shots_from(row["shots"], label)
    return PromptTemplate(
        row["name"], row["version"], row["text"], shots, row["note"], row["parent"]
    )
