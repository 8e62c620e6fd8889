"""Where the sizes of a model come from: its config on this disk, else those of a few models that presets name.

Nothing is fetched, and no weights are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prorl_common import UserError, nearest
from prorl_training.sizing.shape import ModelShape

_QWEN_1_5B: dict[str, Any] = {
    "model_type": "qwen2",
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "vocab_size": 151936,
    "tie_word_embeddings": False,
    "max_position_embeddings": 131072,
}
_SMOLLM2_135M: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "vocab_size": 49152,
    "tie_word_embeddings": True,
    "max_position_embeddings": 8192,
}
KNOWN: dict[str, dict[str, Any]] = {
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B": _QWEN_1_5B,
    "nvidia/Nemotron-Research-Reasoning-Qwen-1.5B": _QWEN_1_5B,
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B": _QWEN_1_5B
    | {
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "vocab_size": 152064,
    },
    "Qwen/Qwen2.5-0.5B": _QWEN_1_5B
    | {
        "hidden_size": 896,
        "intermediate_size": 4864,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "tie_word_embeddings": True,
        "max_position_embeddings": 32768,
    },
    "HuggingFaceTB/SmolLM2-135M-Instruct": _SMOLLM2_135M,
    "smollm2-135m": _SMOLLM2_135M,
}
"""Sizes as in each model's ``config.json`` (https://huggingface.co/NAME/blob/main/config.json); the Nemotron model
was trained from the first one and has its sizes."""


def model_shape(name: str) -> ModelShape:
    """Return the sizes of the model ``name``: a folder, an alias or a hub id.

    Raises UserError where its config is neither on this disk nor known.
    """
    path = config_path(name)
    if path is not None:
        return ModelShape.from_config(_read(path))
    if name in KNOWN:
        return ModelShape.from_config(KNOWN[name])
    raise UserError(
        f"the sizes of {name} are not known here{nearest(name, KNOWN)}: fetch its config "
        f"(hf download {name} config.json) or name a folder that has it"
    )


def config_path(name: str) -> Path | None:
    """Return the config of a model's folder, of a fetched alias, or of a hub id in the hub's cache; else None."""
    from prorl_inference.models.store import alias_dir

    places = [Path(name).expanduser(), alias_dir(name)]
    if name.count("/") == 1:
        folder = _hub_cache(os.environ) / f"models--{name.replace('/', '--')}"
        places += sorted(folder.glob("snapshots/*"), key=lambda p: p.stat().st_mtime, reverse=True)
    return next((p / "config.json" for p in places if (p / "config.json").is_file()), None)


def _hub_cache(environment: Mapping[str, str]) -> Path:
    """Return the folder in which huggingface_hub keeps what it fetched."""
    base = environment.get("XDG_CACHE_HOME") or "~/.cache"
    home = environment.get("HF_HOME") or f"{base}/huggingface"
    named = environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE")
    return Path(named or f"{home}/hub").expanduser()


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
        if not isinstance(found, dict):
            raise ValueError("it holds no mapping")
    except ValueError as error:
        raise UserError(f"{path} is not the config of a model: {error}") from error
    return found
