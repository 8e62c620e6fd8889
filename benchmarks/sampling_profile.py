"""Where sampling spends its time on a CPU, by the batch's width, and what a busy neighbour costs.

    python benchmarks/sampling_profile.py [--rows 16 64 128 256] [--rounds 3] [--dtype bf16] [--neighbour] [--json FILE]

For each width: tokens a CPU second of the decode loop that ``TransformersGenerator`` runs, with weights packed for
oneDNN and without; the share of time in attention (its products included), in the MLPs, in the output head, in
drawing tokens, and in the rest (norms, cache, Python); and what the model's matrix products alone would allow,
measured on the same packed weights. CPU seconds, of all threads, because other load on the machine hardly moves
them; two free cores make at most twice as many tokens in a second by the clock. ``--neighbour`` measures by the
clock: child processes sample beside 0, 1 and 2 processes that keep a core busy each, under both values of
OMP_WAIT_POLICY, in turns. Weights are packed in fp32 only. Every answer has ``--tokens`` tokens; medians of rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch loads, as prorl's commands do

import torch

from prorl_inference import DEFAULT_MODEL, encode_prompt, load_model, resolve_model
from prorl_inference.backends.transformers import attention, decoding
from prorl_inference.backends.transformers.packed_weights import packed_weights
from prorl_inference.tokens import PromptRows, Row
from prorl_inference.types import SamplingParams

SAMPLES = 8
PARTS = ("attention", "MLP", "output head", "drawing", "rest")
BUSY = "while True: pass"
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def work_of(tokenizer: Any, rows: int, tokens: int) -> list[PromptRows]:
    """Return ``rows`` rows of ``tokens`` tokens each: a short chat prompt for every eight."""
    found = []
    for i in range(rows // SAMPLES):
        text = f"Which number is the largest: {7 * i + 13}, {5 * i + 8}, {3 * i + 20}?"
        ids = encode_prompt(tokenizer, [{"role": "user", "content": text}])
        found.append(
            PromptRows(tuple(ids), [Row(i, j, 1000 * i + j, tokens) for j in range(SAMPLES)])
        )
    return found


def sampled(
    model: Any, work: list[PromptRows], clock: Callable[[], float] = time.process_time
) -> float:
    """Sample ``work`` to its end; return the seconds it took by ``clock``."""
    started = clock()
    with torch.no_grad():
        for _ in decoding.decode_batch(model, work, SamplingParams(), frozenset()):
            pass
    return clock() - started


@contextlib.contextmanager
def timed_parts(model: Any, seconds: defaultdict[str, float]) -> Iterator[None]:
    """Add up in ``seconds`` how long the parts of the model, and drawing, take inside the block."""
    begun: dict[int, float] = {}
    hooks = []

    def watch(module: Any, part: str) -> None:
        def begin(module: Any, *_: Any) -> None:
            begun[id(module)] = time.process_time()

        def end(module: Any, *_: Any) -> None:
            seconds[part] += time.process_time() - begun[id(module)]

        hooks.append(module.register_forward_pre_hook(begin))
        hooks.append(module.register_forward_hook(end))

    for layer in model.model.layers:
        watch(layer.self_attn, "attention")
        watch(layer.mlp, "MLP")
    watch(model.lm_head, "output head")
    draw = decoding.sample_tokens

    def timed_draw(*arguments: Any) -> Any:
        started = time.process_time()
        try:
            return draw(*arguments)
        finally:
            seconds["drawing"] += time.process_time() - started

    try:
        with mock.patch.object(decoding, "sample_tokens", timed_draw):
            yield
    finally:
        for hook in hooks:
            hook.remove()


def products(model: Any, rows: int) -> float:
    """Return the CPU seconds of all the model's matrix products for one token of ``rows`` rows, packed."""
    layers = [m for m in model.modules() if type(m) is torch.nn.Linear]
    inputs = {m.in_features: torch.randn(rows, m.in_features, dtype=m.weight.dtype) for m in layers}
    with torch.no_grad(), packed_weights(model, rows):
        started = time.process_time()
        for layer in layers:
            layer(inputs[layer.in_features])
        return time.process_time() - started


def profile(model: Any, tokenizer: Any, rows: int, tokens: int, rounds: int) -> dict[str, Any]:
    """Return tokens a CPU second, shares of time and the limit of the matrix products at one width."""

    def work() -> list[PromptRows]:
        return work_of(tokenizer, rows, tokens)

    plain, packed, limit = [], [], []
    seconds: defaultdict[str, float] = defaultdict(float)
    whole = 0.0
    sampled(model, work())  # not counted
    for _ in range(rounds):
        plain.append(sampled(model, work()))
        with packed_weights(model, rows):
            packed.append(sampled(model, work()))
            with timed_parts(model, seconds):
                whole += sampled(model, work())
        products(model, rows)
        limit.append(min(products(model, rows) for _ in range(3)))
    seconds["rest"] = whole - sum(seconds.values())
    made = rows * tokens
    return {
        "rows": rows,
        "tokens a CPU second": made / statistics.median(packed),
        "tokens a CPU second, weights not packed": made / statistics.median(plain),
        "tokens a CPU second, products alone": rows / statistics.median(limit),
        "shares": {part: seconds[part] / whole for part in PARTS},
    }


def beside(busy: int, policy: str, options: argparse.Namespace) -> float:
    """Return tokens a second of a child process beside ``busy`` processes that each keep a core busy."""
    neighbours = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(busy)]
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--one", "--rows", "128", "--tokens", str(options.tokens)],
            env={**os.environ, "OMP_WAIT_POLICY": policy},
            check=True,
            capture_output=True,
            text=True,
        )
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
    return float(done.stdout)


def neighbours(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return tokens a second for each wait policy and number of busy neighbours, measured in turns."""
    cases = [(policy, busy) for busy in (0, 1, 2) for policy in ("PASSIVE", "ACTIVE")]
    found: dict[tuple[str, int], list[float]] = {case: [] for case in cases}
    for _ in range(options.rounds):
        for policy, busy in cases:
            found[policy, busy].append(beside(busy, policy, options))
    return [
        {"policy": policy, "busy": busy, "tokens/s": statistics.median(rates)}
        for (policy, busy), rates in found.items()
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print Markdown rows, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[16, 64, 128, 256])
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dtype", choices=DTYPES, default="fp32")
    parser.add_argument("--neighbour", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    model, tokenizer = load_model(resolve_model(DEFAULT_MODEL), "cpu", DTYPES[options.dtype])
    model.set_attn_implementation(attention.register())
    model.train(False)
    if options.one:
        rows = options.rows[0]
        with packed_weights(model, rows):
            sampled(model, work_of(tokenizer, rows, 4))
            work = work_of(tokenizer, rows, options.tokens)
            print(rows * options.tokens / sampled(model, work, time.perf_counter))
        return
    found: dict[str, Any] = {"load": os.getloadavg()[0], "torch": torch.__version__, "widths": []}
    print(f"{torch.get_num_threads()} threads, load before {found['load']:.1f}")
    print("| rows | tokens a CPU second | not packed | products alone |", " | ".join(PARTS), "|")
    for rows in options.rows:
        row = profile(model, tokenizer, rows, options.tokens, options.rounds)
        found["widths"].append(row)
        rates = [row[k] for k in row if k.startswith("tokens")]
        cells = [f"{rate:.0f}" for rate in rates] + [f"{row['shares'][p]:.0%}" for p in PARTS]
        print(f"| {rows} |", " | ".join(cells), "|", flush=True)
    if options.neighbour:
        found["neighbours"] = neighbours(options)
        for row in found["neighbours"]:
            print(f"| {row['policy']} | {row['busy']} busy | {row['tokens/s']:.0f} |")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
