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
    model_checksum,
    take_over,
    whole_state,
    write_tensors,
)
from prorl_training.engine.openrlhf.events import report_failures
from prorl_training.engine.openrlhf.spec import current_spec
from prorl_training.engine.openrlhf.step import Checksum

_Base: Any = raw_class(ReferenceModelActor)


class ReferenceActor(_Base):  # type: ignore[misc]
    """OpenRLHF's reference actor, whose weights can be replaced during training."""

    def init_model_from_pretrained(self, *args: Any, **options: Any) -> None:
        with report_failures("the reference"):
            super().init_model_from_pretrained(*args, **options)
            TokenScoring(self.model, current_spec().config().model.liger).install()

    @property
    def _stage(self) -> int:
        return int(self.strategy.args.ds.zero_stage)

    def take_weights(self, tensors: Mapping[str, Tensor]) -> Checksum:
        take_over(self._model, tensors, self._stage)
        return self.weights_checksum()

    def weights_checksum(self) -> Checksum:
        return model_checksum(self._model, self._stage)

    @property
    def _model(self) -> Any:
        return self.model.model.module  # Actor.model is the DeepSpeed engine

    def take_file(self, path: str) -> Checksum:
        from safetensors.torch import load_file

        return self.take_weights(load_file(path))

    def take_policy(self, path: str) -> Checksum:
        from prorl_inference import load_model

        model, _ = load_model(Path(path), "cpu", next(self._model.parameters()).dtype)
        return self.take_weights({n: p.detach() for n, p in model.named_parameters()})

    def write_file(self, path: str) -> None:
        tensors = whole_state(self.model.model, self._stage)
        if tensors is not None:
            write_tensors(tensors, Path(path))

    def set_temperature(self, temperature: float) -> None:
        self.model.temperature = temperature
