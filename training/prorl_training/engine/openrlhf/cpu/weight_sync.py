"""Send weights to vLLM without NCCL or a GPU (OpenRLHF 0.11.2, vLLM 0.29.0).

Not supported: CUDA IPC, ``--vllm.sync_with_ray``, and layers packed outside ``dispatch_cpu_unquantized_gemm``
(mixture of experts, quantised models).
"""

from __future__ import annotations

from datetime import timedelta
from types import ModuleType
from typing import Any

_CONNECT = timedelta(minutes=5)
_TRANSFER = timedelta(minutes=10)


class GlooCommunicator:
    """Replaces vLLM's ``PyNcclCommunicator``, as far as OpenRLHF uses it. Rank 0 hosts the store.

    Without NCCL the original ``broadcast`` does nothing, so that vLLM would load uninitialised memory.
    """

    def __init__(self, host: str, port: int, rank: int, world_size: int) -> None:
        import torch.distributed

        dist: Any = torch.distributed
        self._store = dist.TCPStore(
            host, port, world_size, rank == 0, timeout=_CONNECT, wait_for_workers=False
        )
        prefixed = dist.PrefixStore("prorl-weights", self._store)
        self._group = dist.ProcessGroupGloo(prefixed, rank, world_size, _TRANSFER)

    def broadcast(self, tensor: Any, src: int = 0, stream: object = None) -> None:
        import torch

        target = tensor.detach()
        flat = target.contiguous()
        self._group.broadcast(flat.reshape(-1).view(torch.uint8), src).wait()
        if flat.data_ptr() != target.data_ptr():
            target.copy_(flat)


def connect_with_gloo(distributed_util: ModuleType) -> None:
    """Make ``stateless_init_process_group`` (utils/distributed_util.py:13) use gloo."""

    def stateless_init_process_group(
        master_address: str, master_port: int, rank: int, world_size: int, device: object
    ) -> GlooCommunicator:
        return GlooCommunicator(master_address, master_port, rank, world_size)

    _replace(distributed_util, "stateless_init_process_group", stateless_init_process_group)


def receive_on_cpu(vllm_worker_wrap: ModuleType) -> None:
    """Make vLLM's worker receive weights into CPU memory (trainer/ray/vllm_worker_wrap.py:40)."""

    def update_weight(
        self: Any, name: str, dtype: Any, shape: Any, empty_cache: bool = False
    ) -> None:
        import torch

        if dtype != self.model_config.dtype:
            raise TypeError(f"{name} arrives as {dtype}, but vLLM holds {self.model_config.dtype}")
        weight = torch.empty(shape, dtype=dtype)
        self._model_update_group.broadcast(weight, src=0)
        self.model_runner.model.load_weights(weights=[(name, weight)])

    _replace(vllm_worker_wrap.WorkerWrap, "update_weight", update_weight)


def keep_weights(layer_utils: ModuleType) -> None:
    """Make linear layers keep their unpacked weights, so that new weights can be loaded.

    vLLM's CPU backend replaces weights by packed copies (model_executor/layers/utils.py:434).
    """
    import torch

    def dispatch_cpu_unquantized_gemm(layer: Any, remove_weight: bool) -> None:
        layer.cpu_linear = torch.nn.functional.linear

    _replace(layer_utils, "dispatch_cpu_unquantized_gemm", dispatch_cpu_unquantized_gemm)


def _replace(owner: object, name: str, value: object) -> None:
    getattr(owner, name)  # fails if another version lacks it
    setattr(owner, name, value)
