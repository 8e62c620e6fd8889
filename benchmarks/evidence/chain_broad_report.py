"""Write the results into docs/evidence/boundary-broad.md from the runs' data files.

    python benchmarks/evidence/chain_broad_report.py

The tables are the boundary study's (``chain_report``), with its v2 and broad beside the new arm. Leaves out: the runs
(``small_run``).
"""

from __future__ import annotations

import json
import sys

from chain_broad import STUDY
from chain_report import good_table, outside_table, rungs_table
from chain_stats import Groups, good, outside
from chain_study import STUDY as BOUNDARY
from chain_study import K
from small_report import Runs, accounts_table, partial_note, read_results, remarks, write_between

from prorl_common import UserError

BESIDE = ("v2", "broad")
"""Arms of the boundary study that are shown beside."""


def main() -> int:
    """Write the tables; return 0. Raises UserError when there is nothing to report."""
    base, studied = read_results(BOUNDARY)
    again = BOUNDARY.result_path("base-again")
    _, runs = read_results(STUDY)
    if base is None or not again.exists() or not any(runs.values()):
        raise UserError("no results yet: run benchmarks/evidence/small_run.py first")
    control: Groups = json.loads(again.read_text(encoding="utf-8"))["groups"]
    write_between(STUDY.document, "\n\n".join(sections(base, control, studied, runs)))
    return 0


def sections(base: Groups, control: Groups, studied: Runs, runs: Runs) -> list[str]:
    """Return the results as Markdown, a part each; no claim while a run is missing."""
    done, wanted = sum(len(found) for found in runs.values()), len(STUDY.run_names())
    found = [f"{done} of {wanted} runs are there.", *remarks(STUDY, runs)]
    if done < wanted:
        return [partial_note(STUDY, runs), *found]
    arms = {arm: studied[arm] for arm in BESIDE} | dict(runs)
    found += ["### Outside the base's boundary", outside_table(arms, outside(base))]
    found += ["### Where the base was good", good_table(control, arms, good(base))]
    for k in (1, K):
        found += [f"### pass@{k} by rung, in %, mean over seeds and families"]
        found += [rungs_table(control, arms, k)]
    return [*found, "### Accounts", accounts_table(runs)]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
