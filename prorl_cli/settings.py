"""Find the setting that replaces an unknown option."""

from __future__ import annotations

from importlib import import_module

TREES = {
    "train": ("prorl_training.config", "TrainConfig"),
    "eval": ("prorl_evaluation.config", "EvalConfig"),
    "data": ("prorl_evaluation.config", "EvalConfig"),
}
"""Command group -> module and class of its settings."""
SECTIONS = {
    "compare": "comparison",
    "report": "comparison",
    "table": "comparison",
    "novelty": "novelty",
}
"""Command -> section preferred among settings of the same name."""
SHORT = {"server": "server.url", "gpus": "openrlhf.gpus_per_node"}
"""Options whose setting has another name."""


def setting_for(command: str, option: str) -> str | None:
    """Return the setting that replaces ``option`` of ``command`` (such as ``prorl eval run``), or None."""
    _, group, *verbs = [*command.split(), ""]
    if group not in TREES:
        return None
    from prorl_common.config import all_keys

    module, tree = TREES[group]
    keys = all_keys(getattr(import_module(module), tree))
    name = option.lstrip("-").replace("-", "_")
    matches = [key for key in keys if name in (key.replace(".", "_"), key.rpartition(".")[2])]
    first = SECTIONS.get(verbs[0], "")
    matches.sort(key=lambda key: not key.startswith(f"{first}.") if first else False)
    return SHORT.get(name) or (matches[0] if matches else None)
