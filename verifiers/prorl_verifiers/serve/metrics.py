"""What the service counts, as Prometheus metrics in a registry of their own.

All names begin with ``prorl_verify_``.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from prorl_verifiers.pool.stats import PoolStats
from prorl_verifiers.types import Task, Verdict

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
REWARD_BUCKETS = (0.0, 0.25, 0.5, 0.75, 0.999, 1.0)
SECOND_BUCKETS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60)

POOL_GAUGES = {
    "workers": "Lanes of the pool.",
    "busy": "Lanes at work.",
    "worker_starts": "Workers started since the start.",
    "worker_kills": "Workers ended for a timeout, a limit, a crash or a bug.",
    "worker_recycles": "Workers replaced because of their age.",
    "retries": "Items that got a second try.",
    "canary_failures": "Workers found to judge wrongly.",
    "rescored": "Verdicts thrown away and made again because of such a worker.",
    "doubtful": "Verdicts given by workers that misjudged a known answer when they retired.",
    "template_starts": "Starts of the process that workers are forked from.",
}
"""Fields of ``PoolStats`` and what they say."""


class Metrics:
    """The service's counters; ``text()`` is the body of ``GET /metrics``."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = self._counter("requests", "Answers sent.", "endpoint", "code")
        self._refused = self._counter("unavailable", "Answers of 503.", "endpoint")
        self._items = self._counter("items", "Verdicts.", "verifier", "status")
        self._reward = self._histogram("reward", "Rewards of verdicts.", REWARD_BUCKETS, "verifier")
        self._seconds = self._histogram(
            "seconds", "Seconds from start of work to verdict.", SECOND_BUCKETS, "verifier"
        )
        self._request_seconds = self._histogram(
            "request_seconds", "Seconds from request to answer.", SECOND_BUCKETS, "endpoint"
        )
        self.queue = self._gauge("queue_items", "Items that wait.")
        self.busy = self._gauge("busy_items", "Items handed to the pool.")
        self._pool = {name: self._gauge(name, text) for name, text in POOL_GAUGES.items()}
        self.ready = self._gauge("ready", "1 when the service takes work.")

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"prorl_verify_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"prorl_verify_{name}", text, registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...], label: str) -> Histogram:
        full = f"prorl_verify_{name}"
        return Histogram(full, text, (label,), buckets=buckets, registry=self.registry)

    def verdict(self, task: Task, verdict: Verdict) -> None:
        """Count one verdict."""
        self._items.labels(task.verifier, verdict.status).inc()
        self._seconds.labels(task.verifier).observe(verdict.seconds)
        if verdict.reward is not None:
            self._reward.labels(task.verifier).observe(verdict.reward)

    def pool(self, stats: PoolStats) -> None:
        """Take over the pool's own counters."""
        for name, gauge in self._pool.items():
            gauge.set(getattr(stats, name))

    def answer(self, endpoint: str, code: int, seconds: float) -> None:
        """Count one answer."""
        self._requests.labels(endpoint, str(code)).inc()
        self._request_seconds.labels(endpoint).observe(seconds)
        if code == 503:
            self._refused.labels(endpoint).inc()

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)
