"""A sampler against the trainer: its log-probs of what it sampled beside the trainer's, before and after new weights.

KL is of the sampler against the trainer, in nats a token: the mean of (r - 1) - log r with r = trainer / sampler (k3 of
Schulman, joschu.net/blog/kl-approx.html), which is never negative.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from prorl_cli.prove.stage import Finding, Place, Stage
from prorl_cli.prove.stages.needs import gpu_and_vllm
from prorl_cli.prove.stages.policies import config_of, load_policy

if TYPE_CHECKING:
    from prorl_inference import Request

MOST_KL = 0.005
"""Nats a token."""
MOST_GAP = 0.03
"""Mean |log-prob of the sampler - log-prob of the trainer|."""


def run(backend: str, place: Place) -> Finding:
    """Sample, score, give the sampler new weights, and do both again."""
    from prorl_inference import BACKENDS, BackendOptions, SamplingParams
    from prorl_training.sizing.probe import time_sampling
    from prorl_training.sizing.shape import ModelShape

    config = config_of(place)
    policy, tokenizer = load_policy(place, "bf16", config)
    rows, tokens = (16, 24) if place.tiny else (128, 1024)
    options = BackendOptions(
        place.model,
        place.device,
        str(policy.compute_dtype).removeprefix("torch."),
        rows,
        "fixed",
        None if place.tiny else 4096,
        0.3,
        policy.model,
        tokenizer,
    )
    generator = BACKENDS.get(backend).open(options)
    try:
        requests = _requests(rows)
        params = SamplingParams(1.0, 1.0, tokens)
        shape = ModelShape.from_config(policy.model.config.to_dict())

        def sampled() -> Any:
            with policy.compute():
                return time_sampling(generator, requests, params, shape, rows, 2, policy.device)

        generator.sync_weights(policy.model)
        times = sampled()
        first = _mismatch(policy, tokenizer, generator, requests, params)
        _new_weights(policy)
        generator.sync_weights(policy.model)
        second = _mismatch(policy, tokenizer, generator, requests, params)
    finally:
        generator.close()
    speed = sum(times.lengths) / times.seconds
    figures = {
        **{f"{name}_before": value for name, value in first.items()},
        **{f"{name}_after": value for name, value in second.items()},
        "tokens_per_second": speed,
        "sampled_tokens": sum(times.lengths),
    }
    worst = {name: max(first[name], second[name]) for name in ("kl", "gap")}
    passed = worst["kl"] <= MOST_KL and worst["gap"] <= MOST_GAP
    said = (
        f"mismatch KL {first['kl']:.2g}, with new weights {second['kl']:.2g} (at most {MOST_KL:g}); log-probs differ by "
        f"{worst['gap']:.2g} (at most {MOST_GAP:g}); effective sample size {second['ess']:.1%}; {speed:,.0f} tokens/s"
    )
    ratios = _ratios(place, times) if backend == "vllm" else {}
    return Finding(passed, said, figures, ratios)


def _requests(rows: int) -> list[Request]:
    from prorl_inference import Request

    return [
        Request(({"role": "user", "content": f"What is {i} + {i}?"},), tuple(range(8)))
        for i in range(rows // 8)
    ]


def _new_weights(policy: Any) -> None:
    """Move every weight by one percent of the spread of its tensor."""
    import torch

    draw = torch.Generator(device=policy.device).manual_seed(0)
    with torch.no_grad():
        for p in policy.trained:
            if p.numel() > 1:
                noise = torch.randn(p.shape, generator=draw, device=p.device, dtype=p.dtype)
                p.add_(noise, alpha=0.01 * float(p.std()))


def _mismatch(
    policy: Any, tokenizer: Any, generator: Any, requests: list[Request], params: Any
) -> dict[str, float]:
    """Return KL, mean gap and effective sample size of fresh samples."""
    import torch

    from prorl_inference import encode_prompt
    from prorl_training.policy.packing import PromptGroup, build_packs

    with policy.compute():
        answers = generator.generate(requests, params)
    groups, theirs, index = [], [], 0
    for request, completions in zip(requests, answers, strict=True):
        prompt = tuple(encode_prompt(tokenizer, request.prompt))
        indices = tuple(range(index, index + len(completions)))
        groups.append(PromptGroup(prompt, tuple(c.token_ids for c in completions), indices))
        theirs += [torch.tensor(c.logprobs) for c in completions]
        index += len(completions)
    logs = []
    for pack in build_packs(groups, policy.config.loss.pack_tokens):
        ours = policy.logprobs(pack).float().cpu()
        logs.append(ours - torch.cat([theirs[i] for i in pack.trajectories]))
    log = torch.cat(logs).double()
    r = log.exp()
    return {
        "kl": float((r - 1 - log).mean()),
        "gap": float(log.abs().mean()),
        "ess": float(r.sum() ** 2 / (r.square().sum() * len(r))),
    }


def _ratios(place: Place, times: Any) -> dict[str, float]:
    """Return the share of bandwidth that all of an iteration's time comes to, so that nothing is left beside it."""
    import torch

    from prorl_inference import pick_dtype
    from prorl_training.sizing.probe import measured_card

    if place.tiny:
        return {}
    card = measured_card(
        torch.device(place.device), pick_dtype(place.device), place.device_name, repeats=3
    )
    share = times.read / times.seconds / card.bandwidth
    return {"decode_bandwidth": share, "iteration_seconds": 0.0, "row_seconds": 0.0}


def _stage(name: str, title: str, backend: str, needs: Callable[[Place], str]) -> Stage:
    return Stage(name, title, partial(run, backend), needs, minutes=2.5)


LOCAL = _stage("sampler", "Transformers sampler against the trainer", "transformers", lambda _: "")
VLLM = _stage("vllm", "vLLM sampler against the trainer", "vllm", gpu_and_vllm)
