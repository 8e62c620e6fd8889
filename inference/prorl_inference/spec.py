"""Defines sampling backends, their options, and the choice for ``auto``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import Door, MissingExtraError, UserError
from prorl_inference.backends.openai.options import ServerOptions
from prorl_inference.models.loading import pick_device
from prorl_inference.types import DEFAULT_BATCH_SIZE, Batching, Generator

SERVER = "server"
"""The backend that ``auto`` picks when a URL is given."""
AUTO = "auto"
"""Stands for the best backend on this machine, so no backend may have this name."""


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """Options for opening a backend. A backend ignores options that do not apply to it.

    - ``path``: the model folder, None for a server.
    - ``policy``, ``tokenizer``: the Transformers model in training, on its device. The backend samples from it, or from
      a copy updated by ``sync_weights``.
    - ``dtype``: ``auto``, ``fp32``, ``bf16``, ``fp16`` or a torch name.
    - ``max_model_len``: limit on prompt and completion (None: the model's).
    - ``memory_share``: fraction of device memory for a separate model and cache.
    - ``request_seeds``: if False, a backend may ignore seeds.
    - ``in_flight``: weights may change while samples are in progress.
    - ``tell``: called with messages for the user, from any thread.
    """

    path: Path | None = None
    device: str = AUTO
    dtype: str = "auto"
    batch_rows: int = DEFAULT_BATCH_SIZE
    batching: Batching = "fixed"
    max_model_len: int | None = None
    memory_share: float = 0.9
    policy: Any = None
    tokenizer: Any = None
    url: str | None = None
    server: ServerOptions = field(default_factory=ServerOptions)
    tell: Callable[[str], None] = lambda _: None
    request_seeds: bool = True
    in_flight: bool = False

    def folder(self) -> Path:
        """Return ``path``. Raises UserError if it is None."""
        if self.path is None:
            raise UserError("this backend samples from a model's folder: name the model")
        return self.path


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """A backend. ``open`` returns its Generator.

    - ``requires``: package that must be installed; ``extra``: prorl's extra that installs it.
    - ``served``: samples from a URL.
    - ``logprobs``: completions have log-probs; ``nucleus_logprobs``: even with ``top_p`` below 1 these are of the whole
      distribution.
    - ``trains``: supports ``sync_weights``.
    - ``fixed_batches``: equal ``generate`` calls give equal samples, since batches are formed within one call.
    - ``auto_rank``: ``auto`` picks the highest rank above 0; ``auto_on_gpu``: only on a GPU.
    """

    name: str
    open: Callable[[BackendOptions], Generator]
    title: str = ""
    requires: str = ""
    extra: str = ""
    served: bool = False
    logprobs: bool = False
    nucleus_logprobs: bool = False
    trains: bool = False
    fixed_batches: bool = False
    rows: int = DEFAULT_BATCH_SIZE
    auto_rank: int = 0
    auto_on_gpu: bool = False

    @property
    def is_installed(self) -> bool:
        return not self.requires or importlib.util.find_spec(self.requires) is not None

    def check_installed(self) -> None:
        """Raise MissingExtraError if the required package is missing, or UserError if no ``extra`` installs it."""
        if self.is_installed:
            return
        if self.extra:
            raise MissingExtraError(self.extra, self.requires)
        raise UserError(
            f"the backend {self.name} needs {self.requires}: pip install {self.requires}"
        )

    def keeps_logprobs(self, top_p: float) -> bool:
        """Return whether log-probs at ``top_p`` are those of the whole distribution, as a loss needs."""
        return self.logprobs and (top_p >= 1.0 or self.nucleus_logprobs)


BACKENDS = Door("prorl.backends", BackendSpec, "backend")


def pick_backend(
    name: str, device: str = AUTO, url: str | None = None, training: bool = False
) -> BackendSpec:
    """Return the backend ``name``, even if it is not installed.

    ``auto`` stands for the server if ``url`` is given, else for the best installed backend. Raises UnknownNameError,
    and UserError if the backend does not fit ``url`` or ``training``, or if ``auto`` finds no backend.
    """
    if name == AUTO and url is not None:
        name = SERVER
    if name != AUTO:
        spec = BACKENDS.get(name)
        if spec.served != (url is not None):
            raise UserError(
                f"model.backend={name if spec.served else SERVER} and server.url go together"
            )
        if training and not spec.trains:
            able = ", ".join(one.name for one in BACKENDS.all() if one.trains)
            raise UserError(
                f"the backend {name} cannot load new weights during training: use {AUTO}, {able}"
            )
        return spec
    candidates = [s for s in BACKENDS.all() if s.auto_rank > 0 and (s.trains or not training)]
    ranked = sorted(candidates, key=lambda s: (-s.auto_rank, s.name))
    for spec in ranked:
        if spec.is_installed and (not spec.auto_on_gpu or pick_device(device).startswith("cuda")):
            return spec
    raise UserError(
        f"no backend can sample here: install one of {', '.join(s.name for s in ranked)}"
    )
