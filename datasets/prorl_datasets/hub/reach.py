"""Which recipe a bare ``prorl data build`` takes: the hub is asked once, and the answer is said aloud."""

from __future__ import annotations

import os
import urllib.error
import urllib.request

HUB = "https://huggingface.co"
HUB_RECIPE, OFFLINE_RECIPE = "prorl-136k", "prorl-136k-procedural"


def hub_problem(timeout: float = 3.0) -> str | None:
    """Return why the hub cannot be used, or None when one HEAD request to it was answered.

    Honours HF_HUB_OFFLINE and HF_ENDPOINT. ``timeout`` is in seconds.
    """
    if offline():
        return "HF_HUB_OFFLINE is set"
    endpoint = os.environ.get("HF_ENDPOINT") or HUB
    try:
        request = urllib.request.Request(endpoint, method="HEAD")
        with urllib.request.urlopen(request, timeout=timeout):
            return None
    except urllib.error.HTTPError as error:
        return f"{endpoint} answered HTTP {error.code}"
    except (urllib.error.URLError, OSError, ValueError) as error:
        return f"{endpoint} is not reachable ({getattr(error, 'reason', error)})"


def offline() -> bool:
    """Whether HF_HUB_OFFLINE forbids asking the hub; files it has cached can still be had."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def choose_bare_recipe() -> tuple[str, str]:
    """Return (recipe name, the line to say) for a build that named no recipe."""
    problem = hub_problem()
    if problem is None:
        return HUB_RECIPE, f"the hub is reachable; building {HUB_RECIPE}"
    return OFFLINE_RECIPE, (
        f"the hub cannot be used: {problem}; building {OFFLINE_RECIPE} instead "
        "(same mix and counts, generated)"
    )
