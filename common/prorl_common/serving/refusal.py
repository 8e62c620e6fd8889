"""An HTTP answer other than 200, raised where it is found out."""

from __future__ import annotations

import math
from typing import Any


class Refusal(Exception):
    """An HTTP answer other than 200: ``{"error": message, ...facts}``."""

    def __init__(self, status: int, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.status = status
        self.facts = facts
        self.headers: dict[str, str] = {}

    def body(self) -> dict[str, Any]:
        """Return the JSON object to send."""
        return {"error": str(self), **self.facts}


def busy(message: str, seconds: float, status: int = 503) -> Refusal:
    """Return a refusal with Retry-After: nothing was done, the same request may be sent again."""
    refusal = Refusal(status, message)
    refusal.headers["Retry-After"] = str(min(60, max(1, math.ceil(seconds))))
    return refusal
