"""Options, scoring and retries that the adapters share. All functions are thread-safe."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from time import sleep
from typing import Any, Protocol

from prorl_common import ServiceError, UserError, nearest, use_plugins
from prorl_verifiers.extract import OPEN_THINK
from prorl_verifiers.pool.pool import VerifierPool
from prorl_verifiers.remote_pool import RemotePool
from prorl_verifiers.tasks import parse_modes
from prorl_verifiers.types import Item, Verdict

PREFIX = "PRORL_"


class RewardUnavailableError(ServiceError):
    """Raised if a response has no verdict after all retries."""


class Scorer(Protocol):
    """The methods that VerifierPool and RemotePool have in common."""

    def score(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict per (response, task), in order."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ScorerOptions:
    """Options of the adapters.

    ``timeout``: seconds per attempt.
    ``modes``: verifier modes, such as ``math=either,logic=reference``.
    ``url``: the address of a reward server. If empty, responses are scored in a local pool.
    ``think_open``: whether the chat template ends the prompt with ``<think>``.
    ``retries``: how often items without a verdict are scored again.
    ``plugin``: paths of plug-in files, separated by ``os.pathsep``.
    """

    workers: int = 2
    backend: str = "local"
    allow_weak: bool = False
    timeout: float = 10.0
    modes: str = ""
    url: str = ""
    token: str = field(default="", repr=False)
    think_open: bool = False
    retries: int = 2
    plugin: str = ""

    @classmethod
    def from_environment(cls, **options: Any) -> ScorerOptions:
        """Create the options and load their plug-ins. Raises UserError.

        Missing options are read from environment variables such as ``PRORL_WORKERS`` and ``PRORL_URL``.
        """
        types = {option.name: option.type for option in fields(cls)}
        for name in options:
            if name not in types:
                raise UserError(f"unknown reward option {name!r}{nearest(name, types)}")
        values: dict[str, Any] = {}
        for name, kind in types.items():
            value = options.get(name, os.environ.get(PREFIX + name.upper()))
            if value is not None:
                values[name] = _convert(name, str(kind), value)
        complete = cls(**values)
        use_plugins(path for path in complete.plugin.split(os.pathsep) if path)
        return complete


def _convert(name: str, kind: str, value: Any) -> Any:
    text = str(value).strip()
    if kind == "bool":
        if text.lower() in ("1", "true", "yes", "on"):
            return True
        if text.lower() in ("", "0", "false", "no", "off"):
            return False
        raise UserError(f"reward option {name}: use true or false, not {text!r}")
    if kind == "str":
        return text
    try:
        return int(text) if kind == "int" else float(text)
    except ValueError as error:
        raise UserError(f"reward option {name}: {text!r} is not a number") from error


def open_scorer(options: ScorerOptions) -> Scorer:
    modes = parse_modes(options.modes)
    if options.url:
        return RemotePool([options.url], options.token or None, modes=modes or None)
    return VerifierPool(
        options.workers,
        options.backend,
        allow_weak=options.allow_weak,
        timeout_seconds=options.timeout,
        modes=modes,
    )


class _Shared:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pid = os.getpid()
        self.scorers: dict[ScorerOptions, Scorer] = {}
        self.closes_at_exit = False


_shared = _Shared()


def shared_scorer(options: ScorerOptions) -> Scorer:
    global _shared
    options = replace(options, think_open=False, retries=0)  # a scorer does not use these two
    if _shared.pid != os.getpid():
        _shared = _Shared()
    shared = _shared
    with shared.lock:
        if not shared.closes_at_exit:
            atexit.register(close_shared)
            shared.closes_at_exit = True
        if options not in shared.scorers:
            shared.scorers[options] = open_scorer(options)
        return shared.scorers[options]


def close_shared() -> None:
    if _shared.pid != os.getpid():
        return
    with _shared.lock:
        scorers = list(_shared.scorers.values())
        _shared.scorers.clear()
    for scorer in scorers:
        scorer.close()


def score_with_retries(scorer: Scorer, items: Sequence[Item], retries: int) -> list[Verdict]:
    """Score the items. Those with ``infra_error`` are scored again up to ``retries`` times, with exponential backoff."""
    verdicts = scorer.score(items)
    for attempt in range(retries):
        missing = [index for index, verdict in enumerate(verdicts) if verdict.is_infra_error]
        if not missing:
            break
        sleep(0.5 * 2**attempt)
        again = scorer.score([items[index] for index in missing])
        for index, verdict in zip(missing, again, strict=True):
            verdicts[index] = verdict
    return verdicts


def rewards_or_raise(verdicts: Sequence[Verdict]) -> list[float]:
    """Return the rewards. Raises RewardUnavailableError if one is missing."""
    rewards = []
    for index, verdict in enumerate(verdicts):
        if verdict.reward is None:
            raise RewardUnavailableError(
                f"response {index} could not be judged after all retries: {verdict.reason}"
            )
        rewards.append(verdict.reward)
    return rewards


def with_open_think(text: str, options: ScorerOptions) -> str:
    """Prepend ``<think>`` to the response if ``options.think_open`` is set."""
    return OPEN_THINK + text if options.think_open else text


def completion_text(completion: Any) -> str:
    """Return the completion if it is a string, else the text of its last assistant message."""
    if isinstance(completion, str):
        return completion
    for message in reversed(list(completion)):
        if message.get("role", "assistant") == "assistant":
            content = message.get("content")
            if isinstance(content, str):
                return content
            parts = content or []
            return "".join(part.get("text") or "" for part in parts if isinstance(part, Mapping))
    return ""
