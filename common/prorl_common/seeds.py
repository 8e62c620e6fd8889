"""Derives seeds from their purpose, and sets upper bounds of settings."""

from __future__ import annotations

import hashlib

MOST = 10**9
"""Upper bound of settings that declare no other."""
MOST_SEED = 2**63 - 1
MOST_STEPS = 1_000_000
MOST_SAMPLES = 1_000_000
MOST_TOKENS_IN_ALL = 10**15
MOST_TEMPERATURE = 10.0
MOST_WORKERS = 4096


def derive_seed(seed: int, purpose: str, *parts: int | str) -> int:
    """Return a seed from ``blake2b(seed, purpose, *parts)``; it has 63 bits, to fit torch and Parquet."""
    text = "\x1f".join([str(seed), purpose, *(f"{type(p).__name__}:{p}" for p in parts)])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
