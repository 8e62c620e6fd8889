"""Answers in the styles of public benchmarks, labelled before their author had read the graders."""

from __future__ import annotations

import json
from pathlib import Path

from prorl_verifiers.libraries import load_library
from prorl_verifiers.math.scorer import score_math
from prorl_verifiers.stem.scorer import score_stem

SCORERS = {"math": score_math, "stem": score_stem}
PAIRS = Path(__file__).resolve().parents[1] / "data" / "outside_pairs.jsonl"
REFUSED = {
    r"2\,n(n-1)\cdots(n-k+1)": "a product that is not written out",
    r"\text{Alice wins}": "words behind the word that is asked for",
    r"\zeta(2)": "left unevaluated",
    "y'=2x": "another notation of a derivative",
}
"""Right answers that are rejected, with the reason."""


def test_no_wrong_answer_is_paid_and_no_right_one_refused_but_for_the_named() -> None:
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 120
    missed = set()
    for row in rows:
        response = rf"\boxed{{{row['answer']}}}"
        reward = SCORERS[row["verifier"]](response, {"answer": row["gold"]}, load_library).reward
        if row["label"] == 0:
            assert reward == 0.0, row
        elif reward != 1.0:
            missed.add(row["answer"])
    assert missed == set(REFUSED)
