"""Rollouts of a run: found by filter and text, in groups, over the steps, token by token, and checked again."""

from prorl_viewer.rollouts.pages import Rollouts

__all__ = ["Rollouts"]
