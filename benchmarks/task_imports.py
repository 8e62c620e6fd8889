"""How many tasks of two other harnesses ``prorl eval import`` takes, and why it refuses the others.

    python benchmarks/task_imports.py [--lm-eval CHECKOUT] [--lighteval CHECKOUT]

Reads every task file of the checkouts as the command does; nothing of them is run, and no rows are needed. A task that is
refused for several reasons counts in each. Templates are filled with no row, which shows whether they compile.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from prorl_evaluation.exchange.harness_task import HarnessTask, RefusedTask, read_harness_task
from prorl_evaluation.exchange.harness_yaml import read_task_file
from prorl_evaluation.exchange.lighteval_problems import lighteval_configs, read_lighteval_task
from prorl_evaluation.exchange.templates import fill
from prorl_evaluation.types import EvaluationError

Kinds = Mapping[str, tuple[str, ...]]
HARNESS_KINDS: Kinds = {
    "another metric": ("its metric is not",),
    "Python": ("is Python (", "Python class"),
    "gen_prefix": ("gen_prefix",),
    "a filter": ("filter ", "filter_list holds"),
}
LIGHTEVAL_KINDS: Kinds = {
    "another metric": ("its metric is neither",),
    "metric, filter or prompt function that is not read": ("is computed", "prompt_function", ": "),
}


def kinds_of(reasons: Iterable[str], kinds: Kinds) -> set[str]:
    """Return which kinds the reasons are of; a reason of none stands for itself."""
    found = set()
    for reason in reasons:
        named = [kind for kind, marks in kinds.items() if any(mark in reason for mark in marks)]
        found.add(named[0] if named else reason)
    return found


def lm_eval(checkout: Path) -> None:
    """Print the counts of lm-evaluation-harness."""
    counts: Counter[str] = Counter()
    why: Counter[str] = Counter()
    taken: list[HarnessTask] = []
    for file in sorted((checkout / "lm_eval" / "tasks").rglob("*.yaml")):
        try:
            row = read_task_file(file)
        except EvaluationError:
            counts["file that is not read"] += 1
            continue
        if not isinstance(row.get("task"), str):
            counts["part or group"] += 1
            continue
        if row.get("output_type", "generate_until") != "generate_until":
            counts["task of another kind"] += 1
            continue
        counts["generate_until"] += 1
        try:
            taken.append(read_harness_task(file))
        except RefusedTask as refused:
            why.update(kinds_of(refused.reasons, HARNESS_KINDS))
    templates = sorted({t for task in taken for t in templates_of(task)})
    broken = sum(not compiles(template) for template in templates)
    print(f"lm-evaluation-harness: {dict(counts)}, taken {len(taken)}")
    print(f"templates: {len(templates)}, {broken} do not compile")
    show(why)


def templates_of(task: HarnessTask) -> list[str]:
    """Return the texts of a task that are filled."""
    listed = [task.text, task.target, task.choices, task.description]
    return [text for text in listed if isinstance(text, str) and text]


def compiles(template: str) -> bool:
    """Whether Jinja takes the template; that it lacks a row does not matter."""
    try:
        fill([(template, {})])
    except EvaluationError as error:
        return not any(f"Template{what}Error" in str(error) for what in ("Syntax", "Assertion"))
    return True


def lighteval(checkout: Path) -> None:
    """Print the counts of lighteval."""
    counts: Counter[str] = Counter()
    why: Counter[str] = Counter()
    for file in sorted((checkout / "src" / "lighteval" / "tasks").rglob("*.py")):
        try:
            calls, module = lighteval_configs(file)
        except EvaluationError:
            counts["file without a config at its top"] += 1
            continue
        for name, call in calls.items():
            counts["configs"] += 1
            try:
                task = read_lighteval_task(name, call, module)
            except RefusedTask as refused:
                why.update(kinds_of(refused.reasons, LIGHTEVAL_KINDS))
            else:
                counts["taken, mathematical" if task.mathematical else "taken, exact match"] += 1
    print(f"lighteval: {dict(counts)}")
    show(why)


def show(why: Counter[str]) -> None:
    """Print reasons by how often they were given."""
    for reason, count in why.most_common():
        print(f"  {count:>6,}  {reason[:120]}")


def main() -> None:
    """Count what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lm-eval", type=Path)
    parser.add_argument("--lighteval", type=Path)
    options = parser.parse_args()
    if options.lm_eval is None and options.lighteval is None:
        parser.error("name a checkout with --lm-eval or --lighteval")
    if options.lm_eval is not None:
        lm_eval(options.lm_eval)
    if options.lighteval is not None:
        lighteval(options.lighteval)


if __name__ == "__main__":
    main()
