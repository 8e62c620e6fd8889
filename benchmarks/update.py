"""One policy update, ours against the plain padded one, on the same trajectories in one run.

The plain update is what trainers built on Transformers do: prompt and response of every trajectory in
right-padded rows, logits in float32, log_softmax over the vocabulary, a reference pass of the same kind, the
optimiser's default implementation. Ours: packs without padding, each prompt once, logits in blocks. Both make
the same loss (one mini-batch, KL included), so the gradients are compared too. Runs alternate; time is the
process's CPU time on the CPU (other work on the machine disturbs it less) and wall time on a GPU. Leaves out
sampling and whole steps (``trainer``). Nothing is asserted.

    python benchmarks/update.py --threads 2 --repeats 3 --json update.json
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tables import save
from torch import Tensor

from prorl_inference.models.loading import load_model, pick_device
from prorl_inference.models.store import resolve_model
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.policy_loss import policy_loss
from prorl_training.config import TrainConfig
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.update import AcceptAll, Policy, UpdateBatch

Update = Callable[[], object]


class Keep(AcceptAll):
    """A judge that keeps the gradients and refuses the step."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.gradients: list[Tensor] = []

    def judge_update(self, loss: float, grad_norm: float) -> bool:
        """Copy the gradients; return False."""
        del loss, grad_norm
        self.gradients = [p.grad.clone() for p in self.policy.trained if p.grad is not None]
        return False


def trajectories(args: argparse.Namespace, vocabulary: int) -> list[PromptGroup]:
    """Return ``args.groups`` random groups of ``args.samples`` responses of around ``args.tokens``."""
    draw = random.Random(args.seed)
    groups, index = [], 0
    for _ in range(args.groups):
        prompt = tuple(draw.randrange(vocabulary) for _ in range(draw.randint(40, 60)))
        low, high = max(1, args.tokens // 2), args.tokens + args.tokens // 2
        answers = tuple(
            tuple(draw.randrange(vocabulary) for _ in range(draw.randint(low, high)))
            for _ in range(args.samples)
        )
        groups.append(PromptGroup(prompt, answers, tuple(range(index, index + args.samples))))
        index += args.samples
    return groups


def settings(args: argparse.Namespace) -> TrainConfig:
    """Return a config of one mini-batch, without a bound on the gradient."""
    return TrainConfig.model_validate(
        {
            "rollout": {"temperature": 1.0, "prompts": args.groups, "samples": args.samples},
            "loss": {"mini_batches": 1, "pack_tokens": args.pack_tokens},
            "kl": {"coefficient": 0.1},
            "optimizer": {"grad_clip": 1e9, "lr": 1e-7},
        }
    )


class Plain:
    """The padded update on the policy's own model and reference."""

    def __init__(self, policy: Policy, groups: list[PromptGroup], advantages: Tensor, rows: int):
        self.policy, self.config, self.advantages = policy, policy.config, advantages
        self.optimizer = torch.optim.AdamW(policy.trained, lr=1e-7, weight_decay=0.0)
        pairs = [
            (g.prompt, r, i) for g in groups for r, i in zip(g.responses, g.indices, strict=True)
        ]
        self.batches = [pairs[start : start + rows] for start in range(0, len(pairs), rows)]
        self.tokens = sum(len(r) for _, r, _ in pairs)
        self.gradients: list[Tensor] = []

    def __call__(self, step: bool = True) -> None:
        """Do one update, or with ``step`` False keep the gradients."""
        self.optimizer.zero_grad(set_to_none=True)
        for batch in self.batches:
            self._backward(batch)
        torch.nn.utils.clip_grad_norm_(self.policy.trained, 1e9)
        if step:
            self.optimizer.step()
        else:
            self.gradients = [p.grad.clone() for p in self.policy.trained if p.grad is not None]

    def _backward(self, batch: list[tuple[tuple[int, ...], tuple[int, ...], int]]) -> None:
        device = self.policy.device
        width = max(len(p) + len(r) for p, r, _ in batch)
        ids = torch.zeros(len(batch), width, dtype=torch.long)
        seen, answer = torch.zeros_like(ids), torch.zeros(len(batch), width, dtype=torch.bool)
        for row, (prompt, response, _) in enumerate(batch):
            end = len(prompt) + len(response)
            ids[row, :end] = torch.tensor([*prompt, *response])
            seen[row, :end] = 1
            answer[row, len(prompt) : end] = True
        ids, seen, answer = ids.to(device), seen.to(device), answer[:, 1:].to(device)
        with torch.no_grad():
            ref, _ = self._logprobs(self.policy.reference, ids, seen)
        logprobs, _ = self._logprobs(self.policy.model, ids, seen)
        advantages = self.advantages[[i for _, _, i in batch]].to(device)[:, None]
        c = self.config
        policy = policy_loss(
            logprobs, logprobs.detach(), advantages, answer.sum(1), c.loss
        ).per_token
        total = policy + c.kl.coefficient * kl_penalty(logprobs, ref, c.kl)
        (total * answer).sum().div(self.tokens).backward()  # type: ignore[no-untyped-call]

    def _logprobs(self, model: Any, ids: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        with self.policy.compute():
            logits = model(input_ids=ids, attention_mask=seen, use_cache=False).logits
        logp = logits[:, :-1].float().log_softmax(-1)
        with torch.no_grad():
            entropy = -(logp.exp() * logp).sum(-1)
        return logp.gather(-1, ids[:, 1:, None])[..., 0], entropy


def prepare(args: argparse.Namespace) -> tuple[Policy, UpdateBatch, Plain]:
    """Return the policy, its batch, and the plain update on the same."""
    device = pick_device(args.device)
    model, _ = load_model(resolve_model(args.model), device, torch.float32)
    dtype = torch.bfloat16 if args.dtype == "bf16" else torch.float32
    config = settings(args)
    policy = Policy(model, config, dtype)
    moved = copy.deepcopy(policy.policy_tensors())
    policy.load_policy_weights({n: t * 1.001 for n, t in moved.items()})  # so that KL is not 0
    groups = trajectories(args, model.config.vocab_size)
    count = args.groups * args.samples
    advantages = torch.randn(count, generator=torch.Generator().manual_seed(args.seed))
    sampled = [[0.0] * len(r) for g in groups for r in g.responses]
    batch = UpdateBatch([groups], advantages, sampled, config)
    return policy, batch, Plain(policy, groups, advantages, args.rows)


def measured(work: Update, device: torch.device) -> tuple[float, float]:
    """Return (wall seconds, CPU seconds) of ``work``."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - wall, time.process_time() - cpu


def peak(args: argparse.Namespace) -> float:
    """Return the MiB that the update named ``args.only`` needs beyond weights and reference."""
    policy, batch, plain = prepare(args)
    on_gpu = policy.device.type == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated() if on_gpu else _resident()
    plain() if args.only == "plain" else policy.update(batch)
    after = torch.cuda.max_memory_allocated() if on_gpu else _highest()
    return (after - before) / 2**20


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def _highest() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def peak_of(name: str) -> float:
    """Return ``peak`` measured in a process of its own."""
    command = [sys.executable, __file__, *sys.argv[1:], "--only", name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def gradient_difference(policy: Policy, batch: UpdateBatch, plain: Plain) -> tuple[float, float]:
    """Return the largest |difference| of a gradient element, and the largest |gradient| beside it."""
    keep = Keep(policy)
    policy.update(batch, keep)
    plain(step=False)
    pairs = list(zip(keep.gradients, plain.gradients, strict=True))
    return (
        max(float((a - b).abs().max()) for a, b in pairs),
        max(float(b.abs().max()) for _, b in pairs),
    )


def arguments() -> argparse.Namespace:
    """Return the command line's settings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=35, help="mean response length")
    parser.add_argument("--rows", type=int, default=8, help="rows of a padded micro-batch")
    parser.add_argument("--pack-tokens", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("ours", "plain"), help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    args = arguments()
    torch.set_num_threads(args.threads)
    if args.only:
        print(peak(args))
        return
    memory = {name: peak_of(name) for name in ("ours", "plain")}
    policy, batch, plain = prepare(args)
    difference, largest = gradient_difference(policy, batch, plain)
    ways: dict[str, Update] = {"ours": lambda: policy.update(batch), "plain": plain}
    for work in ways.values():
        work()
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(args.repeats):
        for name, work in ways.items():
            times[name].append(measured(work, policy.device))
    column = 0 if policy.device.type == "cuda" else 1
    seconds = {n: statistics.median(t[column] for t in rows) for n, rows in times.items()}
    result = {
        "settings": {k: str(v) for k, v in vars(args).items() if k not in ("only", "json")},
        "seconds": seconds,
        "wall_and_cpu_seconds": times,
        "time_ratio": seconds["ours"] / seconds["plain"],
        "peak_mib": memory,
        "gradient_max_abs_difference": difference,
        "gradient_max_abs": largest,
        "response_tokens": plain.tokens,
    }
    print(json.dumps(result, indent=1))
    save(args.json, result)


if __name__ == "__main__":
    main()
