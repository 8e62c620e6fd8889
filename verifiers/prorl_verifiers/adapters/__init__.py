"""Reward functions for other trainers: TRL, verl, OpenRLHF. No trainer is imported here.

An ``infra_error`` is never a reward of 0: TRL gets None; verl and OpenRLHF, which cannot carry that, get an exception
after retries.
"""

from prorl_verifiers.adapters.common import RewardUnavailableError, ScorerOptions, close_shared
from prorl_verifiers.adapters.trl import TrlReward, make_trl_reward

__all__ = [
    "RewardUnavailableError",
    "ScorerOptions",
    "TrlReward",
    "close_shared",
    "make_trl_reward",
]
