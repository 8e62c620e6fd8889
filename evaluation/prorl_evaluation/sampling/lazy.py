"""A generator that loads its model when it is first asked for a sample, and which backend to take.

A finished evaluation, or one that only has verdicts to make, then never loads a model. Leaves out:
fetching a model (see ``prorl_inference``), servers.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from prorl_common import MissingExtraError, nearest
from prorl_evaluation.types import EvaluationError
from prorl_inference import Completion, Generator, Request, SamplingParams, model_digest

BACKENDS = ("auto", "transformers", "vllm", "server")
VLLM_MEMORY_SHARE = 0.9
"""Of the device's memory: nothing else is on it while an evaluation samples."""
ROWS = {"transformers": 64, "vllm": 256}
"""Samples that run at once."""


def pick_backend(backend: str, device: str, server: str | None) -> str:
    """Return ``transformers``, ``vllm`` or ``server``; ``auto`` is the server where one is named, else vLLM
    where it is installed and the model would go to a GPU, else Transformers.

    Raises EvaluationError for another word or a server without its address, MissingExtraError for ``vllm``
    without it.
    """
    if backend not in BACKENDS:
        raise EvaluationError(
            f"--backend is '{backend}'{nearest(backend, BACKENDS)}: use one of {', '.join(BACKENDS)}"
        )
    if backend != "auto" and (backend == "server") != (server is not None):
        raise EvaluationError("--backend server and --server URL go together")
    if server is not None:
        return "server"
    installed = importlib.util.find_spec("vllm") is not None
    if backend == "vllm" and not installed:
        raise MissingExtraError("vllm", "vllm")
    if backend != "auto" or not installed:
        return "transformers" if backend == "auto" else backend
    from prorl_inference import pick_device

    return "vllm" if pick_device(device).startswith("cuda") else "transformers"


class LazyGenerator:
    """Implements ``Generator`` for a model folder; ``model_digest`` is that of the files, known at once."""

    def __init__(
        self,
        path: Path,
        name: str,
        device: str,
        dtype: str,
        batch_size: int,
        backend: str = "transformers",
    ) -> None:
        """``backend`` is ``transformers`` or ``vllm``; the latter chooses its device itself."""
        self.model_id = name
        self.model_digest = model_digest(path)
        self._path, self._device, self._dtype = path, device, dtype
        self._batch_size, self._backend = batch_size, backend
        self._inner: Generator | None = None

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: Callable[[int, list[Completion]], None] | None = None,
    ) -> list[list[Completion]]:
        """Load the model if it is not, then sample; see ``Generator.generate``."""
        return self.prepare().generate(requests, params, on_done, on_result)

    def prepare(self) -> Generator:
        """Load the model if it is not, and return it."""
        if self._inner is None:
            self._inner = self._load()
        return self._inner

    def _load(self) -> Generator:
        if self._backend != "vllm":
            from prorl_inference import load_generator

            return load_generator(str(self._path), self._device, self._dtype, self._batch_size)
        from prorl_inference import VllmGenerator, load_tokenizer

        return VllmGenerator(
            self._path,
            load_tokenizer(str(self._path)),
            self._dtype,
            self._batch_size,
            memory_share=VLLM_MEMORY_SHARE,
        )

    def sync_weights(self, model: Any) -> None:
        """Take over the weights of ``model``, where one is loaded; see ``Generator.sync_weights``."""
        if self._inner is not None:
            self._inner.sync_weights(model)

    def close(self) -> None:
        """Free the model if it was loaded."""
        if self._inner is not None:
            self._inner.close()
            self._inner = None
