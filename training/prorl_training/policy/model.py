"""The policy model with adapters, frozen reference and optimiser.

Master weights are float32; bfloat16 runs under autocast.
"""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from prorl_common import MissingExtraError, ServiceError, UserError, derive_seed
from prorl_training.config import LoraConfig, OptimizerConfig, TrainConfig
from prorl_training.policy.liger import liger_logprobs, try_liger
from prorl_training.policy.logprobs import TargetScorer
from prorl_training.policy.packing import Pack
from prorl_training.policy.ranks import Ranks, shard, shard_like


def add_adapters(model: Any, config: LoraConfig, seed: int) -> Any:
    """Return the model with new adapters that depend only on ``seed``, and with its other weights frozen.

    Raises MissingExtraError without peft, and UserError if no layer matches the targets.
    """
    if importlib.util.find_spec("peft") is None:
        raise MissingExtraError("lora", "peft")
    import peft

    alpha: Any = config.alpha  # annotated int in peft, which only divides it by the rank
    names = [name.strip() for name in config.targets.split(",") if name.strip()]
    settings = peft.LoraConfig(
        r=config.rank,
        lora_alpha=alpha,
        lora_dropout=config.dropout,
        target_modules="all-linear" if names == ["all-linear"] else names,
        task_type="CAUSAL_LM",
    )
    device = model.device  # read before the model moves: adapters are drawn on the CPU
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return peft.get_peft_model(model.cpu(), settings).to(device)
        except ValueError as error:
            reason = str(error).split(". ")[0]
            raise UserError(
                f"model.lora.targets '{config.targets}' does not fit the model: {reason}; "
                "name its linear layers, like q_proj,v_proj, or use all-linear"
            ) from error


class AdapterReference:
    """Reference of a policy with adapters: the base model with a frozen copy of the adapters.

    Before the first ``take`` or ``load`` it is the base model alone.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.tensors: dict[str, Tensor] = {}
        """Frozen copy of the adapters by parameter name; empty before the first ``take``."""

    def take(self) -> None:
        self.tensors = {n: p.detach().clone() for n, p in _trained(self.model)}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Set the reference to the base model with the adapters ``tensors`` ({}: without adapters).

        Raises ServiceError if a tensor does not fit.
        """
        parameters = dict(_trained(self.model)) if tensors else {}
        _check_tensors(tensors, parameters, "reference")
        self.tensors = {n: tensors[n].to(p.device, copy=True) for n, p in parameters.items()}

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make the model compute as the reference inside the block."""
        with self._swapped() if self.tensors else self.model.disable_adapter():
            yield

    @contextmanager
    def _swapped(self) -> Iterator[None]:
        parameters = dict(_trained(self.model))
        current = {n: p.data for n, p in parameters.items()}
        try:
            for name, parameter in parameters.items():
                parameter.data = self.tensors[name]
            yield
        finally:
            for name, parameter in parameters.items():
                parameter.data = current[name]


def merged_copy(model: Any) -> Any:
    return copy.deepcopy(model).merge_and_unload()


@contextmanager
def adapter_dropout(model: Any, seed: int) -> Iterator[None]:
    """Enable the adapters' dropout inside the block, with random numbers that depend only on ``seed``."""
    modules = [m for n, m in model.named_modules() if ".lora_dropout." in n]
    on_gpu = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=on_gpu):
        torch.manual_seed(seed)
        for module in modules:
            module.training = True
        try:
            yield
        finally:
            for module in modules:
                module.training = False


def _trained(model: Any) -> list[tuple[str, Any]]:
    return [(n, p) for n, p in model.named_parameters() if p.requires_grad]


class PolicyModel:
    """A causal language model in training, its frozen reference and its optimiser.

    ``reference`` is None without a KL term, and with LoRA, where ``model`` also computes the reference. ``updates``
    counts updates. All sharded ``ranks`` must call the same methods in the same order.
    """

    def __init__(
        self,
        model: Any,
        config: TrainConfig,
        compute_dtype: torch.dtype,
        ranks: Ranks = Ranks(),  # noqa: B008 - frozen
    ) -> None:
        lora = config.model.lora
        model = model.float().eval()
        if config.model.gradient_checkpointing:
            enable_checkpointing(model)
        if lora.rank:
            model = add_adapters(model, lora, derive_seed(config.seed, "lora")).float().eval()
        self.model: Any = model
        self.config = config
        self.compute_dtype = compute_dtype
        self.ranks = ranks
        self.device: torch.device = next(model.parameters()).device
        self.updates = 0
        self.planned_updates = config.planned_updates
        self.has_reference = any(c.kl.coefficient > 0 for c in config.phase_configs)
        self.adapters = AdapterReference(model) if lora.rank else None
        scorer = self._new_scorer(model)
        self.reference: Any = None
        if self.has_reference and self.adapters is None:
            self.reference = copy.deepcopy(model).requires_grad_(False)
            self._score_reference = self._pass_of(self._new_scorer(self.reference))
        self._score = self._pass_of(scorer)
        self.trained = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = self._new_optimizer()

    def _new_scorer(self, model: Any) -> TargetScorer:
        if not self.config.model.liger:
            return TargetScorer(model)
        scorer = TargetScorer(model, liger_logprobs)
        if scorer.factor is None:
            raise UserError(
                f"model.liger=true: {type(scorer.whole).__name__} changes the logits of "
                "its output layer, which Liger's kernel does not support: --set model.liger=false"
            )
        try_liger(scorer.whole.get_output_embeddings(), self.compute_dtype, self.device)
        return scorer

    def _pass_of(self, scorer: TargetScorer) -> Callable[..., tuple[Tensor, Tensor | None]]:
        return shard(scorer) if self.ranks.sharded else scorer.score

    def _new_optimizer(self) -> torch.optim.AdamW:
        o = self.config.optimizer
        return torch.optim.AdamW(
            self.trained,
            lr=o.lr,
            betas=(o.beta1, o.beta2),
            eps=o.eps,
            weight_decay=o.weight_decay,
            fused=self.device.type in ("cpu", "cuda"),
        )

    @contextmanager
    def compute(self) -> Iterator[None]:
        """Use the compute type inside the block (bfloat16: by autocast)."""
        enabled = self.compute_dtype != torch.float32
        with torch.autocast(self.device.type, dtype=self.compute_dtype, enabled=enabled):
            yield

    def target_logprobs(
        self, pack: Pack, temperature: float = 1.0, with_entropy: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Return differentiable log-probs (N,) of the pack's targets, and entropies (N,) or None."""
        with self.compute():
            return self._score(pack, temperature, with_entropy)

    def logprobs(self, pack: Pack, temperature: float = 1.0) -> Tensor:
        with torch.no_grad():
            return self.target_logprobs(pack, temperature)[0]

    def reference_logprobs(self, pack: Pack, temperature: float = 1.0) -> Tensor:
        """Return log-probs (N,) under the reference, without gradient. Raises ServiceError if there is none."""
        if not self.has_reference:
            raise ServiceError(
                "this run keeps no reference: its KL coefficient is 0 in every phase"
            )
        with torch.no_grad(), self.compute():
            if self.adapters is None:
                return self._score_reference(pack, temperature)[0]
            with self.adapters.active():
                return self._score(pack, temperature)[0]

    @contextmanager
    def gradient_pass(self, *purpose: int) -> Iterator[None]:
        """Prepare for a forward and backward pass inside the block. The numbers ``purpose`` seed dropout."""
        dropout = self.config.model.lora.dropout if self.adapters else 0.0
        with ExitStack() as stack:
            stack.enter_context(checkpointed_pass(self.model))
            if dropout:
                seed = derive_seed(self.config.seed, "lora_dropout", self.updates, *purpose)
                stack.enter_context(adapter_dropout(self.model, seed))
            yield

    def step_optimizer(self, settings: OptimizerConfig, lr: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"], group["eps"] = lr, settings.eps
            group["betas"] = (settings.beta1, settings.beta2)
            group["weight_decay"] = settings.weight_decay
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.updates += 1

    def reset_reference(
        self, clear_optimizer: bool, weights: Mapping[str, Tensor] | None = None
    ) -> None:
        """Set the reference to ``weights`` (default: the policy's). Raises ServiceError if a tensor does not fit."""
        if weights is not None:
            self.load_reference(weights)
        elif self.adapters is not None:
            self.adapters.take()
        elif self.reference is not None:
            _copy_into(self.reference, dict(self.model.named_parameters()), "policy")
        if clear_optimizer:
            self.optimizer = self._new_optimizer()

    def policy_tensors(self) -> dict[str, Tensor]:
        return self._whole((n, p) for n, p in self.model.named_parameters() if p.requires_grad)

    def weights(self) -> dict[str, Tensor]:
        """Return all weights by parameter name. If sharded, ranks other than 0 get empty tensors."""
        return self._whole(self.model.named_parameters())

    def _whole(self, named: Iterable[tuple[str, Tensor]]) -> dict[str, Tensor]:
        return {name: self.ranks.whole(tensor).contiguous() for name, tensor in named}

    def load_policy_weights(self, tensors: Mapping[str, Tensor]) -> None:
        """Load trained weights by parameter name. Raises ServiceError if a tensor does not fit."""
        _copy_into(self.model, tensors, "policy")

    def reference_tensors(self) -> dict[str, Tensor]:
        """Return the reference's trained weights by parameter name, or {} without a reference."""
        if self.adapters is not None:
            return self._whole(self.adapters.tensors.items())
        return {} if self.reference is None else self._whole(self.reference.named_parameters())

    def load_reference(self, tensors: Mapping[str, Tensor]) -> None:
        """Load the result of ``reference_tensors``. Raises ServiceError if a tensor does not fit."""
        if self.adapters is not None:
            self.adapters.load(tensors)
        elif self.reference is not None:
            _copy_into(self.reference, tensors, "reference")

    def optimizer_tensors(self) -> dict[str, Tensor]:
        """Return the optimiser's moments and step counts, with keys ``parameter name|field``."""
        tensors: dict[str, Tensor] = {}
        for name, parameter in self.model.named_parameters():
            state = self.optimizer.state.get(parameter, {})
            tensors |= self._whole((f"{name}|{key}", value) for key, value in state.items())
        return tensors

    def load_optimizer(self, tensors: Mapping[str, Tensor]) -> None:
        """Load the result of ``optimizer_tensors``. Raises ServiceError for an unknown parameter."""
        by_name = dict(self.model.named_parameters())
        self.optimizer = self._new_optimizer()
        for key, value in tensors.items():
            name, _, field = key.rpartition("|")
            if name not in by_name:
                raise ServiceError(
                    f"the optimiser state has '{name}', which is not a parameter of the model"
                )
            parameter = by_name[name]
            fused = self.optimizer.defaults["fused"]
            device = parameter.device if fused or field != "step" else torch.device("cpu")
            moved = value.to(device, copy=True)
            if field != "step":
                moved = shard_like(moved, parameter)
            self.optimizer.state[parameter][field] = moved

    def save_model(self, path: Path, weights: Mapping[str, Tensor]) -> None:
        """Write a Hugging Face model folder, with adapters merged. ``weights`` is the result of ``self.weights()``."""
        from prorl_inference import quiet_transformers

        model, options = self.model if self.adapters is None else merged_copy(self.model), {}
        if self.ranks.sharded:
            names = {id(p): n for n, p in model.named_parameters()}  # tied weights have one name
            state = model.state_dict(keep_vars=True)
            options["state_dict"] = {
                key: weights[names[id(value)]] if id(value) in names else value
                for key, value in state.items()
            }
        with quiet_transformers():
            model.save_pretrained(path, **options)


def enable_checkpointing(model: Any) -> None:
    """Enable gradient checkpointing and disable dropout. Raises UserError if the model does not support it."""
    if not getattr(model, "supports_gradient_checkpointing", False):
        raise UserError(
            f"{type(model).__name__} does not support gradient checkpointing: use "
            "--set model.gradient_checkpointing=false"
        )
    newer = getattr(model, "activation_checkpointing_enable", None)
    (newer or model.gradient_checkpointing_enable)({"use_reentrant": False})
    for module in model.modules():  # the policy never uses dropout, in any mode
        for name, value in vars(module).items():
            if ("dropout" in name or name == "layerdrop") and isinstance(value, float):
                setattr(module, name, 0.0)


@contextmanager
def checkpointed_pass(model: Any) -> Iterator[None]:
    """Make passes inside the block recompute activations, if gradient checkpointing is enabled."""
    # Transformers recomputes only layers in training mode; the modules inside stay in evaluation mode, without dropout
    layers = [m for m in model.modules() if getattr(m, "gradient_checkpointing", False) is True]
    before = [layer.training for layer in layers]
    for layer in layers:
        layer.training = True
    try:
        yield
    finally:
        for layer, mode in zip(layers, before, strict=True):
            layer.training = mode


def _copy_into(model: Any, tensors: Mapping[str, Tensor], role: str) -> None:
    parameters = dict(model.named_parameters())
    trained = {n: p for n, p in parameters.items() if p.requires_grad} or parameters
    _check_tensors(tensors, trained, role)
    with torch.no_grad():
        for name, parameter in trained.items():
            parameter.copy_(shard_like(tensors[name], parameter))


def _check_tensors(tensors: Mapping[str, Tensor], parameters: Mapping[str, Any], role: str) -> None:
    for name, parameter in parameters.items():
        if name not in tensors or tensors[name].shape != parameter.shape:
            state = "lack" if name not in tensors else "have a wrong shape for"
            raise ServiceError(f"the weights for the {role} {state} {name}")
