"""The reckoning of ``prorl train fit`` beside what torch really holds.

Counted: bytes that a pass holds between forward and backward pass, and at its worst moment, storage by storage, at full
size (16,384 tokens) for three models. The engine's own code runs under torch's fake tensors, which have sizes and no
data, so that a model of any size can be counted on any machine; the attention kernels are the CPU's, which keep what a
GPU's keep. Resident: by how much the largest resident set of a process grows in the local engine's whole update
(reference pass, share of the KL term, backward passes, AdamW) with real numbers on the CPU, for three models, beside the
stage "update" without what is assumed for torch itself; what torch took before there was a model is told beside it.

    python benchmarks/fit.py [--only counted|resident] [--out fit.json]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import AutoConfig, AutoModelForCausalLM

from prorl_training.config import TrainConfig
from prorl_training.policy.model import PolicyModel, enable_checkpointing
from prorl_training.policy.packing import Pack, PromptGroup
from prorl_training.policy.update import Policy, UpdateBatch
from prorl_training.sizing.estimate import TORCH_BYTES
from prorl_training.sizing.fit import reckon
from prorl_training.sizing.known import KNOWN
from prorl_training.sizing.measured import LiveBytes
from prorl_training.sizing.passes import CPU_CHUNK_BYTES, PassSize, Precision, kept, peak
from prorl_training.sizing.shape import ModelShape

TOKENS = 16384
COUNTED = (
    "smollm2-135m",
    "Qwen/Qwen2.5-0.5B",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B",
)
RESIDENT: dict[str, dict[str, Any]] = {
    name: KNOWN["smollm2-135m"]
    | {"hidden_size": hidden, "intermediate_size": 8 * hidden // 3, "num_hidden_layers": layers}
    | {"num_attention_heads": hidden // 64}
    for name, hidden, layers in (("31 M", 384, 6), ("61 M", 384, 20), ("135 M", 576, 30))
}
DTYPES = {
    Precision.FLOAT32: (torch.float32, torch.float32),
    Precision.AUTOCAST: (torch.float32, torch.bfloat16),
    Precision.BF16: (torch.bfloat16, torch.float32),
}
"""Of weights, and of products under autocast (float32: none)."""


def model_of(sizes: dict[str, Any], dtype: torch.dtype) -> Any:
    """Return a model of these sizes with random weights."""
    config: Any = AutoConfig.for_model(**sizes)
    return AutoModelForCausalLM.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]


def settings(checkpointing: bool, **more: Any) -> TrainConfig:
    """Return a config for an update alone."""
    model = {"gradient_checkpointing": checkpointing, "device": "cpu", "dtype": "fp32"}
    return TrainConfig.model_validate({"model": model, "kl": {"coefficient": 0.0}, **more})


def counted(sizes: dict[str, Any], precision: Precision, checkpointing: bool) -> dict[str, Any]:
    """Return one row: reckoned and counted bytes of a masked pass of ``TOKENS`` tokens."""
    weights, products = DTYPES[precision]
    small = sizes | {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2}
    small |= {"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512}
    # what a scorer tries out on its model needs numbers: it is done on a small one of the same family
    policy = PolicyModel(model_of(small, torch.float32), settings(False), products)
    size = PassSize(
        TOKENS, TOKENS - 1024, precision, checkpointing, masked=True, chunk_bytes=CPU_CHUNK_BYTES
    )
    with FakeTensorMode():
        model = model_of(sizes, weights).eval()
        if checkpointing:
            enable_checkpointing(model)
        policy.model = policy._scorer.model = policy._scorer.whole = model
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        pack = fake_pack(size)
        with LiveBytes() as live, policy.gradient_pass(0):
            logprobs, _ = policy.target_logprobs(pack, 1.2, with_entropy=True)
            between = live.now
            logprobs.sum().backward()  # type: ignore[no-untyped-call]
    shape = ModelShape.from_config(sizes)
    return {
        "types": precision.value,
        "checkpointing": checkpointing,
        "parameters": shape.parameters,
        "kept": [kept(shape, size).total, between],
        "peak": [peak(shape, size).total, live.peak],
    }


def fake_pack(size: PassSize) -> Pack:
    """Return a pack of these sizes; call under fake tensors."""
    n, m = size.tokens, size.targets
    long = torch.long
    return Pack(
        torch.zeros(1, n, dtype=long),
        torch.zeros(1, n, dtype=long),
        torch.zeros(1, 1, n, n, dtype=torch.bool),
        torch.zeros(m, dtype=long),
        torch.zeros(m, dtype=long),
        (0,),
        (m,),
    )


def resident(name: str) -> dict[str, Any]:
    """Return one row: the stage "update" as reckoned, and this process's largest resident set in one.

    Call in a fresh process: the largest set is of its whole life.
    """
    rollout: dict[str, Any] = {
        "prompts": 2,
        "samples": 4,
        "max_tokens": 64,
        "max_prompt_tokens": 64,
    }
    rollout |= {"backend": "transformers", "batch_rows": 8}
    config = settings(
        False,
        rollout=rollout,
        loss={"mini_batches": 1, "pack_tokens": 320},
        kl={"coefficient": 1e-3, "measure_share_every": 1},
    )
    shape = ModelShape.from_config(RESIDENT[name])
    fit = reckon(config, shape, "cpu", 64 * 10**9)
    (stage,) = (s for s in fit.phases[0].stages if s.name == "update")
    model_of(
        KNOWN["smollm2-135m"] | {"num_hidden_layers": 1}, torch.float32
    )  # loads Transformers' part
    torch_alone = resident_now()
    policy = Policy(model_of(RESIDENT[name], torch.float32), config, torch.float32)
    groups = [
        PromptGroup(tuple(range(64)), (tuple(range(64)),) * 4, tuple(range(4 * g, 4 * g + 4)))
        for g in range(2)
    ]
    batch = UpdateBatch([groups], torch.randn(8), [[-1.0] * 64] * 8, config, measure_kl_share=True)
    for _ in range(2):  # the first one makes the optimiser's state
        policy.update(batch)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    grown = [stage.total - TORCH_BYTES, largest - torch_alone]
    return {"model": name, "parameters": shape.parameters, "update": grown, "torch": torch_alone}


def resident_now() -> int:
    """Return the bytes of this process's resident set."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def row_text(row: dict[str, Any]) -> str:
    """Return a row for people."""
    words = [f"{row['model']:<44}", f"{row['parameters'] / 1e6:7,.0f} M"]
    if "types" in row:
        words += [f"{row['types']:<9}", "recomputed" if row["checkpointing"] else "kept      "]
    for key in ("kept", "peak", "update"):
        if key in row:
            reckoned, real = row[key]
            words.append(
                f"{key} {reckoned / 1e9:7.3f} {real / 1e9:7.3f} GB {reckoned / real - 1:+6.1%}"
            )
    if "torch" in row:
        words.append(f"torch alone {row['torch'] / 1e9:.3f} GB")
    return "  ".join(words)


def main() -> None:
    """Print the tables and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("counted", "resident"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--resident", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.resident:
        print(json.dumps(resident(args.resident)))
        return
    rows: list[dict[str, Any]] = []
    print("reckoned, real, and by how much the reckoning is over", flush=True)
    for name in COUNTED if args.only != "resident" else ():
        for precision in DTYPES:
            for checkpointing in (False, True):
                rows.append({"model": name} | counted(KNOWN[name], precision, checkpointing))
                print(row_text(rows[-1]), flush=True)
    for name in RESIDENT if args.only != "counted" else ():
        command = [sys.executable, __file__, "--resident", name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append(json.loads(done.stdout))
        print(row_text(rows[-1]), flush=True)
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
