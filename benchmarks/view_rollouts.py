"""How fast `prorl view` finds rollouts: first answer, filters and memory, on a made run of 100,000 responses.

The run: 3,000 steps of 33 or 34 responses to 3 prompts each; responses are words of a vocabulary of 20,000 drawn by
Zipf's law, 200 to 8,000 characters long (log-uniform: 2,100 on average, 210 MB in all), one in a hundred with some
characters beyond ASCII. `--tokens` adds token ids and both log-probs, a token for four characters. Each figure is taken
in a process of its own, whose files the system may have in its memory. Times of answers include the making of JSON; beside
each stands the processor's time, of all threads, as other work on the machine makes the first one longer.
Prints a table and, with `--json`, writes it.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STEPS, ROLLOUTS, PROMPTS = 3000, 100_000, 3
FILTERS: dict[str, dict[str, str]] = {
    "all, newest first": {},
    "step in a range": {"step": "1000..1200"},
    "reward above 0.5": {"reward": "0.5.."},
    "domain, status, finish reason": {
        "domain": "math",
        "status": "scored",
        "finish_reason": "stop",
    },
    "long ones that were kept": {"tokens": "1500..", "kept": "yes"},
    "sorted by tokens": {"sort": "tokens", "order": "desc"},
    "sorted by sample": {"sort": "sample_id"},
    "row 90,000": {"offset": "90000"},
    "text in every response": {"q": "e"},
    "text, frequent word": {"q": "WORD0"},
    "text, word in some": {"q": "WORD2000"},
    "text, rare word": {"q": "WORD19000"},
    "text, needle in one response": {"q": "the Needle of step 17"},
    "text that is nowhere": {"q": "zzyzxqqj"},
    "text beyond ASCII": {"q": "Ähnlich"},
    "text in prompts": {"q": "problem 4711"},
    "rare word, reward, sorted": {"q": "WORD15000", "reward": "1", "sort": "tokens"},
}


@functools.cache
def words() -> list[str]:
    """The made vocabulary, the most frequent first."""
    import numpy as np

    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlcumwfgypbvkjxqz"))
    chance = np.arange(26, 0, -1) / np.arange(26, 0, -1).sum()
    lengths = rng.integers(2, 11, 20_000)
    return ["".join(rng.choice(letters, n, p=chance)) for n in lengths]


def make_run(run: Path, rollouts: int, steps: int, tokens: bool) -> int:
    """Write the run; return the characters of its responses."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    from prorl_common.rollout_files import rollout_file, schema

    rng, vocabulary = np.random.default_rng(1), words()
    drawn = np.minimum(rng.zipf(1.2, 2_000_000) - 1, 19_999)
    pool = " ".join(vocabulary[i] for i in drawn)
    (run / "rollouts").mkdir(parents=True)
    (run / "config.yaml").write_text("model: {path: none}\n")
    (run / "identity.json").write_text("{}")
    (run / "metrics.jsonl").write_text("")
    characters, first = 0, 0
    for step in range(1, steps + 1):
        last = rollouts * step // steps
        rows: list[dict[str, Any]] = []
        count = last - first
        lengths = np.exp(rng.uniform(np.log(200), np.log(8000), count)).astype(int)
        for i, length in enumerate(lengths.tolist()):
            at = int(rng.integers(0, len(pool) - 8000))
            text = pool[at : at + length]
            if rng.random() < 0.01:
                text += " ähnlich – 数学 ∑"
            if i == 3 and step == 17:
                text += " The needle of STEP 17"
            characters += len(text)
            number = (step * PROMPTS + i * PROMPTS // count) % 9000
            domain = ("math", "code", "stem", "logic", "instruction")[number % 5]
            reward, size = float(rng.random() < 0.4), length // 4
            row: dict[str, Any] = {
                "step": step,
                "sample_id": f"{domain}-{number:06d}",
                "sample_index": i % 12,
                "domain": domain,
                "task": f"family-{number % 40}",
                "verifier": domain,
                "reference": json.dumps({"answer": str(number)}),
                "prompt": json.dumps(
                    [{"role": "user", "content": f"Solve problem {number}. " + pool[at : at + 300]}]
                )
                if i * PROMPTS % count < PROMPTS
                else rows[-1]["prompt"],
                "response": text,
                "tokens": size,
                "finish_reason": "length" if length > 7500 else "stop",
                "reward": reward,
                "shaped_reward": reward,
                "advantage": reward - 0.4,
                "status": "scored",
                "reason": "equal" if reward else "not equal",
                "isolation": "worker",
                "kept": i % 3 > 0,
                "policy_first": step - 1,
                "policy_last": step - 1,
                "carried": False,
            }
            if tokens:
                logs = -rng.exponential(0.5, (2, size)).astype(np.float32)
                row |= {
                    "token_ids": rng.integers(0, 49152, size),
                    "sampler_logprobs": logs[0],
                    "trainer_logprobs": logs[1],
                }
            rows.append(row)
        table = pa.Table.from_pylist(rows, schema=schema())
        parquet.write_table(table, rollout_file(run, step), compression="zstd")
        first = last
    return characters


def resident(process: int | str = "self") -> dict[str, int]:
    """The most and the present memory of a process, in MB (10^6 bytes), mapped files included."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    found = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    return {"peak": int(found["VmHWM"]) * 1024 // 10**6, "now": int(found["VmRSS"]) * 1024 // 10**6}


def measure(run: Path, cache: Path, started: float) -> dict[str, Any]:
    """The figures of one process: ``started`` is when it was begun (Unix time)."""
    from prorl_viewer.encoding import encode
    from prorl_viewer.rollouts import Rollouts

    begun = time.time()
    with Rollouts(run, cache) as rollouts:
        encode(rollouts.listed({}))
        first = {"seconds": time.time() - started, "cpu": time.process_time()}
        while not rollouts.listed({})["complete"]:
            time.sleep(0.05)
        read = {"seconds": time.time() - started, "cpu": time.process_time()}
        figures = {
            "imports": {"seconds": begun - started},
            "first answer since the start": first,
            "all read": read,
        }
        for name, query in FILTERS.items():
            figures[name] = filtered(rollouts, query)
        sample = str(rollouts.one({"step": "1500", "row": "0"})["sample_id"])
        for name, page, query in (
            ("group", rollouts.group, {"step": "1500", "sample": sample}),
            ("prompt over the steps", rollouts.prompt, {"sample": sample}),
            ("one response", rollouts.one, {"step": "1500", "row": "0"}),
        ):
            began, worked = time.perf_counter(), time.process_time()
            encode(page(query))
            figures[name] = {
                "seconds": time.perf_counter() - began,
                "cpu": time.process_time() - worked,
            }
        return {"figures": figures, "memory_mb": resident()}


def filtered(rollouts: Any, query: dict[str, str]) -> dict[str, Any]:
    """Ask once, and again until nothing is left to search; ``cpu`` is of all of it."""
    from prorl_viewer.encoding import encode

    if query.get("q", "").startswith("WORD"):
        query = query | {"q": words()[int(query["q"][4:])].upper()}
    began, worked = time.perf_counter(), time.process_time()
    answer = rollouts.listed(query)
    size = len(encode(answer))
    taken = whole = time.perf_counter() - began
    while not answer["complete"]:
        answer = rollouts.listed(query | {"limit": "0"})
        whole = time.perf_counter() - began
    cpu = time.process_time() - worked
    return {
        "seconds": taken,
        "whole": whole,
        "cpu": cpu,
        "rows": answer["total"],
        "bytes": size,
    }


def in_process(run: Path, cache: Path) -> dict[str, Any]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--measure", str(run), str(cache), str(time.time())]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def in_browser(run: Path, scratch: Path) -> dict[str, Any]:
    """The page in Debian's Chromium, with an empty cache: from the opening of its address to rows on screen, and from a filter to its rows."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "prorl_cli", "view", str(run)]
    places = os.environ | {"PRORL_CACHE": str(scratch / "browser")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=places) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        figures: dict[str, Any] = {}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page()
            for name in ("rows on screen, cold server", "rows on screen again"):
                page.goto("about:blank")
                began = time.perf_counter()
                page.goto(f"{address}#/{run.name}/rollouts")
                page.locator("tr[data-at='0'] td", has_text=str(STEPS)).first.wait_for()
                figures[name] = {"seconds": time.perf_counter() - began}
            page.get_by_text("100,000 of 100,000 rollouts").wait_for(timeout=300_000)
            for query in ("step=1000..1200", f"q={words()[19000]}", "domain=math&reward=1"):
                # in the page, as Playwright's own looks are some 100 ms apart
                figures[f"filter {query}"] = {
                    "seconds": page.evaluate(
                        """async ([subject, query]) => {
                        const count = () => document.querySelector(".rollout-count strong").textContent;
                        const before = count(), began = performance.now();
                        location.hash = `#/${subject}/rollouts?${query}`;
                        while (count() === before) await new Promise(requestAnimationFrame);
                        return (performance.now() - began) / 1000 }""",
                        [run.name, query],
                    )
                }
            browser.close()
        memory = resident(server.pid)
        server.terminate()
    return {"figures": figures, "memory_mb": memory}


def show(name: str, found: Mapping[str, Any]) -> None:
    """Print one process's figures."""
    print(f"\n{name:36}   time   processor")
    for key, one in found["figures"].items():
        line = f"  {key:34} {1000 * one['seconds']:6.0f} ms"
        line += f" {1000 * one['cpu']:6.0f} ms" if "cpu" in one else ""
        line += f" {one['rows']:>8,} rows" if "rows" in one else ""
        if one.get("whole", 0) > one["seconds"]:
            line += f", all searched after {1000 * one['whole']:.0f} ms"
        print(line)
    memory = found["memory_mb"]
    print(f"  memory: {memory['peak']} MB at most, {memory['now']} MB at the end")


def main() -> None:
    """Make the run and measure it with an empty and with a filled cache."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rollouts", type=int, default=ROLLOUTS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument(
        "--tokens", action="store_true", help="token ids and log-probs in the files"
    )
    parser.add_argument(
        "--run", type=Path, help="keep the made run here, or use the one that is there"
    )
    parser.add_argument("--browser", action="store_true", help="measure the page in Chromium too")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        run, cache, started = options.measure
        print(json.dumps(measure(Path(run), Path(cache), float(started))))
        return
    with tempfile.TemporaryDirectory() as scratch:
        run = options.run or Path(scratch) / "run"
        figures: dict[str, Any] = {
            "rollouts": options.rollouts,
            "steps": options.steps,
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
        }
        if not run.exists():
            figures["characters"] = make_run(run, options.rollouts, options.steps, options.tokens)
        figures["run_mb"] = sum(f.stat().st_size for f in run.rglob("*.parquet")) / 1e6
        cache = Path(scratch) / "cache"
        for name in ("empty cache", "filled cache"):
            figures[name] = in_process(run, cache)
            show(name, figures[name])
        figures["cache_mb"] = sum(f.stat().st_size for f in cache.rglob("*.*")) / 1e6
        print(f"\nload of the machine {figures['load']:.1f} on {figures['cores']} cores")
        print(f"run {figures['run_mb']:.0f} MB, cache {figures['cache_mb']:.0f} MB")
        if options.browser:
            figures["browser"] = in_browser(run, Path(scratch))
            show("in the browser", figures["browser"])
        if options.json:
            options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
