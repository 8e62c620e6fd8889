"""The study of docs/evidence/boundary-broad.md: the boundary study's broad arm at v2's learning rate.

A test holds this and the document together. Leaves out: items and base (``chain_study``) and carrying it out
(``small_run``).
"""

from __future__ import annotations

from dataclasses import replace

from chain_study import ARMS, LR, TOKEN_BUDGET
from chain_study import STUDY as BOUNDARY
from small_study import Arm

BROAD = ARMS["broad"]
STUDY = replace(
    BOUNDARY,
    name="boundary-broad",
    arms={
        "broad-lr-3e-4": Arm(BROAD.preset, (*BROAD.over, f"optimizer.lr={LR}"), BROAD.seeds),
    },
    base_samplings={},
)


def protocol_phrases() -> list[str]:
    """Return what the protocol's document must say, word for word, of the constants above."""
    return [
        f"`optimizer.lr={LR}`",
        f"{TOKEN_BUDGET:,} sampled response tokens",
        f"seeds {' '.join(map(str, BROAD.seeds))}",
    ]
