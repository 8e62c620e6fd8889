"""Load models and tokenizers from safetensors folders; choose device and dtype."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_common import MissingExtraError, UserError, sha256_file
from prorl_inference.models.store import resolve_model, verify_model_dir
from prorl_inference.tokens import mark_padding, stop_token_ids
from prorl_inference.types import ModelError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

DTYPES = ("auto", "fp32", "bf16", "fp16")


def require_local_extra() -> None:
    """Raise MissingExtraError unless torch and transformers are installed."""
    for module in ("torch", "transformers"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("local", module)


def check_device(device: str) -> None:
    """Raise UserError unless ``device`` is ``auto``, ``cpu``, ``cuda`` or a numbered GPU."""
    if re.fullmatch(r"auto|cpu|cuda(:[0-9]+)?", device) is None:
        raise UserError(f"device '{device}' is not known: use auto, cpu, cuda or cuda:1 (a number)")


def pick_device(device: str = "auto") -> str:
    """Return the torch device. ``auto`` prefers CUDA. Raises UserError for an invalid or missing device."""
    import torch

    check_device(device)
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UserError(f"device '{device}' was requested, but torch finds no GPU: use device=cpu")
    count = torch.cuda.device_count() if ":" in device else 0
    if ":" in device and int(device.partition(":")[2]) >= count:
        some = f"cuda:0 to cuda:{count - 1}" if count > 1 else "cuda:0"
        gpus = "1 GPU" if count == 1 else f"{count} GPUs"
        raise UserError(f"device '{device}' was requested, but torch finds {gpus}: use {some}")
    return device


def require_device(device: str) -> None:
    """Raise UserError unless ``device`` is available."""
    check_device(device)
    if device.startswith("cuda"):
        pick_device(device)


def cpu_has_fast_bf16(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether the CPU computes bf16 natively (AVX512-BF16 or AMX-BF16)."""
    try:
        text = cpuinfo.read_text()
    except OSError:  # not Linux: assume no bf16 support
        return False
    lines = (line for line in text.splitlines() if line.startswith("flags"))
    flags = set(next(lines, "").split())
    return bool(flags & {"avx512_bf16", "amx_bf16"})


def pick_dtype(device: str, dtype: str = "auto") -> torch.dtype:
    """Return the torch dtype. ``auto`` is bf16 if ``device`` supports it, else fp16 on CUDA and fp32 elsewhere."""
    import torch

    if dtype not in DTYPES:
        raise UserError(f"dtype '{dtype}' is not known: use one of {', '.join(DTYPES)}")
    if dtype != "auto":
        return {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
    if device.startswith("cuda"):
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return torch.bfloat16 if device == "cpu" and cpu_has_fast_bf16() else torch.float32


def load_model(
    path: Path, device: str, dtype: torch.dtype
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a model folder; return the model, in eval mode on ``device``, and its tokenizer.

    Raises ModelError for missing, corrupt or incompatible files, MissingExtraError without torch or transformers.
    """
    require_local_extra()
    import transformers

    hf: Any = transformers

    verify_model_dir(path)
    try:
        with quiet_transformers():
            tokenizer = hf.AutoTokenizer.from_pretrained(path, local_files_only=True)
            model, info = hf.AutoModelForCausalLM.from_pretrained(
                path,
                dtype=dtype,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                output_loading_info=True,
            )
            respect_soft_caps(model)
            mark_padding(model, tokenizer)
            stop_token_ids(model.generation_config, tokenizer)
    except ModelError:
        raise
    except Exception as error:  # the libraries raise all kinds for a broken file
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ModelError(
            f"cannot load the model in {path}: {reason}; correct its files, or download it again"
        ) from error
    missing = sorted(info["missing_keys"])
    if missing:
        raise ModelError(
            f"the model in {path} is incomplete: {len(missing)} weights are missing (first: "
            f"{missing[0]}); download or save it again"
        )
    return model.to(device).eval(), tokenizer


def respect_soft_caps(model: Any) -> None:
    """Replace SDPA attention, which ignores soft caps, for models that have them (Gemma 2)."""
    if getattr(model.config.get_text_config(), "attn_logit_softcapping", None):
        model.set_attn_implementation("eager")


def load_tokenizer(name_or_path: str) -> Any:
    """Return the tokenizer of a folder, fetched model or hub id. Raises ModelError."""
    require_local_extra()
    import transformers

    hf: Any = transformers
    place = Path(name_or_path)
    path = place if place.is_dir() else resolve_model(name_or_path)
    try:
        with quiet_transformers():
            return hf.AutoTokenizer.from_pretrained(path, local_files_only=True)
    except Exception as error:
        reason = " ".join(str(error).split())[:160]
        raise ModelError(f"cannot load a tokenizer from {path}: {reason}") from error


def model_digest(path: Path) -> str:
    """Return a hex SHA-256 over names and contents of a folder's safetensors files."""
    files = {file.name: sha256_file(file) for file in sorted(path.glob("*.safetensors"))}
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Hide the progress bars and notes of Transformers inside the ``with`` block."""
    from transformers.utils import logging as hf_logging

    logging: Any = hf_logging
    level = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
