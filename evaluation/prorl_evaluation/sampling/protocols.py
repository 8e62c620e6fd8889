"""Sampling protocols by name: what a published table was sampled with.

    prorl      pass@1 as the mean of 16 samples, temperature 0.6, top-p 0.95, 32k tokens
               (ProRL, arXiv 2505.24864, section 4 and appendix)
    boundary   256 samples for pass@k up to 128, otherwise as prorl (the same paper's boundary study)
    justrl     avg@32, temperature 0.7, top-p 0.9 (JustRL, arXiv 2512.16649)

Published numbers also depend on prompts, answer extraction and judges: a protocol settles the sampling alone.
The 32k tokens of ``justrl`` are this table's choice. Leaves out: benchmarks.
"""

from __future__ import annotations

from dataclasses import dataclass

from prorl_common import nearest
from prorl_evaluation.types import EvaluationError

DEFAULT_K = 128
DEFAULT_TEMPERATURE, DEFAULT_TOP_P, DEFAULT_MAX_TOKENS = 0.6, 0.95, 512


@dataclass(frozen=True, slots=True)
class Protocol:
    """``n`` samples a problem, the largest ``k`` of interest, and how to sample."""

    name: str
    n: int
    k: int
    temperature: float
    top_p: float
    max_tokens: int


PROTOCOLS = {
    p.name: p
    for p in (
        Protocol("prorl", 16, 1, 0.6, 0.95, 32_768),
        Protocol("boundary", 256, 128, 0.6, 0.95, 32_768),
        Protocol("justrl", 32, 1, 0.7, 0.9, 32_768),
    )
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for by itself; None where nothing was."""

    n: int | None = None
    k: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None


def pick_protocol(name: str | None) -> Protocol | None:
    """Return the protocol of that name, None for none. Raises EvaluationError naming those there are."""
    if name is None:
        return None
    found = PROTOCOLS.get(name)
    if found is None:
        raise EvaluationError(
            f"no protocol '{name}'{nearest(name, PROTOCOLS)}; there are {', '.join(PROTOCOLS)}"
        )
    return found


def merge(asked: Asked, protocol: Protocol | None, run_limit: int | None = None) -> Protocol:
    """Return what holds: what was asked for, then the protocol, then the defaults.

    Without a protocol n is 2k and ``max_tokens`` that of the run (``run_limit``), else 512. A k asked for
    beside a protocol keeps the protocol's n unless n is asked for, too.
    """
    k = asked.k or (protocol.k if protocol else DEFAULT_K)
    base = protocol or Protocol(
        "", 2 * k, k, DEFAULT_TEMPERATURE, DEFAULT_TOP_P, run_limit or DEFAULT_MAX_TOKENS
    )
    n = base.n if asked.n is None else asked.n
    return Protocol(
        name=base.name,
        n=n,
        k=min(k, n) if asked.k is None else k,
        temperature=base.temperature if asked.temperature is None else asked.temperature,
        top_p=base.top_p if asked.top_p is None else asked.top_p,
        max_tokens=asked.max_tokens or base.max_tokens,
    )
