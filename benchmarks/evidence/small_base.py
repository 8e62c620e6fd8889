"""The base of all runs of a study: weights after the supervised start, and the dataset folder, made once.

The weights are rounded to half precision and kept beside the study's results, so that every session starts
from the same ones. Leaves out: the supervised start itself (``small_model``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from small_data import write_dataset
from small_model import make_model, make_tokenizer, save, supervised_start
from small_study import Study

from prorl_common import UserError, atomic_directory, atomic_write_bytes, sha256_file


def base_folder(work: Path) -> Path:
    """Return where the base lies as a model folder."""
    return work / "base"


def data_folder(work: Path) -> Path:
    """Return where the training and validation items lie."""
    return work / "data"


def base_digest(study: Study) -> str:
    """Return the SHA-256 of the base's weights file. Raises UserError when it is not the protocol's."""
    path = study.start.weights
    digest = sha256_file(path)
    if digest != study.start.sha256:
        raise UserError(f"{path} is not the protocol's base: get it from the repository")
    return digest


def prepare(study: Study, work: Path) -> None:
    """Make the base's weights, and in ``work`` its model folder and the dataset folder, where missing."""
    import torch

    torch.set_num_threads(1)
    if not study.start.weights.is_file():
        teach_base(study)
    base_digest(study)
    if not (base_folder(work) / "config.json").is_file():
        _unpack_base(study, base_folder(work))
    if not (data_folder(work) / "manifest.json").is_file():
        write_dataset(data_folder(work), study.training())


def teach_base(study: Study) -> None:
    """Make the base from random weights and write its weights file."""
    import torch
    from safetensors.torch import save as to_bytes

    start = study.start
    tokenizer = make_tokenizer()
    model = make_model(start.plan.seed, len(tokenizer), start.hidden)
    for _ in supervised_start(model, tokenizer, start.draw, start.plan):
        pass
    weights = {n: p.detach().to(torch.float16).contiguous() for n, p in model.named_parameters()}
    path = study.start.weights
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_bytes(path, to_bytes(weights))


def _unpack_base(study: Study, target: Path) -> None:
    import torch
    from safetensors.torch import load_file

    tokenizer = make_tokenizer()
    model: Any = make_model(study.start.plan.seed, len(tokenizer), study.start.hidden)
    weights = load_file(str(study.start.weights))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name not in weights:
                raise UserError(
                    f"{study.start.weights} is not this protocol's base: it lacks {name}"
                )
            parameter.copy_(weights[name].float())
    with atomic_directory(target) as folder:
        save(model, tokenizer, folder)
