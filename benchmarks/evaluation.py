"""What evaluating costs beside the model: verdicts, journal, report; and tokens a second of the backends.

    python benchmarks/evaluation.py [--only verdicts,journal,report,backends] [--verdicts N] [--model M]
        [--dtype D] [--json FILE]

    verdicts    N math verdicts (128,000) through journal, keys and verifier pool, as after sampling; and how long
                opening and summing up a folder of that size takes
    journal     seconds spent writing samples beside seconds spent sampling: a real model, both kinds of batches
    report      the HTML report on 3 checkpoints of 100 tasks
    backends    tokens/s of Transformers and of vLLM on the same problems, in turns

Leaves out: what a verdict itself costs (``verifiers.py``, ``verifier_pool.py``), servers.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prorl_common import NullProgress, derive_seed
from prorl_datasets import Sample
from prorl_evaluation import EvalResult, EvalSettings, evaluate, regrade, write_report
from prorl_evaluation.sampling.journal import EvalJournal
from prorl_evaluation.testing import FakeGenerator, FakeScorer
from prorl_inference import Completion, Generator, Request, SamplingParams
from prorl_verifiers import Task, VerifierPool

N = 128
ROUNDS = 3
WORDS = "so we set the sum to n and square both sides, which leaves the smaller root. "
FORMS = ("{0}", r"\frac{{{1}}}{{2}}", r"{0}.0", r"x = {0}", r"\sqrt{{{2}}}", "none of these")


@dataclass(frozen=True, slots=True)
class Options:
    """What the sections need to know."""

    verdicts: int
    workers: int
    model: str
    work: Path
    dtype: str = "fp32"


def math_problem(index: int) -> Sample:
    """Return a problem whose answer is a whole number."""
    return Sample(
        id=f"math-{index}",
        domain="math",
        prompt=({"role": "user", "content": f"What is {index} + {index % 17}?"},),
        task=Task("math", {"answer": str(index + index % 17)}),
        source="benchmark",
        licence="CC0-1.0",
        split="test",
        metadata={"benchmark": f"task-{index % 100}"},
    )


class Solver(FakeGenerator):
    """Writes a paragraph and a boxed answer in several forms: nearly always wrong, hardly two alike (the costly case)."""

    def _answer(self, seed: int, batch: int) -> Completion:
        value = seed % 997
        form = FORMS[seed % len(FORMS)].format(value, 2 * value, value * value)
        text = WORDS * (5 + seed % 20) + rf"The answer is \boxed{{{form}}}."
        return Completion(text, (1,) * 100, (-0.5,) * 100, "stop")


def timed(work: Callable[[], object]) -> float:
    """Return the wall seconds of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def verdicts(options: Options) -> dict[str, Any]:
    """Seconds to judge ``options.verdicts`` sampled answers, and to open and sum up what is judged."""
    samples = [math_problem(i) for i in range(max(1, options.verdicts // N))]
    settings = EvalSettings(n=N, k=N // 2, batch_rows=512, draws=1000)
    out = options.work / "verdicts"
    sampled = timed(
        lambda: evaluate(Solver(), samples, settings, out, FakeScorer(), NullProgress())
    )
    with VerifierPool(options.workers) as pool:
        pool.score([("warm", samples[0].task)])
        pool.wait_until_warm()
        judged = timed(lambda: regrade(out, pool, NullProgress()))
    again = timed(lambda: evaluate(Solver(), samples, settings, out, FakeScorer(), NullProgress()))
    count = len(samples) * N
    return {
        "verdicts": count,
        "workers": options.workers,
        "judging, with journal and result, s": judged,
        "verdicts/s": count / judged,
        "128,000 at this rate, s": 128_000 / count * judged,
        "fake sampling and fake judging, s": sampled,
        "opening and summing up a finished folder, s": again,
        "samples.jsonl, MB": (out / "samples.jsonl").stat().st_size / 1e6,
    }


def _evaluate_model(
    options: Options, generator: Generator, settings: EvalSettings, name: str
) -> tuple[EvalResult, float, float]:
    """Return (result, wall seconds, seconds spent writing samples)."""
    spent = 0.0
    write = EvalJournal.add_samples

    def clocked(*arguments: Any) -> None:
        nonlocal spent
        started = time.perf_counter()
        write(*arguments)
        spent += time.perf_counter() - started

    samples = [math_problem(i) for i in range(16)]
    setattr(EvalJournal, "add_samples", clocked)  # noqa: B010 - put back below
    try:
        started = time.perf_counter()
        out = options.work / name
        result = evaluate(generator, samples, settings, out, FakeScorer(), NullProgress())
        return result, time.perf_counter() - started, spent
    finally:
        setattr(EvalJournal, "add_samples", write)  # noqa: B010


def journal(options: Options) -> dict[str, Any]:
    """Share of the sampling time that goes into writing and syncing samples."""
    from prorl_inference import fetch_or_resolve, load_generator

    path = fetch_or_resolve(options.model, NullProgress())
    generator = load_generator(str(path), batch_size=64)
    found: dict[str, Any] = {"model": options.model}
    for kind in ("fixed", "bucketed"):
        settings = EvalSettings(n=8, k=4, max_tokens=64, batch_rows=64, draws=100, batches=kind)
        result, wall, spent = _evaluate_model(options, generator, settings, f"journal-{kind}")
        found[f"{kind}: samples"] = result.overall.sampled
        found[f"{kind}: evaluation, s"] = wall
        found[f"{kind}: writing samples, s"] = spent
        found[f"{kind}: writing / evaluation, %"] = 100 * spent / wall
    return found


def report(options: Options) -> dict[str, Any]:
    """Seconds to write the HTML report on three results of 100 tasks with 10 problems each."""
    results = []
    samples = [math_problem(i) for i in range(1000)]
    for step, percent in ((0, 20), (1000, 40), (2000, 50)):
        name = f"step {step}"
        generator = FakeGenerator(name, name, percent)
        settings = EvalSettings(n=32, k=16, batch_rows=512, label=name)
        out = options.work / f"report-{step}"
        results.append(evaluate(generator, samples, settings, out, FakeScorer(), NullProgress()))
    page = options.work / "report.html"
    seconds = timed(lambda: write_report(results, None, page))
    return {
        "tasks": 100,
        "problems": len(samples),
        "checkpoints": len(results),
        "report, s": seconds,
        "page, MB": page.stat().st_size / 1e6,
    }


def _tokens_a_second(
    generator: Generator, requests: Sequence[Request], params: SamplingParams
) -> float:
    started = time.perf_counter()
    answers = generator.generate(requests, params)
    tokens = sum(len(c.token_ids) for answer in answers for c in answer)
    return tokens / (time.perf_counter() - started)


def backends(options: Options) -> dict[str, Any]:
    """Tokens/s of each backend on the same requests; they take turns."""
    from prorl_evaluation.sampling.lazy import LazyGenerator
    from prorl_inference import fetch_or_resolve

    path = fetch_or_resolve(options.model, NullProgress())
    names = ["transformers"]
    if importlib.util.find_spec("vllm") is not None:
        names.append("vllm")
    made = {n: LazyGenerator(path, options.model, "auto", options.dtype, 64, n) for n in names}
    requests = [
        Request(math_problem(i).prompt, tuple(derive_seed(0, "benchmark", i, j) for j in range(8)))
        for i in range(16)
    ]
    params = SamplingParams(0.6, 0.95, 128)
    rates: dict[str, list[float]] = {n: [] for n in names}
    for generator in made.values():
        generator.generate(requests[:1], replace(params, max_tokens=4))
    for _ in range(ROUNDS):
        for name, generator in made.items():
            rates[name].append(_tokens_a_second(generator, requests, params))
    for generator in made.values():
        generator.close()
    found: dict[str, Any] = {"model": options.model, "dtype": options.dtype}
    found |= {
        f"{name}, tokens/s (median of {ROUNDS})": statistics.median(r) for name, r in rates.items()
    }
    if "vllm" in rates:
        medians = {n: statistics.median(r) for n, r in rates.items()}
        found["vllm / transformers"] = medians["vllm"] / medians["transformers"]
    else:
        found["vllm"] = "not installed: not measured"
    return found


def machine(_: Options) -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "processors": len(os.sched_getaffinity(0)),
        "load before": os.getloadavg()[0],
    }


SECTIONS: dict[str, Callable[[Options], dict[str, Any]]] = {
    "machine": machine,
    "verdicts": verdicts,
    "journal": journal,
    "report": report,
    "backends": backends,
}


def main() -> None:
    """Measure, print a line a figure, and write them as JSON if asked."""
    parser = argparse.ArgumentParser(description="Measure evaluation beside the model.")
    parser.add_argument("--only", default="", help="sections, with commas (default: all)")
    parser.add_argument("--verdicts", type=int, default=128_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--dtype", default="fp32", help="of both backends: fp32, bf16 or auto")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    wanted = [name for name in given.only.split(",") if name] or [*SECTIONS]
    if unknown := [name for name in wanted if name not in SECTIONS]:
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    found = {}
    with tempfile.TemporaryDirectory() as work:
        options = Options(given.verdicts, given.workers, given.model, Path(work), given.dtype)
        for name in dict.fromkeys(["machine", *wanted]):
            found[name] = SECTIONS[name](options)
            print(name)
            for key, value in found[name].items():
                shown = f"{value:.4g}" if isinstance(value, float) else value
                print(f"  {key}: {shown}", flush=True)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
