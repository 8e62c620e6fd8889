"""How long the evaluation's part of ``prorl view`` takes, and what memory, on many problems, models and samples.

    python benchmarks/view_evaluation.py [--problems 1000] [--models 8] [--n 128] [--folder DIR] [--browser] [--json FILE]

Writes such a folder with the room's own writers (a generator that makes answers up; ``--folder`` keeps it and takes it
up again), then opens it in a process of its own and times every page. Seconds are wall seconds of this machine, memory
is the process's peak resident size.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import NullProgress, derive_seed
from prorl_datasets import DOMAINS, Sample
from prorl_evaluation import EvalSettings, evaluate
from prorl_evaluation.testing import FakeGenerator, FakeScorer
from prorl_inference import Completion, Request, SamplingParams
from prorl_verifiers import Task
from prorl_viewer.encoding import encode
from prorl_viewer.evaluations import EvaluationSubject, looks_like, open_subjects

WORDS = "so we set the sum to n and square both sides which leaves the smaller root of the two "
FAMILIES, BENCHMARKS = 40, 5


def problems(count: int) -> list[Sample]:
    """Return problems of five domains, five benchmarks and forty families."""
    return [
        Sample(
            id=f"{DOMAINS[i % len(DOMAINS)]}-{i:05d}",
            domain=DOMAINS[i % len(DOMAINS)],
            prompt=({"role": "user", "content": f"Problem {i}. {WORDS * 12}What is it?"},),
            task=Task("math", {"answer": "yes"}),
            source="benchmark",
            licence="CC0-1.0",
            split="test",
            metadata={
                "benchmark": f"bench-{i % BENCHMARKS}",
                "family": f"family-{i % FAMILIES}",
                "level": i % 7,
            },
        )
        for i in range(count)
    ]


@dataclass
class Student(FakeGenerator):
    """Answers rightly as often as the problem is easy and the student is good; texts of about 2,000 characters."""

    skill: float = 0.0

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: Callable[[int, list[Completion]], None] | None = None,
    ) -> list[list[Completion]]:
        """Answer every seed."""
        answers = []
        for request in requests:
            hard = derive_seed(0, "hard", str(request.prompt)) % 1000 / 1000
            rate = max(0.0, min(1.0, 1.1 - 1.6 * hard + 0.5 * self.skill))
            answers.append([self._said(seed, rate) for seed in request.seeds])
        if on_result is not None:
            for at, answer in enumerate(answers):
                on_result(at, answer)
        if on_done is not None:
            on_done(sum(map(len, answers)))
        return answers

    def _said(self, seed: int, rate: float) -> Completion:
        right = seed % 10_000 < 10_000 * rate
        text = f"{'yes' if right else f'no {seed % 50}'} {WORDS * (10 + seed % 25)}"
        return Completion(text, (1,) * 8, (-0.5,) * 8, "length" if seed % 13 == 0 else "stop")


def write(folder: Path, count: int, models: int, n: int) -> None:
    """Write one evaluation folder a model; a folder that is there is left as it is."""
    samples = problems(count)
    settings = EvalSettings(n=n, k=n // 2, batch_rows=4096, draws=10_000)
    for at in range(models):
        name = "base" if at == 0 else f"step_{500 * at:06d}"
        out = folder / f"{name}-0123abcd"
        if (out / "result.json").is_file():
            continue
        student = Student(model_id=name, model_digest=f"digest-{at}", skill=at / models)
        started = time.perf_counter()
        evaluate(student, samples, settings, out, FakeScorer(), NullProgress())
        print(f"{out}: written in {time.perf_counter() - started:.0f} s", file=sys.stderr)


@dataclass
class Clock:
    """Wall and processor seconds, size and memory of each page that was asked for."""

    subject: EvaluationSubject
    rows: dict[str, dict[str, float]] = field(default_factory=dict)

    def ask(self, name: str, page: str, **query: str) -> Any:
        """Ask a page once and note what it took, with the making of its JSON."""
        wall, cpu = time.perf_counter(), time.process_time()
        answer = self.subject.pages()[page](query)
        size = len(encode(answer))
        self.rows[name] = {
            "wall, s": round(time.perf_counter() - wall, 3),
            "processor, s": round(time.process_time() - cpu, 3),
            "answer, KB": round(size / 1000, 1),
            "peak memory, MB": round(peak()),
        }
        return answer

    def wait(self, name: str, page: str, **query: str) -> Any:
        """Ask until it is computed, in the background."""
        wall, cpu = time.perf_counter(), time.process_time()
        while (answer := self.subject.pages()[page](query))["state"] == "computing":
            pass
        self.rows[name] = {
            "wall, s": round(time.perf_counter() - wall, 3),
            "processor, s": round(time.process_time() - cpu, 3),
            "peak memory, MB": round(peak()),
        }
        return answer


def peak() -> float:
    """Return the process's peak resident size in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure(folder: Path) -> dict[str, Any]:
    """Open what is in ``folder`` and ask for every page."""
    start = peak()
    (subject,) = open_subjects([f for f in sorted(folder.iterdir()) if looks_like(f)])
    clock = Clock(subject)
    clock.ask("first answer: summary", "summary")
    rows = clock.ask("matrix", "matrix")["rows"]
    clock.ask("matrix again", "matrix")
    clock.ask("text filter", "search", q="problem 77")
    keys = [m["key"] for m in subject.pages()["summary"]({})["each"]]
    problem = rows[len(rows) // 2]["id"]
    clock.ask("a problem", "problem", problem=problem)
    clock.ask("its answers, first of a model", "samples", problem=problem, model=keys[0])
    for key in keys[1:]:
        clock.ask("its answers, of the last model", "samples", problem=problem, model=key)
    clock.ask("its answers again", "samples", problem=problem, model=keys[0])
    clock.ask("answers by text", "samples", problem=problem, model=keys[-1], q="no 2")
    clock.ask("one answer", "sample", problem=problem, model=keys[-1], index="5")
    clock.wait("solvable sets, all models", "solvable")
    clock.wait("claims, two models", "claims", models=f"{keys[0]},{keys[-1]}")
    clock.wait("claims, all models", "claims")
    clock.ask("claims again", "claims")
    clock.ask("curves of one group", "curves", group="domain:math")
    return {"memory before, MB": round(start), "load": os.getloadavg()[0], "pages": clock.rows}


def in_browser(folder: Path) -> dict[str, float]:
    """Return seconds in Chromium: address to the first rows of the matrix, a filter to its rows."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "prorl_cli", "view", str(folder)]
    served = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert served.stdout is not None
        address = served.stdout.readline().strip()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page()
            started = time.perf_counter()
            page.goto(f"{address}#/{folder.name}/evaluation?tab=problems&by=none")
            page.wait_for_selector(".share")
            first = time.perf_counter() - started
            started = time.perf_counter()
            page.fill("input[data-filter]", "problem 77")
            page.get_by_text("11 of 1,000 problems").wait_for()
            text = time.perf_counter() - started
            page.fill("input[data-filter]", "")
            page.get_by_text("1,000 of 1,000 problems").wait_for()
            started = time.perf_counter()
            page.locator("form.filters select").nth(1).select_option("math")
            page.get_by_text("200 of 1,000 problems").wait_for()
            domain = time.perf_counter() - started
            browser.close()
    finally:
        served.terminate()
        served.wait()
    return {
        "address to rows, s": round(first, 2),
        "text filter to rows, with its pause of 0.15 s": round(text, 2),
        "domain filter to rows, s": round(domain, 2),
    }


def main() -> None:
    """Write the folder, then measure in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--n", type=int, default=128)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--measure", action="store_true", help="only measure what is in --folder")
    parser.add_argument("--browser", action="store_true", help="of 1,000 problems, in Chromium too")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.folder)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        write(folder, options.problems, options.models, options.n)
        own = [sys.executable, __file__, "--measure", "--folder", str(folder)]
        found = json.loads(subprocess.run(own, check=True, capture_output=True, text=True).stdout)
        if options.browser:
            found["browser"] = in_browser(folder)
    found |= {"problems": options.problems, "models": options.models, "n": options.n}
    for name, row in found["pages"].items():
        print(f"{name:32}", "  ".join(f"{k} {v:g}" for k, v in row.items()))
    print(f"load {found['load']:.1f}, memory before {found['memory before, MB']} MB")
    for name, seconds in found.get("browser", {}).items():
        print(f"{name:48}", seconds)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
