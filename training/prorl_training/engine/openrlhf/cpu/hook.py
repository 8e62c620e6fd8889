"""An import hook that applies the CPU patches of a module after its import.

``startup/sitecustomize.py`` installs the hook in every process. Installing it imports only the standard library.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

SWITCH = "PRORL_OPENRLHF_CPU"
"""Environment variable that enables the CPU patches (``1``), or only those that replace flash-attn (``sdpa``)."""
SDPA = "sdpa"

_HERE = "prorl_training.engine.openrlhf.cpu"

AFTER: dict[str, tuple[str, ...]] = {
    "torch": ("trainer_patches:adapt_torch",),
    "openrlhf.models.utils": ("trainer_patches:plain_entropy",),
    "openrlhf.utils.utils": ("float32:load_in_float32",),
    "openrlhf.models.actor": ("flash_attention:use_sdpa",),
    "openrlhf.utils.deepspeed.deepspeed": (
        "trainer_patches:mesh_on_cpu",
        "trainer_patches:choose_adam",
        "trainer_patches:average_on_cpu",
        "float32:train_in_float32",
    ),
    "openrlhf.trainer.ppo_utils.replay_buffer": ("trainer_patches:buffer_on_cpu",),
    "openrlhf.utils.distributed_util": ("weight_sync:connect_with_gloo",),
    "openrlhf.trainer.ray.vllm_worker_wrap": ("weight_sync:receive_on_cpu",),
    "vllm.model_executor.layers.utils": ("weight_sync:keep_weights",),
    "deepspeed.comm.torch": ("trainer_patches:without_compiler",),
}
"""Module -> functions that patch it after its import."""

AROUND: dict[str, str] = {"openrlhf.models.ring_attn_utils": "flash_attention:stand_in"}
"""Module -> context manager in which it is imported."""


def install() -> None:
    """Install the hook, and patch modules that are already imported. A second call does nothing."""
    if any(isinstance(finder, Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, Finder())
    for name in AFTER:
        module = sys.modules.get(name)
        if module is not None:
            apply(name, module)


def apply(name: str, module: ModuleType) -> None:
    """Run the module's patches. Raises UserError for an unsupported OpenRLHF."""
    for place in AFTER.get(name, ()):
        if is_needed(place):
            _refuse_other_versions(name)
            _function(place)(module)


def is_needed(place: str) -> bool:
    if os.environ.get(SWITCH) == SDPA:
        return place.startswith("flash_attention:")
    return not has_cuda()


def has_cuda() -> bool:
    import torch

    return bool(torch.cuda.is_available())


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in AFTER and name not in AROUND:
            return None
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


class _Loader(importlib.abc.Loader):
    def __init__(self, own: importlib.abc.Loader) -> None:
        self._own = own

    def __getattr__(self, name: str) -> object:  # get_source and others
        return getattr(self._own, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        spec.loader = module.__loader__ = self._own
        place = AROUND.get(spec.name)
        with contextlib.ExitStack() as around:
            if place is not None and is_needed(place):
                _refuse_other_versions(spec.name)
                around.enter_context(_function(place)())
            self._own.exec_module(module)
        apply(spec.name, module)


def _refuse_other_versions(module: str) -> None:
    if module.startswith("openrlhf."):
        from prorl_training.engine.openrlhf.versions import check_openrlhf

        check_openrlhf()


def _function(place: str):  # type: ignore[no-untyped-def]  # patches and context managers differ
    module, name = place.split(":")
    return getattr(importlib.import_module(f"{_HERE}.{module}"), name)
