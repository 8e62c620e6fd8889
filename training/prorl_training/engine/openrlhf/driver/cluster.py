"""Access to OpenRLHF's actor groups and vLLM engines."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import ServiceError
from prorl_training.engine.openrlhf.driver.policy import same_weights
from prorl_training.engine.openrlhf.driver.rollouts import SampleRequest
from prorl_training.engine.openrlhf.step import Checksum, FitReport, Share, StepPlan, TrainingRow

REFERENCE_FILE = "reference.safetensors"


class RayCluster:
    """Calls the groups of Ray actors of an OpenRLHF trainer; implements ``Cluster``.

    ``verify_sync`` compares every vLLM engine's checksum with the policy's after each sync.
    """

    def __init__(self, trainer: Any, verify_sync: bool = False) -> None:
        self._ray: Any = importlib.import_module("ray")
        self._experiences: Any = importlib.import_module(
            "prorl_training.engine.openrlhf.actors.experiences"
        )
        self._trainer = trainer
        self._policy = trainer.actor_model_group
        self._reference = trainer.reference_model_group
        self._filler = int(trainer.tokenizer.pad_token_id or 0)
        self._tokens = int(trainer.args.rollout.max_tokens_per_gpu)
        self._verify_sync = verify_sync
        self._temperature: float | None = None
        self.ranks = len(self._policy._actor_handlers)
        self.has_reference = self._reference is not None

    def log_probs(
        self, rows: Sequence[TrainingRow | None], temperature: float
    ) -> list[tuple[Any, Any]]:
        self._set_temperature(temperature)
        blank = [self._experiences.blank_experience(row, self._filler) for row in rows]
        passes = self._experiences.passes(blank, self.ranks, self._tokens, self._filler)
        experiences = self._trainer.experience_maker.make_experience(passes)
        found: list[tuple[Any, Any]] = self._experiences.logprobs_by_row(experiences, len(rows))
        return found

    def _set_temperature(self, temperature: float) -> None:
        if temperature == self._temperature:
            return
        self._on_policy("set_temperature", temperature)
        if self.has_reference:
            self._on_reference("set_temperature", temperature)
        self._temperature = temperature

    def fit(self, dealt: Sequence[Sequence[Share]], seen: Any, plan: StepPlan) -> FitReport:
        rows = [row for shares in dealt for share in shares for row in share]
        trained = [
            self._experiences.trained_experience(row, pair, self._filler)
            for row, pair in zip(rows, seen, strict=True)
        ]
        self._ray.get(self._policy.async_run_method_batch("append", experience=trained))
        report: FitReport = self._on_policy("fit_plan", plan)[0]
        return report

    def sync_engines(self) -> None:
        """Copy the policy's weights to every vLLM engine. Raises ServiceError if ``verify_sync`` finds a difference."""
        self._trainer.broadcast_to_vllm()
        if not self._verify_sync:
            return
        policy = self._on_policy("weights_checksum")[0]
        for engine in self._trainer.vllm_engines:
            engine_sum = self._ray.get(engine.weights_checksum.remote())
            if not same_weights(engine_sum, policy):
                raise ServiceError(
                    f"after an update a vLLM engine's checksum is {engine_sum}, but the policy's is {policy}"
                )

    def copy_policy_to_reference(self) -> tuple[Checksum, Checksum]:
        weights = self._policy.async_run_method("whole_weights")
        reference = self._on_reference("take_weights", weights[0])[0]
        return self._on_policy("weights_checksum")[0], reference

    def copy_checkpoint_to_reference(self, folder: Path) -> Checksum:
        reference: Checksum = self._on_reference("take_policy", str(folder / "policy"))[0]
        return reference

    def checksums(self) -> dict[str, Checksum]:
        sums = {"policy": self._on_policy("weights_checksum")[0]}
        if self.has_reference:
            sums["reference"] = self._on_reference("weights_checksum")[0]
        return sums

    def clear_optimizer(self) -> None:
        self._on_policy("clear_optimizer")

    def load(self, folder: Path, reference: str) -> None:
        self._on_policy("read_from", str(folder), True)
        if self.has_reference and reference == "policy":
            self.copy_policy_to_reference()
        elif self.has_reference:
            self._on_reference("take_file", str(folder / REFERENCE_FILE))

    def load_policy(self, folder: Path) -> None:
        self._on_policy("read_from", str(folder), False)

    def save(self, folder: Path, reference: bool) -> None:
        self._on_policy("write_to", str(folder))
        if reference:
            self._on_reference("write_file", str(folder / REFERENCE_FILE))

    def _on_policy(self, method: str, *values: Any) -> list[Any]:
        found: list[Any] = self._ray.get(self._policy.async_run_method(method, *values))
        return found

    def _on_reference(self, method: str, *values: Any) -> list[Any]:
        found: list[Any] = self._ray.get(self._reference.async_run_method(method, *values))
        return found


class RayEngines:
    def __init__(self, trainer: Any) -> None:
        self._ray: Any = importlib.import_module("ray")
        self._call: Any = importlib.import_module(
            "openrlhf.trainer.ray.vllm_engine"
        ).batch_vllm_engine_call
        self._engines = trainer.vllm_engines
        self._sleeps = bool(trainer.args.vllm.enable_sleep)
        self.count = len(self._engines)

    def sample(
        self, engine: int, samples: Sequence[SampleRequest], options: Mapping[str, Any]
    ) -> Any:
        return self._engines[engine].sample.remote(list(samples), dict(options))

    def stop(self, engine: int) -> Any:
        return self._engines[engine].stop_sampling.remote()

    def sampling(self, engine: int) -> Any:
        return self._engines[engine].sampling.remote()

    def done(self, futures: Sequence[Any], wait: float | None) -> list[Any]:
        pending = list(futures)
        first: list[Any] = self._ray.wait(pending, num_returns=1, timeout=wait)[0]
        if not first:
            return []
        finished: list[Any] = self._ray.wait(pending, num_returns=len(pending), timeout=0)[0]
        return finished or first

    def result(self, future: Any) -> Any:
        return self._ray.get(future)

    @contextlib.contextmanager
    def awake(self) -> Iterator[None]:
        if self._sleeps:
            self._call(self._engines, "wake_up")
        try:
            yield
        finally:
            if self._sleeps:
                self._call(self._engines, "sleep")
