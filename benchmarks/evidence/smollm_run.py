"""Carry out the SmolLM2 protocol: dataset, training, evaluation. Every stage goes on where it was cut off.

    python benchmarks/evidence/smollm_run.py [--work DIR] [--evidence DIR] [--threads N] [--rehearsal]

Stages: build the dataset; train with the local engine (warm start, then RL); sample the held-out items from
the untouched model, from step 0 (after the warm start, before RL) and from the last step, at temperature 1
and greedily; write the small files that the document is made of. Finished stages are kept. Leaves out: the
constants (``smollm_protocol``) and the numbers drawn from the files (``smollm_report``).
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import smollm_protocol as protocol

from prorl_common import NullProgress, Progress, UserError, atomic_write_text
from prorl_datasets import BuildOptions, Sample, build, load
from prorl_evaluation import EvalResult, EvalSettings, evaluate, load_result

WORK = Path("runs/evidence-smollm2")
EVIDENCE = Path("docs/evidence/data/smollm2")


class Lines(NullProgress):
    """Prints the messages and, now and then, how far a stage is."""

    def __init__(self) -> None:
        self.label = ""
        self.done = 0
        self.shown = 0

    def start(self, label: str, total: int | None) -> None:
        """Begin a stage."""
        self.label, self.done, self.shown = f"{label} of {total}", 0, 0

    def advance(self, count: int = 1, **fields: str) -> None:
        """Count; a line for each tenth or so of a long stage and each step of training."""
        self.done += count
        if count and (self.label.startswith("train") or self.done >= self.shown + 256):
            self.shown = self.done
            facts = " ".join(f"{k} {v}" for k, v in fields.items())
            print(f"{self.label}: {self.done} {facts}", flush=True)

    def message(self, text: str) -> None:
        """Print one line."""
        print(text, flush=True)


def make_data(work: Path, scale: protocol.Scale, progress: Progress) -> list[Sample]:
    """Build the dataset, or take the one that is there, and return its samples."""
    build(protocol.recipe(scale), work / "data", progress=progress, options=BuildOptions())
    return list(load(work / "data"))


def train_policy(work: Path, scale: protocol.Scale, progress: Progress) -> int:
    """Train to the last step, from the newest checkpoint where there is one; return that step.

    Raises UserError when the run ends before it: by a signal, or by a rule of its own.
    """
    from prorl_training.engine.local import train

    config = protocol.train_config((work / "data").resolve(), scale)
    run = work / "run"
    if not checkpoint(work, config.steps).is_dir():
        report = train(config, run, progress, resume=(run / "config.yaml").exists())
        if report.last_step < config.steps:
            cause = report.stopped or "interrupted: the same command goes on"
            raise UserError(f"training ended at step {report.last_step} of {config.steps}: {cause}")
    return config.steps


def checkpoint(work: Path, step: int) -> Path:
    """Return the checkpoint folder of a step."""
    return work / "run" / "checkpoints" / f"step_{step:06d}"


def settings_of(name: str, greedy: bool, scale: protocol.Scale) -> EvalSettings:
    """Return how one model is sampled."""
    n = protocol.GREEDY_SAMPLES if greedy else scale.samples
    return EvalSettings(
        n=n,
        k=1 if greedy else min(protocol.SHOWN_K, n),
        temperature=0.0 if greedy else 1.0,
        top_p=1.0,
        max_tokens=protocol.MAX_TOKENS,
        seed=protocol.EVAL_SEED,
        label=f"{name}/{'greedy' if greedy else 'sampled'}",
    )


def evaluate_model(
    work: Path, model: str, settings: EvalSettings, items: list[Sample], progress: Progress
) -> EvalResult:
    """Sample and score one model on the held-out items, or return the finished result."""
    out = work / f"eval-{settings.label.replace('/', '-')}"
    if (out / "result.json").exists():
        return load_result(out)
    from prorl_inference import load_generator
    from prorl_verifiers import VerifierPool

    generator = load_generator(model)
    with VerifierPool(workers=1) as pool:
        return evaluate(generator, items, settings, out, pool, progress)


def evaluate_all(
    work: Path, scale: protocol.Scale, last: int, items: list[Sample], progress: Progress
) -> dict[str, EvalResult]:
    """Return the results of every model, sampled and greedy, by ``model/sampling``."""
    models = {
        "base": protocol.MODEL,
        "step-0": str(checkpoint(work, 0) / "policy"),
        "trained": str(checkpoint(work, last) / "policy"),
    }
    results: dict[str, EvalResult] = {}
    for greedy in (False, True):
        for name, model in models.items():
            settings = settings_of(name, greedy, scale)
            results[settings.label] = evaluate_model(work, model, settings, items, progress)
    return results


def evaluation_csv(results: dict[str, EvalResult], items: list[Sample]) -> str:
    """Return one line for each model, way of sampling and held-out item."""
    tasks = {s.id: protocol.task_of(s) for s in items}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["model", "sampling", "task", "item", "n", "c", "reward_mean", "tokens", "unparsable"]
    )
    for label, result in results.items():
        name, sampling = label.split("/")
        for p in result.problems:
            mean = round(p.reward_mean, 6)
            writer.writerow(
                [name, sampling, tasks[p.id], p.id, p.n, p.c, mean, p.tokens, p.unparsable]
            )
    return out.getvalue()


def write_evidence(
    work: Path, evidence: Path, results: dict[str, EvalResult], facts: dict[str, Any]
) -> None:
    """Write the files that the document is made of."""
    evidence.mkdir(parents=True, exist_ok=True)
    run = work / "run"
    for name in ("metrics.jsonl", "decisions.jsonl", "config.yaml"):
        text = (run / name).read_text("utf-8").replace(str(work.resolve()), "WORK")
        atomic_write_text(evidence / name, text)
    atomic_write_text(evidence / "facts.json", json.dumps(facts, indent=1) + "\n")
    examples = [
        {"model": label, "prompt": e.prompt, "response": e.response, "reward": e.reward}
        for label, result in results.items()
        for e in result.examples
    ]
    lines = "".join(json.dumps(e, ensure_ascii=False) + "\n" for e in examples)
    atomic_write_text(evidence / "examples.jsonl", lines)


def facts_of(samples: list[Sample], items: list[Sample], result: EvalResult) -> dict[str, Any]:
    """Return what the document says of data and software."""
    keys = {protocol.question_key(s) for s in samples if s.split != "test"}
    return {
        "train_items": sum(s.split == "train" for s in samples),
        "held_out_items": len(items),
        "shared_keys": sum(protocol.question_key(s) in keys for s in items),
        "chance": protocol.chance(samples, items),
        "isolation": list(result.isolation),
        "versions": dict(result.versions),
    }


def run(work: Path, evidence: Path, scale: protocol.Scale) -> None:
    """Do every stage that is not done yet."""
    progress = Lines()
    work.mkdir(parents=True, exist_ok=True)
    samples = make_data(work, scale, progress)
    items = protocol.held_out(samples, scale.held_out)
    last = train_policy(work, scale, progress)
    results = evaluate_all(work, scale, last, items, progress)
    write_evidence(work, evidence, results, facts_of(samples, items, results["trained/sampled"]))
    atomic_write_text(evidence / "evaluation.csv", evaluation_csv(results, items))
    print(f"written to {evidence}")


def main() -> int:
    """Read the arguments and carry the protocol out, or rehearse it."""
    parser = argparse.ArgumentParser(description="The SmolLM2 evidence run")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--evidence", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--rehearsal", action="store_true", help="two steps and two items a task, on other seeds"
    )
    args = parser.parse_args()
    import torch

    torch.set_num_threads(args.threads)
    work = args.work or Path(f"{WORK}-rehearsal" if args.rehearsal else WORK)
    evidence = args.evidence or (work / "evidence" if args.rehearsal else EVIDENCE)
    try:
        run(work, evidence, protocol.REHEARSAL if args.rehearsal else protocol.PROTOCOL)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
