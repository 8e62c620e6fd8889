"""Publish a model on the hub with a model card and the record of its run."""

from prorl_training.publishing.card import Evaluation
from prorl_training.publishing.facts import Facts, facts_of_model, facts_of_run, with_licence
from prorl_training.publishing.plan import plan_push, push

__all__ = [
    "Evaluation",
    "Facts",
    "facts_of_model",
    "facts_of_run",
    "plan_push",
    "push",
    "with_licence",
]
