"""Reward functions for TRL, verl and OpenRLHF, none of which is imported here.

An ``infra_error`` is never a reward of 0.
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
