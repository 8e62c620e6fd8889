"""Does every reasoning-gym dataset give its own gold full marks, and what does an ignorant answer earn?

    python benchmarks/accuracy_logic.py [--items 200] [--datasets countdown,sudoku] [--rules] [--spoilt AUDIT.json]

Three measurements over fresh entries, in both modes of the logic verifier: the stored gold answer (or a
solver's witness, for the five datasets that store none), the best of a few constants and of other items'
answers, and answers that are programs and would leave a marker file. ``--rules`` prints the table of
docs/reference/logic-verifier.md instead, ``--spoilt AUDIT.json`` the one of spoilt answers (of ``prorl verify audit
--family spoilt --verifier logic --mode logic=reference --out AUDIT.json``). Leaves out speed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_datasets.rows.client import RowClient
from prorl_verifiers import Task, VerifierPool, logic_datasets
from prorl_verifiers.logic.rules import RULES
from prorl_verifiers.logic.witness import WITNESSES, right_answer

MODES = ("fixed", "reference")
CONSTANTS = (
    "0", "1", "2", "3", "10", "12:00", "nan", "inf", "1e999", "banana", "True", "False", "Yes", "No", "[]",
    "{}", "A", "none", "[NaN]", "P \u2228 \u00acP", "1*2*3*4", "U", "blank board", "0 1 2 3 4 5 6 7 8 9",
)  # fmt: skip
IGNORANT_ITEMS = 20
APART = 0.1
SEED = 7919
Entry = dict[str, Any]


@dataclass
class Tally:
    """One dataset: items, how many golds earned 1 by mode, the best ignorant answer by mode, faults."""

    items: int = 0
    gold: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MODES, 0))
    ignorant: dict[str, tuple[float, str]] = field(default_factory=dict)
    faults: int = 0
    programs: int = 0


def payloads(marker: Path) -> list[str]:
    """Return answers that would make ``marker`` if anything evaluated them."""
    return [
        f"__import__('os').system('touch {marker}')",
        f"[open('{marker}', 'w')]",
        f"E.__class__.__base__.__subclasses__()[0]('{marker}')",
        f"(lambda: open('{marker}', 'w'))()",
        f"[x for x in [__import__('os').system('touch {marker}')]]",
        f"sin(open('{marker}', 'w')) + C",
        f"sympify(\"open('{marker}', 'w')\")",
        f'{{"a": __import__("os").system("touch {marker}")}}',
    ]


def task(dataset: str, entry: Entry, mode: str) -> Task:
    """Return the logic task of an entry in one mode."""
    return Task("logic", {"dataset": dataset, "entry": entry, "mode": mode})


def measure_dataset(pool: VerifierPool, dataset: str, entries: list[Entry], marker: Path) -> Tally:
    """Score the golds, the constants and the programs of one dataset in both modes."""
    tally = Tally(len(entries))
    right = [right_answer(dataset, entry) for entry in entries]
    others = right[1:] + right[:1]
    for mode in MODES:
        rewards = _rewards(
            pool, dataset, mode, [(e, r or "") for e, r in zip(entries, right, strict=True)], tally
        )
        tally.gold[mode] = sum(reward == 1.0 for reward in rewards)
        few = entries[:IGNORANT_ITEMS]
        candidates = [(name, [name] * len(few)) for name in CONSTANTS]
        candidates.append(("another item's answer", [other or "" for other in others[: len(few)]]))
        for name, answers in candidates:
            pairs = list(zip(few, answers, strict=True))
            mean = sum(_rewards(pool, dataset, mode, pairs, tally)) / len(few)
            tally.ignorant[mode] = max(tally.ignorant.get(mode, (0.0, "")), (mean, name))
        pairs = [(few[0], text) for text in payloads(marker)]
        _rewards(pool, dataset, mode, pairs, tally)
        tally.programs += len(pairs)
    return tally


def _rewards(
    pool: VerifierPool, dataset: str, mode: str, pairs: list[tuple[Entry, str]], tally: Tally
) -> list[float]:
    verdicts = pool.score(
        [(f"<answer>{answer}</answer>", task(dataset, entry, mode)) for entry, answer in pairs]
    )
    tally.faults += sum(verdict.reward is None for verdict in verdicts)
    return [verdict.reward or 0.0 for verdict in verdicts]


def tallies(items: int, datasets: list[str], marker: Path) -> Iterator[tuple[str, Tally]]:
    """Yield the tally of each dataset, on ``items`` entries of its default configuration."""
    worker = RowClient()
    try:
        with VerifierPool(2, timeout_seconds=60) as pool:
            for dataset in datasets:
                replies = worker.entries(dataset, {}, [1000 + SEED * i for i in range(items)])
                entries = [reply["entry"] for reply in replies if "entry" in reply]
                yield dataset, measure_dataset(pool, dataset, entries, marker)
    finally:
        worker.close()


def measure(
    data: Path | None = None, items: int = 200, datasets: list[str] | None = None
) -> list[str]:
    """Return the findings as markdown lines; ``data`` is not needed (entries are generated)."""
    found: dict[str, Tally] = {}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        marker = Path(folder) / "marker"
        for dataset, tally in tallies(items, datasets or list(logic_datasets()), marker):
            found[dataset] = tally
        return [*_summary(found, marker.exists()), "", *_table(found)]


def _summary(found: dict[str, Tally], executed: bool) -> list[str]:
    lines = []
    for stored in (True, False):
        chosen = {name: t for name, t in found.items() if (name not in WITNESSES) is stored}
        total = sum(tally.items for tally in chosen.values())
        kind = "stored gold answers" if stored else "witnesses of own solvers"
        for mode in MODES:
            full = sum(tally.gold[mode] for tally in chosen.values())
            lines.append(
                f"- {kind}, `{mode}`: {full:,} of {total:,} earn 1 ({len(chosen)} datasets)"
            )
    programs = sum(tally.programs for tally in found.values())
    lines.append(
        f"- answers that are programs: {programs:,} scored, a marker file "
        + ("WAS MADE" if executed else "never appeared")
    )
    lines.append(f"- infrastructure errors: {sum(tally.faults for tally in found.values())}")
    return lines


def _table(found: dict[str, Tally]) -> list[str]:
    """Return what ignorant answers earn where upstream's number and ours differ much; golds that earn less than 1."""
    title = (
        f"Best of {len(CONSTANTS)} constants and other items' answers, mean of {IGNORANT_ITEMS} items, "
        f"where the modes differ by {APART} or more:"
    )
    lines = [
        title,
        "",
        "| dataset | `reference` | with | `fixed` | with |",
        "|---|---|---|---|---|",
    ]
    for name, tally in found.items():
        (old, old_text), (new, new_text) = tally.ignorant["reference"], tally.ignorant["fixed"]
        if abs(old - new) >= APART:
            shown = f"`{new_text}`".replace("|", "\\|") if new else ""
            lines.append(f"| {name} | {old:.2f} | `{old_text}` | {new:.2f} | {shown} |")
    short = [
        f"{name} {tally.gold['fixed']}/{tally.items}"
        for name, tally in found.items()
        if tally.gold["fixed"] < tally.items
    ]
    return [*lines, "", f"Golds that earn 1 in `fixed`: {', '.join(short)}."] if short else lines


def rules_table() -> list[str]:
    """Return the table of all datasets for the reference page, a row a rule; the commonest one names none."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, rule in sorted(RULES.items()):
        groups[rule.partial, rule.change].append(name)
    lines = ["| datasets | partial credit | changed, and why |", "|---|---|---|"]
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[1]))
    for at, ((partial, change), names) in enumerate(ordered):
        named = ", ".join(names) if at else f"{len(names)} not named below"
        lines.append(f"| {named} | {partial} | {change or 'nothing'} |")
    return lines


def spoilt_table(audit: Path) -> list[str]:
    """Return what spoilt answers earned by dataset, from the JSON report of ``prorl verify audit``."""
    found = []
    for group in json.loads(audit.read_text(encoding="utf-8"))["spoilt"]:
        if group["verifier"] == "logic" and group["paid"]:
            mean = sum(one["total"] for one in group["mutations"]) / group["tried"]
            name = group["name"].removeprefix("logic: ")
            found.append((name, f"{group['paid'] / group['tried']:.2f}", f"{mean:.2f}"))
    return by_share(found)


def by_share(found: list[tuple[str, str, str]]) -> list[str]:
    """Return the table of (dataset, share paid, mean reward), a row a share."""
    shares: dict[str, list[str]] = defaultdict(list)
    for name, paid, mean in sorted(found):
        shares[paid].append(f"{name} {mean}")
    lines = ["| paid | datasets, each with its mean |", "|---|---|"]
    return lines + [
        f"| {paid} | {', '.join(names)} |" for paid, names in sorted(shares.items(), reverse=True)
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--datasets", default="", help="names by comma; all without it")
    parser.add_argument("--rules", action="store_true", help="print the table of rules")
    parser.add_argument(
        "--spoilt", type=Path, help="print the table of this audit's spoilt answers"
    )
    options = parser.parse_args()
    if options.spoilt is not None:
        print("\n".join(spoilt_table(options.spoilt)))
        return
    chosen = [name for name in options.datasets.split(",") if name]
    print("\n".join(rules_table() if options.rules else measure(None, options.items, chosen)))


if __name__ == "__main__":
    main()
