"""Low-rank adapters through peft: wrap a model, its reference, its export.

The reference is the base with a frozen copy of the adapters, taken when RL starts (after a warm start, if
there is one) and at each reset. Fresh adapters add nothing, so without a warm start the first reference is the
base model in value.
"""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from prorl_common import MissingExtraError, UserError
from prorl_training.config import LoraConfig


def add_adapters(model: Any, config: LoraConfig, seed: int) -> Any:
    """Return the model with fresh adapters of ``config.rank`` on its target layers, the rest frozen.

    The initial values depend on ``seed`` alone; torch's global random state is left as it was. Raises
    MissingExtraError without peft, UserError when no layer has a name among the targets.
    """
    if importlib.util.find_spec("peft") is None:
        raise MissingExtraError("lora", "peft")
    import peft

    alpha: Any = config.alpha  # annotated int in peft, which only divides it by the rank
    names = [name.strip() for name in config.targets.split(",") if name.strip()]
    settings = peft.LoraConfig(
        r=config.rank,
        lora_alpha=alpha,
        lora_dropout=config.dropout,
        target_modules="all-linear" if names == ["all-linear"] else names,
        task_type="CAUSAL_LM",
    )
    device = model.device  # asked before it moves: adapters are drawn on the CPU
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return peft.get_peft_model(model.cpu(), settings).to(device)
        except ValueError as error:
            reason = str(error).split(". ")[0]
            raise UserError(
                f"model.lora.targets '{config.targets}' does not fit the model: {reason}; "
                "name its linear layers, like q_proj,v_proj, or use all-linear"
            ) from error


class AdapterReference:
    """The reference of a policy with adapters: the base and the adapters' values when it was last taken.

    Until the first ``take``, which a run does at its start, it is the base alone.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.tensors: dict[str, Tensor] = {}
        """Frozen copy of the adapters by parameter name; empty: none was taken yet."""

    def take(self) -> None:
        """Make the reference the policy as it is now."""
        self.tensors = {n: p.detach().clone() for n, p in _trained(self.model)}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Make the reference the base with these adapters; none: the base alone."""
        self.tensors = {
            n: tensors[n].to(p.device, copy=True) for n, p in _trained(self.model) if tensors
        }

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let the model be the reference inside the block."""
        with self._swapped() if self.tensors else self.model.disable_adapter():
            yield

    @contextmanager
    def _swapped(self) -> Iterator[None]:
        parameters = dict(_trained(self.model))
        own = {n: p.data for n, p in parameters.items()}
        try:
            for name, parameter in parameters.items():
                parameter.data = self.tensors[name]
            yield
        finally:
            for name, parameter in parameters.items():
                parameter.data = own[name]


def merged_copy(model: Any) -> Any:
    """Return a plain Transformers model with the adapters added into a copy of the weights."""
    return copy.deepcopy(model).merge_and_unload()


@contextmanager
def adapter_dropout(model: Any, seed: int) -> Iterator[None]:
    """Switch the adapters' dropout on inside the block, drawn from ``seed`` alone."""
    modules = [m for n, m in model.named_modules() if ".lora_dropout." in n]
    on_gpu = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=on_gpu):
        torch.manual_seed(seed)
        for module in modules:
            module.training = True
        try:
            yield
        finally:
            for module in modules:
                module.training = False


def _trained(model: Any) -> list[tuple[str, Any]]:
    return [(n, p) for n, p in model.named_parameters() if p.requires_grad]
