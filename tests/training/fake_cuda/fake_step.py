"""Run the local engine's step on a CUDA device without data.

python fake_step.py '{"stub": "stub.so" or null, "cases": {"name": {"run": "update", "fault": null, ...}}}'
prints a JSON object: case -> error or null. A case's ``fault`` is planted first.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from fake_device import Gpu, answer_for_cuda, move
from torch import Tensor

from prorl_inference.backends.transformers import decoding, refill
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_inference.tokens import PromptRows, Row
from prorl_inference.types import SamplingParams
from prorl_training.config.loading import load_config
from prorl_training.policy import update
from prorl_training.policy.packing import PackMask, PromptGroup
from prorl_training.policy.update import Policy, PolicyUpdate, UpdateBatch

STEP = ("steps=4", "loss.mini_batches=2", "loss.pack_tokens=32", "kl.measure_share_every=1")
ANSWERS = (tuple(range(10, 19)), tuple(range(20, 32)), (40,))
UPLOAD = 256
"""More than the token ids of these passes, less than one of their masks."""
READS = 1 + 2 + 1  # of a KL share, two mini-batches, the means


def run_update(settings: list[str], dtype: str) -> None:
    """Run two mini-batches of packs with stale trajectories, a KL share and a reset of the reference."""
    config = load_config("prorl-v2", None, [*STEP, *settings])
    policy = Policy(tiny_model(layers=1), config, getattr(torch, dtype))
    reads = copies = 0

    def read_back(*scalars: Tensor) -> list[float]:
        nonlocal reads
        reads += 1
        assert all(x.device.type == "cuda" and x.ndim == 0 for x in scalars)
        return [0.5] * len(scalars)

    def to_host(values: Tensor) -> Tensor:
        nonlocal copies
        copies += 1
        assert values.device.type == "cuda"
        return torch.zeros(len(values))

    groups = [PromptGroup((1, 2, 3), ANSWERS, (3 * i, 3 * i + 1, 3 * i + 2)) for i in range(3)]
    batch = UpdateBatch(
        mini_batches=[groups[:2], groups[2:]],
        advantages=torch.linspace(-1, 1, 9),
        sampler_logprobs=[(-5.0,) * len(answer) for answer in ANSWERS] * 3,
        config=config,
        stale=frozenset({1, 7}),
        measure_kl_share=True,
    )
    with (
        Gpu(UPLOAD),
        mock.patch.object(update, "read_back", read_back),
        mock.patch.object(update, "to_host", to_host),
    ):
        for model in (policy.model, policy.reference):
            if model is not None:
                move(model)
        policy.device = torch.device("cuda:0")
        policy.trained = [p for p in policy.model.parameters() if p.requires_grad]
        policy.optimizer = policy._new_optimizer()
        before = policy.updates
        policy.update(batch)
        policy.reset_reference(clear_optimizer=True)
    assert policy.updates == before + 2, "no update was applied"
    assert reads == READS, f"the device was read {reads} times, not {READS}"
    assert copies == 1, f"log-probs were copied {copies} times"


def run_sampling(settings: list[str], dtype: str) -> None:
    """Run a prefill, then one token per row and step; rows end at different steps, refilled or not."""
    top_p, refilled = float(settings[0]), settings[1] == "refill"
    model, steps = tiny_model(layers=1), 0
    stop = byte_tokenizer().eos_token_id
    assert isinstance(stop, int)

    def to_host(tokens: Tensor, values: Tensor) -> tuple[list[int], list[float]]:
        nonlocal steps
        steps += 1
        assert tokens.device.type == values.device.type == "cuda"
        ended = [stop if i == steps % len(tokens) else 7 for i in range(len(tokens))]
        return ended, [-1.0] * len(tokens)

    work = [
        PromptRows(prompt, [Row(i, j, 10 * i + j, 6) for j in range(3)])
        for i, prompt in enumerate([(1, 2, 3), (4, 5), (6, 7, 8, 9)])
    ]
    params = SamplingParams(temperature=1.2, top_p=top_p, max_tokens=6)
    done: list[Row] = []
    with (
        Gpu(UPLOAD, wide=True),  # quantiles are computed in float64
        torch.no_grad(),
        mock.patch.object(decoding, "to_host", to_host),
        torch.autocast("cuda", getattr(torch, dtype), enabled=dtype != "float32"),
    ):
        move(model)
        stops = frozenset({stop})
        if refilled:
            ended = refill.decode_refilled(model, refill.Queue(model, work), params, stops, 4)
        else:
            ended = decoding.decode_batch(model, work, params, stops)
        for rows in ended:
            done += rows
    assert len(done) == 9
    assert refilled or steps == 1, f"six tokens were waited for {steps} times"


RUNS: dict[str, Callable[[list[str], str], None]] = {"update": run_update, "sampling": run_sampling}


def wrapped(owner: Any, name: str, change: Callable[[Any], Any]) -> Any:
    """Return a patch that changes the result of ``owner.name``."""
    original = getattr(owner, name)

    def call(*args: Any, **options: Any) -> Any:
        return change(original(*args, **options))

    return mock.patch.object(owner, name, call)


def after(reading: Callable[[Tensor], Any]) -> Callable[[Any], Any]:
    """Return a change for ``wrapped`` that passes a loss to ``reading`` and keeps the result."""

    def change(found: Any) -> Any:
        reading(found.loss if hasattr(found, "loss") else found)
        return found

    return change


def double(found: Any) -> Any:
    return found._replace(loss=found.loss.double())


def on_host(mask: Tensor) -> Tensor:
    """Return a mask of ones on the CPU, or the mask itself if it is there. The policy first tests masks on the CPU."""
    real = mask.device.type == "cpu"
    return mask if real else torch.ones(mask.shape, dtype=torch.bool)


FAULTS: dict[str, Callable[[], Any]] = {
    "the bias stays on the host": lambda: wrapped(PackMask, "bias", on_host),
    "a large tensor is made on the host": lambda: wrapped(
        Policy,
        "reference_logprobs",
        lambda found: found + torch.zeros(10_000).to(found.device)[: len(found)],
    ),
    "float64 in the loss": lambda: wrapped(update, "pass_loss", double),
    "item() of the loss": lambda: wrapped(update, "pass_loss", after(lambda loss: loss.item())),
    "cpu() of the loss": lambda: wrapped(update, "pass_loss", after(lambda loss: loss.cpu())),
    "tolist() of log-probs": lambda: wrapped(
        Policy, "reference_logprobs", after(lambda found: found.tolist())
    ),
    "a test of a value": lambda: wrapped(
        update, "pass_loss", after(lambda loss: bool(loss > 0) and None)
    ),
    "advantages stay on the host": lambda: wrapped(
        PolicyUpdate, "_sampled", lambda found: torch.zeros(found.shape)
    ),
    "an index from the host": lambda: wrapped(
        Policy, "reference_logprobs", lambda found: found[torch.arange(len(found))]
    ),
    "index_select by the host": lambda: wrapped(
        Policy, "reference_logprobs", lambda found: found.index_select(0, torch.arange(len(found)))
    ),
    "a length that only the device knows": lambda: wrapped(
        Policy, "reference_logprobs", lambda found: found[found <= 0]
    ),
    "products of two types": lambda: wrapped(
        update, "pass_loss", lambda found: found._replace(loss=mixed_product(found.loss))
    ),
    "a product of integers": lambda: wrapped(
        update, "pass_loss", after(lambda loss: whole_product(loss.device))
    ),
    "a gradient that is read in the backward pass": lambda: wrapped(
        update, "pass_loss", lambda found: found._replace(loss=read(found.loss))
    ),
}


def mixed_product(loss: Tensor) -> Tensor:
    with torch.autocast("cuda", enabled=False):
        square = torch.ones(4, 4, device=loss.device)
        return loss * (square @ square.bfloat16()).sum()


def whole_product(device: torch.device) -> Tensor:
    ones = torch.ones(4, 4, dtype=torch.long, device=device)
    return ones @ ones


class Read(torch.autograd.Function):
    """Returns its input. In the backward pass its gradient is read on the host."""

    @staticmethod
    def forward(ctx: Any, loss: Tensor) -> Tensor:
        return loss.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * grad.item()


def read(loss: Tensor) -> Any:
    return Read.apply(loss)  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def planted(fault: str | None) -> Iterator[None]:
    with contextlib.nullcontext() if fault is None else FAULTS[fault]():
        yield


def outcome(case: dict[str, Any]) -> str | None:
    """Return the error of a case in one line, or None."""
    try:
        with planted(case.get("fault")):
            RUNS[case["run"]](case.get("settings", []), case.get("dtype", "float32"))
    except Exception as error:
        if case.get("trace"):
            raise
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    answer_for_cuda(given["stub"])
    torch.set_num_threads(1)
    print(json.dumps({name: outcome(case) for name, case in given["cases"].items()}), flush=True)
    # torch's thread for the fake device may abort the process at exit
    os._exit(0)
