"""Sampling backends, their options, and the choice of a backend."""

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
"""Name of the backend that samples from a URL."""
AUTO = "auto"
"""Placeholder for the best backend on this machine. No backend may have this name."""


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """Options for opening a backend. A backend ignores those that do not apply to it.

    - ``path``: the model's folder (None for a server).
    - ``policy``, ``tokenizer``: the model in training. The backend samples from it, or from a copy of its weights.
    - ``dtype``: ``auto``, ``fp32``, ``bf16``, ``fp16`` or the name of a torch dtype.
    - ``max_model_len``: maximum tokens of prompt and completion (None: the model's maximum).
    - ``memory_share``: fraction of device memory for the backend's weights and cache.
    - ``request_seeds``: whether results must depend on the requests' seeds.
    - ``in_flight``: whether weights may change while samples are in progress.
    - ``servers``, ``weights_folder``: URLs of vLLM servers, and the folder from which they read new weights.
    - ``tell``: function that shows a message to the user; called from any thread.
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
    servers: tuple[str, ...] = ()
    weights_folder: Path | None = None

    def folder(self) -> Path:
        """Return ``path``. Raises UserError if it is None."""
        if self.path is None:
            raise UserError("this backend needs a model folder, but no model is set")
        return self.path


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """A backend. ``open`` returns its Generator.

    - ``requires``: package that must be installed. ``extra``: prorl's extra that installs it.
    - ``served``: whether it samples from a URL.
    - ``logprobs``: whether completions have log-probs.
    - ``nucleus_logprobs``: whether log-probs are of the whole distribution even if ``top_p`` is below 1.
    - ``trains``: whether ``sync_weights`` is supported.
    - ``fixed_batches``: whether equal ``generate`` calls give equal samples.
    - ``auto_rank``: ``auto`` chooses the backend with the highest rank above 0. ``auto_on_gpu``: only if there is a
      GPU.
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
        """Raise MissingExtraError or UserError, with the command to install it, if the package is missing."""
        if self.is_installed:
            return
        if self.extra:
            raise MissingExtraError(self.extra, self.requires)
        raise UserError(
            f"the backend {self.name} needs {self.requires}: pip install {self.requires}"
        )

    def keeps_logprobs(self, top_p: float) -> bool:
        """Return whether completions with this ``top_p`` have log-probs under the whole distribution."""
        return self.logprobs and (top_p >= 1.0 or self.nucleus_logprobs)


BACKENDS = Door("prorl.backends", BackendSpec, "backend")


def pick_backend(
    name: str, device: str = AUTO, url: str | None = None, training: bool = False
) -> BackendSpec:
    """Return the backend ``name``, even if it is not installed.

    ``auto`` means the server if ``url`` is given, else the best installed backend. Raises UnknownNameError, or
    UserError if no backend fits ``device``, ``url`` and ``training``.
    """
    if name == AUTO and url is not None:
        name = SERVER
    if name != AUTO:
        spec = BACKENDS.get(name)
        if spec.served != (url is not None):
            raise UserError(
                f"model.backend={name if spec.served else SERVER} and server.url must be set together"
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
