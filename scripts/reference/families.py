"""Tables of prorl's problem families by folder, and of the procedural recipe's reasoning-gym tasks."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from prorl_datasets.procedural import families
from prorl_datasets.recipe.recipe import load_recipe
from prorl_datasets.sources.reasoning_gym import ReasoningGymSource
from prorl_datasets.types import DOMAINS
from reference.markdown import code_list, table

RECIPE = "prorl-136k-procedural"


def code() -> str:
    """Return the code families by topic, with a summary of each."""
    parts = []
    for topic in _topics("code"):
        rows = [(f"`{family.name}`", family.summary) for family in families(topic).values()]
        parts += [_said_of(topic), table(("family", "about"), rows)]
    return "\n\n".join(parts)


def math() -> str:
    """Return the families of mathematics by topic."""
    return _by_topic("math")


def stem() -> str:
    """Return the STEM families by topic."""
    return _by_topic("stem")


def instruction() -> str:
    """Return the instruction families."""
    return code_list(families("instruction"))


def small() -> str:
    """Return the small families by domain."""
    found = families("small").values()
    by_domain = {d: [f.name for f in found if f.domain == d] for d in DOMAINS}
    return "\n\n".join(f"**{d}** ({len(n)}): {code_list(n)}" for d, n in by_domain.items() if n)


def reasoning_gym() -> str:
    """Return the reasoning-gym tasks of the procedural recipe by domain."""
    entries = load_recipe(RECIPE).entries
    parts = []
    for domain in DOMAINS:
        sources = [entry.source for entry in entries if entry.domain == domain]
        tasks = sorted(source.task for source in sources if isinstance(source, ReasoningGymSource))
        if tasks:
            parts.append(f"**{domain}** ({len(tasks)}): {code_list(tasks)}")
    return "\n\n".join(parts)


def _by_topic(under: str) -> str:
    """Return the families in each topic folder of a domain."""
    topics = _topics(under)
    return "\n\n".join(f"{_said_of(topic)}: {code_list(families(topic))}" for topic in topics)


def _topics(under: str) -> list[str]:
    """Return the topic folders of a domain, as arguments of ``families``."""
    path = import_module(f"prorl_datasets.procedural.{under}").__path__
    return [f"{under}.{found.name}" for found in pkgutil.iter_modules(path) if found.ispkg]


def _said_of(topic: str) -> str:
    """Return the topic from a folder's docstring, and its number of families."""
    said = (import_module(f"prorl_datasets.procedural.{topic}").__doc__ or "").strip()
    about = said.removeprefix("Families of ").removesuffix(".")
    return f"**{about[:1].upper()}{about[1:]}** ({len(families(topic))})"
