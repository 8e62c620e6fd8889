"""Evaluate a model behind an OpenAI-compatible server, and say whether it differs from an earlier result.

python examples/evaluate_server.py http://localhost:8000/v1 data/quickstart
"""

import argparse
from pathlib import Path

import prorl

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("server")
parser.add_argument("dataset", type=Path)
parser.add_argument("--out", type=Path, default=Path("evals/served"))
parser.add_argument("--against", type=Path, help="an earlier result folder")
parser.add_argument("--limit", type=int, default=20)
options = parser.parse_args()

(result,) = prorl.evaluate(
    dataset=options.dataset,
    k=4,
    n=8,
    server__url=options.server,
    data__limit=options.limit,
    sampling__temperature=1.0,
    sampling__max_tokens=64,
    output__out=str(options.out),
)
for group in result.groups:
    one = group.pass_at_k[1]
    print(f"{group.name:12} pass@1 {one.value:.3f} [{one.low:.3f}, {one.high:.3f}]")
if options.against is not None:
    change = prorl.compare(prorl.load_result(options.against), result).find("overall", "pass@1")
    print(change.sentence() if change is not None else "nothing to compare")
