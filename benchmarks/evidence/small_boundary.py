"""Did the boundary move in the small evidence? Its held-out items as a dataset that ``prorl eval`` samples.

    python benchmarks/evidence/small_run.py --only v2-seed1 --keep --work runs/evidence-small
    python benchmarks/evidence/small_boundary.py --work runs/evidence-small

The second writes ``<work>/held-out`` and prints the commands that sample and report. A task is an item's
``family``, its level the rung of the ladder. Leaves out: the evidence's own statistics (``small_report``).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from small_arms import EVAL_SAMPLES, EVAL_TEMPERATURE, MAX_TOKENS, K
from small_data import write_dataset
from small_run import work_folder
from small_tasks import FAMILIES, as_sample
from small_three_thousand import STUDY, held_out

from prorl_common import UserError
from prorl_datasets import Sample


def held_out_samples() -> list[Sample]:
    """Return the evaluation's items, trained levels and ladders, as samples of the split ``test``."""
    made = []
    items = [item for group in held_out().values() for item in group]
    for number, item in enumerate(items):
        sample = as_sample(item, number, "test", FAMILIES[item.task].domain)
        labels = {"family": item.task, "level": item.level}
        made.append(replace(sample, metadata={**sample.metadata, **labels}))
    return sorted(made, key=lambda s: s.id)


def main() -> int:
    """Write the dataset and say how it is sampled."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--work", type=Path, default=work_folder(STUDY), help="folder of the runs")
    parser.add_argument("--run", default="v2-seed1", help="a run kept there")
    args = parser.parse_args()
    folder, run = args.work / "held-out", args.work / args.run
    write_dataset(folder, held_out_samples(), ("test",))
    print(
        f"prorl eval pass-at-k --run {run} --checkpoint base --checkpoint latest --dataset {folder} "
        f"--n {EVAL_SAMPLES} --k {K} --temperature {EVAL_TEMPERATURE:g} --top-p 1 "
        f"--max-tokens {MAX_TOKENS} --device cpu"
    )
    print(f"prorl eval report {run}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
