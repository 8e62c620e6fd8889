"""Sample from an OpenAI-compatible server. Each sample is a separate request."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from prorl_common import ServiceError, UserError, nearest
from prorl_common.http import Connection, RetryPolicy, ServerWatch, TransientError
from prorl_common.progress import without_repeats
from prorl_inference.backends.openai.context import ContextLimits
from prorl_inference.backends.openai.options import ServerOptions, server_address
from prorl_inference.backends.openai.protocol import (
    PROBE,
    Answer,
    Job,
    RefusedError,
    Usage,
    cards,
    completion,
    read_object,
    request_body,
    stable_facts,
)
from prorl_inference.backends.openai.request_pool import Rate, RequestPool
from prorl_inference.models.loading import load_tokenizer, model_digest
from prorl_inference.spec import SERVER, BackendSpec
from prorl_inference.tokens import encode_prompt, opened_think
from prorl_inference.types import Completion, OnResult, Request, SampleRefusedError, SamplingParams

FIRST_WAIT = 0.5
"""Seconds before the first retry of a request."""
GUESSED_TEMPLATE = 128
"""Assumed number of tokens of the chat template, for estimating a prompt's size without a tokenizer."""
ALL_REFUSED = 4
"""Number of refused requests, without any answer, after which the prompt ``HARMLESS`` is sent as a test."""
HARMLESS = ({"role": "user", "content": "Say yes."},)
"""A prompt that no server should refuse. If it is refused, the settings are wrong."""


class Collector:
    """Collects the answers of one :meth:`OpenAIGenerator.generate` call and calls ``on_done`` and ``on_result``.

    ``refused`` maps a request's index to its first refused sample.
    """

    def __init__(
        self, stop: bool, on_done: Callable[[int], None] | None, on_result: OnResult | None
    ) -> None:
        self._completions: list[list[Completion | None]] = []
        self._stop, self._on_done, self._on_result = stop, on_done, on_result
        self.refused: dict[int, tuple[Job, Answer]] = {}
        self.answered = 0

    def expect(self, request: Request) -> int:
        self._completions.append([None] * len(request.seeds))
        return len(self._completions) - 1

    def tick(self) -> None:
        """Call ``on_done(0)``, because no answer has arrived for some time."""
        if self._on_done is not None:
            self._on_done(0)

    def take(self, job: Job, answer: Answer, tokenizer: Any) -> None:
        if answer.refusal and (self._stop or not job.refused):
            self.refused.setdefault(job.request, (job, answer))
        if answer.refusal and self._stop:
            return
        self.answered += not answer.refusal
        row = self._completions[job.request]
        row[job.sample] = completion(job, answer, tokenizer)
        if self._on_done is not None:
            self._on_done(1)
        completions = [c for c in row if c is not None]
        if self._on_result is not None and len(completions) == len(row):
            self._on_result(job.request, completions)

    def result(self) -> list[list[Completion]]:
        return [[c for c in answers if c is not None] for answers in self._completions]


class OpenAIGenerator:
    """Implements ``Generator`` for a server. Completions have no token ids or log-probs.

    ``model_digest`` is the digest of ``options.weights``, else a hash of the server's description of the model.
    """

    def __init__(
        self,
        url: str,
        options: ServerOptions | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """Find the server's model; wait up to ``options.patience`` seconds for the server.

        If ``model`` and ``weights`` are set, the server is first asked when sampling starts. ``tell`` may be called
        from any thread. Raises UserError for an invalid address, key or model, ServiceError if the server does not
        answer.
        """
        self.options = options or ServerOptions()
        self._address, self._key = server_address(url), self.options.key()
        tell = tell or (lambda _: None)
        self._tell_once = without_repeats(tell)
        self._watch = ServerWatch(
            f"the server {self._address}",
            RetryPolicy(first=FIRST_WAIT, patience=self.options.patience),
            tell,
            "what was sampled is kept",
        )
        self._rates = (Rate(self.options.rpm), Rate(self.options.tpm))
        self.usage = Usage(self.options.price)
        self.api = self.options.resolved_api
        self._chat = self.api == "chat"
        self._tokenizer: Any = None
        self._card: Mapping[str, Any] | None = None
        self._worked: SamplingParams | None = None  # parameters with which the server has answered
        self.model_id = self.options.model or ""
        if not self.model_id or self.options.weights is None:
            self._find_model()
        self.model_digest = self._digest()

    @property
    def context_tokens(self) -> int | None:
        """Maximum number of tokens of a prompt and its completion together, or None if unknown."""
        value = (self._card or {}).get("max_model_len")
        return value if isinstance(value, int) and value > 0 else None

    pulls = True
    """``generate`` accepts an iterator and takes a request only when a thread is free."""

    def generate(
        self,
        requests: Iterable[Request | None],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        """See ``Generator.generate``. Raises SampleRefusedError for a refused sample if ``refusals`` is ``stop``.

        ``requests`` may be an iterator, which is advanced by one thread at a time and yields None while it has no
        request. ``on_done(0)`` is called about every 0.2 s without answers. Answers that arrived before an error are
        still reported.
        """
        params.check()
        if self._card is None:
            self._find_model()
        threads = self.options.concurrency
        if isinstance(requests, Sequence):
            threads = min(threads, sum(len(r.seeds) for r in requests if r is not None))
            for index, request in enumerate(requests):
                if request is not None and not request.seeds and on_result is not None:
                    on_result(index, [])
        probe = self._jobs(PROBE, Request(HARMLESS, (0,)), params)[0] if threads else None
        limits = None
        if self._tokenizer is None:
            limits = ContextLimits(self.context_tokens, self._tell_once)
        pool = RequestPool(
            self._connection, self._watch, self._rates, self._chat, self._check_same_model, limits
        )
        stop = self.options.refusals == "stop"
        collector = Collector(stop, on_done, on_result)

        def jobs() -> Iterator[Job | None]:
            for request in requests:
                if request is None:
                    yield None
                else:
                    yield from self._jobs(collector.expect(request), request, params)

        def take(job: Job, answer: Answer) -> None:
            self._count(job, answer)
            if job.request != PROBE:
                collector.take(job, answer, self._tokenizer)
            elif job is probe:
                self._worked = params

        try:
            with contextlib.closing(pool.run(jobs(), threads, stop, probe)) as outcomes:
                for outcome in outcomes:
                    if outcome is None:
                        collector.tick()
                    else:
                        take(*outcome)
        except BaseException as error:
            try:
                for job, answer in pool.left():
                    take(job, answer)
            except Exception as later:  # noqa: BLE001 - the first error is what is raised
                error.add_note(f"finished answers could not be delivered ({later!r})")
            raise
        if collector.answered:
            self._worked = params
        if collector.refused:
            self._check_refusals(collector, pool, probe, params)
        return collector.result()

    def _count(self, job: Job, answer: Answer) -> None:
        usage = self.usage
        usage.retries = self._watch.retries
        if job.request != PROBE:
            usage.refused += bool(answer.refusal)
            usage.answers += not answer.refusal
        usage.prompt_tokens += answer.prompt_tokens or 0
        usage.completion_tokens += answer.completion_tokens or 0

    def _check_refusals(
        self, collector: Collector, pool: RequestPool, probe: Job | None, params: SamplingParams
    ) -> None:
        job, answer = next(iter(collector.refused.values()))
        line = (
            f"the server refused a sample of the prompt starting '{job.start}' ({answer.refusal})"
        )
        if self.options.refusals == "stop":
            raise SampleRefusedError(
                f"{line}: what was sampled is kept; to continue without refused samples, set server.refusals "
                "to record (they are then counted, but not scored)"
            )
        if len(collector.refused) < ALL_REFUSED or self._worked == params or probe is None:
            return
        with contextlib.closing(pool.run([probe], 1, False)) as outcomes:
            for outcome in outcomes:
                if outcome is None:
                    collector.tick()
                    continue
                self._count(*outcome)
                if outcome[1].refusal:
                    raise SampleRefusedError(
                        f"{line}, and a harmless test prompt too: correct the request's settings"
                    )
        self._worked = params

    def _jobs(self, index: int, request: Request, params: SamplingParams) -> list[Job]:
        request.check_fresh()
        tokenizer, context = self._load_tokenizer(), self.context_tokens
        opened, refusal, room = "", "", params.max_tokens
        prompt: dict[str, Any] = {
            "messages": [{"role": m["role"], "content": m["content"]} for m in request.prompt]
        }
        size = GUESSED_TEMPLATE + sum(len(m["content"]) for m in request.prompt) // 2
        if tokenizer is not None:
            ids = encode_prompt(tokenizer, request.prompt)
            opened, size = opened_think(tokenizer, request.prompt), len(ids)
            prompt = prompt if self._chat else {"prompt": ids}
        if context is not None and tokenizer is not None:
            room = min(room, context - size)
            if room < 1:
                refusal = f"the prompt has {size} tokens, but the server's context holds {context}"
        limited = SamplingParams(params.temperature, params.top_p, max(1, room))
        is_vllm = (self._card or {}).get("owned_by") == "vllm"
        jobs = []
        for sample, seed in enumerate(request.seeds):
            body = request_body(self.options, self.model_id, limited, seed, is_vllm) | prompt
            jobs.append(Job(index, sample, body, opened, size, request.prompt_start, refusal))
        return jobs

    def sync_weights(self, model: Any) -> None:

        raise UserError("a server cannot load new weights: sample with transformers or vllm")

    def close(self) -> None: ...  # connections are closed after each call

    def _connection(self) -> Connection:
        return Connection(
            self._address, self._key, self.options.timeout, at_return=self._check_same_model
        )

    def _find_model(self) -> None:
        self._watch.start()
        with self._connection() as connection:

            def list_models() -> Sequence[Mapping[str, Any]]:
                try:
                    return cards(read_object(connection.get("/models")))
                except TransientError as failure:
                    if str(failure).startswith("unknown host"):
                        raise UserError(f"{failure}: correct the server's address") from failure
                    raise
                except ServiceError:
                    if self.model_id:  # not every server lists its models
                        return []
                    raise

            models = {str(card["id"]): card for card in self._watch.until_answered(list_models)}
        if self.model_id:
            if models and self.model_id not in models:
                names = ", ".join(list(models)[:8])
                hint = nearest(self.model_id, models)
                raise UserError(
                    f"{self._address} has no model '{self.model_id}'{hint}; it has {names}"
                )
        elif len(models) == 1:
            self.model_id = next(iter(models))
        else:
            names = f"it has {', '.join(list(models)[:8])}" if models else "it lists none"
            raise UserError(f"choose a model of the server {self._address}: {names}")
        self._card = models.get(self.model_id, {})

    def _check_same_model(self, connection: Connection) -> None:
        if not self._card:  # the server lists no models
            return
        try:
            listed = cards(read_object(connection.get("/models")))
        except RefusedError as refusal:  # of the list, not of the sample
            raise ServiceError(f"the server no longer lists its models ({refusal})") from refusal
        if not listed:  # routers do this while their servers start
            raise TransientError("the server lists no model", blames_request=False)
        before = stable_facts(self._card)
        now = next((stable_facts(c) for c in listed if c["id"] == self.model_id), None)
        if now != before:
            difference = f"without {self.model_id}"
            if now is not None:
                changed = [n for n in before | now if before.get(n) != now.get(n)]
                difference = ", ".join(
                    f"{n} {now.get(n)} instead of {before.get(n)}" for n in changed
                )
            raise UserError(
                f"the server {self._address} now serves another model ({difference}): what "
                "was sampled is kept; serve the first model again, or start over"
            )

    def _digest(self) -> str:
        if self.options.weights is not None:
            return model_digest(self.options.weights)
        value = {"name": self.model_id, "card": stable_facts(self._card or {})}
        text = json.dumps(value, sort_keys=True)
        return f"server-{hashlib.blake2b(text.encode(), digest_size=24).hexdigest()}"

    def _load_tokenizer(self) -> Any:
        place = self.options.tokenizer or self.options.weights
        if self._tokenizer is None and place is not None:
            self._tokenizer = load_tokenizer(str(place))
        if self._tokenizer is None and not self._chat:
            raise UserError(
                "the completions api needs the model's tokenizer: set server.tokenizer, or use the chat api"
            )
        return self._tokenizer


SPEC = BackendSpec(
    SERVER,
    open=lambda options: OpenAIGenerator(options.url or "", options.server, options.tell),
    served=True,
)
"""Options of sampling from an OpenAI-compatible server."""
