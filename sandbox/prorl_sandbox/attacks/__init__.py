"""The attack suite: hostile programs as data, run in a sandbox and held against four invariants.

Nothing of ``programs/`` is ever executed outside a box.
"""

from prorl_sandbox.attacks.catalogue import load_cases, source_for
from prorl_sandbox.attacks.peer_runs import PEERS, PeerResult, run_peers
from prorl_sandbox.attacks.runner import run_attack
from prorl_sandbox.attacks.suite import run_suite
from prorl_sandbox.attacks.types import Attack, AttackResult, Case, Report

__all__ = [
    "PEERS",
    "Attack",
    "AttackResult",
    "Case",
    "PeerResult",
    "Report",
    "load_cases",
    "run_attack",
    "run_peers",
    "run_suite",
    "source_for",
]
