"""Chooses the recipe for ``prorl data build`` without arguments, depending on whether the hub is reachable."""

from __future__ import annotations

import os

from prorl_common import ServiceError
from prorl_common.http import Reply, RetryPolicy, ServerWatch, one_line
from prorl_common.hub import broken_library, hub_address, hub_is_offline

_TIMEOUT = 3.0
"""Timeout of one request in seconds."""
_POLICY = RetryPolicy(first=0.5, longest=4.0, longest_asked=30.0, tries=5)
HUB_RECIPE, OFFLINE_RECIPE = "prorl-136k", "prorl-136k-procedural"


def hub_problem() -> str | None:
    """Return why the hub cannot be used, or None if it answers."""
    if offline():
        return "HF_HUB_OFFLINE is set"
    from huggingface_hub import get_session

    endpoint = hub_address(os.environ)
    broken: tuple[type[Exception], ...] = (ValueError, *broken_library())

    def ask() -> str | None:
        try:
            answer = get_session().head(endpoint, timeout=_TIMEOUT)
        except broken as error:
            return f"{endpoint} is not reachable ({one_line(str(error))[:200]})"
        reply = Reply(answer.status_code, dict(answer.headers), b"")
        if (trouble := reply.trouble()) is not None:
            raise trouble
        return None if answer.is_success else f"{endpoint} answered HTTP {answer.status_code}"

    try:
        return ServerWatch(endpoint, _POLICY).until_answered(ask)
    except ServiceError as error:
        return str(error)


def offline() -> bool:
    return hub_is_offline(os.environ)


def choose_bare_recipe() -> tuple[str, str]:
    """Return the recipe's name and a message about the choice."""
    problem = hub_problem()
    if problem is None:
        return HUB_RECIPE, f"the hub is reachable; building {HUB_RECIPE}"
    return OFFLINE_RECIPE, (
        f"the hub cannot be used: {problem}; building {OFFLINE_RECIPE} instead "
        "(same mix and counts, generated)"
    )
