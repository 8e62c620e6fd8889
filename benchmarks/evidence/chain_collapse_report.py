"""Write the results into docs/evidence/boundary-collapse.md from the runs' data files.

    python benchmarks/evidence/chain_collapse_report.py

Leaves out: the runs (``small_run``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from chain_collapse import SAMPLES, STUDY
from chain_stats import Groups
from chain_study import OUTSIDE_SAMPLES
from chain_study import STUDY as BOUNDARY
from chain_tasks import CHAINS, RUNGS
from small_report import Runs, partial_note, read_results, remarks, write_between

from prorl_common import UserError

LOSS = 0.05
"""Of pass@1 on the rungs that the base knew: a loss beyond it is a shrinking."""
KNOWN = 3
"""The highest rung that the base was taught whole."""


def main() -> int:
    """Write the table; return 0. Raises UserError when there is nothing to report."""
    _, runs = read_results(STUDY)
    if not any(runs.values()):
        raise UserError("no results yet: run benchmarks/evidence/small_run.py first")
    base: Groups = json.loads(BOUNDARY.result_path("base").read_text(encoding="utf-8"))["groups"]
    write_between(STUDY.document, "\n\n".join(sections(base, runs)))
    return 0


def sections(base: Groups, runs: Runs) -> list[str]:
    """Return the results as Markdown, a part each."""
    done, wanted = sum(len(found) for found in runs.values()), len(STUDY.run_names())
    parts = [] if done == wanted else [partial_note(STUDY, runs)]
    known = range(1, KNOWN + 1)
    before = pass_at_1(base, known, OUTSIDE_SAMPLES)
    parts += [f"{done} of {wanted} runs are there.", *remarks(STUDY, runs)]
    others = pass_at_1(base, range(KNOWN + 1, RUNGS[-1] + 1), OUTSIDE_SAMPLES)
    on_known = f"{100 * before:.1f} % on rungs 1 to {KNOWN}"
    parts += [f"The base: {on_known}, {100 * others:.2f} % on the others. By seed:"]
    return [*parts, table(before, runs)]


def table(before: float, runs: Runs) -> str:
    """Return each arm's pass@1, by seed, and whether it shrank from the base's ``before``."""
    measured = "steps | groups an update, teaching or not | KL, nats | entropy, nats"
    lines = [
        f"| arm | rungs 1 to {KNOWN}, % | rungs {KNOWN + 1} to {RUNGS[-1]}, % | | {measured} |",
        "|---" * 8 + "|",
    ]
    for arm, found in runs.items():
        updates = _updates(arm)
        groups = [run["evaluations"]["budget"]["groups"] for run in found]
        known = [pass_at_1(g, range(1, KNOWN + 1), SAMPLES) for g in groups]
        rest = [pass_at_1(g, range(KNOWN + 1, RUNGS[-1] + 1), SAMPLES) for g in groups]
        cells = [
            "; ".join(f"{100 * x:.1f}" for x in known),
            "; ".join(f"{100 * x:.2f}" for x in rest),
            verdict(before, known) if len(found) == len(STUDY.arms[arm].seeds) else "",
            "; ".join(str(run["steps"]) for run in found),
            "; ".join(f"{_mean(run, 'groups_kept') / updates:.1f}" for run in found),
            "; ".join(_last(run, "kl") for run in found),
            "; ".join(_last(run, "entropy") for run in found),
        ]
        lines.append(f"| {arm} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def pass_at_1(groups: Groups, rungs: Sequence[int], samples: int) -> float:
    """Return the mean over families and rungs of the share of right answers."""
    shares = [
        mean(groups[f"{name}/{rung}"]["correct"]) / samples for name in CHAINS for rung in rungs
    ]
    return float(mean(shares))


def verdict(before: float, seeds: Sequence[float]) -> str:
    """Return whether the arm ``shrinks``, ``holds`` or is ``mixed``, as the protocol says."""
    lost = [before - after > LOSS for after in seeds]
    return "shrinks" if all(lost) else "mixed" if any(lost) else "holds"


def _updates(arm: str) -> int:
    nowhere = STUDY.results
    return int(STUDY.config(arm, STUDY.arms[arm].seeds[0], nowhere, nowhere).loss.mini_batches)


def _mean(run: Mapping[str, Any], key: str) -> float:
    return float(mean(x for x in run["curves"][key] if x is not None))


def _last(run: Mapping[str, Any], key: str) -> str:
    found = next((x for x in reversed(run["curves"][key]) if x is not None), None)
    return "-" if found is None else f"{found:.2f}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
