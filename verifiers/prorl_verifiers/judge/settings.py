"""Which server judges, and how it is asked: the environment's PRORL_JUDGE_* and nothing else.

Without URL and model the judge is off: no task can turn it on.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field

from prorl_common import UserError
from prorl_common.http import Address, parse_address

URL, MODEL, KEY = "PRORL_JUDGE_URL", "PRORL_JUDGE_MODEL", "PRORL_JUDGE_KEY"
VOTES, TIMEOUT = "PRORL_JUDGE_VOTES", "PRORL_JUDGE_TIMEOUT"
MAX_VOTES = 15


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """``votes`` is odd: so many times each answer is judged, and the majority counts. ``timeout``: seconds of
    one reply."""

    address: Address
    model: str
    key: str | None = field(default=None, repr=False)
    votes: int = 1
    timeout: float = 120.0

    @classmethod
    def from_environment(cls) -> JudgeSettings:
        """Return what the environment says. Raises UserError where the judge is off or a value makes no sense."""
        url, model = (os.environ.get(name, "").strip() for name in (URL, MODEL))
        if not url or not model:
            missing = " and ".join(
                name for name, value in ((URL, url), (MODEL, model)) if not value
            )
            raise UserError(
                "a task asks for the verifier 'judge', whose verdicts a model gives, and it is off: set "
                f"{missing} to turn it on, or leave such tasks out"
            )
        address = parse_address(url, f"the judge's address ({URL})", "http://host:8000/v1", "/v1")
        key = os.environ.get(KEY, "").strip()
        if not all("!" <= letter <= "~" for letter in key):
            raise UserError(f"{KEY} holds no key: a key is one word of printable ASCII characters")
        votes, timeout = _number(VOTES, 1.0), _number(TIMEOUT, 120.0)
        if votes not in range(1, MAX_VOTES + 1, 2):
            raise UserError(f"{VOTES} must be an odd number, at most {MAX_VOTES}")
        if not 0 < timeout <= 86_400:
            raise UserError(f"{TIMEOUT} must be above 0 seconds, at most a day")
        return cls(address, model, key or None, int(votes), timeout)


def _number(name: str, default: float) -> float:
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        return float(text)
    except ValueError:
        return math.nan
