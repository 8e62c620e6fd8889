"""What a run leaves behind in docs/evidence/data: one small JSON file.

Leaves out: making it (``small_run``) and reading it (``small_report``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from small_study import ROOT

EVERY = 10
READING = frozenset(("report", "figures", "stats", "guess", "power", "pilot"))
"""Scripts ``small_<this>`` and ``chain_<this>`` read results; no run depends on them."""
CURVES = (
    "reward_mean",
    "pass_rate",
    "response_length_mean",
    "truncated_rate",
    "filter_rate",
    "kl",
    "entropy",
    "clipped_fraction",
    "grad_norm",
    "tokens",
    "groups_kept",
    "prompts_drawn",
    "length_penalty_active",
    "seconds",
)
"""Keys of ``metrics.jsonl`` that are averaged over ``EVERY`` steps; steps without a value leave none."""


def code_digest() -> str:
    """Return the SHA-256 over the Python files that a run depends on, these scripts included."""
    found = hashlib.sha256()
    for folder in ("common", "datasets", "verifiers", "inference", "training"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            found.update(file.read_bytes())
    here = Path(__file__).parent
    for file in sorted([*here.glob("small_*.py"), *here.glob("chain_*.py")]):
        if not READING & set(file.stem.split("_")):
            found.update(file.read_bytes())
    return found.hexdigest()


def curves(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return means over blocks of ``EVERY`` steps, each task domain's pass rate, and what is measured rarely."""
    blocks = [rows[i : i + EVERY] for i in range(0, len(rows), EVERY)]
    made: dict[str, Any] = {"step": [block[-1]["step"] for block in blocks]}
    for key in CURVES:
        made[key] = [_mean([row.get(key) for row in block]) for block in blocks]
    for domain in sorted({d for row in rows for d in row["domains"]}):
        made[f"pass_rate/{domain}"] = [
            _mean([row["domains"].get(domain, {}).get("pass_rate") for row in block])
            for block in blocks
        ]
    for key in ("kl_gradient_share", "validation_pass_rate"):
        made[key] = [[r["step"], _short(r[key])] for r in rows if r.get(key) is not None]
    return made


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return _short(sum(known) / len(known)) if known else None


def _short(value: float) -> float:
    return float(f"{value:.5g}")
