"""Options of sampling from an OpenAI-compatible server."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_common.http import Address, parse_address

APIS = ("auto", "completions", "chat")
REFUSALS = ("stop", "record")
OURS = ("model", "prompt", "messages", "temperature", "top_p", "max_tokens", "seed", "n", "stream")
"""Request fields that prorl sets itself."""
REMOVABLE = ("max_tokens", "seed")
LONGEST_SECONDS = 30 * 86400.0


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How to sample from a server.

    - ``model``: the model's name on the server (None: its only model).
    - ``api``: ``completions`` (sends token ids), ``chat`` (sends messages) or ``auto``: the first if there is a
      tokenizer.
    - ``weights``: folder of the model's weights, from which the digest and the tokenizer are read.
    - ``extra``: further request fields. The value None removes a field in ``REMOVABLE``.
    - ``timeout``: seconds to wait for an answer; ``patience``: seconds to wait for a server that does not respond.
    - ``rpm``, ``tpm``: maximum requests and tokens per minute.
    - ``refusals``: ``stop`` at a sample that the server refuses, or ``record`` it.
    - ``price``: prices per million prompt tokens and per million completion tokens.
    """

    model: str | None = None
    api: str = "auto"
    key_env: str | None = None
    weights: Path | None = None
    tokenizer: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int = 32
    timeout: float = 1800.0
    patience: float = 600.0
    rpm: float | None = None
    tpm: float | None = None
    refusals: str = "stop"
    price: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.api not in APIS:
            raise UserError(
                f"the server's api is '{self.api}': it must be one of {', '.join(APIS)}"
            )
        if self.refusals not in REFUSALS:
            raise UserError(f"refusals is '{self.refusals}': it must be {' or '.join(REFUSALS)}")
        if self.concurrency < 1:
            raise UserError("concurrency must be at least 1")
        for name, seconds in (("timeout", self.timeout), ("patience", self.patience)):
            if not 0 < seconds <= LONGEST_SECONDS:
                raise UserError(
                    f"the server's {name} is {seconds:g} seconds: it must be above 0 and at most "
                    f"{LONGEST_SECONDS:.0f}"
                )
        if any(limit is not None and not 0 < limit < math.inf for limit in (self.rpm, self.tpm)):
            raise UserError("rpm and tpm must be above 0; omit them if there is no limit")
        for name, value in self.extra.items():
            if name in OURS and not (value is None and name in REMOVABLE):
                raise UserError(
                    f"the extra request fields must not contain '{name}': prorl sets it itself"
                )

    @property
    def resolved_api(self) -> str:
        if self.api != "auto":
            return self.api
        return "chat" if self.tokenizer is None and self.weights is None else "completions"

    def key(self) -> str | None:
        """Return the API key in the variable ``key_env``, or None. Raises UserError if the key is not valid."""
        if self.key_env is None:
            return None
        value = os.environ.get(self.key_env, "").strip()
        if not value:
            raise UserError(
                f"the environment variable {self.key_env} is empty: put the server's key in it"
            )
        if not all("!" <= letter <= "~" for letter in value):
            raise UserError(
                f"the environment variable {self.key_env} holds no key: a key is one word of printable ASCII "
                "characters, without blanks or line breaks"
            )
        return value


def server_address(url: str) -> Address:
    """Parse a server's URL. Its default path is ``/v1``. Raises UserError."""
    return parse_address(url, "the server's address", "http://host:8000/v1", "/v1")


def parse_extra(text: str | None) -> dict[str, Any]:
    """Return the JSON object in ``text``, or {} for None. Raises UserError."""
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UserError(f"the extra request fields are not JSON ({error})") from error
    if not isinstance(value, dict):
        raise UserError("the extra request fields must be a JSON object, such as '{\"top_k\": 20}'")
    return value


def parse_price(text: str | None) -> tuple[float, float] | None:
    """Return (prompt, completion) prices per million tokens from ``in,out``. Raises UserError."""
    if text is None:
        return None
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError as error:
        raise UserError(
            f"the price is '{text}': write it as in,out per million tokens, such as 0.5,1.5"
        ) from error
    if not (0 <= first < float("inf") and 0 <= second < float("inf")):
        raise UserError(f"the price is '{text}': both numbers must be 0 or more")
    return first, second
