"""A CUDA device without data, on which operations that a GPU refuses or waits for raise errors."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

PRODUCTS = ("aten::mm", "aten::bmm", "aten::addmm", "aten::baddbmm", "aten::linear")
INDEXED = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")


class DeviceFault(Exception):
    """An operation that fails, synchronizes or is slow on a GPU."""


def answer_for_cuda(stub: str | None) -> None:
    """Make torch's CPU build accept "cuda"; ``stub`` is the compiled stub.cpp, None for CUDA builds."""
    if stub is None:
        return
    ctypes.CDLL(stub).answer_for_cuda()
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.cuda.is_bf16_supported = lambda *args, **options: True
    torch.cuda._lazy_init = lambda: None
    torch._C._set_only_lift_cpu_tensors(
        True
    )  # torch.tensor(..., device="cuda"): created here, then moved there


class Gpu(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Make tensors on "cuda" fake inside the block, and raise on operations that a GPU refuses or waits for.

    Raises DeviceFault for a copy to the host, a copy of more than ``upload`` numbers from it, float64 unless ``wide``,
    a product of integers or of two types, and an index on the host. FakeTensorMode rejects mixed devices and
    data-dependent values (``item``, tests, shapes).
    """

    def __init__(self, upload: int, wide: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.upload, self.wide = upload, wide
        self._fake = FakeTensorMode(allow_non_fake_inputs=True)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        on_gpu = [x for x in given if x.device.type == "cuda"]
        place = kwargs.get("device")
        if not on_gpu and (place is None or torch.device(place).type != "cuda"):
            return func(*args, **kwargs)  # the host's own tensors
        with self._fake:
            out = func(*args, **kwargs)
        name = func._schema.name
        for tensor in tree_leaves(out):
            if isinstance(tensor, Tensor):
                self._judge(name, tensor, given, on_gpu)
        return out

    def _judge(self, name: str, made: Tensor, given: list[Tensor], on_gpu: list[Tensor]) -> None:
        if made.device.type == "cpu":
            raise DeviceFault(f"{name} copies to the host")
        if name in INDEXED and 0 < len(on_gpu) < len(given):
            raise DeviceFault(f"{name} with an index that lies on the host")
        if made.dtype == torch.float64 and not self.wide:
            raise DeviceFault(f"{name} makes float64")
        types = {x.dtype for x in given}
        if name in PRODUCTS and (len(types) > 1 or not made.is_floating_point()):
            raise DeviceFault(f"{name} of {sorted(map(str, types))} does not exist on a GPU")
        if given and not on_gpu and made.numel() > self.upload:
            raise DeviceFault(f"{name} copies {made.numel()} numbers to the device")


def move(model: Any, device: str = "cuda") -> None:
    """Replace the model's parameters and buffers by ones without data on ``device``; use inside ``Gpu``."""
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                empty = torch.empty(parameter.shape, dtype=parameter.dtype, device=device)
                trained = parameter.requires_grad
                module._parameters[name] = torch.nn.Parameter(empty, requires_grad=trained)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype, device=device)
