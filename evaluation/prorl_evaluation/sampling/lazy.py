"""A generator that loads its model when it is first asked for a sample.

A finished evaluation, or one that only has verdicts to make, then never loads a model. Leaves out:
fetching a model (see ``prorl_inference``), servers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from prorl_inference import (
    BACKENDS,
    BackendOptions,
    Completion,
    Generator,
    Request,
    SamplingParams,
    model_digest,
)


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
        """``backend`` is a name of ``BACKENDS``; some choose their device themselves."""
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
            options = BackendOptions(
                self._path, self._device, self._dtype, batch_rows=self._batch_size
            )
            self._inner = BACKENDS.get(self._backend).open(options)
        return self._inner

    def sync_weights(self, model: Any) -> None:
        """Take over the weights of ``model``, where one is loaded; see ``Generator.sync_weights``."""
        if self._inner is not None:
            self._inner.sync_weights(model)

    def close(self) -> None:
        """Free the model if it was loaded."""
        if self._inner is not None:
            self._inner.close()
            self._inner = None


def prepare(generator: Generator) -> None:
    """Have the generator load its model where it waits with that until its first sample."""
    load: Callable[[], object] | None = getattr(generator, "prepare", None)
    if load is not None:
        load()
