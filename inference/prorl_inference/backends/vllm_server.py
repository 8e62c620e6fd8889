"""The backend ``vllm-server``: ``vllm serve`` processes sample for the trainer and read its weights from a folder."""

from __future__ import annotations

import itertools
import math
import secrets
import shutil
from collections.abc import Mapping, Sequence
from concurrent import futures
from pathlib import Path
from typing import Any, Self

from prorl_common import ServiceError, UserError, atomic_directory
from prorl_common.http import Connection, TransientError, parse_address
from prorl_inference.backends.openai.protocol import SEED_BITS, VLLM_NEUTRAL, cards
from prorl_inference.backends.vllm import fresh_seed, named_weights
from prorl_inference.spec import BackendOptions, BackendSpec
from prorl_inference.streams import Streaming
from prorl_inference.tokens import Results, Row, encode_prompt, folder_stop_ids
from prorl_inference.types import Ended, OnDone, Request, SamplingParams

START = "VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --logprobs-mode processed_logprobs --dtype "
TIMEOUT = 1800.0
CHUNK = 128
"""Maximum number of tokens of a request. A stream stops when its running requests are answered."""
LARGEST_GAP = {"float32": 0.02, "bfloat16": 0.5}
"""Maximum mean difference between the log-probs of a server and of the trainer for eight tokens, in nats."""


class Server:
    """A vLLM server. All errors say how to start it; a request that failed is not sent again."""

    def __init__(self, url: str, dtype: str) -> None:
        """Find the server's model. Raises UserError without the development routes, ServiceError without a server."""
        self.address = parse_address(url, "an address in rollout.servers", "http://host:8000")
        self.start = START + dtype
        with self._connect() as connection:
            self._ask(connection, "/is_paused")
            card = cards(self._ask(connection, "/v1/models"))[0]
        self.model, self.context = str(card["id"]), int(card["max_model_len"])

    def load(self, folder: Path, version: str) -> None:
        """Load the weights in ``folder`` when no request is running. After an error the server stays paused."""
        reload = {"method": "reload_weights", "kwargs": {"weights_path": str(folder)}}
        with self._connect() as connection:
            self._ask(connection, "/pause?mode=wait", {})
            self._ask(connection, "/collective_rpc", reload)
            if not self._ask(connection, "/reset_prefix_cache", {}).get("success"):
                raise self.error("its prefix cache could not be reset")
            self._ask(connection, "/update_weight_version", {"new_version": version})
            self._ask(connection, "/resume", {})

    def sample(
        self, version: str, prompt: Sequence[int], options: Mapping[str, Any]
    ) -> tuple[list[int], list[float], bool]:
        """Return sampled tokens, their log-probs, and whether an end token was sampled.

        Raises ServiceError if the server does not have the weights of ``version``, for example after a restart.
        """
        body = {"model": self.model, "prompt": list(prompt), "logprobs": 0, "ignore_eos": True}
        body |= {"return_token_ids": True, "temperature": 1.0, "top_p": 1.0}
        body |= {**VLLM_NEUTRAL, **options}
        with self._connect() as connection:  # one process gives both answers
            has = self._ask(connection, "/weight_info")["weight_version"]
            if has != version:
                raise self.error(f"it has the weights '{has}' instead of '{version}'")
            choice = self._ask(connection, "/v1/completions", body)["choices"][0]
        if choice.get("token_ids") is None:
            raise UserError(
                f"{self.address} returns no token ids: start vLLM 0.29 with {self.start}"
            )
        if (reason := choice["finish_reason"]) not in ("stop", "length"):
            raise self.error(f"it ended a sample with finish reason {reason}")
        return choice["token_ids"], choice["logprobs"]["token_logprobs"], reason == "stop"

    def error(self, reason: str) -> ServiceError:
        return ServiceError(
            f"the sampler {self.address}: {reason}; start it again ({self.start}) and continue with prorl train --resume"
        )

    def _connect(self) -> Connection:
        return Connection(self.address, None, TIMEOUT, at_return=self._lost)

    def _lost(self, _: Connection) -> None:
        raise self.error("the connection broke")

    def _ask(
        self, connection: Connection, path: str, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            reply = connection.get(path) if body is None else connection.post(path, body)
            if reply.status == 404:
                raise UserError(f"{self.address} has no {path}: start vLLM 0.29 with {self.start}")
            if reply.status != 200:
                raise TransientError(reply.line())
            return reply.object()
        except TransientError as failure:
            raise self.error(f"{path} failed ({failure})") from failure


class VllmServerGenerator(Streaming):
    """Samples with vLLM servers; implements ``Generator``. Nothing is sampled before ``sync_weights``."""

    def __init__(self, options: BackendOptions) -> None:
        """Raises UserError if a server lacks the development routes, ServiceError if one does not answer."""
        if not options.servers or options.weights_folder is None:
            raise UserError("the backend vllm-server is for training: set rollout.servers")
        path = options.folder()
        self.tokenizer, self.rows = options.tokenizer, options.batch_rows
        self.seeded, self.dtype = options.request_seeds, options.dtype
        self.stop_ids = sorted(folder_stop_ids(path, self.tokenizer))
        self.model_id, self.model_digest = str(path), ""
        self.folder = options.weights_folder.resolve()
        self.version, self._name, self._count = "", secrets.token_hex(4), itertools.count(1)
        tokens = max(self.tokenizer.get_vocab().values()) + 1
        padding = range(tokens, options.policy.get_input_embeddings().weight.shape[0])
        self.tokens, self.bias = tokens, {"logit_bias": {str(i): -100.0 for i in padding}}
        self.servers = [Server(url, self.dtype) for url in options.servers]
        self.in_turn = itertools.cycle(self.servers)
        self.context_tokens = min(server.context for server in self.servers)

    def stream(self, params: SamplingParams, on_done: OnDone = None) -> ServerStream:
        params.check()
        return ServerStream(self, params, on_done)

    def sync_weights(self, model: Any) -> None:
        """Write the weights of ``model`` and let all servers load them; check that they sample from them.

        Raises ServiceError or UserError; then nothing more may be sampled.
        """
        import torch
        from safetensors.torch import save_file

        version = f"{self._name}-{next(self._count)}"
        dtype, place = getattr(torch, self.dtype), self.folder / version
        tensors = {n: w.to("cpu", dtype).contiguous() for n, w in named_weights(model)}
        shutil.rmtree(self.folder, ignore_errors=True)
        with atomic_directory(place) as work:
            save_file(tensors, work / "model.safetensors", {"format": "pt"})
        with futures.ThreadPoolExecutor(len(self.servers)) as pool:
            list(pool.map(lambda server: server.load(place, version), self.servers))
        self.version = version
        for server in self.servers:
            self._check(server, model)

    def _check(self, server: Server, model: Any) -> None:
        import torch

        prompt = encode_prompt(self.tokenizer, [{"role": "user", "content": "1 + 1 ="}])
        forced = {"max_tokens": 1, "logit_bias": {str(prompt[0]): 100.0}}
        tokens, logprobs, _ = server.sample(self.version, prompt, forced)
        if tokens != prompt[:1] or abs(logprobs[0]) > 0.01:
            raise UserError(
                f"{server.address} returns log-probs that it does not sample from: start it with {server.start}"
            )
        options = {"max_tokens": 8, **self.bias}
        tokens, logprobs, _ = server.sample(self.version, prompt, options)
        with torch.no_grad():
            ids = torch.tensor([[*prompt, *tokens]], device=model.device)
            logits = model(input_ids=ids, use_cache=False).logits[0, len(prompt) - 1 : -1]
        own = torch.log_softmax(logits.float()[:, : self.tokens], -1)
        own = own.gather(1, ids[0, len(prompt) :, None])[:, 0]
        gap = float((own.cpu() - torch.tensor(logprobs)).abs().mean())
        if not gap <= LARGEST_GAP[self.dtype]:
            raise server.error(f"its log-probs differ from the policy's by {gap:.2f} on average")

    def close(self) -> None: ...


class ServerStream:
    """Samples with one thread per row; implements ``Stream``."""

    repeatable = False

    def __init__(
        self, generator: VllmServerGenerator, params: SamplingParams, on_done: OnDone
    ) -> None:
        self.rows = generator.rows
        self._generator, self._params, self._stopped = generator, params, False
        self._results = Results(generator.tokenizer, on_done)
        self._pool = futures.ThreadPoolExecutor(self.rows)
        self._running: set[futures.Future[list[Row]]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def running(self) -> int:
        return self._results.missing

    def submit(self, key: int, request: Request) -> None:
        generator = self._generator
        context = generator.context_tokens
        ids, rows = self._results.add(key, request, self._params.max_tokens, context)
        for row in rows:
            server = next(generator.in_turn)
            self._running.add(self._pool.submit(self._sample, server, ids, row))

    def take(self, wait: float | None = None) -> list[Ended]:
        done, self._running = futures.wait(self._running, wait, futures.FIRST_COMPLETED)
        self._results.ended([row for one in done for row in one.result()])
        return self._results.whole()

    def stop(self) -> list[Ended]:
        self._stopped = True
        done, self._running = self._running, set()
        self._results.ended([row for one in done for row in one.result()])
        return self._results.paused()

    def _sample(self, server: Server, prompt: list[int], row: Row) -> list[Row]:
        """Return ``[row]`` when it has ended, or ``[]`` if the stream was stopped before."""
        generator, params = self._generator, self._params
        while not row.stopped and (left := row.budget - len(row.token_ids)) > 0:
            if self._stopped:
                return []
            options = {"temperature": params.temperature, "top_p": params.top_p, **generator.bias}
            options |= {"max_tokens": min(CHUNK, left), "stop_token_ids": generator.stop_ids}
            if generator.seeded:
                options["seed"] = fresh_seed(row) % 2**SEED_BITS
            prefix = [*prompt, *row.token_ids]
            tokens, logprobs, row.stopped = server.sample(generator.version, prefix, options)
            row.token_ids += tokens
            row.logprobs += logprobs if params.top_p >= 1.0 else [math.nan] * len(tokens)
        return [row]


SPEC = BackendSpec(
    "vllm-server", open=VllmServerGenerator, title="vLLM servers", logprobs=True, trains=True
)
"""Spec of the backend ``vllm-server``."""
