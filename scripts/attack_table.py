"""Render the JSON of ``prorl sandbox attack --peers --json`` as the Markdown table of the docs.

    prorl sandbox attack --peers --json > local.json
    python scripts/attack_table.py local.json [docker.json] > table.md
    python scripts/attack_table.py local.json [docker.json] --into docs/concepts/sandbox.md

The second file adds a column. ``--into`` replaces what stands between the two marks of a document.
Measures nothing itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BEGIN = "<!-- attack table: begin -->"
END = "<!-- attack table: end -->"
PEERS = {
    "livecodebench": "LCB-style",
    "evalplus": "evalplus-style",
    "prime_code": "prime_code-style",
}
ENDINGS = ("full marks", "escaped", "grader killed", "held", "not measured")


def render(first: Mapping[str, Any], second: Mapping[str, Any] | None = None) -> str:
    """Return a line on what was measured and the table, one row a case."""
    documents = [first] + ([second] if second is not None else [])
    titles = ["case", "attack", "programs"]
    titles += [f"prorl `{document['backend']}`" for document in documents] + list(PEERS.values())
    lines = [_facts(document) for document in documents]
    lines += ["", "| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    others = {case["case"]: case for case in second["cases"]} if second is not None else {}
    for case in first["cases"]:
        cells = [case["case"], case["title"], str(len(case["programs"]) or "–"), _own(case)]
        if second is not None:
            cells.append(_own(others[case["case"]]) if case["case"] in others else "–")
        cells += [_peer(case["peers"].get(peer, {})) for peer in PEERS]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _facts(document: Mapping[str, Any]) -> str:
    machine = document["machine"]
    programs = sum(len(case["programs"]) for case in document["cases"])
    memory = [round(value / 1024) for value in document["growth"]["memory_kib"]]
    files = document["growth"]["open_files"]
    return (
        f"- `{document['backend']}` ({document['isolation']}): {programs} programs in "
        f"{document['seconds']:.0f} s on {machine['processors']} {machine['architecture']} "
        f"processors, Linux {machine['kernel']}, Python {machine['python']}; memory of the host "
        f"process {memory[0]} → {memory[1]} MiB, its open files {files[0]} → {files[1]}."
    )


def _own(case: Mapping[str, Any]) -> str:
    accepted = case["grades"].get("AC")
    return f"{case['verdict']} ({accepted}×AC)" if accepted else str(case["verdict"])


def _peer(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    for ending in ENDINGS:
        if counts.get(ending):
            return ending if ending in ENDINGS[-2:] else f"**{ending} {counts[ending]}/{total}**"
    return "–"


def main(arguments: list[str]) -> int:
    """Read the files named in ``arguments`` and print or insert the table; 2 for a mistake."""
    target: Path | None = None
    if "--into" in arguments:
        at = arguments.index("--into")
        target = Path(arguments[at + 1]) if at + 1 < len(arguments) else None
        del arguments[at : at + 2]
    if not 1 <= len(arguments) <= 2:
        print("usage: attack_table.py LOCAL.json [DOCKER.json] [--into PAGE.md]", file=sys.stderr)
        return 2
    documents = [json.loads(Path(name).read_text(encoding="utf-8")) for name in arguments]
    table = render(*documents)
    if target is None:
        print(table, end="")
        return 0
    text = target.read_text(encoding="utf-8")
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        print(f"{target} has no marks {BEGIN} and {END}", file=sys.stderr)
        return 2
    target.write_text(f"{head}{BEGIN}\n{table}{END}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
