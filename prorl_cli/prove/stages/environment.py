"""The machine: device, versions, and its peaks in products and copies beside the card's data sheet."""

from __future__ import annotations

import shutil
from typing import Any

from prorl_cli.prove.stage import Finding, Place, Stage

LEAST_SHARE = 0.5
"""Of the data sheet's FLOP/s and bandwidth; a card below it is throttled, shared or not what it is called."""
LEAST_DISK = 2e9
"""Bytes: a checkpoint of the tiny model and the logs. A run's own are the doctor's to look at."""
PACKAGES = (
    "torch",
    "transformers",
    "vllm",
    "openrlhf",
    "deepspeed",
    "ray",
    "flash-attn",
    "liger-kernel",
)


def run(place: Place) -> Finding:
    """Measure the device."""
    import torch

    from prorl_inference import pick_dtype
    from prorl_training.sizing.cards import load_cards
    from prorl_training.sizing.probe import measured_card

    device = torch.device(place.device)
    dtype = pick_dtype(place.device) if place.on_gpu else torch.float32
    card = measured_card(device, dtype, place.device_name)
    free = shutil.disk_usage(place.folder).free
    figures: dict[str, Any] = {
        "device": place.device_name,
        "dtype": str(dtype).removeprefix("torch."),
        "tflops": round(card.flops / 1e12, 3),
        "gigabytes_per_second": round(card.bandwidth / 1e9, 1),
        "memory_gb": round(card.memory / 1e9, 1),
        "disk_gb": round(free / 1e9, 1),
        "versions": _versions(),
    }
    troubles = []
    if free < LEAST_DISK:
        troubles.append(f"{free / 1e9:.1f} GB of disk left in {place.folder}")
    if place.on_gpu and not torch.cuda.is_bf16_supported():
        troubles.append("the GPU does not compute in bf16")
    known = next((n for n in load_cards() if n in place.device_name.lower().replace(" ", "")), None)
    if known is not None:
        sheet = load_cards()[known]
        shares = {"flops": card.flops / sheet.flops, "bandwidth": card.bandwidth / sheet.bandwidth}
        figures |= {f"share_of_{known}_{name}": round(share, 3) for name, share in shares.items()}
        troubles += [
            f"{share:.0%} of the data sheet's {name}"
            for name, share in shares.items()
            if share < LEAST_SHARE
        ]
    said = f"{figures['tflops']:g} TFLOP/s in {figures['dtype']}, {figures['gigabytes_per_second']:g} GB/s"
    if not place.on_gpu:
        said = f"no GPU; this CPU: {said}"
    return Finding(
        not troubles, "; ".join([said, *troubles]), figures, card=card.model_dump(mode="json")
    )


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


STAGE = Stage("environment", "environment, peaks", run, minutes=0.5)
