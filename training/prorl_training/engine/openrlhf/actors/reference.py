"""The reference model's process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openrlhf.trainer.ray.launcher import ReferenceModelActor
from torch import Tensor

from prorl_training.engine.openrlhf.actors import raw_class
from prorl_training.engine.openrlhf.actors.scoring import TokenScoring
from prorl_training.engine.openrlhf.actors.weights import (
    checksum,
    take_over,
    whole_state,
    write_tensors,
)
from prorl_training.engine.openrlhf.events import report_failure
from prorl_training.engine.openrlhf.spec import current_spec

_Base: Any = raw_class(ReferenceModelActor)


class ReferenceActor(_Base):  # type: ignore[misc]
    """OpenRLHF's actor with replaceable weights."""

    def init_model_from_pretrained(self, *args: Any, **options: Any) -> None:
        try:
            super().init_model_from_pretrained(*args, **options)
            TokenScoring(self.model, current_spec().config().model.liger).install()
        except Exception as error:
            report_failure(current_spec(), "the reference", error)
            raise

    @property
    def _stage(self) -> int:
        return int(self.strategy.args.ds.zero_stage)

    def take_weights(self, tensors: Mapping[str, Tensor]) -> dict[str, float]:
        """Load weights by name; return the new checksum."""
        take_over(self._model, tensors, self._stage)
        return self.weights_checksum()

    def weights_checksum(self) -> dict[str, float]:
        return checksum(self._model.named_parameters(), self._stage)

    @property
    def _model(self) -> Any:
        return self.model.model.module  # Actor.model is the DeepSpeed engine

    def take_file(self, path: str) -> dict[str, float]:
        from safetensors.torch import load_file

        return self.take_weights(load_file(path))

    def take_policy(self, path: str) -> dict[str, float]:
        from prorl_inference import load_model

        model, _ = load_model(Path(path), "cpu", next(self._model.parameters()).dtype)
        return self.take_weights({n: p.detach() for n, p in model.named_parameters()})

    def write_file(self, path: str) -> None:
        """Write a safetensors file on rank 0."""
        tensors = whole_state(self.model.model, self._stage)
        if tensors is not None:
            write_tensors(tensors, Path(path))

    def set_temperature(self, temperature: float) -> None:
        self.model.temperature = temperature
