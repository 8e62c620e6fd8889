"""Options of the reward service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prorl_common import UserError
from prorl_common.serving.options import ListenOptions, check_listening


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions(ListenOptions):
    """Options of the service.

    ``timeout``: seconds per attempt at an item.
    ``think_open``: whether the chat template ends the prompt with ``<think>``.
    """

    port: int = 8421
    queue: int = 20_000
    workers: int = 2
    backend: str = "local"
    allow_weak: bool = False
    timeout: float = 10.0
    modes: Mapping[str, str] = field(default_factory=dict)
    think_open: bool = False


def check_options(options: ServeOptions) -> None:
    """Raise UserError for invalid options, or ones that expose the service without a token."""
    if options.workers < 1:
        raise UserError("--workers must be at least 1")
    check_listening(options)
