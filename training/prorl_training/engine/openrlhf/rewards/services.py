"""Reward services by URL as replicas of the tier: HTTP calls in threads.

The services are others' (``prorl verify serve`` on reward machines); with ``openrlhf.reward=service`` a run asks
them and starts none.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from prorl_common import ServiceError
from prorl_training.engine.openrlhf.rewards.tier import LATE, ReplicaLost, Row, items_of
from prorl_verifiers import Verdict
from prorl_verifiers.serve.client import RemoteVerifier

REQUESTS = 16
"""Requests that a service gets at a time; its queue deals them out fairly."""


class ServiceReplicas:
    """Services at ``urls``; implements ``Replicas``. The token is the environment's ``PRORL_TOKEN``."""

    def __init__(self, urls: Sequence[str]) -> None:
        self.slots = [REQUESTS] * len(urls)
        self._services = [RemoteVerifier(url, retries=0, timeout=LATE) for url in urls]
        self._threads = ThreadPoolExecutor(REQUESTS * len(urls), thread_name_prefix="prorl-reward")

    def ask(self, replica: int, rows: Sequence[Row]) -> Future[list[Verdict]]:
        """Return the future of one request."""
        return self._threads.submit(self._services[replica].score, items_of(rows))

    def first_done(
        self, futures: Sequence[Future[list[Verdict]]], seconds: float
    ) -> Future[list[Verdict]] | None:
        """Return a request that was answered or failed."""
        return next(iter(wait(futures, seconds, FIRST_COMPLETED).done), None)

    def result(self, future: Future[list[Verdict]]) -> list[Verdict]:
        """Return its verdicts. Raises ReplicaLost where the service is down, full or ending."""
        try:
            return future.result()
        except ServiceError as error:
            raise ReplicaLost(str(error)) from error

    def close(self) -> None:
        """Ask no more; the services live on."""
        self._threads.shutdown(wait=False, cancel_futures=True)
