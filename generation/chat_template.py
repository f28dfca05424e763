"""A model's chat template, rendered as transformers renders it but on a fixed, recorded date.

transformers cannot be told the date that `strftime_now` gives, and its `continue_final_message`
right-strips the header of templates that trim content (wrong for 26 of 137 templates); so the
rendering is ours and the cut of the user header is in `user_turn_cut`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import cached_property
from typing import Any

from generation.item import Message
from rubrics import InputError, fingerprint


@dataclass(frozen=True)
class ChatTemplate:
    """A Jinja chat template with everything that its output depends on besides the messages.

    `special_tokens` are the names that the template may read (`bos_token`, `eos_token`, …);
    `list_content` hands it content as `[{"type": "text", …}]`, `empty_tools` hands it
    `tools=[]` instead of none: some templates work in no other way.

    >>> template = ChatTemplate("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    >>> template.render([Message("user", "2+2?"), Message("assistant", "4")])
    '<user>2+2?<assistant>4'
    """

    source: str
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    date: date = date(2026, 1, 1)
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    list_content: bool = False
    empty_tools: bool = False

    @property
    def hash(self) -> str:
        return fingerprint(self.source)

    @property
    def date_read(self) -> str | None:
        """The date in ISO form where the template asks for it, None where it cannot matter."""
        return self.date.isoformat() if "strftime_now" in self.source else None

    def render(self, messages: Sequence[Message], *, answer_follows: bool = False) -> str:
        """The conversation as the model reads it; `answer_follows` opens the assistant's turn.

        Raises InputError when the template fails, with its own message.
        """
        rows = [self._row(message) for message in messages]
        variables = {**self.special_tokens, **self.kwargs}
        try:
            return self._compiled.render(
                messages=rows,
                tools=[] if self.empty_tools else None,
                documents=None,
                add_generation_prompt=answer_follows,
                **variables,
            )
        except Exception as error:  # a template is a program: whatever it raises is its refusal
            raise InputError(
                f"the chat template does not render {_roles(messages)}: {error}; "
                "give its own variables with --template-kwargs '{…}'"
            ) from error

    def _row(self, message: Message) -> dict[str, Any]:
        row: dict[str, Any] = message.as_dict()
        if self.list_content:
            row["content"] = [{"type": "text", "text": message.content}]
        return row

    @cached_property
    def _compiled(self) -> Any:
        import jinja2

        try:
            return _environment(self.date).from_string(self.source)
        except jinja2.TemplateError as error:
            raise InputError(f"the chat template is not Jinja: {error}") from error


def _roles(messages: Sequence[Message]) -> str:
    return ", ".join(message.role for message in messages)


def _environment(day: date) -> Any:
    """Jinja as transformers sets it up, except that the clock stands still."""
    import jinja2
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class GenerationTag(Extension):
        """`{% generation %}…{% endgeneration %}` marks an assistant's text; render it."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Any) -> Any:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    def raise_exception(message: str) -> None:
        raise jinja2.TemplateError(message)

    def tojson(
        value: Any,
        ensure_ascii: bool = False,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        return json.dumps(
            value,
            ensure_ascii=ensure_ascii,
            indent=indent,
            separators=separators,
            sort_keys=sort_keys,
        )

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = datetime.combine(day, time()).strftime
    return environment
