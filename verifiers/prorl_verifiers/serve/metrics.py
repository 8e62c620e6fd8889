"""What the reward service counts beside what every service does.

All names begin with ``prorl_verify_``.
"""

from __future__ import annotations

from prorl_common.serving.metrics import SECOND_BUCKETS, ServiceMetrics
from prorl_verifiers.pool.stats import PoolStats
from prorl_verifiers.types import Task, Verdict

REWARD_BUCKETS = (0.0, 0.25, 0.5, 0.75, 0.999, 1.0)

POOL_GAUGES = {
    "workers": "Threads of the pool.",
    "busy": "Threads at work.",
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


class Metrics(ServiceMetrics):
    """The service's counters."""

    def __init__(self) -> None:
        super().__init__("prorl_verify")
        self._items = self.counter("items", "Verdicts.", "verifier", "status")
        self._reward = self.histogram("reward", "Rewards of verdicts.", REWARD_BUCKETS, "verifier")
        self._seconds = self.histogram(
            "seconds", "Seconds from start of work to verdict.", SECOND_BUCKETS, "verifier"
        )
        self._pool = {name: self.gauge(name, text) for name, text in POOL_GAUGES.items()}

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
