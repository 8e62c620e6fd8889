"""Continuous refill: new samples replace ended samples in a running batch.

Each distinct prompt is run once. Its keys and values are copied, right-aligned, to the rows of its samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prorl_inference.backends.transformers.decoding import (
    COMPACT_AT,
    advance,
    cache_name,
    is_recurrent,
    prefill,
    sample_tokens,
    sampled_rows,
    tokens_between_checks,
    uniform_rows,
)
from prorl_inference.tokens import PromptRows, Row
from prorl_inference.types import SamplingParams

if TYPE_CHECKING:
    import torch

_REFILL_AT = 0.125
"""Fraction of the rows that must be free before new prompts are run."""


@dataclass(slots=True)
class PendingSequences:
    """Samples that wait for rows of the batch. Their prompts have been run.

    Sample i continues row ``source[i]`` of ``cache`` and ``logits``. Its prompt has ``lengths[i]`` tokens.
    """

    rows: list[Row]
    source: torch.Tensor
    lengths: list[int]
    logits: torch.Tensor
    cache: Any

    def split(self, count: int) -> tuple[PendingSequences, PendingSequences]:
        """Return the first ``count`` samples and the others. They share the cache."""
        cut = (slice(None, count), slice(count, None))
        first, remaining = (
            PendingSequences(self.rows[c], self.source[c], self.lengths[c], self.logits, self.cache)
            for c in cut
        )
        return first, remaining


class Queue:
    """Samples that wait for rows of the batch, longest prompt first. Each distinct prompt is run once."""

    def __init__(self, model: Any, work: Sequence[PromptRows] = ()) -> None:
        self.model = model
        self._waiting: list[PromptRows] = []
        self._run: PendingSequences | None = None
        self._prompts: list[PromptRows] = []  # of ``_run``
        self.add(work)

    def add(self, work: Sequence[PromptRows]) -> None:
        self._waiting += [PromptRows(p.token_ids, list(p.rows)) for p in work]
        self._waiting.sort(key=lambda p: (-len(p.token_ids), p.token_ids), reverse=True)

    def __bool__(self) -> bool:
        return bool(self._waiting) or self._run is not None

    def rows_to_enter(self, minimum: int) -> int:
        """Return how many rows of the batch :meth:`take` needs: ``minimum``, or 1 if prompts have already been run."""
        return minimum if self._run is None else 1

    def take(self, count: int) -> PendingSequences:
        """Remove and return 1 to ``count`` samples. Runs their prompts if necessary."""
        if self._run is None:
            self._run = self._prefill(count)
        run = self._run
        taken, remaining = run.split(count)
        self._run = remaining if remaining.rows else None
        return taken

    def prefill_again(self) -> None:
        """Run the prompts of waiting samples again before they start, because the weights have changed."""
        waiting, self._run = self._run, None
        if waiting is not None:
            left = [(p, [row for row in p.rows if row in waiting.rows]) for p in self._prompts]
            self.add([PromptRows(p.token_ids, rows) for p, rows in left if rows])

    def _prefill(self, count: int) -> PendingSequences:
        import torch

        chosen = [self._waiting.pop()]
        while self._waiting and sum(len(p.rows) for p in chosen) < count:
            chosen.append(self._waiting.pop())
        self._prompts = chosen
        logits, cache, _ = prefill(self.model, [p.token_ids for p in chosen])
        counts = torch.tensor([len(p.rows) for p in chosen])
        source = torch.arange(len(chosen)).repeat_interleave(counts).to(logits.device)
        rows = [row for prompt in chosen for row in prompt.rows]
        lengths = [len(prompt.token_ids) for prompt in chosen for _ in prompt.rows]
        return PendingSequences(rows, source, lengths, logits, cache)


class Batch:
    """The running rows with their cache, attention mask ``[rows, width]``, last tokens and random numbers."""

    def __init__(self, model: Any, first: PendingSequences, steps: int) -> None:
        """Start with the samples of ``first``. Each gets at most ``steps`` tokens."""
        import torch

        from prorl_inference.backends.transformers.attention import select_rows

        self.model, self.steps, self.device = model, steps, model.device
        self.rows = list(first.rows)
        self.prompts = _prompt_lengths(first)
        self.running = [True] * len(self.rows)
        self.cache: Any = select_rows(first.cache, first.source)
        self.logits = first.logits[first.source]
        self.width = int(self.cache.get_seq_length())
        self.mask = self._mask(first.lengths)
        self.uniforms = self._uniforms(first.rows)
        self.tokens = torch.zeros(len(self.rows), dtype=torch.long, device=self.device)

    def free(self) -> list[int]:
        return [i for i, runs in enumerate(self.running) if not runs]

    def sample(self, params: SamplingParams, stops: frozenset[int]) -> list[Row]:
        """Sample ``tokens_between_checks`` tokens in every running row; return the rows that ended."""
        drawn = [self._draw(self.logits, slice(None), range(len(self.rows)), params)]
        for ahead in range(1, min(tokens_between_checks(self.device), self._tokens_left())):
            self.advance()
            drawn.append(self._draw(self.logits, slice(None), range(len(self.rows)), params, ahead))
        return self._end(range(len(self.rows)), drawn, stops)

    def admit(
        self, new: PendingSequences, params: SamplingParams, stops: frozenset[int]
    ) -> list[Row]:
        """Copy pending sequences to free rows and sample their first tokens; return the rows that ended."""
        import torch

        free = self.free()[: len(new.rows)]
        self._widen(max(new.lengths) - self.width)
        for slot, row, prompt in zip(free, new.rows, _prompt_lengths(new), strict=True):
            self.rows[slot], self.prompts[slot], self.running[slot] = row, prompt, True
        place = torch.tensor(free, device=self.device)
        for target, source in zip(self.cache.layers, new.cache.layers, strict=True):
            target.overwrite(place, source, new.source)
        self.mask[place] = self._mask(new.lengths)
        self.uniforms[place] = self._uniforms(new.rows)
        drawn = self._draw(new.logits[new.source], place, free, params)
        return self._end(free, [drawn], stops)

    def advance(self) -> None:
        import torch

        self.mask = torch.nn.functional.pad(self.mask, (0, 1), value=1)
        self.logits, self.cache = advance(self.model, self.tokens, self.mask, self.cache)
        self.width += 1

    def shrink(self) -> None:
        keep = [i for i, runs in enumerate(self.running) if runs]
        self._select(keep)
        self.running = [True] * len(keep)

    def grow(self, count: int) -> None:
        places = len(self.rows)
        self._select([*range(places), *[0] * count])
        self.running[places:] = [False] * count

    def _select(self, places: Sequence[int]) -> None:
        import torch

        self.rows = [self.rows[i] for i in places]
        self.prompts = [self.prompts[i] for i in places]
        self.running = [self.running[i] for i in places]
        index = torch.tensor(places, device=self.device)
        self.mask, self.tokens, self.uniforms = (
            old[index] for old in (self.mask, self.tokens, self.uniforms)
        )
        self.cache.reorder_cache(index)

    def _widen(self, positions: int) -> None:
        import torch

        if positions > 0:
            self.mask = torch.nn.functional.pad(self.mask, (positions, 0), value=0)
            self.width += positions
            for layer in self.cache.layers:
                layer.pad_left(positions)

    def drop_padding(self) -> None:
        """Drop cache positions on the left that no running row needs."""
        rows = zip(self.rows, self.prompts, self.running, strict=True)
        needed = max(prompt + len(row.token_ids) - 1 for row, prompt, runs in rows if runs)
        spare = self.width - needed
        if spare > 0:
            self.mask = self.mask[:, spare:]
            self.width -= spare
            for layer in self.cache.layers:
                layer.drop_left(spare)

    def _tokens_left(self) -> int:
        rows = zip(self.rows, self.running, strict=True)
        return max(row.budget - len(row.token_ids) for row, runs in rows if runs)

    def _draw(
        self,
        logits: torch.Tensor,
        place: Any,
        slots: Sequence[int],
        params: SamplingParams,
        ahead: int = 0,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Sample a token for each row in ``slots``. Returns (tokens, log-probs).

        ``place`` is the rows' index in tensors. ``ahead`` counts tokens sampled but not yet in ``token_ids``.
        """
        import torch

        taken = [min(len(self.rows[slot].token_ids) + ahead, self.steps - 1) for slot in slots]
        index = torch.tensor(taken, device=self.device)[:, None]
        picks = self.uniforms[place].gather(1, index).squeeze(1)
        tokens, logprobs = sample_tokens(logits, picks, params.temperature, params.top_p)
        self.tokens[place] = tokens
        return tokens, logprobs

    def _end(
        self,
        slots: Sequence[int],
        drawn: Sequence[tuple[torch.Tensor, torch.Tensor]],
        stops: frozenset[int],
    ) -> list[Row]:
        ended = []
        for slot, sampled in zip(slots, sampled_rows(drawn), strict=True):
            if self.running[slot] and self.rows[slot].take(sampled, stops):
                self.running[slot] = False
                ended.append(self.rows[slot])
        return ended

    def _mask(self, lengths: Sequence[int]) -> torch.Tensor:
        import torch

        columns = torch.arange(self.width, device=self.device)
        widths = torch.tensor(lengths, device=self.device)[:, None]
        return (columns >= self.width - widths).long()

    def _uniforms(self, rows: Sequence[Row]) -> torch.Tensor:
        return uniform_rows([row.seed for row in rows], self.steps).to(self.device)


def _prompt_lengths(new: PendingSequences) -> list[int]:
    """Return the lengths of the prompts, without the earlier tokens of resumed samples."""
    return [n - len(row.token_ids) for row, n in zip(new.rows, new.lengths, strict=True)]


def can_refill(model: Any) -> bool:
    """Return whether ended rows of a batch can be replaced by new ones: all layers must cache all tokens."""
    from prorl_inference.backends.transformers.attention import grows_in_place, make_cache

    if is_recurrent(model) or not cache_name(model):
        return False
    return grows_in_place(make_cache(model.config))


def decode_refilled(
    model: Any, queue: Queue, params: SamplingParams, stop_ids: frozenset[int], batch_size: int
) -> Iterator[list[Row]]:
    """Sample all rows of ``queue``, at most ``batch_size`` at once. Yields, after each step, the rows that ended.

    Samples may be added to the queue between steps. See :func:`.decoding.decode_batch`.
    """
    minimum = max(1, int(batch_size * _REFILL_AT))
    while queue:
        batch = Batch(model, queue.take(batch_size), params.max_tokens)
        while any(batch.running):
            ended = batch.sample(params, stop_ids)
            while queue and (free := batch_size - sum(batch.running)) >= queue.rows_to_enter(
                minimum
            ):
                new = queue.take(free)
                batch.grow(max(0, len(new.rows) - len(batch.free())))
                ended += batch.admit(new, params, stop_ids)
            yield ended
            alive = sum(batch.running)
            if alive == 0:
                break
            if ended:
                batch.drop_padding()
            if not queue and alive <= COMPACT_AT * len(batch.rows):
                batch.shrink()
            batch.advance()
