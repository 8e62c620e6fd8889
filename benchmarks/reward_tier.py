"""Load test of the reward tier: a step's answers, some hostile, through Ray replicas, one of which is killed.

    python benchmarks/reward_tier.py [--answers 8192] [--replicas 1,2,4] [--workers 1] [--hostile 0.05] [--json FILE]

Needs Ray (``make openrlhf-cpu-venv``), and starts and stops a local Ray. Answers have known rewards and the domain
shares of the 136k recipe; hostile ones should hang or break a grader. Reports seconds, processor seconds of the
replicas and their children, and answers with no verdict or a wrong reward. In the last run, a replica is killed
(SIGKILL) after a fifth of the answers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from verify_server_requests import HOSTILE_ANSWERS, ItemMaker

from prorl_training.config.runtime import RewardConfig
from prorl_training.engine.openrlhf.rewards import Place, RayReplicas, start_replicas
from prorl_verifiers import Task, Verdict
from prorl_verifiers.replicas import ReplicaPool

SHARES = {"math": 40, "code": 24, "stem": 25, "logic": 37, "instruction": 10}
"""Thousands of rows of each domain in the recipe prorl-136k."""
THOUGHT = "We look at the number again and see that it is so. " * 240
"""12,000 characters, some 3,000 tokens."""
TESTS = 15
"""Number of tests of a program; a wrong program fails the first one."""
TRY_SECONDS = 2.0
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Row:
    """One row of the table: the results with a number of replicas."""

    replicas: int
    workers: int
    killed: int
    answers: int
    lost: int
    wrong: int
    timeouts: int
    seconds: float
    cpu_seconds: float
    load: float


class AnswerMaker(ItemMaker):
    """Answers as long as a reasoning model's, and programs with as many tests as in competitions."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._kinds = [kind for kind, weight in SHARES.items() for _ in range(weight)]

    def item(self) -> tuple[dict[str, Any], float]:
        """Return (item, reward), with a thinking section before the answer."""
        item, reward = super().item()
        return item | {"response": f"<think>{THOUGHT}</think>{item['response']}"}, reward

    def _code_item(self) -> tuple[Any, str, str]:
        numbers = [self._random.randint(1, 10**6) for _ in range(TESTS)]
        reference = {"tests": [{"stdin": f"{n}\n", "stdout": f"{n + 1}\n"} for n in numbers]}
        program = "```python\nprint(int(input()) + {})\n```"
        return reference, program.format(1), program.format(2)


def make_items(count: int, hostile: float) -> tuple[list[tuple[str, Task]], list[float]]:
    """Return ``count`` fixed (answer, task) pairs and their rewards."""
    chance, maker = random.Random(0), AnswerMaker(0)
    items, rewards = [], []
    for _ in range(count):
        if chance.random() < hostile:
            items.append((chance.choice(HOSTILE_ANSWERS), Task("math", {"answer": "x+7"})))
            rewards.append(0.0)
            continue
        item, reward = maker.item()
        task = item["task"]
        items.append((item["response"], Task(task["verifier"], task["reference"])))
        rewards.append(reward)
    return items, rewards


class CpuMeter:
    """Processor seconds of replicas and their child processes, sampled so that killed ones count."""

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._look()
        self._before = sum(self._seen.values())
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self._look()

    @property
    def seconds(self) -> float:
        """Return the seconds used in the ``with`` block."""
        return sum(self._seen.values()) - self._before

    def _work(self) -> None:
        while not self._end.wait(0.5):
            self._look()

    def _look(self) -> None:
        stats = dict(_stats())
        for root in replica_pids():
            tree, grown = {root}, True
            while grown:
                more = {pid for pid, (parent, _) in stats.items() if parent in tree} - tree
                tree |= more
                grown = bool(more)
            found = sum(stats[pid][1] for pid in tree if pid in stats)
            self._seen[root] = max(found, self._seen.get(root, 0.0))


def _stats() -> Iterator[tuple[int, tuple[int, float]]]:
    """Yield (pid, (parent pid, processor seconds, including waited-for children))."""
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            words = (place / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        yield int(place.name), (int(words[1]), sum(map(int, words[11:15])) / TICKS)


def replica_pids() -> list[int]:
    found = []
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and (place / "cmdline").read_bytes().startswith(
                b"ray::RewardReplica"
            ):
                marked = f"{MARK}={os.getpid()}".encode()
                if marked in (place / "environ").read_bytes().split(b"\0"):
                    found.append(int(place.name))
        except OSError:
            continue
    return found


MARK = "PRORL_REWARD_TIER_BENCHMARK"


class Killing(RayReplicas):
    """Kills a replica after ``after`` answered calls (0: never)."""

    after, answered, killed = 0, 0, 0

    def result(self, future: Any) -> list[Verdict]:
        """Return the verdicts and count the call."""
        found = super().result(future)
        Killing.answered += 1
        if self.after and Killing.answered == self.after:
            os.kill(replica_pids()[0], signal.SIGKILL)
            Killing.killed += 1
        return found


def measure(ray: Any, replicas: int, options: argparse.Namespace, kill: bool) -> Row:
    """Score all answers with ``replicas`` replicas."""
    items, rewards = make_items(options.answers, options.hostile)
    node = ray.nodes()[0]["NodeID"]
    config = RewardConfig(timeout_seconds=TRY_SECONDS)
    started = start_replicas(ray, config, [Place(node, options.workers)] * replicas)
    started.prepare(task for _, task in items[:200])
    Killing.after = options.answers // 8 // 5 if kill else 0
    Killing.answered = Killing.killed = 0
    pool = ReplicaPool(
        Killing(ray, started.handles, started.slots), say=lambda line: print(line, file=sys.stderr)
    )
    pool.score(items[:64])  # warm-up: libraries load on first use
    Killing.answered = 0
    with CpuMeter() as cpu:
        begun = time.perf_counter()
        verdicts = pool.score(items)
        seconds = time.perf_counter() - begun
    pool.close()
    judged = [verdict.reward for verdict in verdicts]
    wrong = sum(a is not None and a != b for a, b in zip(judged, rewards, strict=True))
    return Row(
        replicas,
        options.workers,
        Killing.killed,
        len(items),
        len(items) - len(judged) + judged.count(None),
        wrong,
        sum(verdict.status == "timeout" for verdict in verdicts),
        seconds,
        cpu.seconds,
        os.getloadavg()[0],
    )


def show(row: Row) -> None:
    """Print a line of the table."""
    print(
        f"{row.replicas:8d} {row.killed:6d} {row.answers:7d} {row.lost:5d} {row.wrong:5d} {row.timeouts:8d} "
        f"{row.seconds:8.1f} {row.answers / row.seconds:9.0f} {row.cpu_seconds:8.1f} "
        f"{1e3 * row.cpu_seconds / row.answers:12.1f} {row.load:6.1f}",
        flush=True,
    )


def main() -> int:
    """Measure and print the table; return 1 if an answer was lost or scored wrongly."""
    parser = argparse.ArgumentParser(description="Load-test the reward pool.")
    parser.add_argument("--answers", type=int, default=8192)
    parser.add_argument("--replicas", default="1,2,4", help="numbers of replicas, with commas")
    parser.add_argument("--workers", type=int, default=1, help="of each replica")
    parser.add_argument("--hostile", type=float, default=0.05)
    parser.add_argument("--no-kill", action="store_true", help="leave out the run with a death")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    import ray

    os.environ[MARK] = str(os.getpid())
    ray.init(address="local", num_cpus=8, include_dashboard=False, log_to_driver=False)
    counts = [int(word) for word in options.replicas.split(",")]
    print(
        "replicas killed answers  lost wrong timeouts  seconds answers/s  cpu (s) cpu/answer ms   load"
    )
    rows = []
    for count in counts:
        rows.append(measure(ray, count, options, kill=False))
        show(rows[-1])
    if not options.no_kill:
        rows.append(measure(ray, max(counts), options, kill=True))
        show(rows[-1])
    ray.shutdown()
    if options.json is not None:
        machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
        document = {"machine": machine, "runs": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return int(any(row.lost or row.wrong for row in rows))


if __name__ == "__main__":
    sys.exit(main())
