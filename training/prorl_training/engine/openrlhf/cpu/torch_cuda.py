"""Answers, without a GPU, the ``torch.cuda`` calls that OpenRLHF makes without asking whether there is one.

File references are to OpenRLHF 0.11.2. ``empty_cache`` is harmless as it is. Leaves out: calls that name the device
in words ("cuda"), which are met where they are made (``trainer_patches``, ``weight_sync``).
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


def adapt_torch(torch: ModuleType) -> None:
    """Replace four functions of ``torch.cuda`` by ones that mean the CPU.

    ``torch`` is the module that has just executed; its ``cuda`` is already imported.
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
