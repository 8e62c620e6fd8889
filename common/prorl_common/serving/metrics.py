"""Prometheus metrics of a service."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECOND_BUCKETS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60)


class ServiceMetrics:
    """Metrics that every service reports, in a separate registry. Their names start with ``prefix``."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.registry = CollectorRegistry()
        self._requests = self.counter("requests", "Answers sent.", "endpoint", "code")
        self._refused = self.counter(
            "unavailable", "Answers of 503 and 429: nothing was done.", "endpoint"
        )
        self._request_seconds = self.histogram(
            "request_seconds", "Seconds from request to answer.", SECOND_BUCKETS, "endpoint"
        )
        self.queue = self.gauge("queue_items", "Items that wait.")
        self.busy = self.gauge("busy_items", "Items in work.")
        self.ready = self.gauge("ready", "1 when the service takes work.")

    def counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"{self._prefix}_{name}", text, labels, registry=self.registry)

    def gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"{self._prefix}_{name}", text, registry=self.registry)

    def histogram(self, name: str, text: str, buckets: tuple[float, ...], label: str) -> Histogram:
        full = f"{self._prefix}_{name}"
        return Histogram(full, text, (label,), buckets=buckets, registry=self.registry)

    def answer(self, endpoint: str, code: int, seconds: float) -> None:
        self._requests.labels(endpoint, str(code)).inc()
        self._request_seconds.labels(endpoint).observe(seconds)
        if code in (429, 503):
            self._refused.labels(endpoint).inc()

    def text(self) -> bytes:
        return generate_latest(self.registry)
