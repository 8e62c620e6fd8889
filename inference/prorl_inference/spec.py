"""Backends: what samples, how others add theirs (``prorl.backends``), and which one ``auto`` takes."""

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
"""The backend that ``auto`` takes for an address."""
AUTO = "auto"
"""In place of a backend's name: the best there is for the machine. No backend may have this name."""


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """What a backend may be told; it takes what concerns it.

    ``path`` is the model's folder, None where a server has the model. In training ``policy`` is the
    Transformers model that is trained, on its device, and ``tokenizer`` its tokenizer: the backend samples
    from it, or beside it and takes its weights over in ``sync_weights``. ``dtype`` is one of ``auto``,
    ``fp32``, ``bf16``, ``fp16`` or as torch names it. ``max_model_len`` is in tokens, prompt and answer
    together (None: the model's own); ``memory_share`` is the part of the device's memory for a model and
    cache of the backend's own. Without ``request_seeds`` a backend that would pay for a seed of each completion's own
    draws from one generator. ``url`` and ``server`` are of a server, and ``tell`` takes a line for
    people, from any thread.
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

    def folder(self) -> Path:
        """Return ``path``. Raises UserError where there is none."""
        if self.path is None:
            raise UserError("this backend samples from a model's folder: name the model")
        return self.path


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """One backend. ``open`` returns a Generator; everything else has a default that promises little.

    ``title``: how people write its name, where that is another word. ``requires`` is a package that must be
    installed, ``extra`` the extra of prorl that brings it. ``served``: it samples at an address
    (setting ``server.url``), not from a folder. ``logprobs``: completions carry the log-probs of their tokens;
    ``nucleus_logprobs``: of the whole distribution also under ``top_p`` below 1. ``trains``: it follows
    ``sync_weights``, so that training may sample with it.
    ``fixed_batches``: requests given together form its batches, and equal batches give equal samples; a
    backend without it is given many at once and batches by itself. ``rows``: samples that it runs at once.
    ``auto`` takes the highest ``auto_rank`` above 0, only on a GPU where ``auto_on_gpu``.
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
        """True where the package that it requires is there."""
        return not self.requires or importlib.util.find_spec(self.requires) is not None

    def check_installed(self) -> None:
        """Raise MissingExtraError, or UserError for a backend of others, where its package is missing."""
        if self.is_installed:
            return
        if self.extra:
            raise MissingExtraError(self.extra, self.requires)
        raise UserError(
            f"the backend {self.name} needs {self.requires}: pip install {self.requires}"
        )

    def keeps_logprobs(self, top_p: float) -> bool:
        """Return whether its log-probs are of the whole distribution, as a loss needs them."""
        return self.logprobs and (top_p >= 1.0 or self.nucleus_logprobs)


BACKENDS = Door("prorl.backends", BackendSpec, "backend")


def pick_backend(
    name: str, device: str = AUTO, url: str | None = None, training: bool = False
) -> BackendSpec:
    """Return the backend ``name``; ``auto`` is the server where its ``url`` is given, else the best that is
    installed, for a model on ``device``.

    Raises UnknownNameError for a name that no backend has, UserError for one that cannot sample in
    ``training``, or for a server without an address. Whether a named one is installed is not looked at.
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
                f"the backend {name} cannot follow a model in training: use {AUTO}, {able}"
            )
        return spec
    found = [s for s in BACKENDS.all() if s.auto_rank > 0 and (s.trains or not training)]
    ranked = sorted(found, key=lambda s: (-s.auto_rank, s.name))
    for spec in ranked:
        if spec.is_installed and (not spec.auto_on_gpu or pick_device(device).startswith("cuda")):
            return spec
    raise UserError(
        f"no backend can sample here: install one of {', '.join(s.name for s in ranked)}"
    )
