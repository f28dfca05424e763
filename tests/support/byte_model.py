"""A model folder without weights: a tokenizer of bytes with a family's control tokens."""

import json
from pathlib import Path
from typing import Any

from chat_templates import Family


def write_folder(
    folder: Path,
    family: Family,
    *,
    config: dict[str, Any] | None = None,
    generation_config: dict[str, Any] | None = None,
    bos: str | None = None,
    template: bool = True,
) -> Any:
    """Write it and give its tokenizer; `bos` begins plain text, as many tokenizers have it."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(dict(zip(alphabet, range(len(alphabet)), strict=True)), []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(family.tokens))
    tokenizer.add_tokens([AddedToken(token, special=False) for token in family.unflagged])
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{bos} $A", special_tokens=[(bos, tokenizer.token_to_id(bos))]
        )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = dict(family.names) | ({"bos_token": bos} if bos else {})
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": family.eos[0], **names}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps(config or {"model_type": "llama"}))
    if generation_config:
        (folder / "generation_config.json").write_text(json.dumps(generation_config))
    if template:
        (folder / "chat_template.jinja").write_text(family.source, encoding="utf-8")
    return tokenizer
