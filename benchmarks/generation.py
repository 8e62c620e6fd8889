"""Our sampling beside ``model.generate`` of Transformers: same model, prompts, samples and lengths.

    python benchmarks/generation.py [--prompts N] [--samples N] [--tokens N] [--rounds N] [--json FILE]

Both sample at temperature 1 from the full vocabulary. ``equal``: every answer has ``--tokens`` tokens.
``mixed``: the same target length a sample for both sides, spread evenly from 1 to twice ``--tokens``, made by
token budgets here and by a stopping criterion there; ``generate`` runs each of its batches until the last row
ends, as it does. The contenders take turns, after a warm-up each, so that a noisy machine disturbs all
alike; medians and the ratio of medians are reported, in wall time and in CPU time of the process. Leaves
out vLLM and training.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from prorl_inference import (
    DEFAULT_MODEL,
    Batching,
    encode_prompt,
    load_model,
    resolve_model,
)
from prorl_inference.backends.transformers import attention
from prorl_inference.backends.transformers.decoding import decode_batch
from prorl_inference.backends.transformers.generator import pack
from prorl_inference.backends.transformers.refill import Queue, decode_refilled
from prorl_inference.tokens import PromptRows, Row
from prorl_inference.types import SamplingParams

PARAMS = SamplingParams()
ATTENTION = "prorl_grouped"  # what TransformersGenerator sets on the CPU; ``generate`` keeps sdpa


@dataclass(frozen=True)
class Case:
    """One comparison: prompts as token ids, and the length wanted of each sample of each."""

    name: str
    prompts: list[list[int]]
    lengths: list[list[int]]
    batch_rows: int


def ours(model: Any, case: Case, batching: Batching) -> int:
    """Sample with the decode loop of ``TransformersGenerator``; return the tokens made."""
    model.set_attn_implementation(ATTENTION)
    work = [
        PromptRows(tuple(ids), [Row(i, j, 1000 * i + j, length) for j, length in enumerate(wanted)])
        for i, (ids, wanted) in enumerate(zip(case.prompts, case.lengths, strict=True))
    ]
    ended: list[Row] = []
    stops: frozenset[int] = frozenset()
    with torch.no_grad():
        if batching == "refill":
            for rows in decode_refilled(model, Queue(model, work), PARAMS, stops, case.batch_rows):
                ended += rows
        else:
            for batch in pack(work, case.batch_rows):
                for rows in decode_batch(model, batch, PARAMS, stops):
                    ended += rows
    return sum(len(row.token_ids) for row in ended)


def theirs(model: Any, case: Case) -> int:
    """Sample with ``generate``, left-padded batches of the same rows; return the tokens wanted."""
    model.set_attn_implementation("sdpa")
    rows = [
        (ids, length)
        for ids, wanted in zip(case.prompts, case.lengths, strict=True)
        for length in wanted
    ]
    rows.sort(key=lambda row: -len(row[0]))
    for start in range(0, len(rows), case.batch_rows):
        batch = rows[start : start + case.batch_rows]
        width = max(len(ids) for ids, _ in batch)
        padded = torch.tensor([[0] * (width - len(ids)) + ids for ids, _ in batch])
        mask = torch.tensor([[0] * (width - len(ids)) + [1] * len(ids) for ids, _ in batch])
        limits = torch.tensor([width + length for _, length in batch])
        model.generate(
            padded,
            attention_mask=mask,
            do_sample=True,
            temperature=1.0,
            top_p=1.0,
            top_k=0,
            max_new_tokens=max(length for _, length in batch),
            eos_token_id=None,
            pad_token_id=0,
            stopping_criteria=[lambda ids, scores, limits=limits: ids.shape[1] >= limits],
        )
    return sum(length for _, length in rows)


def measure(
    contenders: dict[str, Callable[[], int]], rounds: int
) -> dict[str, dict[str, float | int]]:
    """Return medians of wall and CPU seconds over ``rounds`` turns, after one warm-up each."""
    tokens = {name: work() for name, work in contenders.items()}
    wall: dict[str, list[float]] = {name: [] for name in contenders}
    cpu: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, work in contenders.items():
            started, used = time.perf_counter(), time.process_time()
            work()
            wall[name].append(time.perf_counter() - started)
            cpu[name].append(time.process_time() - used)
    return {
        name: {
            "tokens": tokens[name],
            "seconds": statistics.median(wall[name]),
            "cpu_seconds": statistics.median(cpu[name]),
            "tokens_per_second": tokens[name] / statistics.median(wall[name]),
        }
        for name in contenders
    }


def compare(model: Any, case: Case, rounds: int) -> dict[str, Any]:
    """Measure one case; add how many times faster than ``generate`` each of ours is."""
    found = measure(
        {
            "generate": lambda: theirs(model, case),
            "fixed": lambda: ours(model, case, "fixed"),
            "refill": lambda: ours(model, case, "refill"),
        },
        rounds,
    )
    if len({row["tokens"] for row in found.values()}) != 1:
        raise RuntimeError(f"{case.name}: the contenders made different numbers of tokens")
    base = found["generate"]
    for row in found.values():
        row["speedup"] = base["seconds"] / row["seconds"]
        row["cpu_speedup"] = base["cpu_seconds"] / row["cpu_seconds"]
    return {"case": case.name, "batch_rows": case.batch_rows, "results": found}


def make_cases(tokenizer: Any, options: argparse.Namespace) -> list[Case]:
    """Return the two cases: arithmetic questions as chat prompts, equal and mixed lengths."""
    texts = [
        f"What is {7 * i + 13} plus {5 * i + 8}? Show the steps, then give the number alone."
        for i in range(options.prompts)
    ]
    prompts = [encode_prompt(tokenizer, [{"role": "user", "content": text}]) for text in texts]
    equal = [[options.tokens] * options.samples for _ in texts]
    count = options.prompts * options.samples
    spread = [1 + (i * 7919 % count) * (2 * options.tokens - 1) // count for i in range(count)]
    mixed = [spread[i : i + options.samples] for i in range(0, count, options.samples)]
    rows = options.rows or count
    return [Case("equal", prompts, equal, rows), Case("mixed", prompts, mixed, rows)]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--prompts", type=int, default=8)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=35)
    parser.add_argument("--rows", type=int, default=0, help="rows of a batch; 0: all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="0: as torch chooses")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(arguments)


def main() -> None:
    """Measure, print a line a contender, write JSON."""
    options = parse()
    if options.threads:
        torch.set_num_threads(options.threads)
    dtype = torch.float32 if options.device == "cpu" else torch.bfloat16
    model, tokenizer = load_model(resolve_model(options.model), options.device, dtype)
    report: dict[str, Any] = {
        "model": options.model,
        "machine": f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads",
        "torch": torch.__version__,
        "cases": [],
    }
    attention.register()
    for case in make_cases(tokenizer, options):
        found = compare(model, case, options.rounds)
        report["cases"].append(found)
        for name, row in found["results"].items():
            print(
                f"{case.name:6} {name:9} {row['seconds']:7.2f} s {row['tokens_per_second']:7.1f} tok/s"
                f"  x{row['speedup']:.2f} wall, x{row['cpu_speedup']:.2f} CPU",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
