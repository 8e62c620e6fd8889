"""Keeps OpenRLHF's training actors on the CPU: ``torch.cuda``'s calls, mesh, optimiser, replay buffer, entropy, mean.

File references are to OpenRLHF 0.11.2 (DeepSpeed 0.19.6).
"""

from __future__ import annotations

import os
import shutil
from types import ModuleType
from typing import Any

ADAM = "PRORL_OPENRLHF_TORCH_ADAM"
"""``1``: torch's AdamW though a compiler is there; ``0``: DeepSpeed's though none is found."""


def adapt_torch(torch: ModuleType) -> None:
    """Replace four functions of ``torch.cuda``, which OpenRLHF calls without asking, by ones that mean the CPU.

    ``torch`` is the module that has just executed; its ``cuda`` is already imported.
    ``empty_cache`` is harmless as it is.
    """
    cuda: Any = torch.cuda
    cpu = torch.device("cpu")

    def current_device() -> Any:
        """``data.to(torch.cuda.current_device())``: launcher.py:136,190, ppo_actor.py:148,171,627,
        deepspeed.py:614,633, replay_buffer.py:104,129,159,165. Fails without CUDA."""
        return cpu

    def set_device(device: object) -> None:
        """deepspeed.py:97, once LOCAL_RANK is known. There is one CPU: nothing to choose."""

    def synchronize(device: object = None) -> None:
        """distributed_util.py:10, launcher.py:65, ppo_actor.py:605, deepspeed_utils.py:189,211.
        Work on the CPU is done when a call returns."""

    def current_stream(device: object = None) -> None:
        """ppo_actor.py:436 hands it to the broadcast of weights, which needs none on the CPU."""

    cuda.current_device = current_device
    cuda.set_device = set_device
    cuda.synchronize = synchronize
    cuda.current_stream = current_stream


def mesh_on_cpu(deepspeed_strategy: ModuleType) -> None:
    """Build the device mesh of CPUs; utils/deepspeed/deepspeed.py:105 says "cuda"."""
    original = deepspeed_strategy.init_device_mesh

    def init_device_mesh(device_type: str, *args: Any, **kwargs: Any) -> Any:
        return original("cpu", *args, **kwargs)

    deepspeed_strategy.init_device_mesh = init_device_mesh  # type: ignore[attr-defined]


def choose_adam(deepspeed_strategy: ModuleType) -> None:
    """Take torch's AdamW where DeepSpeed cannot compile its own.

    DeepSpeed builds a FusedAdam for the CPU when it is first used, which needs a C++ compiler and ninja. It is
    faster and smaller than torch's, so it stays where it can be built.
    """
    strategy = deepspeed_strategy.DeepspeedStrategy
    original = strategy.get_ds_train_config

    def get_ds_train_config(self: Any, *args: Any, **kwargs: Any) -> Any:
        config = original(self, *args, **kwargs)
        optimizer = config.get("optimizer") or {}
        if optimizer.get("type") == "AdamW" and wants_torch_adam():
            optimizer["params"]["torch_adam"] = True
        return config

    strategy.get_ds_train_config = get_ds_train_config


def wants_torch_adam() -> bool:
    """Return what ``PRORL_OPENRLHF_TORCH_ADAM`` says, else whether nothing can be compiled here."""
    said = os.environ.get(ADAM, "")
    return said == "1" if said else not can_compile()


def can_compile(path: str | None = None) -> bool:
    """Return whether torch's extension builder finds a C++ compiler and ninja on ``path`` (None: on PATH)."""
    compiler = os.environ.get("CXX", "c++").split()[0]
    return all(shutil.which(program, path=path) is not None for program in (compiler, "ninja"))


def average_on_cpu(deepspeed_strategy: ModuleType) -> None:
    """Keep the moving average of the weights on the CPU; trainer/ray/ppo_actor.py:365 and 367 say "cuda"."""
    strategy = deepspeed_strategy.DeepspeedStrategy
    original = strategy.moving_average

    def moving_average(
        self: Any, model: Any, model_ema: Any, beta: float = 0.992, device: str = "cpu"
    ) -> None:
        original(self, model, model_ema, beta, "cpu")

    strategy.moving_average = moving_average


def buffer_on_cpu(replay_buffer: ModuleType) -> None:
    """Let the replay buffer hand out CPU tensors; trainer/ppo_utils/replay_buffer.py:40 builds "cuda:N".

    The module's own ``torch.device`` call cannot be reached without its source, so it is made to see device 0 (which
    only names a device, and touches none) and the result is put right.
    """
    import torch

    buffer = replay_buffer.NaiveReplayBuffer
    original = buffer.__init__

    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        kept = torch.cuda.current_device
        torch.cuda.current_device = lambda: 0
        try:
            original(self, *args, **kwargs)
        finally:
            torch.cuda.current_device = kept
        self.target_device = torch.device("cpu")

    buffer.__init__ = initialise


def plain_entropy(models_utils: ModuleType) -> None:
    """Compute the entropy without ``torch.compile`` (models/utils.py:215), whose CPU backend needs a compiler.

    Inductor builds C++ for every new shape; the function is three lines of tensor operations.
    """
    compiled = models_utils.compute_entropy
    models_utils.compute_entropy = compiled._torchdynamo_orig_callable  # type: ignore[attr-defined]


def without_compiler(deepspeed_comm: ModuleType) -> None:
    """Keep DeepSpeed off its shared-memory collectives where it cannot compile them (comm/torch.py:31)."""
    if not can_compile():
        deepspeed_comm.build_shm_op = lambda: None  # type: ignore[attr-defined]
