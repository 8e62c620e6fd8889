"""Reward functions for trainers. A response that could not be scored never gets a reward of 0."""

from prorl_verifiers.adapters.common import RewardUnavailableError, ScorerOptions, close_shared
from prorl_verifiers.adapters.trl import TrlReward, make_trl_reward

__all__ = [
    "RewardUnavailableError",
    "ScorerOptions",
    "TrlReward",
    "close_shared",
    "make_trl_reward",
]
