"""The SmolLM2 document: its protocol from the constants, its results from the committed files.

    python benchmarks/evidence/smollm_report.py [--evidence DIR] [--document FILE] [--figures DIR] [--protocol-only]

Writes what stands between the marker lines of the document and two figures. Leaves out: making the files
(``smollm_run``) and the statistics (``smollm_statistics``).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import smollm_protocol as protocol
import smollm_statistics as statistics
from smollm_study import MODEL

EVIDENCE = Path("docs/evidence/data/smollm2")
DOCUMENT = Path("docs/evidence/smollm2.md")
FIGURES = Path("docs/images")


def protocol_block() -> str:
    """Return what the document says under Protocol, from the constants alone."""
    tasks = "\n".join(
        f"| {t.name} | {', '.join(f'{k} {v}' for k, v in t.config)} |" for t in protocol.TASKS
    )
    overrides = "\n".join(f"    {line}" for line in protocol.OVERRIDES)
    return f"""\
Model: {MODEL} (SmolLM2-135M-Instruct). Engine: the local one, preset `cpu` with

{overrides}

Tasks of reasoning-gym, {protocol.PROTOCOL.train_items} training items each (dataset seed {protocol.PROTOCOL.data_seed}):

| task | configuration |
|---|---|
{tasks}

Held-out items: {protocol.PROTOCOL.held_out} of each task, {protocol.PROTOCOL.held_out * len(protocol.TASKS)} in all, from seeds of their own. \
An item counts as held out only if no training or validation item has the same question with its words in \
any order, dates and single letters aside.

Sampling: {protocol.PROTOCOL.samples} answers an item at temperature 1 and top-p 1, at most {protocol.MAX_TOKENS} tokens, \
seed {protocol.EVAL_SEED}; beside it one greedy answer an item.

Models: the untouched one, step 0 (after the supervised warm start, before RL) and step {protocol.STEPS}, the last. \
No checkpoint is chosen by its score.

**Primary test.** Difference of pass@1 (share of the {protocol.PROTOCOL.samples} answers with full marks, a mean over all \
held-out items) between step {protocol.STEPS} and step 0, paired by item; percentile bootstrap over items, \
stratified by task, {protocol.DRAWS:,} draws, {protocol.LEVEL:.0%} interval. RL is said to have raised pass@1 if the \
interval lies above 0. There is one primary test.

**Secondary tests.** The same difference for each task by itself: two-sided sign-flip permutation test over \
items, {protocol.DRAWS:,} draws, adjusted after Holm over the {len(protocol.TASKS)} tasks at {protocol.FAMILY_ALPHA:.0%}.

**Described, not tested.** pass@{protocol.SHOWN_K}, greedy accuracy, answer length, share of answers without a readable tag, and the \
chance level of each task: what the commonest training answer, given always, would score on the held-out items."""


def results_block(evidence: Path) -> str:
    """Return what the document says under Results, from the files of a finished run."""
    rows = statistics.read_evaluation(evidence / "evaluation.csv")
    facts = json.loads((evidence / "facts.json").read_text("utf-8"))
    metrics = statistics.read_metrics(evidence / "metrics.jsonl")
    primary = statistics.primary(rows)
    said = "raised" if primary.low > 0 else "lowered" if primary.high < 0 else "did not change"
    verdict = (
        f"**Primary: {primary.before:.3f} at step 0, {primary.after:.3f} at step {protocol.STEPS}, difference "
        f"{primary.value:+.3f} [{primary.low:+.3f}, {primary.high:+.3f}].** By the test stated above RL {said} "
        "pass@1" + (" significantly." if said == "did not change" else ".")
    )
    parts = [verdict, overall_table(rows), task_table(rows, facts), run_line(metrics, facts)]
    pictures = (
        "![curves of the run](../images/smollm2-run.png)\n\n![by task](../images/smollm2-tasks.png)"
    )
    return "\n\n".join([*parts, pictures])


def overall_table(rows: list[statistics.Row]) -> str:
    """Return the table of all items: three models, with bootstrap intervals."""
    lines = [
        f"| model | pass@1 | pass@{protocol.SHOWN_K} | greedy | tokens an answer | no answer in the tag |",
        "|---|---|---|---|---|---|",
    ]
    for name in statistics.MODELS:
        cells = [
            statistics.interval(rows, name, "sampled", 1),
            statistics.interval(rows, name, "sampled", protocol.SHOWN_K),
            statistics.interval(rows, name, "greedy", 1),
        ]
        shown = " | ".join(f"{i.value:.3f} [{i.low:.3f}, {i.high:.3f}]" for i in cells)
        lines.append(
            f"| {name} | {shown} | {statistics.length(rows, name):.1f} | "
            f"{statistics.unparsable(rows, name):.1%} |"
        )
    lines.append("")
    for sampling, k, label in (
        ("sampled", protocol.SHOWN_K, f"pass@{protocol.SHOWN_K}"),
        ("greedy", 1, "greedy accuracy"),
    ):
        d = statistics.difference(rows, sampling, k)
        lines.append(
            f"- {label}, step {protocol.STEPS} minus step 0: {d.text()} (described, not tested)"
        )
    return "\n".join(lines)


def task_table(rows: list[statistics.Row], facts: dict[str, Any]) -> str:
    """Return the table of single tasks with Holm-adjusted p values."""
    lines = [
        "| task | chance | base | step 0 | trained | difference | p (Holm) |",
        "|---|---|---|---|---|---|---|",
    ]
    for d in statistics.by_task(rows):
        base = statistics.mean(rows, "base", d.task)
        lines.append(
            f"| {d.task} | {facts['chance'][d.task]:.2f} | {base:.3f} | {d.before:.3f} | {d.after:.3f} | "
            f"{d.value:+.3f} [{d.low:+.3f}, {d.high:+.3f}] | {d.p_holm:.4f} |"
        )
    return "\n".join(lines)


def run_line(metrics: list[dict[str, Any]], facts: dict[str, Any]) -> str:
    """Return how the run went, in numbers from its own metrics."""
    first, last = metrics[:10], metrics[-10:]
    entropy, reward = (
        [[m[key] for m in part if m.get(key) is not None] for part in (first, last)]
        for key in ("entropy", "reward_mean")
    )
    seconds = sorted(m["seconds"] for m in metrics)[len(metrics) // 2]
    kl = [m["kl"] for m in last if "kl" in m]
    return (
        f"{len(metrics)} steps, median {seconds:.1f} s a step; reward in training {_mean(reward[0]):.3f} over the first "
        f"ten steps, {_mean(reward[1]):.3f} over the last ten; entropy {_mean(entropy[0]):.2f} and "
        f"{_mean(entropy[1]):.2f} nats a token; KL to the reference {_mean(kl):.3f} over the last ten. "
        f"{facts['held_out_items']} held-out items, {facts['shared_keys']} of them shared with the training data."
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def put(text: str, name: str, block: str) -> str:
    """Return ``text`` with ``block`` between the markers of ``name``. Raises ValueError without them."""
    start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    if start not in text or end not in text:
        raise ValueError(f"the document lacks the marker lines {start} and {end}")
    before, rest = text.split(start, 1)
    return f"{before}{start}\n{block}\n{end}{rest.split(end, 1)[1]}"


def main() -> None:
    """Write the document's blocks and the figures."""
    parser = argparse.ArgumentParser(description="The SmolLM2 document")
    parser.add_argument("--evidence", type=Path, default=EVIDENCE)
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    parser.add_argument("--figures", type=Path, default=FIGURES)
    parser.add_argument("--protocol-only", action="store_true")
    args = parser.parse_args()
    text = put(args.document.read_text("utf-8"), "protocol", protocol_block())
    if not args.protocol_only:
        from smollm_figures import draw

        text = put(text, "results", results_block(args.evidence))
        draw(args.evidence, args.figures)
    args.document.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
