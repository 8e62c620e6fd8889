"""Sample from several servers of one model as if they were one generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from prorl_common import ServiceError, UserError
from prorl_common.progress import without_repeats
from prorl_inference.backends.openai.options import ServerOptions, server_address
from prorl_inference.spec import BackendOptions, BackendSpec
from prorl_inference.types import Generator
from prorl_inference.workers.call import Worker
from prorl_inference.workers.pool import SamplingPool

AWAY_SECONDS = 15.0
"""Seconds without an answer after which a server's samples are given to other servers."""


def open_servers(
    spec: BackendSpec, urls: Sequence[str], options: ServerOptions, tell: Callable[[str], None]
) -> SamplingPool:
    """Return a generator that samples from the servers at ``urls``. A server that does not answer is used later.

    Raises UserError if the servers' models differ, ServiceError if no server answers.
    """
    names = [str(server_address(url)) for url in urls]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(f"the server {twice[0]} is listed twice: list each server once")
    # Samples refused by one server go to the others, so each records its refusals and the pool decides.
    patience = min(options.patience, AWAY_SECONDS)
    options_of_one = replace(options, patience=patience, refusals="record")
    tell_once = without_repeats(tell)
    first: list[Generator] = []

    def opener(name: str, url: str) -> Callable[[], Generator]:
        def open_one() -> Generator:
            generator = spec.open(BackendOptions(url=url, server=options_of_one, tell=tell_once))
            if first:
                _check_same(first[0], generator, name)
            return generator

        return open_one

    workers = [
        Worker(f"the server {name}", opener(name, url), True, options.concurrency)
        for name, url in zip(names, urls, strict=True)
    ]

    def try_open(worker: Worker) -> Generator | ServiceError:
        try:
            return worker.open()
        except ServiceError as error:
            return error

    with ThreadPoolExecutor(len(workers)) as threads:
        outcomes = list(threads.map(try_open, workers))
    for worker, opened in zip(workers, outcomes, strict=True):
        if isinstance(opened, ServiceError):
            tell_once(f"{worker.name} is left out until it answers ({opened.__cause__ or opened})")
            continue
        worker.generator = opened
        first.append(opened)
        _check_same(first[0], opened, worker.name.removeprefix("the server "))
    if not first:
        reasons = "; ".join(str(opened) for opened in outcomes)
        raise ServiceError(f"no server answers: {reasons}")
    return SamplingPool(
        workers,
        first[0].model_id,
        first[0].model_digest,
        tell,
        options.patience,
        stop_at_refusal=options.refusals == "stop",
    )


def _check_same(first: Generator, other: Generator, name: str) -> None:
    if (first.model_id, first.model_digest) != (other.model_id, other.model_digest):
        raise UserError(
            f"the server {name} serves {other.model_id}, and describes it differently from the first "
            "server: list servers of one model only, or set server.model and server.weights if they serve the same"
        )
