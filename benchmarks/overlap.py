"""How long GPUs wait with ``rollout.staleness``: the real collector on a simulated cluster.

    python benchmarks/overlap.py [--rates 0.1 0.4 0.9] [--gpus 8 128] [--steps N] [--json FILE]

Sampler, scorer, update and clock are models (constants below); nothing was measured on a GPU. With a staleness of 0 all
GPUs sample and then all train. Above, a part of them samples and the others train; the share is the best of ``SHARES``.
The queue is the rule of ``SampleAhead``: batch u begins once the sampler is free and update u - 1 - k is done, and is
handed over when batch u + 1 begins. Leaves out moving weights and what staleness does to learning.
"""

from __future__ import annotations

import argparse
import functools
import heapq
import itertools
import json
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Self

import numpy as np

from prorl_common import derive_seed
from prorl_inference import Completion, Ended, Request, SamplingParams, sample_all
from prorl_training.config import SafetyConfig, TrainConfig
from prorl_training.rollout.collector import Collector
from prorl_training.schedule.safety import Guard
from prorl_training.testing import named_sample
from prorl_training.types import Batch, Carried
from prorl_verifiers import Task, Verdict

SAMPLES, LIMIT, PROMPT_TOKENS = 16, 8192, 200
ROWS, BASE, ROW, PREFILL = 256, 5e-3, 3.5e-5, 100_000.0
"""Responses that run at once on a GPU; seconds a token of all of them, and more for each; tokens read a second.
1.5B in bf16 on an H100: 3.1 GB of weights take 0.9 ms at 3.35 TB/s, the rest of BASE is what a step costs beside
(launches, scheduling, sampling); 28 KB of keys and values a token x 4,000 tokens take 3.4e-5 s. PREFILL is 30 % of its
989 TFLOP/s."""
MEDIAN, BETWEEN, WITHIN = 3000.0, 0.55, 0.5
"""Of the log-normal lengths: median in tokens, standard deviations of the logarithm between and within problems. Cut at
8,192 their mean is 3,600, and 9 % are cut: DeepScaleR-1.5B's 8k stage went from 5,500 to 3,500."""
VERDICT = 2.0
"""Seconds from a whole group to its verdicts."""


class Clock:
    """Simulated seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def pass_until(self, when: float) -> None:
        """Let time pass, never back."""
        self.now = max(self.now, when)


@dataclass(slots=True)
class Response:
    """A response on a GPU: ``end`` is where the GPU's count of tokens will be when it is whole."""

    key: int
    index: int
    length: int
    begun: int
    end: float = 0.0


@dataclass(slots=True)
class Gpu:
    """One engine: ``tokens`` counts what each running response has made so far, at time ``at``. While prompts are read,
    until ``reads_until``, nothing is made."""

    running: list[tuple[float, int, Response]] = field(default_factory=list)
    waiting: deque[Response] = field(default_factory=deque)
    tokens: float = 0.0
    at: float = 0.0
    reads_until: float = 0.0
    version: int = 0

    def token_seconds(self) -> float:
        """Return the seconds that one token of every response takes."""
        return BASE + ROW * len(self.running)

    def advance(self, now: float) -> None:
        """Make tokens until ``now``."""
        start = max(self.at, min(self.reads_until, now))
        self.tokens += (now - start) / self.token_seconds()
        self.at = now

    def next_end(self) -> float:
        """Return when the next response is whole."""
        left = max(self.running[0][0] - self.tokens, 0.0)
        return max(self.at, self.reads_until) + left * self.token_seconds()


@dataclass(slots=True)
class Usage:
    """How much ran since ``begun``: responses x seconds, the most at once, and GPUs without any x seconds."""

    begun: float
    at: float
    places: float = 0.0
    most: int = 0
    empty: float = 0.0


class Cluster:
    """GPUs on one clock."""

    def __init__(self, gpus: int, clock: Clock) -> None:
        self.gpus = [Gpu() for _ in range(gpus)]
        self.clock = clock
        self.usage = Usage(0.0, 0.0)
        self._events: list[tuple[float, int, int]] = []
        self._order = itertools.count()
        self._running, self._empty = 0, gpus

    def begin(self) -> None:
        """Begin a new account of what runs."""
        self.usage = Usage(self.clock.now, self.clock.now)

    def idle(self) -> tuple[float, float]:
        """Return the share of places (of the most that ran at once), and of GPUs, that stood empty since ``begin``."""
        self._account()
        u = self.usage
        seconds = max(u.at - u.begun, 1e-9)
        return 1.0 - u.places / max(u.most * seconds, 1e-9), u.empty / (len(self.gpus) * seconds)

    def add(self, responses: Sequence[Response]) -> None:
        """Send a group to the GPU with the fewest responses."""
        gpus = self.gpus
        number = min(range(len(gpus)), key=lambda i: len(gpus[i].running) + len(gpus[i].waiting))
        gpus[number].waiting += responses
        self._settle(number)

    def next_time(self) -> float:
        """Return when the next response is whole; infinity where none runs."""
        while self._events and self.gpus[self._events[0][1]].version != self._events[0][2]:
            heapq.heappop(self._events)
        return self._events[0][0] if self._events else math.inf

    def step(self) -> Response:
        """Let time pass until a response is whole and return it."""
        self.clock.pass_until(self.next_time())
        self._account()
        number = self._events[0][1]
        gpu = self.gpus[number]
        gpu.advance(self.clock.now)
        response = heapq.heappop(gpu.running)[2]
        self._running -= 1
        self._empty += not gpu.running
        self._settle(number)
        return response

    def stop(self) -> list[tuple[Response, int]]:
        """End everything; return the responses with the tokens that they have."""
        self._account()
        found = []
        for gpu in self.gpus:
            gpu.advance(self.clock.now)
            made = [
                (r, r.length - math.ceil(max(r.end - gpu.tokens, 0))) for _, _, r in gpu.running
            ]
            found += [(r, max(r.begun, tokens)) for r, tokens in made]
            found += [(r, r.begun) for r in gpu.waiting]
            gpu.running.clear()
            gpu.waiting.clear()
            gpu.version += 1
        self._running, self._empty = 0, len(self.gpus)
        return found

    def _settle(self, number: int) -> None:
        """Give free places of a GPU to those that wait, and foresee its next end."""
        gpu, now, read = self.gpus[number], self.clock.now, 0
        self._account()
        gpu.advance(now)
        while gpu.waiting and len(gpu.running) < ROWS:
            response = gpu.waiting.popleft()
            read += response.begun + (PROMPT_TOKENS if response.index == 0 or response.begun else 0)
            response.end = gpu.tokens + response.length - response.begun
            self._empty -= not gpu.running
            self._running += 1
            heapq.heappush(gpu.running, (response.end, next(self._order), response))
        gpu.reads_until = max(gpu.reads_until, now) + read / PREFILL
        self.usage.most = max(self.usage.most, self._running)
        gpu.version += 1
        if gpu.running:
            heapq.heappush(self._events, (gpu.next_end(), number, gpu.version))

    def _account(self) -> None:
        u, now = self.usage, self.clock.now
        u.places += self._running * (now - u.at)
        u.empty += self._empty * (now - u.at)
        u.at = now


@functools.lru_cache(maxsize=1 << 16)
def lengths_of(seed: int, name: str) -> tuple[int, ...]:
    """Return the lengths in tokens of a problem's responses, end token included."""
    drawn = np.random.default_rng(derive_seed(seed, "lengths", name)).normal(size=SAMPLES + 1)
    lengths = MEDIAN * np.exp(BETWEEN * drawn[0] + WITHIN * drawn[1:])
    return tuple(int(x) for x in np.clip(np.round(lengths), 1, LIMIT))


@functools.lru_cache(maxsize=1 << 16)
def _drawn(seed: int, name: str) -> float:
    """Return a problem's own number in [0, 1): it teaches something at the rates above."""
    return derive_seed(seed, "usable", name) / 2**63


class SimulatedSampler:
    """A generator on a cluster: streams, and whole lists for who awaits rounds."""

    model_id = model_digest = "simulated"

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster, self.seed = cluster, seed

    def stream(
        self, params: SamplingParams, on_done: Callable[[int], None] | None = None
    ) -> SimulatedStream:
        """Return a stream."""
        return SimulatedStream(self, on_done)

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: Callable[[int, list[Completion]], None] | None = None,
    ) -> list[list[Completion]]:
        """Return one completion a seed, once all verdicts could be there."""
        return sample_all(self.stream(params, on_done), requests, on_result)

    def sync_weights(self, model: Any) -> None:
        """Takes no time here."""

    def close(self) -> None:
        """Nothing is held."""


class SimulatedStream:
    """One step's stream. A group is handed over ``VERDICT`` seconds after it is whole, as scoring takes no time."""

    repeatable = False

    def __init__(self, sampler: SimulatedSampler, on_done: Callable[[int], None] | None) -> None:
        self.rows = len(sampler.cluster.gpus) * ROWS
        self._sampler, self._cluster, self._on_done = sampler, sampler.cluster, on_done
        self._names: dict[int, str] = {}
        self._answers: dict[int, list[Completion | None]] = {}
        self._missing: dict[int, int] = {}
        self._whole: list[tuple[float, int]] = []
        self._running = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._answers.clear()

    @property
    def running(self) -> int:
        """Responses that are not whole."""
        return self._running

    def submit(self, key: int, request: Request) -> None:
        """Send what is missing of a request to a GPU."""
        name = str(request.prompt[0]["content"])
        begun = request.begun or (Completion("", (), (), "paused"),) * len(request.seeds)
        lengths = lengths_of(self._sampler.seed, name)
        responses = [
            Response(key, i, lengths[i], len(c.token_ids))
            for i, c in enumerate(begun)
            if c.finish_reason == "paused"
        ]
        self._names[key] = name
        self._answers[key] = [None if c.finish_reason == "paused" else c for c in begun]
        self._missing[key] = len(responses)
        self._running += len(responses)
        if responses:
            self._cluster.add(responses)
        else:
            heapq.heappush(self._whole, (self._cluster.clock.now + VERDICT, key))

    def take(self, wait: float | None = None) -> list[Ended]:
        """Let time pass until a response is whole, or a group's verdicts are due."""
        clock = self._cluster.clock
        ahead = self._cluster.next_time()
        if ahead < (self._whole[0][0] if self._whole else math.inf):
            response = self._cluster.step()
            key = response.key
            self._running -= 1
            if self._on_done is not None:
                self._on_done(1)
            self._answers[key][response.index] = self._answer(response, response.length, "stop")
            self._missing[key] -= 1
            if self._missing[key] == 0:
                heapq.heappush(self._whole, (clock.now + VERDICT, key))
            if self._running:
                return []
        if not self._whole:
            return []
        due, key = heapq.heappop(self._whole)
        clock.pass_until(due)
        return [(key, [c for c in self._answers.pop(key) if c is not None])]

    def stop(self) -> list[Ended]:
        """Pause what runs."""
        self._running = 0
        for response, tokens in self._cluster.stop():
            self._answers[response.key][response.index] = self._answer(response, tokens, "paused")
        return [(k, [c for c in cs if c is not None]) for k, cs in self._answers.items()]

    def _answer(self, response: Response, tokens: int, finish: Any) -> Completion:
        ids: Any = range(tokens)  # only its length is looked at
        return Completion(f"{self._names[response.key]}/{response.index}", ids, (), finish)


class SimulatedScorer:
    """Right and wrong by turns where a problem teaches something, else wrong."""

    def __init__(self, seed: int, rate: float) -> None:
        self.seed, self.rate = seed, rate

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        """Return a verdict an item."""
        found = []
        for text, _ in items:
            name, _, index = text.rpartition("/")
            usable = _drawn(self.seed, name) < self.rate
            found.append(Verdict(float(usable and int(index) % 2), "scored", "simulated"))
        return found


PROMPTS, WARM_UP = 256, 3
SHARES = (0.375, 0.5, 0.625, 0.75, 0.875)
"""Shares of the GPUs that sample, tried for each staleness above 0."""
PARAMETERS, FLOPS, TRAIN_MFU = 1.5e9, 989e12, 0.35
PASSES = 2 + 2 + 6
"""FLOPs per parameter and token of an update: old log-probs, reference, forward and backward."""


@dataclass(frozen=True, slots=True)
class Result:
    """Means over the steps: seconds, and shares of all GPUs' time. ``age`` is in policy versions."""

    rate: float
    gpus: int
    staleness: int
    sampling_share: float
    step_seconds: float
    idle: float
    idle_at_barriers: float
    age_mean: float
    age_max: int
    thrown_away: float


def simulate(rate: float, gpus: int, staleness: int, share: float, steps: int) -> Result:
    """Run ``steps`` steps after the warm-up. ``idle_at_barriers`` is what the wait for others costs.

    Idle time is that of sampling GPUs without a response and of GPUs that wait for a batch or an update. A part of it is
    imbalance: sampler and trainer differ in speed. The rest, at barriers, would be there with equal speeds.
    """
    sampling = gpus if not staleness else round(gpus * share)
    training = gpus if not staleness else gpus - sampling
    clock = Clock()
    cluster = Cluster(sampling, clock)
    config = TrainConfig.model_validate(
        {
            "rollout": {"prompts": PROMPTS, "samples": SAMPLES, "max_tokens": LIMIT},
            "reward": {"overlap": False},
        }
    )
    collector = Collector(
        SimulatedSampler(cluster, 1), SimulatedScorer(1, rate), Guard(SafetyConfig()), clock=clock
    )
    carried = Carried()
    finished = [0.0]  # when update v was done; 0 is the initial policy
    ready: list[float] = []
    ages: list[int] = []
    busy_sampling, busy_training, thrown, sampled, marks = 0.0, 0.0, 0, 0, []
    pending: Batch | None = None

    def train(batch: Batch, handed_over: float) -> None:
        nonlocal busy_training
        tokens = sum(g.tokens for g in batch.kept)
        seconds = PASSES * PARAMETERS * tokens / (training * FLOPS * TRAIN_MFU)
        finished.append(max(handed_over, finished[-1]) + seconds)
        if len(finished) - 1 > WARM_UP:
            busy_training += seconds
        ready.append(handed_over)

    for step in range(1, WARM_UP + steps + 2):
        # the versions finished by now; the batch before is handed over when this one begins
        if staleness == 0 and pending is not None:
            train(pending, clock.now)
            pending = None
        clock.pass_until(finished[max(step - 1 - staleness, 0)])
        if pending is not None:
            train(pending, clock.now)
            pending = None
        version = max(v for v, when in enumerate(finished) if when <= clock.now)
        cluster.begin()
        began = clock.now
        batch = collector.collect(
            (named_sample(f"{step}.{i}") for i in itertools.count()),
            step,
            config,
            carried,
            None,
            version,
        )
        carried, pending = batch.carried, batch
        if WARM_UP < step <= WARM_UP + steps:
            _, empty = cluster.idle()
            busy_sampling += (clock.now - began) * (1 - empty)
            ages += [step - 1 - t.policies[0] for g in batch.kept for t in g.trajectories]
            thrown += sum(g.tokens for g in batch.cancelled)
            sampled += batch.tokens
        if step in (WARM_UP + 1, WARM_UP + steps + 1):
            marks.append(began)
    seconds = marks[1] - marks[0]
    idle = 1 - (busy_sampling * sampling + busy_training * training) / (seconds * gpus)
    # with perfectly balanced speeds both parts would be busy as long as the slower one is
    slower = max(busy_sampling, busy_training) if staleness else busy_sampling + busy_training
    return Result(
        rate=rate,
        gpus=gpus,
        staleness=staleness,
        sampling_share=sampling / gpus,
        step_seconds=seconds / steps,
        idle=idle,
        idle_at_barriers=1 - slower / seconds,
        age_mean=fmean(ages),
        age_max=max(ages),
        thrown_away=thrown / sampled,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=float, nargs="+", default=[0.1, 0.4, 0.9])
    parser.add_argument("--gpus", type=int, nargs="+", default=[8, 32, 128, 512])
    parser.add_argument("--staleness", type=int, nargs="+", default=[0, 1, 2, 4])
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = []
    for rate, gpus, k in itertools.product(options.rates, options.gpus, options.staleness):
        shares = SHARES if k else (1.0,)
        every = [simulate(rate, gpus, k, share, options.steps) for share in shares]
        results.append(min(every, key=lambda r: r.step_seconds))
        print(results[-1], flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n")


if __name__ == "__main__":
    main()
