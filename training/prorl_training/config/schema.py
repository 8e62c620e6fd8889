"""The training tree seen from outside: its keys, and one set of values over another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_common import config
from prorl_training.config.tree import TrainConfig


def all_keys() -> list[str]:
    """Return the dotted path of every setting outside ``phases``, in the order of the tree."""
    return config.all_keys(TrainConfig)


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``over`` laid on top, section by section; ``phases``, ``data.domain_weights`` and
    other values of their own are replaced whole."""
    return config.merge(TrainConfig, base, over)
