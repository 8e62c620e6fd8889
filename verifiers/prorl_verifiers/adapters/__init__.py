"""Reward functions for TRL, verl and OpenRLHF. An ``infra_error`` never becomes a reward of 0."""

from prorl_verifiers.adapters.common import RewardUnavailableError, ScorerOptions, close_shared
from prorl_verifiers.adapters.trl import TrlReward, make_trl_reward

__all__ = [
    "RewardUnavailableError",
    "ScorerOptions",
    "TrlReward",
    "close_shared",
    "make_trl_reward",
]
