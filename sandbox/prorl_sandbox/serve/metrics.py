"""What the sandbox service counts beside what every service does.

All names begin with ``prorl_sandbox_``.
"""

from __future__ import annotations

from prorl_common.serving.metrics import SECOND_BUCKETS, ServiceMetrics


class Metrics(ServiceMetrics):
    """The service's counters."""

    def __init__(self) -> None:
        super().__init__("prorl_sandbox")
        self._answers = self.counter("answers", "Answers of cases, errors too.", "status")
        self._seconds = self.histogram(
            "seconds", "Seconds by the clock that programs ran.", SECOND_BUCKETS, "status"
        )
        self.sessions = self.gauge("sessions", "Sessions that are open, forks too.")
        self.cancelled = self.counter("cancelled", "Jobs that nobody waited for any more.")

    def outcome(self, status: str, seconds: float) -> None:
        """Count the outcome of a case."""
        self._answers.labels(status).inc()
        self._seconds.labels(status).observe(seconds)

    def error(self, kind: str) -> None:
        """Count a job that ended without an outcome."""
        self._answers.labels(f"error-{kind}").inc()
