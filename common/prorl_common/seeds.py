"""Derive seeds from their purpose, and define bounds and defaults that several packages share."""

from __future__ import annotations

import hashlib

MOST = 10**9
"""Maximum of settings that declare no maximum."""
MOST_SEED = 2**63 - 1
MOST_STEPS = 1_000_000
MOST_SAMPLES = 1_000_000
MOST_TOKENS_IN_ALL = 10**15
MOST_TEMPERATURE = 10.0
MOST_WORKERS = 4096
TURNS = 8
"""Default maximum number of responses to an environment."""


def derive_seed(seed: int, purpose: str, *parts: int | str) -> int:
    """Return the 63-bit seed ``blake2b(seed, purpose, *parts)``."""
    text = "\x1f".join([str(seed), purpose, *(f"{type(p).__name__}:{p}" for p in parts)])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
