"""The study of docs/evidence/boundary-collapse.md: arms of the boundary study with one setting changed, at few tokens.

A test holds this and the document together. Leaves out: items and base (``chain_study``) and carrying it out
(``small_run``).
"""

from __future__ import annotations

from dataclasses import replace

from chain_study import ARMS as BOUNDARY_ARMS
from chain_study import EVAL_SEED, MAX_TOKENS, MOST_STEPS, ROUNDS
from chain_study import STUDY as BOUNDARY
from small_study import Arm, Ends, Sampling

SEEDS = (1, 2)
TOKEN_BUDGET = 1_000_000
SAMPLES = 64
"""Of each held-out item."""
FILTER = ("dynamic_sampling.enabled=true", f"dynamic_sampling.max_batches={ROUNDS}")
CHANGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "v2": ("v2", ()),
    "v2-no-filter": ("v2", ("dynamic_sampling.enabled=false",)),
    "v2-lr-6e-4": ("v2", ("optimizer.lr=0.0006",)),
    "grpo": ("grpo", ()),
    "grpo-filter": ("grpo", FILTER),
    "grpo-one-update": ("grpo", ("loss.mini_batches=1",)),
    "grpo-adam": ("grpo", ("optimizer.beta2=0.95", "optimizer.weight_decay=0")),
    "grpo-lr-1e-4": ("grpo", ("optimizer.lr=0.0001",)),
    "broad": ("broad", ()),
    "broad-lr-3e-4": ("broad", ("optimizer.lr=0.0003",)),
    "broad-one-update": ("broad", ("loss.mini_batches=1",)),
}
"""Arm -> (arm of the boundary study, what is set on top of it)."""
STUDY = replace(
    BOUNDARY,
    name="boundary-collapse",
    arms={
        name: Arm(BOUNDARY_ARMS[of].preset, (*BOUNDARY_ARMS[of].over, *changed), SEEDS)
        for name, (of, changed) in CHANGES.items()
    },
    ends=Ends(TOKEN_BUDGET, 0, MOST_STEPS),
    sampling=Sampling(EVAL_SEED, SAMPLES, 1.0, MAX_TOKENS),
    base_samplings={},
)


def protocol_phrases() -> list[str]:
    """Return what the protocol's document must say, word for word, of the constants above."""
    return [
        f"{TOKEN_BUDGET:,} sampled response tokens",
        f"{SAMPLES} samples an item",
        *(
            f"| {name} | {of} | {', '.join(f'`{c}`' for c in changed)} |"
            for name, (of, changed) in CHANGES.items()
        ),
    ]
