"""Samples as they grow and end, and the completions they become: text, order, and who is told when.

For backends that see token ids. Holds no model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prorl_inference.prompts import opened_think
from prorl_inference.types import Completion, OnResult, Request

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(slots=True)
class Row:
    """One sample while it grows: which request and sample it is, its seed, its token budget."""

    request: int
    sample: int
    seed: int
    budget: int
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    stopped: bool = False

    def take(self, token: int, logprob: float, stop_ids: frozenset[int]) -> bool:
        """Append one token; return whether the row ends with it."""
        self.token_ids.append(token)
        self.logprobs.append(logprob)
        self.stopped = token in stop_ids
        return self.stopped or len(self.token_ids) >= self.budget


@dataclass(frozen=True, slots=True)
class PromptRows:
    """One prompt's token ids and the samples wanted of it."""

    token_ids: tuple[int, ...]
    rows: list[Row]


class Results:
    """Collects the completions of one ``generate`` call and reports them; see ``Generator.generate``."""

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        requests: Sequence[Request],
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> None:
        """Report the requests without seeds at once: nothing is missing of them."""
        self._tokenizer = tokenizer
        self._opened = [opened_think(tokenizer, request.prompt) for request in requests]
        self._answers: list[list[Completion | None]] = [[None] * len(r.seeds) for r in requests]
        self._missing = [len(request.seeds) for request in requests]
        self._on_done, self._on_result = on_done, on_result
        for index, missing in enumerate(self._missing):
            if missing == 0 and on_result is not None:
                on_result(index, [])

    def ended(self, rows: Sequence[Row]) -> None:
        """Take rows that have ended, each once; report them, then each request they made whole."""
        for row in rows:
            self._answers[row.request][row.sample] = self._completion(row)
            self._missing[row.request] -= 1
        if rows and self._on_done is not None:
            self._on_done(len(rows))
        for index in dict.fromkeys(row.request for row in rows):
            if self._missing[index] == 0 and self._on_result is not None:
                self._on_result(index, self._of(index))

    def all(self) -> list[list[Completion]]:
        """Return the completions of every request, in order."""
        return [self._of(index) for index in range(len(self._answers))]

    def _of(self, index: int) -> list[Completion]:
        return [done for done in self._answers[index] if done is not None]

    def _completion(self, row: Row) -> Completion:
        text = self._tokenizer.decode(
            row.token_ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return Completion(
            text=self._opened[row.request] + str(text),
            token_ids=tuple(row.token_ids),
            logprobs=tuple(row.logprobs),
            finish_reason="stop" if row.stopped else "length",
        )
