"""Keep OpenRLHF's training actors on the CPU. References are to OpenRLHF 0.11.2 and DeepSpeed 0.19.6."""

from __future__ import annotations

import os
import shutil
from types import ModuleType
from typing import Any

ADAM = "PRORL_OPENRLHF_TORCH_ADAM"
"""Environment variable: ``1`` selects torch's AdamW, ``0`` DeepSpeed's. Default: DeepSpeed's with a C++ compiler."""


def adapt_torch(torch: ModuleType) -> None:
    """Replace functions of ``torch.cuda`` that OpenRLHF calls unconditionally."""
    cuda: Any = torch.cuda
    cpu = torch.device("cpu")

    # One function for each name: torch._dynamo refuses an object that it has two rules for.
    # Called in ``data.to(...)``: launcher.py:136,190, ppo_actor.py:148,171,627, deepspeed.py:614,633,
    # replay_buffer.py:104,129,159,165
    def current_device() -> Any:
        return cpu

    # deepspeed.py:97
    def set_device(device: object) -> None: ...

    # distributed_util.py:10, launcher.py:65, ppo_actor.py:605, deepspeed_utils.py:189,211
    def synchronize(device: object = None) -> None: ...

    # ppo_actor.py:436, for the broadcast of weights
    def current_stream(device: object = None) -> None: ...

    cuda.current_device = current_device
    cuda.set_device = set_device
    cuda.synchronize = synchronize
    cuda.current_stream = current_stream


def mesh_on_cpu(deepspeed_strategy: ModuleType) -> None:
    """Build a CPU device mesh (utils/deepspeed/deepspeed.py:105)."""
    original = deepspeed_strategy.init_device_mesh

    def init_device_mesh(device_type: str, *args: Any, **kwargs: Any) -> Any:
        return original("cpu", *args, **kwargs)

    deepspeed_strategy.init_device_mesh = init_device_mesh  # type: ignore[attr-defined]


def choose_adam(deepspeed_strategy: ModuleType) -> None:
    """Use torch's AdamW if DeepSpeed cannot compile its faster AdamW."""
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
    """Return whether to use torch's AdamW: ``PRORL_OPENRLHF_TORCH_ADAM``, or else whether a C++ compiler is missing."""
    value = os.environ.get(ADAM, "")
    return value == "1" if value else not can_compile()


def can_compile(path: str | None = None) -> bool:
    compiler = os.environ.get("CXX", "c++").split()[0]
    return all(shutil.which(program, path=path) is not None for program in (compiler, "ninja"))


def average_on_cpu(deepspeed_strategy: ModuleType) -> None:
    """Keep the weights' moving average on the CPU (trainer/ray/ppo_actor.py:365 and 367)."""
    strategy = deepspeed_strategy.DeepspeedStrategy
    original = strategy.moving_average

    def moving_average(
        self: Any, model: Any, model_ema: Any, beta: float = 0.992, device: str = "cpu"
    ) -> None:
        original(self, model, model_ema, beta, "cpu")

    strategy.moving_average = moving_average


def buffer_on_cpu(replay_buffer: ModuleType) -> None:
    """Make the replay buffer return CPU tensors (trainer/ppo_utils/replay_buffer.py:40)."""
    import torch

    buffer = replay_buffer.NaiveReplayBuffer
    original = buffer.__init__

    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        current_device = torch.cuda.current_device
        torch.cuda.current_device = lambda: 0
        try:
            original(self, *args, **kwargs)
        finally:
            torch.cuda.current_device = current_device
        self.target_device = torch.device("cpu")

    buffer.__init__ = initialise


def plain_entropy(models_utils: ModuleType) -> None:
    """Compute the entropy without ``torch.compile`` (models/utils.py:215), which compiles C++ for each shape."""
    compiled = models_utils.compute_entropy
    models_utils.compute_entropy = compiled._torchdynamo_orig_callable  # type: ignore[attr-defined]


def without_compiler(deepspeed_comm: ModuleType) -> None:
    """Disable DeepSpeed's shared-memory collectives if there is no compiler (comm/torch.py:31)."""
    if not can_compile():
        deepspeed_comm.build_shm_op = lambda: None  # type: ignore[attr-defined]
