"""The base of all runs: weights after the supervised start, and the dataset folder, made once.

The weights are rounded to half precision and kept in docs/evidence/data, so that every session starts
from the same ones. Leaves out: the supervised start itself (``small_model``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from small_arms import (
    BASE_SEED,
    BASE_SHA256,
    LADDER_SHARE,
    SHARES,
    START_BATCH,
    START_LR,
    START_STEPS,
)
from small_data import held_out_keys, training_samples, write_dataset
from small_model import StartPlan, make_model, make_tokenizer, save, supervised_start
from small_record import RESULTS

from prorl_common import UserError, atomic_directory, atomic_write_bytes, sha256_file

BASE_WEIGHTS = RESULTS / "base.safetensors"


def base_folder(work: Path) -> Path:
    """Return where the base lies as a model folder."""
    return work / "base"


def data_folder(work: Path) -> Path:
    """Return where the training and validation items lie."""
    return work / "data"


def base_digest() -> str:
    """Return the SHA-256 of the base's weights file. Raises UserError when it is not the protocol's."""
    digest = sha256_file(BASE_WEIGHTS)
    if digest != BASE_SHA256:
        raise UserError(f"{BASE_WEIGHTS} is not the protocol's base: get it from the repository")
    return digest


def prepare(work: Path) -> None:
    """Make the base's weights, and in ``work`` its model folder and the dataset folder, where missing."""
    import torch

    torch.set_num_threads(1)
    if not BASE_WEIGHTS.is_file():
        _train_base()
    base_digest()
    if not (base_folder(work) / "config.json").is_file():
        _unpack_base(base_folder(work))
    if not (data_folder(work) / "manifest.json").is_file():
        write_dataset(data_folder(work), training_samples())


def _train_base() -> None:
    import torch
    from safetensors.torch import save as to_bytes

    tokenizer = make_tokenizer()
    model = make_model(BASE_SEED, len(tokenizer))
    plan = StartPlan(START_STEPS, START_BATCH, START_LR, BASE_SEED, LADDER_SHARE)
    supervised_start(model, tokenizer, SHARES, held_out_keys(), plan)
    weights = {n: p.detach().to(torch.float16).contiguous() for n, p in model.named_parameters()}
    atomic_write_bytes(BASE_WEIGHTS, to_bytes(weights))


def _unpack_base(target: Path) -> None:
    import torch
    from safetensors.torch import load_file

    tokenizer = make_tokenizer()
    model: Any = make_model(BASE_SEED, len(tokenizer))
    weights = load_file(str(BASE_WEIGHTS))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name not in weights:
                raise UserError(f"{BASE_WEIGHTS} is not this protocol's base: it lacks {name}")
            parameter.copy_(weights[name].float())
    with atomic_directory(target) as folder:
        save(model, tokenizer, folder)
