"""A model's chat template, rendered as transformers renders it but on a fixed, recorded date.

transformers cannot be told the date that `strftime_now` gives, and its `continue_final_message`
right-strips the header of templates that trim content (wrong for 26 of 137 templates); so the
rendering is ours and the cut of the user header is in `user_turn_cut`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from generation.chat.template_environment import template_environment
from generation.item import Message
from rubrics import InputError, fingerprint

OURS = frozenset({"messages", "tools", "documents", "add_generation_prompt"})  # given by render
TOKEN_NAMES = frozenset({"bos_token", "eos_token", "pad_token", "unk_token"})  # of the tokenizer
THINKING_FIELDS = ("reasoning_content", "reasoning", "thinking")  # of a message; families differ


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
    special_tokens: Mapping[str, Any] = field(default_factory=dict)
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

    @cached_property
    def variables_read(self) -> frozenset[str]:
        """The variables of its own that it reads, such as enable_thinking.

        >>> sorted(ChatTemplate("{% set x = x | default(y) %}{{ messages }}").variables_read)
        ['x', 'y']
        """
        from jinja2 import meta, nodes

        def names(kinds: type | tuple[type, ...], condition: Any) -> set[str]:
            found = (node.node for node in self._parsed.find_all(kinds) if condition(node))
            return {node.name for node in found if isinstance(node, nodes.Name)}

        free = meta.find_undeclared_variables(self._parsed)
        assigned = {node.name for node in self._parsed.find_all(nodes.Name) if node.ctx == "store"}
        # a name that it assigns counts where it asks first whether it was given
        asked = names(nodes.Test, lambda node: node.name in ("defined", "undefined"))
        asked |= names(nodes.Filter, lambda node: node.name in ("default", "d"))
        given = (
            OURS
            | TOKEN_NAMES
            | set(self.special_tokens)
            | set(template_environment(self.date).globals)
        )
        return frozenset(free - (assigned - asked) - given)

    @cached_property
    def thinking_fields(self) -> tuple[str, ...]:
        """The fields of a message that it reads thinking from; () where it reads none."""
        from jinja2 import nodes

        read = {node.attr for node in self._parsed.find_all(nodes.Getattr)}
        constants = [node.arg for node in self._parsed.find_all(nodes.Getitem)]
        constants += [
            call.args[0]
            for call in self._parsed.find_all(nodes.Call)
            if isinstance(call.node, nodes.Getattr) and call.node.attr == "get" and call.args
        ]
        read |= {node.value for node in constants if isinstance(node, nodes.Const)}
        return tuple(name for name in THINKING_FIELDS if name in read)

    def check_kwargs(self) -> None:
        """Raises InputError for a variable that the template does not read.

        It would be dropped in silence, and what it was to switch would stay as it is.
        """
        for name in self.kwargs:
            if name in OURS:
                raise InputError(
                    f"template variable {name!r} is what the probe itself gives the chat template; "
                    "leave it out"
                )
            if name not in self.variables_read:
                raise InputError(
                    f"the chat template reads no variable {name!r}; it reads "
                    f"{', '.join(sorted(self.variables_read)) or 'none'}"
                )

    def render(
        self,
        messages: Sequence[Message],
        *,
        answer_follows: bool = False,
        thinking: str | None = None,
    ) -> str:
        """The conversation as the model reads it; `answer_follows` opens the assistant's turn.

        `thinking` is that of the last assistant message, which the template keeps or drops.
        Raises InputError when the template fails, with its own message.
        """
        rows = [self._row(message) for message in messages]
        if thinking:
            last = next(row for row in reversed(rows) if row["role"] == "assistant")
            last |= dict.fromkeys(self.thinking_fields, thinking)
        compiled = self._compiled
        try:
            return compiled.render(
                **{**self.special_tokens, **self.kwargs},
                messages=rows,
                tools=[] if self.empty_tools else None,
                documents=None,
                add_generation_prompt=answer_follows,
            )
        except Exception as error:  # a template is a program: whatever it raises is its refusal
            roles = ", ".join(message.role for message in messages)
            own = ", ".join(sorted(self.variables_read - set(self.kwargs))) or "none"
            raise InputError(
                f"the chat template does not render {roles}: {error}; "
                f"give its own variables with --template-kwargs '{{…}}' (it reads {own})"
            ) from error

    def _row(self, message: Message) -> dict[str, Any]:
        row: dict[str, Any] = message.as_dict()
        if self.list_content:
            row["content"] = [{"type": "text", "text": message.content}]
        return row

    @cached_property
    def _parsed(self) -> Any:
        import jinja2

        try:
            return template_environment(self.date).parse(self.source)
        except jinja2.TemplateError as error:
            raise InputError(f"the chat template is not Jinja: {error}") from error

    @cached_property
    def _compiled(self) -> Any:
        return template_environment(self.date).from_string(self._parsed)
